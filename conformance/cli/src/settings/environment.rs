//! The environment variables. They are read in this file alone.

use std::collections::BTreeMap;

/// Every variable that is read, and what it sets. The help and the documentation show this table.
pub const VARIABLES: &[(&str, &str)] = &[
    ("PAYMASTER_URL", "the paymaster URL"),
    ("PAYMASTER_CONFIG", "the configuration file"),
    ("PAYMASTER_HEADERS", "request headers, one `Name: value` a line"),
    ("PAYMASTER_CASES", "as --cases"),
    ("PAYMASTER_SEED", "as --seed"),
    ("PAYMASTER_JOBS", "as --jobs"),
    ("PAYMASTER_RATE", "as --rate"),
    ("PAYMASTER_TIMEOUT", "as --timeout"),
    ("PAYMASTER_TIME_LIMIT", "as --time-limit"),
    (
        "http_proxy",
        "the proxy for http:// targets, as http://host:3128 or socks5h://host:1080 (HTTP_PROXY too)",
    ),
    (
        "https_proxy",
        "the proxy for https:// targets, likewise; an http:// proxy is asked to CONNECT (HTTPS_PROXY too)",
    ),
    (
        "all_proxy",
        "the proxy for both, where the one above is not set (ALL_PROXY too)",
    ),
    (
        "no_proxy",
        "hosts that are reached without a proxy, separated by commas (NO_PROXY too)",
    ),
    (
        "SSL_CERT_FILE",
        "root certificates to trust instead of the platform's",
    ),
    ("SSL_CERT_DIR", "a folder of root certificates to trust, likewise"),
    ("NO_COLOR", "when set and not empty: no colours"),
];

/// The environment variables by their names.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// The environment of this process. Variables that are no UTF-8 count as absent.
    pub fn of_process() -> Self {
        let readable = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self(readable.collect())
    }

    /// An environment of these variables.
    #[cfg(test)]
    pub(crate) fn of(variables: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self(variables.iter().map(owned).collect())
    }

    /// The value of a variable. An empty one counts as absent.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Whether the user does not want colours (`NO_COLOR`, or `TERM=dumb`).
    pub(crate) fn declines_colours(&self) -> bool {
        self.get("NO_COLOR").is_some() || self.get("TERM") == Some("dumb")
    }
}

/// The table as text, for the help.
pub fn help() -> String {
    let rows = VARIABLES
        .iter()
        .map(|(name, meaning)| format!("  {name:<22} {meaning}"))
        .collect::<Vec<_>>();
    format!("Environment:\n{}", rows.join("\n"))
}
