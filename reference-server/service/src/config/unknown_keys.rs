//! Rejects unknown configuration keys and suggests the most similar known key.
//!
//! The known keys are those of the default configuration, written as TOML.

use toml::{Table, Value};

use super::{Config, ConfigError};
use crate::nearest::nearest;

/// An error for the first key of `table` that the configuration does not have.
pub(super) fn refuse(table: &Table) -> Result<(), ConfigError> {
    let known = Table::try_from(Config::default())?;
    compare(table, &known, "")
}

fn compare(table: &Table, known: &Table, prefix: &str) -> Result<(), ConfigError> {
    for (key, value) in table {
        let Some(counterpart) = known.get(key) else {
            let nearest = nearest(key, known.keys().map(String::as_str));
            let hint = nearest.map(|nearest| format!(": did you mean `{prefix}{nearest}`?"));
            return Err(ConfigError(format!("unknown key `{prefix}{key}`{}", hint.unwrap_or_default())));
        };
        let inner = format!("{prefix}{key}.");
        match (value, counterpart) {
            (Value::Table(table), Value::Table(known)) => compare(table, known, &inner)?,
            (Value::Array(items), Value::Array(known)) => {
                let Some(Value::Table(known)) = known.first() else {
                    continue;
                };
                for item in items {
                    if let Value::Table(table) = item {
                        compare(table, known, &inner)?;
                    }
                }
            }
            // Deserialization reports values of the wrong type.
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_key_is_named() {
        for (toml, expected) in [
            ("lisen = 1", "unknown key `lisen`: did you mean `listen`?"),
            (
                "[bounds]\nmax_body_byte = 1",
                "unknown key `bounds.max_body_byte`: did you mean `bounds.max_body_bytes`?",
            ),
            (
                "[[tokens]]\nsymbol = \"A\"\ndecimal = 1",
                "unknown key `tokens.decimal`: did you mean `tokens.decimals`?",
            ),
            ("[signing]\nkeys = 1", "unknown key `signing.keys`: did you mean `signing.key`?"),
            ("zzz = 1", "unknown key `zzz`"),
        ] {
            assert_eq!(Config::from_toml(toml).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn every_known_key_is_taken() {
        let printed = Config::default().to_toml().unwrap();
        assert!(refuse(&toml::from_str(&printed).unwrap()).is_ok());
    }
}
