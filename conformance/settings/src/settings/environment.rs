//! The environment variables that the commands read. [`Environment::get`] checks each when it is used.

pub use paymaster_client::environment::{Environment, VariableError};

use crate::table;

/// The variables of our own that are no settings of the table, and what each sets.
const OWN: &[(&str, &str)] = &[
    ("PAYMASTER_URL", "the paymaster URL"),
    ("PAYMASTER_CONFIG", "the configuration file"),
    ("PAYMASTER_HEADERS", "request headers, one `Name: value` a line"),
    ("PAYMASTER_SPEC", "as --spec"),
];

/// The variables that other programs read too.
const STANDARD: &[(&str, &str)] = &[
    (
        "http_proxy",
        "the proxy for http:// targets, as http://host:3128 or socks5h://host:1080 (HTTP_PROXY too)",
    ),
    (
        "https_proxy",
        "the proxy for https:// targets, likewise; an http:// proxy is asked to CONNECT (HTTPS_PROXY too)",
    ),
    ("all_proxy", "the proxy for both, where the one above is not set (ALL_PROXY too)"),
    ("no_proxy", "hosts that are reached without a proxy, separated by commas (NO_PROXY too)"),
    ("SSL_CERT_FILE", "root certificates to trust instead of the platform's"),
    ("SSL_CERT_DIR", "a folder of root certificates to trust, likewise"),
    ("NO_COLOR", "when set and not empty: no colours"),
];

/// Every variable that is read, and what it sets. The help and the documentation show this list.
pub fn variables() -> impl Iterator<Item = (String, String)> {
    let owned = |(name, meaning): &(&str, &str)| ((*name).to_owned(), (*meaning).to_owned());
    OWN.iter().map(owned).chain(table::variables()).chain(STANDARD.iter().map(owned))
}

/// Whether the user does not want colours (`NO_COLOR`, or `TERM=dumb`).
pub(crate) fn declines_colours(environment: &Environment) -> bool {
    environment.is_set("NO_COLOR") || environment.get("TERM") == Ok(Some("dumb"))
}

/// The list as text, for the help.
pub fn help() -> String {
    let rows: Vec<_> = variables().map(|(name, meaning)| format!("  {name:<26} {meaning}")).collect();
    format!("Environment:\n{}", rows.join("\n"))
}
