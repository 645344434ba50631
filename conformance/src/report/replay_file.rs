//! Replay files: the requests of a finding, and what is needed to judge the answers to them again.

use paymaster_engine::{
    cases::{
        case::{Group, Member, Relation, Role},
        clients::find_client,
    },
    session::recheck::Original,
    verdict::finding::Finding,
};
use paymaster_fee_quote::{
    SPECIFICATION,
    target::{
        accounts::AccountService,
        context::{Context, Support},
        dialect::{Pins, QuotedTokens},
        forms::ServedForms,
        profile::{Profile, SmartAccount, Target, Token},
        quoted::QuotedFacts,
        spellings::ServedCapitals,
    },
};
use std::{
    io,
    path::{Path, PathBuf},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use paymaster_schemas::Kind;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::report::Finished;
use paymaster_client::files;
use paymaster_exchange::HeaderSet;

/// The format that this version writes.
pub(crate) const FORMAT: &str = "paymaster-replay/v2";

/// The format of earlier versions. It does not state how often the rule was broken, and in which circumstances.
const EARLIER_FORMAT: &str = "paymaster-replay/v1";

/// The target in a replay file of a run against the embedded reference server.
pub(crate) const EMBEDDED: &str = "embedded";

/// A replay file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ReplayFile {
    /// [`FORMAT`], or that of earlier versions.
    pub format: String,
    /// The rule that was broken.
    pub rule: String,
    /// The violation, and what a replay needs to show that it is fixed.
    pub finding: Original,
    /// The defect that the finding belongs to; none for a known failure, and in files of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defect: Option<ReplayDefect>,
    /// The target, secrets replaced, or [`EMBEDDED`].
    pub target: String,
    /// The seed of the run.
    pub seed: u64,
    /// The relation that built the group.
    pub relation: String,
    /// The name of the pair of method and mode, such as `quote-sponsored`.
    pub pair: Option<String>,
    /// The round of the relation.
    pub twist: u32,
    /// The requests, in order.
    pub members: Vec<ReplayRequest>,
    /// What was known about the target.
    pub known: ReplayContext,
}

/// The defect of a run that a finding belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct ReplayDefect {
    /// Its number in the reports, from 1.
    pub number: usize,
    /// What is wrong, in a sentence.
    pub headline: String,
}

/// A request in a replay file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ReplayRequest {
    /// Its role in the relation, such as `baseline`.
    pub role: String,
    /// What distinguishes it from the other requests.
    pub label: String,
    /// The body, where it is UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The body in base64, where it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_base64: Option<String>,
    /// The name of the published client whose request headers are sent; none for the plain headers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The headers of that client, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
}

/// What was known about the target when the answers were judged.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ReplayContext {
    /// The profile without the URL and the headers of the target.
    pub profile: Profile,
    /// The dialect.
    pub dialect: Pins,
    /// Tokens that the target supports.
    pub supported_tokens: Vec<String>,
    /// Tokens that it does not support.
    pub unsupported_tokens: Vec<String>,
    /// Whether all other tokens are unsupported.
    pub unlisted_tokens_are_unsupported: bool,
    /// Symbol and decimals of tokens, as the target returned them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub token_facts: Vec<Token>,
    /// Smart accounts that the target served.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub served_accounts: Vec<ServedAccount>,
    /// Forms beyond the tables that the target served.
    #[serde(default)]
    pub served_forms: ServedForms,
    /// Where the target served addresses in capital letters.
    #[serde(default)]
    pub served_capitals: ServedCapitals,
    /// The paymaster and the prices of the first quotes.
    #[serde(default)]
    pub quoted: QuotedFacts,
}

/// A smart account that the target served in a pair of method and mode.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ServedAccount {
    /// The pair, as `quote-sponsored`.
    pub pair: String,
    /// `smartAccountInfo.name`.
    pub name: String,
    /// `smartAccountInfo.version`.
    pub version: String,
    /// Whether an operation of it was sponsored.
    pub sponsored: bool,
}

impl ReplayFile {
    /// The replay file of a finding that belongs to this defect.
    pub(crate) fn of(finding: &Finding, defect: Option<ReplayDefect>, finished: &Finished<'_>) -> Self {
        let summary = finished.summary;
        let mut original = Original::of(finding, summary, finished.context.specification());
        for text in [&mut original.pointer, &mut original.expected, &mut original.actual] {
            *text = finished.redacted(text);
        }
        Self {
            format: FORMAT.to_owned(),
            rule: finding.rule.id.to_owned(),
            finding: original,
            defect,
            target: target_of(finished),
            seed: summary.seed,
            relation: finding.group.relation.id.to_owned(),
            pair: finding.group.pair.map(|pair| pair.name.to_owned()),
            twist: finding.group.round,
            members: finding.group.members.iter().map(ReplayRequest::of).collect(),
            known: ReplayContext::of(Context::of(finished.context)),
        }
    }

