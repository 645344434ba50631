//! Why a configuration is refused.

/// Why a configuration is not valid.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub(crate) String);

impl ConfigError {
    /// What is wrong with a text that is no TOML, or has a value of the wrong type.
    pub(super) fn toml(text: &str, error: &toml::de::Error) -> Self {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let index = before.matches('\n').count();
        let key = text.lines().nth(index).and_then(|line| line.split_once('='));
        let key = key.map(|(key, _)| key.trim()).filter(|key| !key.is_empty());
        let named = key.map(|key| format!(", `{key}`")).unwrap_or_default();
        let problem = error.message().replace('\n', ", ");
        Self(format!("invalid toml at line {}{named}: {problem}", index + 1))
    }

    pub(crate) fn value(key: &str, wanted: &str, found: &str) -> Self {
        Self(format!("`{key}` must be {wanted}, not {found:?}"))
    }
}

impl From<toml::ser::Error> for ConfigError {
    fn from(cause: toml::ser::Error) -> Self {
        Self(format!("cannot write as toml: {cause}"))
    }
}
