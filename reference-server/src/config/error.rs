//! Why a configuration is refused.

use std::fmt;

/// Why a configuration is not valid.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    Read {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The text is not TOML, or a value has the wrong type. The error does not hold the line, which may contain a key.
    Toml {
        /// The line number, from 1.
        line: usize,
        /// The part of the line before `=`; empty when it has none.
        key: String,
        /// What is wrong with the text.
        problem: String,
    },
    /// A key does not exist.
    UnknownKey {
        /// The key with its tables, such as `bounds.max_depth`.
        key: String,
        /// The most similar known key of the same table, when one is similar enough.
        nearest: Option<String>,
    },
    /// A value is not valid for its key.
    Value {
        /// The key.
        key: String,
        /// What the value must be.
        wanted: String,
        /// The value that was found.
        found: String,
    },
    /// The node of the chain cannot be asked; holds the reason.
    Chain(String),
    /// A bound is out of its range; holds the message.
    Bounds(String),
    /// The configuration cannot be written as TOML.
    Write(toml::ser::Error),
}

impl ConfigError {
    pub(super) fn toml(text: &str, error: &toml::de::Error) -> Self {
        let before = error
            .span()
            .and_then(|span| text.get(..span.start))
            .unwrap_or_default();
        let index = before.matches('\n').count();
        let key = text.lines().nth(index).and_then(|line| line.split_once('='));
        Self::Toml {
            line: index + 1,
            key: key.map(|(key, _)| key.trim().to_owned()).unwrap_or_default(),
            problem: error.message().replace('\n', ", "),
        }
    }

    pub(crate) fn value(key: &str, wanted: &str, found: &str) -> Self {
        Self::Value {
            key: key.to_owned(),
            wanted: wanted.to_owned(),
            found: found.to_owned(),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, .. } => write!(formatter, "cannot read {path}"),
            Self::Toml { line, key, problem } if key.is_empty() => {
                write!(formatter, "invalid toml at line {line}: {problem}")
            }
            Self::Toml { line, key, problem } => {
                write!(formatter, "invalid toml at line {line}, `{key}`: {problem}")
            }
            Self::UnknownKey {
                key,
                nearest: Some(nearest),
            } => {
                write!(formatter, "unknown key `{key}`: did you mean `{nearest}`?")
            }
            Self::UnknownKey { key, nearest: None } => write!(formatter, "unknown key `{key}`"),
            Self::Value { key, wanted, found } => {
                write!(formatter, "`{key}` must be {wanted}, not {found:?}")
            }
            Self::Chain(reason) => write!(formatter, "the chain cannot be asked: {reason}"),
            Self::Bounds(problem) => formatter.write_str(problem),
            Self::Write(error) => write!(formatter, "cannot write as toml: {error}"),
        }
    }
}

impl std::error::Error for ConfigError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { source, .. } => Some(source),
            _ => None,
        }
    }
}