    /// Reads a replay file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or is not a replay file of this version or an earlier one.
    pub(crate) fn read(path: &Path) -> Result<Self, ReplayFileError> {
        let unreadable = |cause: io::Error| ReplayFileError::Unreadable { path: path.to_owned(), cause };
        let text = files::read_text(path, files::WRITTEN_BY_A_RUN).map_err(unreadable)?;
        let replay: Self = serde_json::from_str(&text).map_err(|cause| unreadable(cause.into()))?;
        if replay.format != FORMAT && replay.format != EARLIER_FORMAT {
            return Err(ReplayFileError::OtherFormat { path: path.to_owned(), format: replay.format });
        }
        Ok(replay)
    }

    /// The group to send.
    ///
    /// # Errors
    ///
    /// When the relation is none of `relations`, or a body cannot be decoded.
    pub(crate) fn group(&self, relations: &[&'static Relation]) -> Result<Group, ReplayFileError> {
        let relation = relations
            .iter()
            .find(|relation| relation.id == self.relation)
            .ok_or_else(|| ReplayFileError::UnknownRelation(self.relation.clone()))?;
        let members = self.members.iter().map(ReplayRequest::member).collect::<Result<_, _>>()?;
        Ok(Group {
            number: 0,
            relation,
            pair: self.pair.as_deref().and_then(pair_named),
            base: Value::Null,
            round: self.twist,
            first_id: 0,
            members,
        })
    }
}

impl ReplayRequest {
    fn of(member: &Member) -> Self {
        let text = std::str::from_utf8(&member.body).ok();
        Self {
            role: member.role.name().to_owned(),
            label: member.label.clone(),
            body: text.map(str::to_owned),
            body_base64: text.is_none().then(|| BASE64_STANDARD.encode(&member.body)),
            client: member.sent_as.map(|client| client.name.to_owned()),
            headers: member
                .sent_as
                .iter()
                .flat_map(|client| client.lines)
                .map(|(name, value)| format!("{name}: {value}"))
                .collect(),
        }
    }

    fn member(&self) -> Result<Member, ReplayFileError> {
        let body = match (&self.body, &self.body_base64) {
            (Some(text), None) => Bytes::from(text.clone()),
            (None, Some(encoded)) => {
                BASE64_STANDARD.decode(encoded).map_err(ReplayFileError::NotBase64)?.into()
            }
            _ => return Err(ReplayFileError::NotOneBody),
        };
        Ok(Member {
            role: Role::from_name(&self.role)
                .ok_or_else(|| ReplayFileError::UnknownRole(self.role.clone()))?,
            label: self.label.clone(),
            body,
            sent_as: self.client.as_deref().map(client_named).transpose()?,
        })
    }
}

impl ReplayContext {
    fn of(context: &Context) -> Self {
        let tokens = |support| context.tokens_with(support).map(str::to_owned).collect();
        let dialect = &context.dialect;
        Self {
            profile: Profile { target: Target::default(), ..context.profile.clone() },
            dialect: Pins {
                jsonrpc_version: Some(dialect.jsonrpc_version.clone()),
                sponsored_name: Some(dialect.sponsored_name.clone()),
                fee_token_member: Some(dialect.fee_token_member.clone()),
                mode_member: Some(dialect.mode_member.clone()),
                amount_notation: Some(dialect.amount_notation),
                quoted_tokens: Some(dialect.quoted_tokens)
                    .filter(|reading| *reading != QuotedTokens::Unknown),
            },
            supported_tokens: tokens(Support::Supported),
            unsupported_tokens: tokens(Support::Unsupported),
            unlisted_tokens_are_unsupported: context.unlisted_tokens == Support::Unsupported,
            token_facts: context.facts.all().cloned().collect(),
            served_accounts: context
                .served_accounts
                .all()
                .map(|record| ServedAccount {
                    pair: record.pair.name.to_owned(),
                    name: record.account.name,
                    version: record.account.version,
                    sponsored: record.service == AccountService::Sponsored,
                })
                .collect(),
            served_forms: context.served_forms.clone(),
            served_capitals: context.served_capitals.clone(),
            quoted: context.quoted.clone(),
        }
    }

