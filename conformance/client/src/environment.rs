//! The environment variables of a process, and what a value means that is empty or not UTF-8: one rule for every program.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// The variables with this prefix are those of the paymaster tools.
const OWN_PREFIX: &str = "PAYMASTER_";

/// Why a variable cannot be used. The texts contain no value, which may be secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct VariableError(String);

/// The environment variables by their names. A variable is checked when it is used.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    pub fn of_process() -> Self {
        std::env::vars_os().collect()
    }

    /// The value of a variable that a command uses; none where the variable is not set. An empty value counts as not set, except in the
    /// variables that begin with `PAYMASTER_`.
    ///
    /// # Errors
    ///
    /// For a value that is not UTF-8, and for a `PAYMASTER_` variable that is empty or blank: it was meant to set something.
    pub fn get(&self, name: &str) -> Result<Option<&str>, VariableError> {
        let Some(value) = self.0.get(OsStr::new(name)) else { return Ok(None) };
        let value = value.to_str().ok_or_else(|| {
            let what = format!("the value of the environment variable {name} is not UTF-8");
            VariableError(format!("{what}: give it another value, or unset it"))
        })?;
        if name.starts_with(OWN_PREFIX) && value.trim().is_empty() {
            return Err(VariableError(format!(
                "the environment variable {name} is set, but empty: give it a value, or unset it (a secret that a CI system does not have becomes an empty variable)"
            )));
        }
        Ok(Some(value).filter(|value| !value.is_empty()))
    }

    /// Whether a variable has a value that is not empty, where the value itself decides nothing.
    pub fn is_set(&self, name: &str) -> bool {
        self.0.get(OsStr::new(name)).is_some_and(|value| !value.is_empty())
    }
}

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        let owned = |(name, value): (N, V)| (name.into(), value.into());
        Self(variables.into_iter().map(owned).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_of_the_tools_is_an_error_and_any_other_is_not_set() {
        for blank in ["", " ", "\t\n"] {
            let environment = Environment::from_iter([("PAYMASTER_URL", blank)]);
            let cause = environment.get("PAYMASTER_URL").unwrap_err().to_string();
            assert!(cause.contains("PAYMASTER_URL is set, but empty"), "{cause}");
        }
        let environment = Environment::from_iter([("NO_COLOR", ""), ("TERM", "dumb")]);
        assert_eq!(environment.get("NO_COLOR"), Ok(None));
        assert_eq!(environment.get("TERM"), Ok(Some("dumb")));
        assert_eq!(environment.get("PAYMASTER_URL"), Ok(None));
        assert!(environment.is_set("TERM") && !environment.is_set("NO_COLOR") && !environment.is_set("GONE"));
    }

    #[cfg(unix)]
    #[test]
    fn a_value_that_is_not_utf_8_is_an_error_when_it_is_used() {
        use std::os::unix::ffi::OsStringExt;
        let value = OsString::from_vec(b"secret\xff".to_vec());
        let environment = Environment::from_iter([("http_proxy", value)]);
        assert_eq!(environment.get("https_proxy"), Ok(None));
        let cause = environment.get("http_proxy").unwrap_err().to_string();
        assert!(cause.contains("http_proxy is not UTF-8") && !cause.contains("secret"), "{cause}");
        assert!(environment.is_set("http_proxy"));
    }
}
