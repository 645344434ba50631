//! The environment, read here and nowhere else.

use std::collections::BTreeMap;

/// Every variable that is read, and what it sets. Help and documentation read this table.
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
        "the proxy for http:// targets, as http://host:3128 (HTTP_PROXY too)",
    ),
    (
        "https_proxy",
        "the proxy for https:// targets, asked to CONNECT (HTTPS_PROXY too)",
    ),
    (
        "all_proxy",
        "the proxy for both, where the one above is not set (ALL_PROXY too)",
    ),
    (
        "no_proxy",
        "hosts that are asked without a proxy, with commas between (NO_PROXY too)",
    ),
    (
        "SSL_CERT_FILE",
        "root certificates to believe instead of the platform's",
    ),
    (
        "SSL_CERT_DIR",
        "a folder of root certificates to believe, likewise",
    ),
    ("NO_COLOR", "when set and not empty: no colours"),
];

/// What the environment says.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// The environment of this process; variables that are no UTF-8 count as absent.
    pub fn of_process() -> Self {
        let readable = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self(readable.collect())
    }

    /// An environment of these variables.
    #[cfg(test)]
    pub fn of(variables: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self(variables.iter().map(owned).collect())
    }

    /// A variable; an empty one counts as absent.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Whether colours are not wanted.
    pub fn is_plain(&self) -> bool {
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
