//! Why a configuration is refused.

use crate::nearest::{place, with_suggestion};

/// Why a configuration is not valid.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub(crate) String);

impl ConfigError {
    /// What is wrong with a text that is no TOML, or has an unknown key or a value of the wrong type.
    pub(super) fn toml(text: &str, error: &toml::de::Error) -> Self {
        let place = error.span().map(|span| place(text, span.start)).unwrap_or_default();
        Self(place + &with_suggestion(error.message()))
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
