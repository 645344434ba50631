//! Request headers as the user writes them, and the targets that they may be sent to.

use hyper::header::{HeaderName, HeaderValue, InvalidHeaderName, InvalidHeaderValue};

use crate::settings::{Environment, VariableError, file};
use paymaster_client::network::Target;
use paymaster_client::redact::Redactor;

/// A header to send.
#[derive(Clone, Debug)]
pub struct Header {
    pub name: HeaderName,
    /// The value, with environment variables filled in.
    pub value: HeaderValue,
    /// The value as a shell expression that shows no secret: `${NAME}` for what comes from the environment.
    pub shell: String,
    /// Whether it comes from `target.headers` of the configuration file.
    pub of_profile: bool,
    /// The values from the environment, and last the whole value.
    secrets: Vec<String>,
}

/// Why a header cannot be read. The texts contain no value, which may be secret.
#[derive(Debug, thiserror::Error)]
pub enum HeaderError {
    /// A variable in the value cannot be used.
    #[error(transparent)]
    Variable(#[from] VariableError),
    /// The name has characters that no name has.
    #[error("the name of a header is malformed")]
    Name(#[source] InvalidHeaderName),
    /// It has no colon, a `${` that is not closed, or the name of a header that the transport sets itself.
    #[error("{0}")]
    Refused(String),
    /// A variable in the value is not set.
    #[error("{name}: the environment variable {variable} is not set")]
    NotSet { name: HeaderName, variable: String },
    /// The value has characters that no value has.
    #[error("the value of the header {name} is malformed")]
    Value { name: HeaderName, source: InvalidHeaderValue },
}

impl Header {
    /// The values that must not stand in any output: those from the environment, and the whole value of a header that is not public (as
    /// Accept is).
    pub fn secrets(&self) -> impl Iterator<Item = &String> {
        let whole = Redactor::is_secret_header(self.name.as_str());
        let count = self.secrets.len();
        let secrets = self.secrets.iter().enumerate();
        secrets.filter(move |(place, _)| whole || place + 1 < count).map(|(_, secret)| secret)
    }
}

/// Reads the headers of every source. `flags` take precedence over `environment_lines`, and these over `profile`. Of headers with the same
/// name, only those of the first source are read, so that the variables in the others need not be set.
pub(crate) fn merged(
    profile: &[String],
    environment_lines: &str,
    flags: &[String],
    environment: &Environment,
) -> Result<Vec<Header>, HeaderError> {
    let own: Vec<&str> = environment_lines.lines().filter(|line| !line.trim().is_empty()).collect();
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let profile: Vec<&str> = profile.iter().map(String::as_str).collect();
    let mut merged: Vec<Header> = Vec::new();
    for (lines, of_profile) in [(flags, false), (own, false), (profile, true)] {
        let mut weaker = Vec::new();
        for line in lines {
            let (name, _) = split(line)?;
            if merged.iter().all(|stronger| stronger.name != name) {
                weaker.push(Header { of_profile, ..parse(line, environment)? });
            }
        }
        merged.splice(0..0, weaker);
    }
    Ok(merged)
}

/// Checks that the headers of the profile are sent to the origin (scheme, host and port) of its `target.url` alone: they may be keys of
/// another target. The error is a text.
pub(crate) fn check_origin(
    headers: &[Header],
    profile: &file::Target,
    target: &Target,
) -> Result<(), String> {
    let of_profile = headers.iter().filter(|header| header.of_profile);
    let names: Vec<&str> = of_profile.map(|header| header.name.as_str()).collect();
    if names.is_empty() {
        return Ok(());
    }
    let own = profile.url.as_deref().map(Target::parse).transpose();
    let own = own.map_err(|cause| format!("target.url: {cause}"))?.map(|own| own.origin());
    let origin = target.origin();
    if own.as_ref() == Some(&origin) {
        return Ok(());
    }
    let names = names.join(", ");
    let reason = own.map_or("without target.url, nothing says which host they are for".to_owned(), |own| {
        format!("they are for {own}, the origin of target.url")
    });
    Err(format!(
        "target.headers ({names}) are not sent to {origin}: {reason}; give them for this run with -H or PAYMASTER_HEADERS, or set target.url to a URL of {origin}"
    ))
}

/// The name and the value of `Name: value`, as written.
fn split(line: &str) -> Result<(HeaderName, &str), HeaderError> {
    let (name, written) = line
        .split_once(':')
        .ok_or_else(|| HeaderError::Refused("a header is written `Name: value`".to_owned()))?;
    let name: HeaderName = name.trim().parse().map_err(HeaderError::Name)?;
    if name == "content-length" || name == "transfer-encoding" || name == "connection" {
        return Err(HeaderError::Refused(format!("the header {name} is set by the transport")));
    }
    Ok((name, written.trim()))
}

/// Reads `Name: value`. `${NAME}` in the value stands for an environment variable.
pub fn parse(line: &str, environment: &Environment) -> Result<Header, HeaderError> {
    let (name, written) = split(line)?;
    let mut secrets = Vec::new();
    let value = substitute(&name, written, environment, &mut secrets)?;
    secrets.push(value.clone());
    let shell = if secrets.len() > 1 {
        written.to_owned()
    } else {
        let variable = name.as_str().to_ascii_uppercase().replace('-', "_");
        format!("${{PAYMASTER_HEADER_{variable}}}")
    };
    Ok(Header {
        value: HeaderValue::from_str(&value)
            .map_err(|source| HeaderError::Value { name: name.clone(), source })?,
        name,
        shell,
        of_profile: false,
        secrets,
    })
}

/// Replaces each `${NAME}` of a text; adds the values to `secrets`.
fn substitute(
    name: &HeaderName,
    text: &str,
    environment: &Environment,
    secrets: &mut Vec<String>,
) -> Result<String, HeaderError> {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((variable, behind)) = after.split_once('}') else {
            return Err(HeaderError::Refused(format!("{name}: `${{` without `}}`")));
        };
        let value = environment
            .get(variable)?
            .ok_or_else(|| HeaderError::NotSet { name: name.clone(), variable: variable.to_owned() })?;
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
        let environment = Environment::from_iter([("KEY", "k-123456")]);
        let header = parse("X-Api-Key: Bearer ${KEY}", &environment).unwrap();
        assert_eq!(header.name, "x-api-key");
        assert_eq!(header.value, "Bearer k-123456");
        assert_eq!(header.shell, "Bearer ${KEY}");
        assert_eq!(header.secrets, ["k-123456", "Bearer k-123456"]);
        let literal = parse("X-Api-Key: abc", &environment).unwrap();
        assert_eq!(literal.shell, "${PAYMASTER_HEADER_X_API_KEY}");
    }

    #[test]
    fn malformed_headers_are_refused_without_showing_them() {
        let environment = Environment::default();
        for (line, word) in [
            ("topsecret", "Name: value"),
            ("x y: topsecret", "name"),
            ("x: ${GONE}", "GONE is not set"),
            ("x: ${topsecret", "without"),
            ("x: top\nsecret", "value of the header x"),
            ("content-length: 3", "transport"),
        ] {
            let refusal = parse(line, &environment).unwrap_err().to_string();
            assert!(refusal.contains(word), "{refusal}");
            assert!(!refusal.contains("topsecret"), "{refusal}");
        }
    }
}
