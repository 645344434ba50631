//! Whether a profile makes sense: what TOML and its types cannot say.

use serde_json::{Map, Value};

use paymaster_judge::target::profile::Profile;

/// Refuses values that no paymaster could mean, naming their place.
pub fn check(profile: &Profile) -> Result<(), String> {
    for (number, token) in profile.tokens.supported.iter().enumerate() {
        address(&token.address, || format!("tokens.supported[{number}].address"))?;
    }
    for (number, token) in profile.tokens.unsupported.iter().enumerate() {
        address(token, || format!("tokens.unsupported[{number}]"))?;
        if profile
            .tokens
            .supported
            .iter()
            .any(|supported| supported.address.eq_ignore_ascii_case(token))
        {
            return Err(format!(
                "tokens.unsupported[{number}] stands in tokens.supported too"
            ));
        }
    }
    for (number, account) in profile.accounts.iter().enumerate() {
        let parts: Vec<&str> = account.version.split('.').collect();
        let dotted = parts.len() == 3
            && parts
                .iter()
                .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
        if !dotted {
            return Err(format!(
                "accounts[{number}].version: `{}` is not three dotted numbers, as 2.0.0",
                account.version
            ));
        }
    }
    let operations = &profile.operations;
    for (number, sender) in operations.refused_senders.iter().enumerate() {
        address(sender, || format!("operations.refused-senders[{number}]"))?;
    }
    for (name, list) in [
        ("sponsorable", &operations.sponsorable),
        ("refused", &operations.refused),
    ] {
        for (number, operation) in list.iter().enumerate() {
            sender(operation).map_or(Ok(()), |sender| {
                address(sender, || format!("operations.{name}[{number}].sender"))
            })?;
        }
    }
    Ok(())
}

fn sender(operation: &Map<String, Value>) -> Option<&str> {
    operation.get("sender").and_then(Value::as_str)
}

fn address(text: &str, place: impl FnOnce() -> String) -> Result<(), String> {
    let well_formed = text
        .strip_prefix("0x")
        .is_some_and(|digits| digits.len() == 40 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if well_formed {
        Ok(())
    } else {
        Err(format!(
            "{}: `{text}` is no address: 0x and 40 hex digits",
            place()
        ))
    }
}

#[cfg(test)]
mod tests {
    use crate::file::parse;

    #[test]
    fn implausible_values_are_refused_with_their_place() {
        for (text, place) in [
            ("[tokens]\nunsupported = [\"0x12\"]", "tokens.unsupported[0]"),
            (
                "[[accounts]]\nname = \"A\"\nversion = \"2.0\"",
                "accounts[0].version",
            ),
            (
                "[operations]\nrefused-senders = [\"me\"]",
                "operations.refused-senders[0]",
            ),
            (
                "[[operations.refused]]\nsender = \"me\"",
                "operations.refused[0].sender",
            ),
        ] {
            let refusal = parse(text).unwrap_err();
            assert!(refusal.contains(place), "{refusal}");
        }
    }
}
