//! The first profile of a target: what a survey found, each line marked as found, and comments for what only the vendor can say.
//!
//! It promises nothing that the target did not show, and nothing that one answer cannot show: whether other operations get a result, or
//! a larger size is always served. A lawful target is never accused with it.

use paymaster_engine::verdict::profile_line::{MissingLine, missing_line};
use paymaster_fee_quote::{
    SPECIFICATION, lines,
    survey::{Decision, SurveyResult},
    target::{
        context::{Context, Support},
        dialect::QuotedTokens,
        forms::CLIENT_FORMS,
        ordinary::{CALL_DATA_BYTES, TOKEN_LIST_LENGTH},
        profile::SmartAccount,
    },
};
use std::{collections::BTreeSet, fmt::Write as _};

use paymaster_client::redact::Redactor;
use paymaster_schemas::{Kind, Mode, kinds};
use paymaster_settings::{output::terminal::escape_controls, settings::ShownTarget};
use serde_json::{Map, Value};

use crate::{
    report::text::words::{self, count, is_address, message_of_target, name_of},
    run::Surveyed,
};

/// The most tokens that are written.
const MOST_TOKENS: usize = 50;
/// The longest symbol of a token that is written, in characters.
const LONGEST_SYMBOL: usize = 32;
/// Ordinary sizes: a smaller limit is written, a larger one is a promise that only the vendor can make.
const ORDINARY_SIZES: [(&str, u64); 2] =
    [("call-data-bytes", CALL_DATA_BYTES), ("token-list-length", TOKEN_LIST_LENGTH)];

/// The settings of the command line that are worth a line, and the target as it may be shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given<'a> {
    pub(crate) place: &'a ShownTarget,
    pub(crate) redactor: &'a Redactor,
    /// `--rate`, in requests a second.
    pub(crate) rate: Option<f64>,
}

/// The one key that makes most rules conclusive, for a target that refuses every operation.
pub(crate) const ONE_KEY: &str = r#"sponsorable = [{ sender = "0x...", nonce = "0", callData = "0x..." }]"#;

/// What the survey found, for people, one thing a line.
pub(crate) fn findings(surveyed: &Surveyed, given: Given<'_>) -> Vec<String> {
    let found = &surveyed.result;
    let mut lines = Vec::new();
    if !found.serves_anything() {
        lines.push(refused(found, given));
        return lines;
    }
    let dialect = &found.context.dialect;
    lines.push(format!(
        "jsonrpc {}, mode {}, {}, {} amounts",
        dialect.jsonrpc_version,
        dialect.sponsored_name,
        dialect.fee_token_member,
        name_of(&dialect.amount_notation)
    ));
    for pair in kinds::ALL {
        let (results, errors) = found.reached.get(&pair).copied().unwrap_or_default();
        lines.push(format!("{}: {}, {}", pair.name, count(results, "result"), count(errors, "error")));
    }
    let clients: BTreeSet<&str> = kinds::ALL
        .into_iter()
        .flat_map(|pair| found.context.served_forms.named(pair))
        .map(|form| form.name)
        .filter(|name| CLIENT_FORMS.iter().any(|form| form.name == *name))
        .collect();
    if !clients.is_empty() {
        let names: Vec<&str> = clients.into_iter().collect();
        lines.push(format!("served forms of published clients: {}", names.join(", ")));
    }
    let tokens = |support| found.context.tokens_with(support).count();
    lines.push(format!(
        "{} supported, {} not; {}",
        count(tokens(Support::Supported) as u128, "token"),
        tokens(Support::Unsupported),
        count(found.context.served_accounts.accounts().len() as u128, "smart account")
    ));
    if let Some(refusal) = found.access.outcomes.commonest_refusal(&kinds::ALL) {
        lines.push(format!(
            "the commonest refusal, {}: {}",
            count(refusal.times, "time"),
            message_of_target(&refusal.message, given.redactor)
        ));
    }
    lines
}

/// The commonest refusal of a target that serves nothing.
fn refused(found: &SurveyResult, given: Given<'_>) -> String {
    match found.access.outcomes.commonest_refusal(&kinds::ALL) {
        Some(refusal) => words::refused(&refusal, kinds::ALL.len(), given.redactor),
        None => "the target served no operation".to_owned(),
    }
}

