//! Why a configuration is refused.

/// Why a configuration is not valid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {path}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The text is not TOML, or a value has the wrong type. The error does not hold the line, which may contain a key.
    #[error("invalid toml at line {line}{}: {problem}", named(key))]
    Toml {
        /// The line number, from 1.
        line: usize,
        /// The part of the line before `=`; empty when it has none.
        key: String,
        /// What is wrong with the text.
        problem: String,
    },
    /// A key does not exist.
    #[error("unknown key `{key}`{}", suggested(nearest.as_deref()))]
    UnknownKey {
        /// The key with its tables, such as `bounds.max_depth`.
        key: String,
        /// The most similar known key of the same table, when one is similar enough.
        nearest: Option<String>,
    },
    /// A value is not valid for its key.
    #[error("`{key}` must be {wanted}, not {found:?}")]
    Value {
        /// The key.
        key: String,
        /// What the value must be.
        wanted: String,
        /// The value that was found.
        found: String,
    },
    /// The node of the chain cannot be asked; holds the reason.
    #[error("the chain cannot be asked: {0}")]
    Chain(String),
    /// A bound is out of its range; holds the message.
    #[error("{0}")]
    Bounds(String),
    /// The configuration cannot be written as TOML.
    #[error("cannot write as toml: {0}")]
    Write(toml::ser::Error),
}

impl ConfigError {
    pub(super) fn toml(text: &str, error: &toml::de::Error) -> Self {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let index = before.matches('\n').count();
        let key = text.lines().nth(index).and_then(|line| line.split_once('='));
        Self::Toml {
            line: index + 1,
            key: key.map(|(key, _)| key.trim().to_owned()).unwrap_or_default(),
            problem: error.message().replace('\n', ", "),
        }
    }

    pub(crate) fn value(key: &str, wanted: &str, found: &str) -> Self {
        Self::Value { key: key.to_owned(), wanted: wanted.to_owned(), found: found.to_owned() }
    }
}

/// A key as it follows the number of its line.
fn named(key: &str) -> String {
    if key.is_empty() { String::new() } else { format!(", `{key}`") }
}

/// The question whether another key is meant.
fn suggested(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!(": did you mean `{nearest}`?"))
}
