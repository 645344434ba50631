//! What is known of the target when a case is built or an answer is judged.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

use paymaster_engine::json::amount;
use paymaster_engine::knowledge::{Expectation, Knowledge, Learn, Requirement, Statement};
use paymaster_engine::message::Call;
use paymaster_engine::rules::{MissingLine, View};
use paymaster_schemas::{Kind, Mode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::call::CallParts;
use crate::discovery::Discovery;
use crate::generate::Source;
use crate::learn::Learner;
use crate::tables::{FEES, has_plain_envelope_and_info, is_amount, is_member, keeps_to_the_tables};
use crate::target::accounts;
use crate::target::ordinary;
use crate::target::{
    Accepts, AccountService, Bound, Dialect, Operations, Parts, Profile, QuotedFacts, ServedAccounts,
    ServedCapitals, ServedForms, SizeLimits, SmartAccount, Sponsors, TokenFacts, account_of, promises,
};
use crate::{SPECIFICATION, lines};

/// Profile and dialect of the target, and what its answers showed of tokens and smart accounts. Replay files hold it as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// What the user states about the target.
    pub profile: Profile,
    /// The dialect in use.
    pub dialect: Dialect,
    /// Which tokens are supported, by lower-case address.
    tokens: BTreeMap<String, Support>,
    /// Symbol and decimals of tokens, as quotes of the target showed them.
    pub facts: TokenFacts,
    /// The paymaster and the prices, as the target's first quotes show them.
    pub quoted: QuotedFacts,
    /// Smart accounts that the target served; they count only where the profile names none.
    pub served_accounts: ServedAccounts,
    /// Forms beyond the tables that the target served.
    pub served_forms: ServedForms,
    /// Where the target served addresses in capital letters.
    pub served_capitals: ServedCapitals,
    /// The published clients whose request headers the target refuses, by name: the same request in plain headers was answered otherwise.
    #[serde(skip)]
    pub refused_clients: BTreeSet<&'static str>,
    /// Whether addresses that are not in `tokens` are supported.
    pub unlisted_tokens: Support,
    /// Whether returned operations are simulated on the target's chain.
    #[serde(skip)]
    pub on_chain: bool,
    /// The limits that the profile promises.
    pub(crate) limits: SizeLimits,
}

/// Whether a token is supported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Support {
    /// Not known.
    #[default]
    Unknown,
    /// The profile lists it as supported, or the target quoted it.
    Supported,
    /// The profile lists it as unsupported, or the target did.
    Unsupported,
}

impl Context {
    /// The context that the profile alone gives.
    pub fn new(profile: Profile) -> Self {
        let mut tokens = BTreeMap::new();
        for token in &profile.tokens.supported {
            tokens.insert(token.address.to_ascii_lowercase(), Support::Supported);
        }
        for address in &profile.tokens.unsupported {
            tokens.insert(address.to_ascii_lowercase(), Support::Unsupported);
        }
        let dialect = Dialect::pinned(&profile.dialect);
        let unlisted_tokens = if profile.tokens.complete { Support::Unsupported } else { Support::Unknown };
        let mut limits = profile.limits.clone();
        let older_name = profile.operations.max_call_data_bytes;
        limits.call_data_bytes =
            limits.call_data_bytes.or(older_name.map(|bytes| u64::try_from(bytes).unwrap_or(u64::MAX)));
        Self { profile, dialect, tokens, unlisted_tokens, limits, ..Self::default() }
    }

    /// Adds whether the target supports a token. The profile takes precedence, and then a quote: a target that quotes a token supports it,
    /// whatever another answer lists.
    pub fn learn_token(&mut self, address: &str, support: Support) {
        let is_listed = |listed: &String| listed.eq_ignore_ascii_case(address);
        if !self.profile.tokens.complete && !self.profile.tokens.unsupported.iter().any(is_listed) {
            let known = self.tokens.entry(address.to_ascii_lowercase()).or_insert(support);
            if support == Support::Supported {
                *known = support;
            }
        }
    }

    /// Sets whether the target supports tokens that are listed nowhere. The profile takes precedence.
    pub fn learn_unlisted_tokens(&mut self, support: Support) {
        if !self.profile.tokens.complete {
            self.unlisted_tokens = support;
        }
    }

    /// This context with these results of quotes in token mode as the target's first ones, each with the time at which it came.
    pub(crate) fn with_first_quotes(&self, results: &[(&Value, Option<SystemTime>)]) -> Self {
        let mut context =
            Self { facts: TokenFacts::default(), quoted: QuotedFacts::default(), ..self.clone() };
        for (result, received) in results {
            context.facts.learn(result);
            context.quoted.learn(result, *received);
        }
        context
    }