/// The text of the file.
pub(crate) fn text(surveyed: &Surveyed, given: Given<'_>) -> String {
    let mut file = File { surveyed, found: &surveyed.result, given, text: String::new() };
    file.head();
    file.operations();
    file.tokens();
    file.limits();
    file.target();
    file.dialect();
    file.accounts();
    file.text
}

struct File<'a> {
    surveyed: &'a Surveyed,
    found: &'a SurveyResult,
    given: Given<'a>,
    text: String,
}

impl File<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A comment of one line.
    fn comment(&mut self, text: &str) {
        self.line(&format!("# {}", escape_controls(text)));
    }

    /// A key that only the vendor can write.
    fn only_you(&mut self, text: &str, lines: &[&str]) {
        self.marked(text, "#: ", lines);
    }

    /// What the target showed.
    fn found(&mut self, text: &str, lines: &[&str]) {
        self.marked(text, "", lines);
    }

    fn marked(&mut self, text: &str, mark: &str, lines: &[&str]) {
        self.comment(text);
        for line in lines {
            self.line(&format!("{mark}{line}"));
        }
    }

    fn table(&mut self, name: &str) {
        self.line(&format!("\n[{name}]"));
    }

    fn head(&mut self) {
        self.comment(&format!(
            "The profile of {}, as `paymaster-conformance init URL` found it with {}.",
            self.given.place.shown,
            count(self.surveyed.requests as u128, "request")
        ));
        self.comment("Lines marked `found` are what the target showed. Lines that begin with `#:` are what only you can say, the most");
        self.comment("valuable first: remove the `#:` where they are true. `paymaster-conformance init` writes a file with every key.");
        if let Some(cause) = &self.surveyed.ended {
            let cause = self.given.redactor.apply(cause).into_owned();
            self.comment(&format!("The survey did not come to its end: {cause}."));
        }
    }

    fn operations(&mut self) {
        self.table("operations");
        let found = self.found;
        if !found.serves_anything() {
            self.comment(&refused(found, self.given));
            let waiting = waiting(&found.context, &lines::SPONSORABLE)
                + waiting(&found.context, &lines::SUPPORTED_TOKENS);
            self.only_you(
                &format!("The one key to write: an operation that it sponsors. {waiting} rules wait for it."),
                &[ONE_KEY],
            );
            self.only_you(
                "Members of these operations that may have any other value: rules about them then apply.",
                &[r#"vary = ["nonce"]"#],
            );
            return;
        }
        let only_sponsored = BTreeSet::from([Decision::Sponsored]);
        let sponsored = found.operations.iter().filter(|(_, decisions)| *decisions == only_sponsored);
        match sponsored.map(|(operation, _)| inline_table(operation)).min_by_key(String::len) {
            Some(operation) => self.only_you(
                "Operations that it always sponsors. found: it sponsored this one twice.",
                &[&format!("sponsorable = [{operation}]")],
            ),
            None => self.only_you("Operations that it always sponsors.", &[ONE_KEY]),
        }
        let with = |decision| found.operations.iter().filter(|(_, all)| all.contains(&decision)).count();
        let (tried, denied) = (found.operations.len(), with(Decision::NotSponsored));
        let served = tried - with(Decision::Refused);
        self.only_you(
            "Operations that it does not sponsor: two rules wait for one.",
            &[r#"refused = [{ sender = "0x...", nonce = "0", callData = "0x..." }]"#],
        );
        self.only_you(
            &format!(
                "Whether every well-formed operation gets a result (\"any\"), or listed ones alone (\"listed\"). found: {served} of {tried} \
                 made-up operations got one."
            ),
            &[r#"accepts = "any""#],
        );
        self.only_you(
            &format!(
                "Whether each of them is sponsored (\"any\") or none is (\"none\"). found: {denied} of {tried} were not sponsored."
            ),
            &[r#"sponsors = "any""#],
        );
    }

    fn tokens(&mut self) {
        self.table("tokens");
        let context = &self.found.context;
        let addresses =
            |support| context.tokens_with(support).take(MOST_TOKENS).filter(|token| is_address(token));
        let known: Vec<String> =
            addresses(Support::Supported).map(|token| format!("  {},", self.token(token))).collect();
        let unsupported: Vec<String> =
            addresses(Support::Unsupported).map(|token| format!("\"{token}\"")).collect();
        if known.is_empty() {
            self.only_you(
                &format!(
                    "Tokens that it supports: {} rules wait for one. found: none of the well-known tokens was quoted.",
                    waiting(context, &lines::SUPPORTED_TOKENS)
                ),
                &[r#"supported = [{ address = "0x..." }]"#],
            );
        } else {
            self.found("found: quoted", &["supported = [", &known.join("\n"), "]"]);
        }
        if !unsupported.is_empty() {
            let line = format!("unsupported = [{}]", unsupported.join(", "));
            self.found("found: in unsupportedTokens of a quote", &[&line]);
        }
        self.only_you(
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
            && self.given.redactor.apply(text) == text
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
        self.table("limits");
        for line in smaller {
            self.found("found: a larger request was refused", &[&line]);
        }
        for line in larger {
            self.only_you(
                "found: this size was served, which is more than wallets send. With the key it must always be.",
                &[&line],
            );
        }
    }

    fn target(&mut self) {
        self.table("target");
        match &self.given.place.literal {
            Some(url)
                if !url.contains(['"', '\\']) && url.chars().all(|letter| letter.is_ascii_graphic()) =>
            {
                self.found("given", &[&format!("url = \"{url}\"")]);
            }
            _ => {
                self.comment("The URL holds a secret and is not written here: set PAYMASTER_URL to it.");
            }
        }
        let names: Vec<&str> = self.given.place.headers.iter().map(|(name, _)| name.as_str()).collect();
        if !names.is_empty() {
            self.comment("Headers were sent whose values are not written here: name the environment variables that hold them.");
            let lines: Vec<String> =
                names.iter().map(|name| format!("\"{name}: ${{{}}}\"", variable(name))).collect();
            self.line(&format!("#: headers = [{}]", lines.join(", ")));
        }
        match (self.given.rate, self.surveyed.rate_limit) {
            (Some(rate), _) => self.found("given", &[&number(rate)]),
            (None, Some(rate)) => {
                self.found("found: it asked for pauses (429 or 503) when more were sent", &[&number(rate)]);
            }
            (None, None) if self.surveyed.was_throttled => self.only_you(
                "found: it asked for a pause (429 or 503). The most requests a second that it serves:",
                &["requests-per-second = 10.0"],
            ),
            (None, None) => {}
        }
    }

    fn dialect(&mut self) {
        if !self.found.serves_anything() {
            return;
        }
        let dialect = &self.found.context.dialect;
        let reached = |pair| self.found.reached.get(&pair).is_some_and(|(results, _)| *results > 0);
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
        self.table("dialect");
        self.found("found: served", &[&lines.join("\n")]);
    }

    fn accounts(&mut self) {
        let served = &self.found.context.served_accounts;
        let accounts = served.accounts();
        let sponsored = || served.all().filter(|record| Mode::of(record.pair) == Mode::Sponsored);
        let best = sponsored().map(|record| record.service).max();
        let pairs: BTreeSet<Kind> = sponsored().map(|record| record.pair).collect();
        // One that is served worse than another, or not by both methods, is one that the target may refuse.
        let is_full = |account: &SmartAccount| {
            pairs.iter().all(|pair| served.service(*pair, account) == best) && !pairs.is_empty()
        };
        let is_writable =
            |account: &SmartAccount| self.is_plain(&account.name) && self.is_plain(&account.version);
        let writable: Vec<SmartAccount> = accounts.into_iter().filter(is_writable).collect();
        for account in &writable {
            self.line("");
            let (name, version) =
                (format!("name = \"{}\"", account.name), format!("version = \"{}\"", account.version));
            let lines = ["[[accounts]]", &name, &version];
            if is_full(account) {
                self.found("found: served", &lines);
            } else {
                self.only_you("found: served, but not as well as others", &lines);
            }
        }
        if writable.is_empty() {
            self.line("");
            self.only_you(
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

/// `x-api-key` as the name of an environment variable: `PAYMASTER_HEADER_X_API_KEY`.
fn variable(header: &str) -> String {
    let letters = header.chars().map(|letter| match letter {
        letter if letter.is_ascii_alphanumeric() => letter.to_ascii_uppercase(),
        _ => '_',
    });
    format!("PAYMASTER_HEADER_{}", letters.collect::<String>())
}

/// A rate, as the file states it.
fn number(rate: f64) -> String {
    let rounded = (rate * 10.0).floor().max(1.0) / 10.0;
    format!("requests-per-second = {rounded:?}")
}
