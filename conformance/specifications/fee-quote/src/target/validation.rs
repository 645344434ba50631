//! Checks of a profile that TOML and its types cannot express.

use serde_json::Value;

use crate::target::profile::Profile;

pub(crate) fn check(profile: &Profile) -> Result<(), String> {
    for (index, token) in profile.tokens.supported.iter().enumerate() {
        address(&token.address, || format!("tokens.supported[{index}].address"))?;
    }
    for (index, token) in profile.tokens.unsupported.iter().enumerate() {
        address(token, || format!("tokens.unsupported[{index}]"))?;
        if profile.tokens.supported.iter().any(|supported| supported.address.eq_ignore_ascii_case(token)) {
            return Err(format!("tokens.unsupported[{index}] stands in tokens.supported too"));
        }
    }
    for (index, account) in profile.accounts.iter().enumerate() {
        let parts: Vec<&str> = account.version.split('.').collect();
        let dotted = parts.len() == 3
            && parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
        if !dotted {
            return Err(format!(
                "accounts[{index}].version: `{}` is not three dotted numbers, as 2.0.0",
                account.version
            ));
        }
    }
    let operations = &profile.operations;
    for (index, sender) in operations.refused_senders.iter().enumerate() {
        address(sender, || format!("operations.refused-senders[{index}]"))?;
    }
    for (name, list) in [("sponsorable", &operations.sponsorable), ("refused", &operations.refused)] {
        for (index, operation) in list.iter().enumerate() {
            if let Some(sender) = operation.get("sender").and_then(Value::as_str) {
                address(sender, || format!("operations.{name}[{index}].sender"))?;
            }
        }
    }
    Ok(())
}

fn address(text: &str, key: impl FnOnce() -> String) -> Result<(), String> {
    if is_address(text) {
        Ok(())
    } else {
        Err(format!("{}: `{text}` is no address: 0x and 40 hex digits", key()))
    }
}

/// Whether a text is an address: 0x and 40 hex digits.
pub(crate) fn is_address(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or_default();
    digits.len() == 40 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use crate::SPECIFICATION;

    #[test]
    fn implausible_values_are_refused_with_their_place() {
        for (text, place) in [
            ("[tokens]\nunsupported = [\"0x12\"]", "tokens.unsupported[0]"),
            ("[[accounts]]\nname = \"A\"\nversion = \"2.0\"", "accounts[0].version"),
            ("[operations]\nrefused-senders = [\"me\"]", "operations.refused-senders[0]"),
            ("[[operations.refused]]\nsender = \"me\"", "operations.refused[0].sender"),
        ] {
            let refusal = (SPECIFICATION.read_profile)(text).unwrap_err().to_string();
            assert!(refusal.contains(place), "{refusal}");
        }
    }
}