    /// Whether a token is supported, as far as is known. The letter case of the address does not matter.
    pub fn support(&self, address: &str) -> Support {
        self.tokens.get(&address.to_ascii_lowercase()).copied().unwrap_or(self.unlisted_tokens)
    }

    /// Every known token with that support, in lower case, sorted.
    pub fn tokens_with(&self, support: Support) -> impl Iterator<Item = &str> {
        self.tokens.iter().filter(move |(_, known)| **known == support).map(|(address, _)| address.as_str())
    }

    /// Smart accounts to send: those of the profile, else those that the target served, else those that published clients send.
    pub fn accounts(&self) -> Vec<SmartAccount> {
        if !self.profile.accounts.is_empty() {
            return self.profile.accounts.clone();
        }
        let served = self.served_accounts.accounts();
        if served.is_empty() { accounts::listed(&accounts::PUBLISHED) } else { served }
    }

    /// Whether the target must take the addresses of a call as they are spelled: in lower case, with the checksum of EIP-55, as the
    /// profile spells them, or in capital letters where the target served such.
    pub fn takes_spelling(&self, call: &Call) -> bool {
        let operations = &self.profile.operations;
        let listed = operations.sponsorable.iter().chain(&operations.refused);
        let senders = listed.filter_map(|known| known.get("sender")?.as_str());
        let is_of_profile = |sender: &str| {
            operations.refused_senders.iter().any(|known| known == sender)
                || senders.clone().any(|known| known == sender)
        };
        self.served_capitals.takes(call, is_of_profile)
    }

    /// The sponsorshipInfo of requests to this target.
    pub fn sponsorship_info(&self) -> Value {
        json!({"webhookData": {}, "smartAccountInfo": self.accounts().first()})
    }

