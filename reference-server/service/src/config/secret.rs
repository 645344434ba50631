//! A secret text of the configuration.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The public test key of local development chains.
pub(crate) const TEST_KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

/// A secret text. It is never printed, unless it is the public test key.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

/// The text that is printed instead of a secret.
const REDACTED: &str = "(redacted)";

impl Secret {
    /// Keeps `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    fn shown(&self) -> &str {
        if self.0 == TEST_KEY { &self.0 } else { REDACTED }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.shown())
    }
}

impl Serialize for Secret {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.shown())
    }
}