    /// The context in which answers are judged.
    pub(crate) fn context(&self) -> Context {
        let mut context = Context::new(Profile { dialect: self.dialect.clone(), ..self.profile.clone() });
        for token in &self.supported_tokens {
            context.learn_token(token, Support::Supported);
        }
        for token in &self.unsupported_tokens {
            context.learn_token(token, Support::Unsupported);
        }
        for token in &self.token_facts {
            context.facts.note(token);
        }
        for served in &self.served_accounts {
            let service = if served.sponsored { AccountService::Sponsored } else { AccountService::Answered };
            let account = SmartAccount { name: served.name.clone(), version: served.version.clone() };
            if let Some(pair) = pair_named(&served.pair) {
                context.served_accounts.note(pair, &account, service);
            }
        }
        context.served_forms = self.served_forms.clone();
        context.served_capitals = self.served_capitals.clone();
        context.quoted = self.quoted.clone();
        if self.unlisted_tokens_are_unsupported {
            context.unlisted_tokens = Support::Unsupported;
        }
        context
    }
}

/// Why a replay file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayFileError {
    /// The file cannot be read, or is not JSON of the right form.
    #[error("{}: {cause}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    /// The file has a format that this version does not know.
    #[error("{}: the format is `{format}`; this version reads `{FORMAT}`", path.display())]
    OtherFormat { path: PathBuf, format: String },
    /// This version has no relation with this id.
    #[error("there is no relation `{0}` in this version")]
    UnknownRelation(String),
    /// This version has no role with this name.
    #[error("there is no role `{0}` in this version")]
    UnknownRole(String),
    /// This version has no published client with this name.
    #[error("there is no client `{0}` in this version: its request headers are not known")]
    UnknownClient(String),
    /// A body is not base64.
    #[error("a body is not base64: {0}")]
    NotBase64(#[source] base64::DecodeError),
    /// A member has no body, or two.
    #[error("a member needs exactly one of body and body_base64")]
    NotOneBody,
}

/// The target of a run as its replay files name it.
pub(crate) fn target_of(finished: &Finished<'_>) -> String {
    if finished.place.embedded { EMBEDDED.to_owned() } else { finished.place.shown.clone() }
}

fn client_named(name: &str) -> Result<&'static HeaderSet, ReplayFileError> {
    find_client(name).ok_or_else(|| ReplayFileError::UnknownClient(name.to_owned()))
}

fn pair_named(name: &str) -> Option<Kind> {
    SPECIFICATION.find_kind(name)
}

#[cfg(test)]
mod tests {
    use paymaster_schemas::kinds;

    use super::*;
    use paymaster_engine::message::request::ParsedRequest;
    use paymaster_fee_quote::target::dialect::{Amounts, Dialect};
    use serde_json::{Value, json};

    #[test]
    fn the_context_survives_a_replay_file() {
        let mut learned = Context::new(Profile {
            target: Target { url: Some("http://a.test/key".to_owned()), ..Target::default() },
            ..Profile::default()
        });
        learned.dialect = Dialect {
            jsonrpc_version: "2.0.0".to_owned(),
            sponsored_name: "SPONSOR".to_owned(),
            fee_token_member: "tokenAddress".to_owned(),
            mode_member: "mode".to_owned(),
            amount_notation: Amounts::Mixed,
            quoted_tokens: QuotedTokens::List,
        };
        learned.learn_token("0xab", Support::Supported);
        learned.learn_token("0xcd", Support::Unsupported);
        let account = |name: &str| SmartAccount { name: name.to_owned(), version: "1.0.0".to_owned() };
        let served = &mut learned.served_accounts;
        served.note(kinds::QUOTE_SPONSORED, &account("A"), AccountService::Answered);
        served.note(kinds::SPONSOR_SPONSORED, &account("B"), AccountService::Sponsored);
        let request = concat!(
            r#"{"jsonrpc":"2.0.0","id":1,"method":"pm_sponsorUserOperation","params":[{"sender":"0xABCDEFABCDEFABCDEFABCDEFABCDEFABCDEFABCD","#,
            r#""nonce":"0x1","callData":"0x","maxFeePerGas":"1","maxPriorityFeePerGas":"1"},{"mode":"ERC20","#,
            r#""tokenInfo":{"feeTokenAddress":"0x27a44456bedb94dbd59d0f0a14fe977c777fc5c3"}}]}"#
        );
        let request = ParsedRequest::of(request.as_bytes(), &SPECIFICATION);
        let call = request.valid_call().expect("it is valid");
        learned.served_forms.learn(call, &learned.dialect);
        learned.served_capitals.learn(call, &Value::Null);
        learned.quoted.learn(&json!({"paymasterAddress": "0xEF"}), None);
        assert_ne!(learned.served_forms, ServedForms::default());
        assert_ne!(learned.served_capitals, ServedCapitals::default());
        learned.unlisted_tokens = Support::Unsupported;
        learned.facts.note(&Token {
            address: "0xAB".to_owned(),
            symbol: Some("ONE".to_owned()),
            decimals: Some(6),
        });

        let written = serde_json::to_string(&ReplayContext::of(&learned)).unwrap();
        assert!(!written.contains("key"), "{written}");
        let mut again = serde_json::from_str::<ReplayContext>(&written).unwrap().context();
        assert_eq!(again.profile.target, Target::default());
        again.profile = learned.profile.clone();
        assert_eq!(again, learned);
        assert_eq!(again.quoted.paymaster.as_deref(), Some("0xef"));
    }
}
