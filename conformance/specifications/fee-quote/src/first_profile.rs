//! The text of a first profile: what a survey found, each line marked as found, and comments for what only the vendor can say.

use std::collections::BTreeSet;

use paymaster_engine::first_profile::{FirstProfile, ProfileText, entry, list};
use paymaster_engine::rules::{MissingLine, count, missing_line};
use paymaster_schemas::{Kind, Mode, kinds};
use serde::Serialize;
use serde_json::{Map, Value};
use toml_edit::{Array, InlineTable};

use crate::survey::{Decision, Survey};
use crate::target::{
    CALL_DATA_BYTES, CLIENT_FORMS, Context, QuotedTokens, SmartAccount, Support, TOKEN_LIST_LENGTH,
    is_address,
};
use crate::{SPECIFICATION, lines};

/// The most tokens that are written.
const MOST_TOKENS: usize = 50;
/// The longest symbol of a token that is written, in characters.
const LONGEST_SYMBOL: usize = 32;
/// Ordinary sizes: a smaller limit is written, a larger one is a promise that only the vendor can make.
const ORDINARY_SIZES: [(&str, u64); 2] =
    [("call-data-bytes", CALL_DATA_BYTES), ("token-list-length", TOKEN_LIST_LENGTH)];
/// An operation that the target sponsors: the key that makes most rules conclusive.
const ONE_KEY: &str = r#"sponsorable = [{ sender = "0x...", nonce = "0", callData = "0x..." }]"#;

impl Survey {
    /// What was found; `is_public` says whether a text of the target has no secret.
    pub(crate) fn first_profile(self, is_public: &dyn Fn(&str) -> bool) -> FirstProfile {
        let mut tables = Tables { found: &self, is_public, text: ProfileText::default() };
        tables.operations();
        tables.tokens();
        tables.limits();
        tables.dialect();
        tables.accounts();
        FirstProfile {
            findings: self.findings(),
            tables: tables.text.0,
            needs: (!self.serves_anything()).then_some(&lines::SPONSORABLE),
            access: self.access,
        }
    }

    fn serves_anything(&self) -> bool {
        self.reached.serves_any(&kinds::ALL)
    }

    fn findings(&self) -> Vec<String> {
        let dialect = &self.context.dialect;
        let mut lines = vec![format!(
            "jsonrpc {}, mode {}, {}, {} amounts",
            dialect.jsonrpc_version,
            dialect.sponsored_name,
            dialect.fee_token_member,
            name_of(&dialect.amount_notation)
        )];
        lines.extend(self.reached.lines(&kinds::ALL));
        let clients: BTreeSet<&str> = kinds::ALL
            .into_iter()
            .flat_map(|pair| self.context.served_forms.named(pair))
            .map(|form| form.name)
            .filter(|name| CLIENT_FORMS.iter().any(|form| form.name == *name))
            .collect();
        if !clients.is_empty() {
            let names: Vec<&str> = clients.into_iter().collect();
            lines.push(format!("served forms of published clients: {}", names.join(", ")));
        }
        let tokens = |support| self.context.tokens_with(support).count();
        lines.push(format!(
            "{} supported, {} not; {}",
            count(tokens(Support::Supported) as u128, "token"),
            tokens(Support::Unsupported),
            count(self.context.served_accounts.accounts().len() as u128, "smart account")
        ));
        lines
    }
}

struct Tables<'a> {
    found: &'a Survey,
    is_public: &'a dyn Fn(&str) -> bool,
    text: ProfileText,
}

