//! Request headers as the user writes them, and which of them are sent to which target.

use hyper::header::{HeaderName, HeaderValue};

use crate::environment::Environment;
use paymaster_client::{redact::Redactor, target::Target};
use paymaster_judge::target::profile;

/// A header to send.
#[derive(Clone, Debug)]
pub struct Header {
    /// The header's name.
    pub name: HeaderName,
    /// Its value, environment variables filled in.
    pub value: HeaderValue,
    /// What a shell can make the value from without us printing it: `${NAME}` where it came from the environment.
    pub shell: String,
    /// Whether it comes from `target.headers` of the configuration file.
    pub of_profile: bool,
    /// What came from the environment, and the whole value last.
    secrets: Vec<String>,
}

impl Header {
    /// Values that may stand in no output: all that came from the environment, and the whole value unless the header negotiates.
    pub fn secrets(&self) -> impl Iterator<Item = &String> {
        let whole = Redactor::is_secret_header(self.name.as_str());
        let count = self.secrets.len();
        let secrets = self.secrets.iter().enumerate();
        secrets
            .filter(move |(place, _)| whole || place + 1 < count)
            .map(|(_, secret)| secret)
    }
}

/// Reads the headers of every source: `profile` is weaker than `environment_lines`, and these are weaker than `flags`. Of headers with
/// the same name, only those of the strongest source are read, so that the variables of the others need not be set.
pub fn merged(
    profile: &[String],
    environment_lines: &str,
    flags: &[String],
    environment: &Environment,
) -> Result<Vec<Header>, String> {
    let own: Vec<&str> = environment_lines
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let profile: Vec<&str> = profile.iter().map(String::as_str).collect();
    let mut merged: Vec<Header> = Vec::new();
    for (lines, of_profile) in [(flags, false), (own, false), (profile, true)] {
        let mut weaker = Vec::new();
        for line in lines {
            let (name, _) = split(line)?;
            if merged.iter().all(|stronger| stronger.name != name) {
                weaker.push(Header {
                    of_profile,
                    ..parse(line, environment)?
                });
            }
        }
        merged.splice(0..0, weaker);
    }
    Ok(merged)
}

/// Refuses to send headers of the profile to another origin (scheme, host and port) than that of its `target.url`: they can be keys.
pub fn may_be_sent(headers: &[Header], profile: &profile::Target, target: &Target) -> Result<(), String> {
    let of_profile = headers.iter().filter(|header| header.of_profile);
    let names: Vec<&str> = of_profile.map(|header| header.name.as_str()).collect();
    if names.is_empty() {
        return Ok(());
    }
    let own = profile.url.as_deref().map(Target::parse).transpose();
    let own = own.map_err(|cause| format!("target.url: {cause}"))?;
    let origin = target.origin();
    let reason = match own.map(|own| own.origin()) {
        Some(own) if own == origin => return Ok(()),
        Some(own) => format!("they are for {own}, the origin of target.url"),
        None => "without target.url, nothing says which host they are for".to_owned(),
    };
    Err(format!(
        "target.headers ({}) are not sent to {origin}: {reason}; give them for this run with -H or PAYMASTER_HEADERS, or set \
         target.url to a URL of {origin}",
        names.join(", ")
    ))
}

/// The name and the value of `Name: value`, as written.
fn split(line: &str) -> Result<(HeaderName, &str), String> {
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
    Ok((name, written.trim()))
}

/// Reads `Name: value`, `${NAME}` in the value being taken from the environment.
pub fn parse(line: &str, environment: &Environment) -> Result<Header, String> {
    let (name, written) = split(line)?;
    let mut secrets = Vec::new();
    let value = substitute(written, environment, &mut secrets).map_err(|cause| format!("{name}: {cause}"))?;
    secrets.push(value.clone());
    let shell = if secrets.len() > 1 {
        written.to_owned()
    } else {
        let variable = name.as_str().to_ascii_uppercase().replace('-', "_");
        format!("${{PAYMASTER_HEADER_{variable}}}")
    };
    Ok(Header {
        value: HeaderValue::from_str(&value)
            .map_err(|_| format!("the value of the header {name} is malformed"))?,
        name,
        shell,
        of_profile: false,
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
        assert_eq!(literal.shell, "${PAYMASTER_HEADER_X_API_KEY}");
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