    fn beyond(&self, parts: &Parts<'_>) -> Option<&'static Bound> {
        ordinary::exceeded(parts, &self.limits)
    }

    /// What a request for this operation and mode object must be answered with, as far as the operation and the account decide.
    /// Every expectation but [`Expectation::Unknown`] needs a profile that covers the operation, and an account that the profile
    /// names or the target served.
    pub fn expectation(&self, pair: Kind, operation: &Value, mode_object: &Value) -> Expectation {
        self.expectation_in(pair, operation, mode_object, false)
    }

    /// What [`Context::expectation`] gives. With `in_served_form`, the request has another form than the tables, which the target serves:
    /// operations are then compared by their values, because a target decides alike in every form that it serves.
    fn expectation_in(
        &self,
        pair: Kind,
        operation: &Value,
        mode_object: &Value,
        in_served_form: bool,
    ) -> Expectation {
        let operations = &self.profile.operations;
        if self.excludes(pair) {
            return Expectation::Unknown;
        }
        let info = &mode_object["sponsorshipInfo"];
        let service = self.account_service(pair, info);
        // The profile lists operations for the plain sponsorshipInfo: with another one the target may decide otherwise.
        let is_listed = |list: &[Map<String, Value>]| {
            let of_list = |known: &Map<String, Value>| {
                is_listed_as(known, operation, in_served_form, operations)
                    && self.is_ordinary(&besides(known, operation, operations))
            };
            list.iter().any(of_list) && (Mode::of(pair) == Mode::Erc20 || self.is_plain(info))
        };
        let gets_a_result =
            operations.accepts == Accepts::Any && service.is_some() && self.is_ordinary(operation);
        let is_refused = is_listed(&operations.refused);
        if is_refused || self.is_refused_sender(operation) {
            return match Mode::of(pair) {
                Mode::Erc20 => Expectation::Unknown,
                Mode::Sponsored if gets_a_result || (is_refused && service.is_some()) => Expectation::Refused,
                // The account of the listed operation is not known.
                Mode::Sponsored if is_refused => Expectation::Unknown,
                Mode::Sponsored => Expectation::NotSponsored,
            };
        }
        let promised = if is_listed(&operations.sponsorable) {
            Expectation::Sponsored
        } else if gets_a_result {
            match (operations.sponsors(), Mode::of(pair)) {
                (Sponsors::Any, _) if self.has_refused_sender(operation) => Expectation::Accepted,
                // The content of webhookData may decide (section 4.2, rule 1), unless the profile promises otherwise.
                (Sponsors::Any, Mode::Sponsored) if !self.ignores_webhook_data(info) => Expectation::Accepted,
                (Sponsors::Any, _) => Expectation::Sponsored,
                (Sponsors::None, Mode::Sponsored) => Expectation::Refused,
                (Sponsors::None, Mode::Erc20) | (Sponsors::Listed, _) => Expectation::Accepted,
            }
        } else {
            Expectation::Unknown
        };
        match (service, promised) {
            (None, _) => Expectation::Unknown,
            (Some(AccountService::Answered), Expectation::Sponsored) => Expectation::Accepted,
            (Some(_), promised) => promised,
        }
    }

    /// How the target serves the account of a request; none when it may refuse the account. Token mode needs no account: a
    /// request without one cannot be refused for its account.
    fn account_service(&self, pair: Kind, info: &Value) -> Option<AccountService> {
        let account = account_of(info);
        if Mode::of(pair) == Mode::Erc20 && account.is_none() {
            return Some(AccountService::Sponsored);
        }
        let account = account?;
        if self.profile.accounts.is_empty() {
            return self.served_accounts.service(pair, &account);
        }
        self.profile.accounts.contains(&account).then_some(AccountService::Sponsored)
    }

    /// Whether the members of an operation are of ordinary size. A target may refuse others.
    fn is_ordinary(&self, operation: &Value) -> bool {
        let parts = Parts { id: &Value::Null, operation, mode_object: &Value::Null };
        self.beyond(&parts).is_none()
    }

    /// Whether webhookData is empty, or the profile promises that its content changes nothing.
    fn ignores_webhook_data(&self, info: &Value) -> bool {
        self.limits.webhook_data_bytes.is_some() || has_empty_webhook_data(info)
    }

    /// The index in `operations.sponsorable` of the profile of an operation that it lists.
    pub(crate) fn sponsorable_index(&self, operation: &Value) -> Option<usize> {
        let operations = &self.profile.operations;
        let listed = |known| is_listed_as(known, operation, true, operations);
        operations.sponsorable.iter().position(listed)
    }

    /// Whether an operation has the sender of one that the profile lists as refused: it may be refused too.
    fn has_refused_sender(&self, operation: &Value) -> bool {
        let sender = operation["sender"].as_str().unwrap_or_default();
        let mut listed =
            self.profile.operations.refused.iter().filter_map(|known| known.get("sender")?.as_str());
        listed.any(|known| known.eq_ignore_ascii_case(sender))
    }

    /// Whether the profile lists the sender of an operation as refused, in any letter case.
    pub(crate) fn is_refused_sender(&self, operation: &Value) -> bool {
        let sender = operation["sender"].as_str().unwrap_or_default();
        let refused = &self.profile.operations.refused_senders;
        refused.iter().any(|known| known.eq_ignore_ascii_case(sender))
    }

    /// Whether a sponsorshipInfo is plain: webhookData is empty, as in the samples, or does not decide, and the account is the first
    /// of [`Context::accounts`].
    fn is_plain(&self, info: &Value) -> bool {
        let first = self.accounts().into_iter().next();
        self.ignores_webhook_data(info) && account_of(info) == first
    }
}

impl Context {
    /// What is known of a target of this specification.
    ///
    /// # Panics
    ///
    /// Where the knowledge is that of another specification: its rules and relations are in no run of this one.
    pub fn of(knowledge: &dyn Knowledge) -> &Self {
        let knowledge: &dyn Any = knowledge;
        knowledge.downcast_ref().expect("the rules of a specification get its own knowledge")
    }
}

impl From<Profile> for Arc<dyn Knowledge> {
    fn from(profile: Profile) -> Self {
        Arc::new(Context::new(profile))
    }
}

impl Knowledge for Context {
    paymaster_engine::knowledge_of_fields!();

    // Outside the tables the expectation is unknown: any well-formed answer is lawful.
    fn requirement(&self, call: &Call) -> Requirement {
        let operations = &self.profile.operations;
        let listed = operations.sponsorable.iter().chain(&operations.refused);
        let listed = listed
            .filter(|known| is_listed_as(known, call.operation(), false, operations))
            .collect::<Vec<_>>();
        let is_plain = keeps_to_the_tables(call, &self.dialect, &listed);
        let in_served_form = !is_plain
            && has_plain_envelope_and_info(call, &self.dialect)
            && self.served_forms.serves(call, &self.dialect);
        let within_tables = (is_plain || in_served_form) && self.takes_spelling(call);
        let beyond = self.beyond(&Parts {
            id: &call.id,
            operation: call.operation(),
            mode_object: call.mode_object(),
        });
        let is_refusable = beyond.is_some()
            && self
                .beyond(&Parts { id: &call.id, operation: &Value::Null, mode_object: call.mode_object() })
                .is_some();
        let expectation = if within_tables {
            let (operation, mode_object) = (call.operation(), call.mode_object());
            let promised = self.expectation_in(call.pair, operation, mode_object, in_served_form);
            match promised {
                Expectation::Refused | Expectation::NotSponsored if is_refusable => Expectation::NotSponsored,
                _ if is_refusable => Expectation::Unknown,
                promised => promised,
            }
        } else if self.is_refused_sender(call.operation())
            && Mode::of(call.pair) == Mode::Sponsored
            && self.takes_spelling(call)
        {
            // In no form that is a valid request: an error is lawful, and data are not.
            Expectation::NotSponsored
        } else {
            Expectation::Unknown
        };
        Requirement { within_tables, beyond: beyond.map(|bound| bound.beyond), expectation }
    }