impl Tables<'_> {
    fn operations(&mut self) {
        self.text.table("operations");
        let found = self.found;
        if !found.serves_anything() {
            let waiting = waiting(&found.context, &lines::SPONSORABLE)
                + waiting(&found.context, &lines::SUPPORTED_TOKENS);
            self.text.example(
                &format!("The one key to write: an operation that it sponsors. {waiting} rules wait for it."),
                ONE_KEY,
            );
            self.text.example(
                "Members of these operations that may have any other value: rules about them then apply.",
                r#"vary = ["nonce"]"#,
            );
            return;
        }
        let only_sponsored = BTreeSet::from([Decision::Sponsored]);
        let sponsored = found.operations.iter().filter(|(_, decisions)| *decisions == only_sponsored);
        let sponsored = sponsored.map(|(operation, _)| inline_table(operation));
        match sponsored.min_by_key(|operation| operation.to_string().len()) {
            Some(operation) => self.text.only_you(
                "Operations that it always sponsors. found: it sponsored this one twice.",
                "sponsorable",
                Array::from_iter([operation]),
            ),
            None => self.text.example("Operations that it always sponsors.", ONE_KEY),
        }
        let with = |decision| found.operations.iter().filter(|(_, all)| all.contains(&decision)).count();
        if let Some((mode, times, message)) = found.refused_mode() {
            let message =
                if (self.is_public)(message) { format!(" with {message:?}") } else { String::new() };
            let other = Mode::ALL.into_iter().find(|other| *other != mode).unwrap_or(mode);
            self.text.example(
                &format!(
                    "The modes that it serves, where it serves one only. found: {times} of {times} requests in mode {mode} were refused{message}."
                ),
                &format!(r#"modes = ["{other}"]"#),
            );
        }
        let (tried, denied) = (found.operations.len(), with(Decision::NotSponsored));
        let served = tried - with(Decision::Refused);
        self.text.example(
            "Operations that it does not sponsor: two rules wait for one, or for refused-senders = [\"0x...\"].",
            r#"refused = [{ sender = "0x...", nonce = "0", callData = "0x..." }]"#,
        );
        self.text.example(
            &format!(
                "Whether every well-formed operation gets a result (\"any\"), or listed ones alone (\"listed\"). found: {served} of {tried} \
                 made-up operations got one."
            ),
            r#"accepts = "any""#,
        );
        self.text.example(
            &format!(
                "Whether each of them is sponsored (\"any\") or none is (\"none\"). found: {denied} of {tried} were not sponsored."
            ),
            r#"sponsors = "any""#,
        );
    }

    fn tokens(&mut self) {
        self.text.table("tokens");
        let context = &self.found.context;
        let addresses =
            |support| context.tokens_with(support).take(MOST_TOKENS).filter(|token| is_address(token));
        let known: Vec<InlineTable> = addresses(Support::Supported).map(|token| self.token(token)).collect();
        let unsupported: Array = addresses(Support::Unsupported).collect();
        if known.is_empty() {
            self.text.example(
                &format!(
                    "Tokens that it supports: {} rules wait for one. found: none of the well-known tokens was quoted.",
                    waiting(context, &lines::SUPPORTED_TOKENS)
                ),
                r#"supported = [{ address = "0x..." }]"#,
            );
        } else {
            self.text.found("found: quoted", "supported", list(known));
        }
        if !unsupported.is_empty() {
            self.text.found("found: in unsupportedTokens of a quote", "unsupported", unsupported);
        }
        self.text.example(
            "Whether the list above is complete: every other token is then unsupported.",
            "complete = true",
        );
    }

    /// An entry of `tokens.supported`.
    fn token(&self, address: &str) -> InlineTable {
        let facts = self.found.context.facts.of(address);
        let mut entry = InlineTable::from_iter([("address", address)]);
        let symbol = facts.and_then(|facts| facts.symbol.as_deref());
        if let Some(symbol) = symbol.filter(|symbol| self.is_plain(symbol)) {
            entry.insert("symbol", symbol.into());
        }
        if let Some(decimals) = facts.and_then(|facts| facts.decimals) {
            entry.insert("decimals", i64::from(decimals).into());
        }
        entry
    }

    /// Whether a text of the target is worth writing, and holds no secret.
    fn is_plain(&self, text: &str) -> bool {
        !text.is_empty()
            && text.len() <= LONGEST_SYMBOL
            && text.chars().all(|letter| letter.is_ascii_graphic())
            && (self.is_public)(text)
    }

    fn limits(&mut self) {
        let (mut smaller, mut larger) = (Vec::new(), Vec::new());
        for (key, ordinary) in ORDINARY_SIZES {
            let tried: Vec<_> = self.found.sizes.iter().filter(|tried| tried.key == key).collect();
            let refused = tried.iter().position(|tried| !tried.served);
            // Where not even the smallest is served, the size is not the reason.
            let served = &tried[..refused.unwrap_or(tried.len())];
            let Some(largest) = served.last() else { continue };
            let line = (key, i64::try_from(largest.size).unwrap_or(i64::MAX));
            if refused.is_some() && largest.size < ordinary {
                smaller.push(line);
            } else if largest.size > ordinary {
                larger.push(line);
            }
        }
        if smaller.is_empty() && larger.is_empty() {
            return;
        }
        self.text.table("limits");
        for (key, size) in smaller {
            self.text.found("found: a larger request was refused", key, size);
        }
        for (key, size) in larger {
            self.text.only_you(
                "found: the target served a request of this size, larger than those that wallets send. A run with this line fails when such a request is refused.",
                key,
                size,
            );
        }
    }

    fn dialect(&mut self) {
        if !self.found.serves_anything() {
            return;
        }
        let dialect = &self.found.context.dialect;
        let reached = |pair| self.found.reached.serves_any(&[pair]);
        let sponsored = kinds::ALL.into_iter().any(|pair| Mode::of(pair) == Mode::Sponsored && reached(pair));
        let is_plain = |text: &String| self.is_plain(text);
        let sponsored_name = Some(&dialect.sponsored_name).filter(|_| sponsored);
        let quoted =
            (dialect.quoted_tokens != QuotedTokens::Unknown).then(|| name_of(&dialect.quoted_tokens));
        let entries = [
            ("amount-notation", Some(name_of(&dialect.amount_notation))),
            ("jsonrpc-version", Some(&dialect.jsonrpc_version).filter(|text| is_plain(text)).cloned()),
            ("sponsored-name", sponsored_name.filter(|text| is_plain(text)).cloned()),
            ("fee-token-member", reached(kinds::SPONSOR_ERC20).then(|| dialect.fee_token_member.clone())),
            ("quoted-tokens", quoted),
        ];
        self.text.table("dialect");
        self.text.comment("found: served");
        for (key, value) in entries {
            if let Some(value) = value {
                self.text.line(&entry(key, value.into()));
            }
        }
    }

    fn accounts(&mut self) {
        let served = &self.found.context.served_accounts;
        let accounts = served.accounts();
        let sponsored = || served.all().filter(|(pair, ..)| Mode::of(*pair) == Mode::Sponsored);
        let best = sponsored().map(|(_, _, service)| service).max();
        let pairs: BTreeSet<Kind> = sponsored().map(|(pair, ..)| pair).collect();
        // One that is served worse than another, or not by both methods, is one that the target may refuse.
        let is_full = |account: &SmartAccount| {
            pairs.iter().all(|pair| served.service(*pair, account) == best) && !pairs.is_empty()
        };
        let is_writable =
            |account: &SmartAccount| self.is_plain(&account.name) && self.is_plain(&account.version);
        let writable: Vec<SmartAccount> = accounts.into_iter().filter(is_writable).collect();
        for account in &writable {
            let entries = [("name", account.name.as_str()), ("version", account.version.as_str())];
            let (is_full, how) = (is_full(account), "found: served, but not as well as others");
            self.text.element(if is_full { "found: served" } else { how }, is_full, "accounts", &entries);
        }
        if writable.is_empty() {
            let about = "A smart account implementation that it serves; repeat the block for more.";
            let example = [("name", "BICONOMY"), ("version", "2.0.0")];
            self.text.element(about, false, "accounts", &example);
        }
    }
}

/// How many rules wait for a line of the profile.
fn waiting(context: &Context, line: &'static MissingLine) -> usize {
    let waits = |rule: &&_| missing_line(rule, context) == Some(line);
    SPECIFICATION.rules().filter(waits).count()
}

/// The members of section 2.2 as an inline table.
fn inline_table(operation: &Map<String, Value>) -> InlineTable {
    operation.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))).collect()
}

/// The name of a value in a configuration file.
fn name_of(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
