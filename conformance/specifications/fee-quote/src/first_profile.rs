//! The text of a first profile: what a survey found, each line marked as found, and comments for what only the vendor can say.

use std::{collections::BTreeSet, fmt::Write as _};

use paymaster_engine::{
    first_profile::{FirstProfile, ProfileText},
    verdict::{
        line::count,
        profile_line::{MissingLine, missing_line},
    },
};
use paymaster_schemas::{Kind, Mode, kinds};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    SPECIFICATION, lines,
    survey::{Decision, Survey},
    target::{
        context::{Context, Support},
        dialect::QuotedTokens,
        forms::CLIENT_FORMS,
        ordinary::{CALL_DATA_BYTES, TOKEN_LIST_LENGTH},
        profile::SmartAccount,
        validation::is_address,
    },
};

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
            self.text.only_you(
                &format!("The one key to write: an operation that it sponsors. {waiting} rules wait for it."),
                &[ONE_KEY],
            );
            self.text.only_you(
                "Members of these operations that may have any other value: rules about them then apply.",
                &[r#"vary = ["nonce"]"#],
            );
            return;
        }
        let only_sponsored = BTreeSet::from([Decision::Sponsored]);
        let sponsored = found.operations.iter().filter(|(_, decisions)| *decisions == only_sponsored);
        match sponsored.map(|(operation, _)| inline_table(operation)).min_by_key(String::len) {
            Some(operation) => self.text.only_you(
                "Operations that it always sponsors. found: it sponsored this one twice.",
                &[&format!("sponsorable = [{operation}]")],
            ),
            None => self.text.only_you("Operations that it always sponsors.", &[ONE_KEY]),
        }
        let with = |decision| found.operations.iter().filter(|(_, all)| all.contains(&decision)).count();
        if let Some((times, message)) = found.refused_token_mode() {
            let message =
                if (self.is_public)(message) { format!(" with {message:?}") } else { String::new() };
            self.text.only_you(
                &format!(
                    "The modes that it serves, where it serves one only. found: {times} of {times} requests in mode ERC20 were refused{message}."
                ),
                &[r#"modes = ["SPONSORED"]"#],
            );
        }
        let (tried, denied) = (found.operations.len(), with(Decision::NotSponsored));
        let served = tried - with(Decision::Refused);
        self.text.only_you(
            "Operations that it does not sponsor: two rules wait for one.",
            &[r#"refused = [{ sender = "0x...", nonce = "0", callData = "0x..." }]"#],
        );
        self.text.only_you(
            &format!(
                "Whether every well-formed operation gets a result (\"any\"), or listed ones alone (\"listed\"). found: {served} of {tried} \
                 made-up operations got one."
            ),
            &[r#"accepts = "any""#],
        );
        self.text.only_you(
            &format!(
                "Whether each of them is sponsored (\"any\") or none is (\"none\"). found: {denied} of {tried} were not sponsored."
            ),
            &[r#"sponsors = "any""#],
        );
    }

    fn tokens(&mut self) {
        self.text.table("tokens");
        let context = &self.found.context;
        let addresses =
            |support| context.tokens_with(support).take(MOST_TOKENS).filter(|token| is_address(token));
        let known: Vec<String> =
            addresses(Support::Supported).map(|token| format!("  {},", self.token(token))).collect();
        let unsupported: Vec<String> =
            addresses(Support::Unsupported).map(|token| format!("\"{token}\"")).collect();
        if known.is_empty() {
            self.text.only_you(
                &format!(
                    "Tokens that it supports: {} rules wait for one. found: none of the well-known tokens was quoted.",
                    waiting(context, &lines::SUPPORTED_TOKENS)
                ),
                &[r#"supported = [{ address = "0x..." }]"#],
            );
        } else {
            self.text.found("found: quoted", &["supported = [", &known.join("\n"), "]"]);
        }
        if !unsupported.is_empty() {
            let line = format!("unsupported = [{}]", unsupported.join(", "));
            self.text.found("found: in unsupportedTokens of a quote", &[&line]);
        }
        self.text.only_you(
            "Whether the list above is complete: every other token is then unsupported.",
            &["complete = true"],
        );
    }

    /// An entry of `tokens.supported`.
    fn token(&self, address: &str) -> String {
        let facts = self.found.context.facts.of(address);
        let mut entry = format!("{{ address = \"{address}\"");
        let symbol = facts.and_then(|facts| facts.symbol.as_deref());
        if let Some(symbol) = symbol.filter(|symbol| self.is_plain(symbol)) {
            // Writing to a String cannot fail.
            let _ = write!(entry, ", symbol = \"{symbol}\"");
        }
        if let Some(decimals) = facts.and_then(|facts| facts.decimals) {
            let _ = write!(entry, ", decimals = {decimals}");
        }
        entry + " }"
    }

    /// Whether a text of the target can stand between quotes as it is, and holds no secret.
    fn is_plain(&self, text: &str) -> bool {
        let is_plain = |letter: char| letter.is_ascii_graphic() && !matches!(letter, '"' | '\\');
        !text.is_empty()
            && text.len() <= LONGEST_SYMBOL
            && text.chars().all(is_plain)
            && (self.is_public)(text)
    }

    fn limits(&mut self) {
        let (mut smaller, mut larger) = (Vec::new(), Vec::new());
        for (key, ordinary) in ORDINARY_SIZES {
            let tried: Vec<_> = self.found.sizes.iter().filter(|tried| tried.key == key).collect();
            let refused = tried.iter().position(|tried| !tried.served);
            // Where not even the smallest is served, the size is not the reason.
            let served = &tried[..refused.unwrap_or(tried.len())];
            let Some(largest) = served.last() else {
                continue;
            };
            let line = format!("{key} = {}", largest.size);
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
        for line in smaller {
            self.text.found("found: a larger request was refused", &[&line]);
        }
        for line in larger {
            self.text.only_you(
                "found: the target served a request of this size, larger than those that wallets send. A run with this line fails when such a request is refused.",
                &[&line],
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
        let mut lines = vec![format!("amount-notation = \"{}\"", name_of(&dialect.amount_notation))];
        if self.is_plain(&dialect.jsonrpc_version) {
            lines.push(format!("jsonrpc-version = \"{}\"", dialect.jsonrpc_version));
        }
        if sponsored && self.is_plain(&dialect.sponsored_name) {
            lines.push(format!("sponsored-name = \"{}\"", dialect.sponsored_name));
        }
        if reached(kinds::SPONSOR_ERC20) {
            lines.push(format!("fee-token-member = \"{}\"", dialect.fee_token_member));
        }
        if dialect.quoted_tokens != QuotedTokens::Unknown {
            lines.push(format!("quoted-tokens = \"{}\"", name_of(&dialect.quoted_tokens)));
        }
        self.text.table("dialect");
        self.text.found("found: served", &[&lines.join("\n")]);
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
            self.text.line("");
            let (name, version) =
                (format!("name = \"{}\"", account.name), format!("version = \"{}\"", account.version));
            let lines = ["[[accounts]]", &name, &version];
            if is_full(account) {
                self.text.found("found: served", &lines);
            } else {
                self.text.only_you("found: served, but not as well as others", &lines);
            }
        }
        if writable.is_empty() {
            self.text.line("");
            self.text.only_you(
                "A smart account implementation that it serves; repeat the block for more.",
                &["[[accounts]]", "name = \"BICONOMY\"", "version = \"2.0.0\""],
            );
        }
    }
}

/// How many rules wait for a line of the profile.
fn waiting(context: &Context, line: &'static MissingLine) -> usize {
    let waits = |rule: &&_| missing_line(rule, context) == Some(line);
    SPECIFICATION.rules().filter(waits).count()
}

/// The members of section 2.2 as an inline table of TOML.
fn inline_table(operation: &Map<String, Value>) -> String {
    let members: Vec<String> = operation
        .iter()
        .filter_map(|(name, value)| Some(format!("{name} = \"{}\"", value.as_str()?)))
        .collect();
    format!("{{ {} }}", members.join(", "))
}

/// The name of a value in a configuration file.
fn name_of(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