    fn lists_as_refused(&self, request: &Value) -> bool {
        self.is_refused_sender(&request["params"][0])
    }

    fn may_serve(&self, kind: Kind) -> bool {
        !self.excludes(kind)
            && (!self.profile.tokens.is_none_supported() || Mode::of(kind) == Mode::Sponsored)
    }

    fn excludes(&self, kind: Kind) -> bool {
        !self.profile.operations.serves(Mode::of(kind))
    }

    fn knows(&self, line: &MissingLine) -> bool {
        // Of the other lines more is asked for where it is needed.
        *line == lines::SUPPORTED_TOKENS && self.tokens_with(Support::Supported).next().is_some()
    }

    fn states_sizes(&self) -> bool {
        self.limits.call_data_bytes.is_some()
    }

    fn jsonrpc_version(&self) -> &str {
        &self.dialect.jsonrpc_version
    }

    fn dialect(&self) -> Map<String, Value> {
        match serde_json::to_value(&self.dialect) {
            Ok(Value::Object(members)) => members,
            _ => Map::new(),
        }
    }

    fn kept_lines(&self, view: &View<'_>, note: &mut dyn FnMut(&'static str, usize, bool)) {
        promises::kept(view, self, note);
    }

    fn stated(&self, list: &str, place: usize) -> Option<Statement> {
        promises::stated(&self.profile, list, place)
    }

    fn with_pins_of(&self, other: &dyn Knowledge) -> Arc<dyn Knowledge> {
        let dialect = Self::of(other).profile.dialect.clone();
        Arc::new(Self::new(Profile { dialect, ..self.profile.clone() }))
    }

    fn expected(&self) -> Arc<dyn Knowledge> {
        let mut context = self.clone();
        // Most targets support tokens, and half of a plan concerns them.
        if context.tokens_with(Support::Supported).next().is_none() {
            for digit in ["a", "b", "c"] {
                context.learn_token(&format!("0x{}", digit.repeat(40)), Support::Supported);
            }
            context.learn_unlisted_tokens(Support::Unsupported);
        }
        Arc::new(context)
    }

    fn learner(&self) -> Box<dyn Learn> {
        Box::new(Learner::new(self.profile.clone()))
    }
}

/// What a quote shows of its tokens: a quoted token is supported, and a requested token that is listed as unsupported and not
/// quoted is unsupported. Addresses are lower case.
pub(crate) fn shown_support<'a>(
    requested: &'a BTreeSet<String>,
    quoted: &'a BTreeSet<String>,
    unsupported: &'a BTreeSet<String>,
) -> impl Iterator<Item = (&'a String, Support)> {
    let refused = unsupported.intersection(requested).filter(|token| !quoted.contains(*token));
    quoted
        .difference(unsupported)
        .map(|token| (token, Support::Supported))
        .chain(refused.map(|token| (token, Support::Unsupported)))
}

/// The members of an operation that the profile leaves open: those that it does not list, or that vary. Both fees are left open
/// together.
fn besides(known: &Map<String, Value>, operation: &Value, operations: &Operations) -> Value {
    let is_fixed = |name: &str| known.contains_key(name) && !operations.varies(name);
    let is_open =
        |name: &str| !is_fixed(name) || FEES.contains(&name) && !FEES.iter().all(|fee| is_fixed(fee));
    let members = operation.as_object().into_iter().flatten();
    members.filter(|(name, _)| is_open(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn has_empty_webhook_data(info: &Value) -> bool {
    info["webhookData"].as_object().is_none_or(Map::is_empty)
}

/// Whether an operation is the one that the profile lists: every listed member that does not vary is sent exactly as it is listed. Any
/// member may decide (section 4.2, rule 1), and a policy may compare letter case and notation. With `by_value`, the notation of amounts
/// does not matter, and a missing initCode is empty.
fn is_listed_as(known: &Map<String, Value>, sent: &Value, by_value: bool, operations: &Operations) -> bool {
    let empty = Value::String("0x".to_owned());
    ["initCode", "callData"].iter().all(|member| {
        known.contains_key(*member)
            || operations.varies(member)
            || sent.get(*member).is_none_or(|data| *data == empty)
    }) && known.iter().filter(|(member, _)| !operations.varies(member)).all(|(member, value)| {
        let sent = sent.get(member).or((by_value && member == "initCode").then_some(&empty));
        let is_same = |sent: &Value| {
            by_value && is_amount(member) && amount(sent).is_some() && amount(sent) == amount(value)
        };
        sent == Some(value) || !is_member(member) || sent.is_some_and(is_same)
    })
}

#[cfg(test)]
mod tests;
