//! Request headers as the user writes them.

use hyper::header::{HeaderName, HeaderValue};

use super::environment::Environment;
use crate::redact::Redactor;

/// A header to send.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) name: HeaderName,
    pub(crate) value: HeaderValue,
    /// What a shell can make the value from without us printing it: `${NAME}` where it came from the environment.
    pub(crate) shell: String,
    /// What came from the environment, and the whole value last.
    secrets: Vec<String>,
}

impl Header {
    /// Values that may stand in no output: all that came from the environment, and the whole value unless the header negotiates.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &String> {
        let whole = Redactor::is_secret_header(self.name.as_str());
        let count = self.secrets.len();
        let secrets = self.secrets.iter().enumerate();
        secrets
            .filter(move |(place, _)| whole || place + 1 < count)
            .map(|(_, secret)| secret)
    }
}

/// Reads `Name: value`, `${NAME}` in the value being taken from the environment.
pub(crate) fn parse(line: &str, environment: &Environment) -> Result<Header, String> {
    let Some((name, written)) = line.split_once(':') else {
        return Err("a header is written `Name: value`".to_owned());
    };
    let name: HeaderName = name
        .trim()
        .parse()
        .map_err(|_| "the name of a header is malformed".to_owned())?;
    if name == "content-length" || name == "transfer-encoding" || name == "connection" {
        return Err(format!("the header {name} is set by the transport"));
    }
    let written = written.trim();
    let mut secrets = Vec::new();
    let value = substitute(written, environment, &mut secrets).map_err(|cause| format!("{name}: {cause}"))?;
    secrets.push(value.clone());
    let shell = if secrets.len() > 1 {
        written.to_owned()
    } else {
        let variable = name.as_str().to_ascii_uppercase().replace('-', "_");
        format!("$PAYMASTER_HEADER_{variable}")
    };
    Ok(Header {
        value: HeaderValue::from_str(&value)
            .map_err(|_| format!("the value of the header {name} is malformed"))?,
        name,
        shell,
        secrets,
    })
}

fn substitute(text: &str, environment: &Environment, secrets: &mut Vec<String>) -> Result<String, String> {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((variable, behind)) = after.split_once('}') else {
            return Err("`${` without `}`".to_owned());
        };
        let value = environment
            .get(variable)
            .ok_or_else(|| format!("the environment variable {variable} is not set"))?;
        secrets.push(value.to_owned());
        whole.push_str(before);
        whole.push_str(value);
        rest = behind;
    }
    whole.push_str(rest);
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_from_the_environment_and_are_secret() {
        let environment = Environment::of(&[("KEY", "k-123456")]);
        let header = parse("X-Api-Key: Bearer ${KEY}", &environment).unwrap();
        assert_eq!(header.name, "x-api-key");
        assert_eq!(header.value, "Bearer k-123456");
        assert_eq!(header.shell, "Bearer ${KEY}");
        assert_eq!(header.secrets, ["k-123456", "Bearer k-123456"]);
        let literal = parse("X-Api-Key: abc", &environment).unwrap();
        assert_eq!(literal.shell, "$PAYMASTER_HEADER_X_API_KEY");
    }

    #[test]
    fn what_is_no_header_is_refused_without_showing_it() {
        let environment = Environment::default();
        for (line, word) in [
            ("topsecret", "Name: value"),
            ("x y: topsecret", "name"),
            ("x: ${GONE}", "GONE is not set"),
            ("x: ${topsecret", "without"),
            ("x: top\nsecret", "value of the header x"),
            ("content-length: 3", "transport"),
        ] {
            let refusal = parse(line, &environment).unwrap_err();
            assert!(refusal.contains(word), "{refusal}");
            assert!(!refusal.contains("topsecret"), "{refusal}");
        }
    }
}
