//! The configuration file, `paymaster.toml`: the profile of the target and the settings of a run.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::settings::{Environment, VariableError};
use crate::specifications::{DEFAULT_SPECIFICATION, SPECIFICATIONS, specification};
use crate::table::RunTable;
use paymaster_client::files;
use paymaster_client::network::Trust;
use paymaster_engine::{knowledge::Knowledge, specification::Specification};
use paymaster_reference_server::{place, with_suggestion};

/// The file that is read where none is named and this one exists.
pub const DEFAULT_PATH: &str = "paymaster.toml";

/// The tables that are the same for every specification. The others are left to the specification.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Contents {
    spec: Option<Spanned<String>>,
    target: Target,
    run: RunTable,
    load: LoadTable,
}

/// What a configuration file says of the target.
#[derive(Clone, Debug)]
pub struct TargetProfile {
    /// Where and how to reach it.
    pub target: Target,
    /// What is known of it.
    pub known: Arc<dyn Knowledge>,
    /// Whether the command, the file or the caller names the specification.
    pub is_named: bool,
}

impl From<Arc<dyn Knowledge>> for TargetProfile {
    fn from(known: Arc<dyn Knowledge>) -> Self {
        Self { target: Target::default(), known, is_named: true }
    }
}

/// Where and how to reach the target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Target {
    /// The paymaster URL. The command line takes precedence.
    pub url: Option<String>,
    /// Request headers, `Name: value`. `${NAME}` in a value is read from the environment. They are sent to the origin of `url` only.
    pub headers: Vec<String>,
    /// A PEM file of certificates that are trusted instead of the platform's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cacert: Option<PathBuf>,
    /// Accept any certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insecure: Option<bool>,
    /// At most that many requests a second.
    pub requests_per_second: Option<f64>,
    /// At most that many exchanges at the same time.
    pub concurrency: Option<usize>,
    /// Path segments of the URL that are not secret and may appear in reports.
    pub public_path_segments: Vec<String>,
}

impl Target {
    /// Which certificates are trusted.
    pub fn trust(&self) -> Trust {
        Trust { cacert: self.cacert.clone(), insecure: self.insecure.unwrap_or_default() }
    }
}

/// `[load]`: the settings of the load generator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LoadTable {
    /// Whether the target is the user's own, so that the polite rate limit does not apply.
    pub own_target: bool,
    /// The weight of each scenario in `mixed`, by its name.
    pub weights: BTreeMap<String, u32>,
    /// Thresholds, as `--threshold` takes them.
    pub thresholds: Vec<String>,
    /// Thresholds that end the load, as `--abort-on` takes them.
    pub abort_on: Vec<String>,
}

/// Why a file cannot be used, with its path.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct FileError(String);

/// Why a text is no configuration. The parser's own error is left out: it quotes values, which can be secret.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ContentsError(String);

impl ContentsError {
    /// What is wrong at a byte offset of a text: `line 2, column 1: ` and the message.
    pub fn at(text: &str, offset: usize, message: impl Display) -> Self {
        Self(place(text, offset) + &message.to_string())
    }

    /// What the parser found in a text: the first line of its message with the nearest known key.
    pub fn of_parser(text: &str, cause: &toml::de::Error) -> Self {
        let place = cause.span().map(|span| place(text, span.start)).unwrap_or_default();
        Self(place + &with_suggestion(cause.message()))
    }
}

/// The file to read: the one that the flag names, else the one that `PAYMASTER_CONFIG` names, else the default one where it exists.
///
/// # Errors
///
/// When that variable is used and has no usable value.
pub fn chosen(flag: Option<&Path>, environment: &Environment) -> Result<Option<PathBuf>, VariableError> {
    let named = match flag {
        Some(path) => Some(path),
        None => environment.get("PAYMASTER_CONFIG")?.map(Path::new),
    };
    let default = Path::new(DEFAULT_PATH);
    Ok(named.or(default.exists().then_some(default)).map(Path::to_owned))
}

/// The specification that a flag or the environment names.
pub fn asked<'a>(
    flag: Option<&'a str>,
    environment: &'a Environment,
) -> Result<Option<&'a str>, VariableError> {
    if let Some(name) = flag { Ok(Some(name)) } else { environment.get("PAYMASTER_SPEC") }
}

/// Reads the file. Without a path, everything has its default. `spec` is the specification that the command names.
pub fn read(path: Option<&Path>, spec: Option<&str>) -> Result<(TargetProfile, RunTable), FileError> {
    let asked = spec.map(specification).transpose().map_err(FileError)?;
    let Some(path) = path else {
        let known = asked.unwrap_or(DEFAULT_SPECIFICATION).unknown();
        let profile = TargetProfile { is_named: asked.is_some(), ..known.into() };
        return Ok((profile, RunTable::default()));
    };
    let (profile, mut run) = parsed(path, |text| parse(text, asked))?;
    if let (Some(list), Some(folder)) = (&mut run.known_failing, path.parent()) {
        *list = folder.join(&*list);
    }
    Ok((profile, run))
}

/// Reads the text of a file, by the specification that was asked for, or else the one that it names.
pub fn parse(
    text: &str,
    asked: Option<&'static Specification>,
) -> Result<(TargetProfile, RunTable), ContentsError> {
    let Contents { spec, target, run, load } =
        toml::from_str(text).map_err(|cause| ContentsError::of_parser(text, &cause))?;
    let named = spec.map(|name| {
        let refused = |cause| ContentsError::at(text, name.span().start, cause);
        specification(name.get_ref()).map_err(|cause: String| refused(cause))
    });
    let named = named.transpose()?;
    let is_named = asked.or(named).is_some();
    let specification = match (asked, named) {
        (Some(asked), Some(named)) if asked != named => {
            let remedy = "give the file of that target, or leave out --spec";
            return Err(ContentsError(format!(
                "the file is for the specification `{}`, and `{}` was asked for: {remedy}",
                named.name, asked.name
            )));
        }
        (asked, named) => asked.or(named).unwrap_or(DEFAULT_SPECIFICATION),
    };
    let known = (specification.read_profile)(text).map_err(|cause| match cause.at {
        Some(at) => {
            let reads = |other: &&&'static Specification| (other.read_profile)(text).is_ok();
            let other = SPECIFICATIONS.iter().find(reads).filter(|_| named.is_none());
            ContentsError::at(
                text,
                at,
                suggest(&cause.message, other.map(|other| (other.name, specification.name))),
            )
        }
        None => ContentsError(cause.message),
    })?;
    Ok((TargetProfile { target, known, is_named }, RunTable { load, ..run }))
}

/// Parses a file that people write.
pub fn parsed<T>(path: &Path, parse: impl FnOnce(&str) -> Result<T, ContentsError>) -> Result<T, FileError> {
    let text =
        files::read_text(path, files::WRITTEN_BY_HAND).map_err(|cause| ContentsError(cause.to_string()));
    text.and_then(|text| parse(&text)).map_err(|cause| FileError(format!("{}: {cause}", path.display())))
}

/// The parser's message with the nearest known key or value. Where the whole file is a profile of another specification, that is said
/// instead: `other` names this one, and the one that was read.
fn suggest(message: &str, other: Option<(&str, &str)>) -> String {
    let Some((other, own)) = other.filter(|_| message.starts_with("unknown field")) else {
        return with_suggestion(message);
    };
    let what = message.split(',').next().unwrap_or_default();
    format!(
        "{what}: a profile of `{other}` has it. For that specification give --spec {other}, or write spec = \"{other}\" on the first line; \
         for `{own}` name another file with --config"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_are_placed_and_the_nearest_is_named() {
        let refusal = parse("[target]\nurl = \"http://h/\"\n\n[tokens]\nsuported = []\n", None)
            .unwrap_err()
            .to_string();
        assert!(refusal.starts_with("line 5, column 1: "), "{refusal}");
        assert!(refusal.ends_with("(did you mean `supported`?)"), "{refusal}");
        let refusal = parse("[operations]\naccepts = \"anny\"\n", None).unwrap_err().to_string();
        assert!(refusal.contains("did you mean `any`?"), "{refusal}");
        let refusal =
            parse("[operations]\nvary = [\"nonce\", \"calldata\"]\n", None).unwrap_err().to_string();
        assert!(refusal.starts_with("line 2, column 18: "), "{refusal}");
        assert!(refusal.contains("did you mean `callData`?"), "{refusal}");
    }

    #[test]
    fn a_profile_of_another_specification_is_told_as_one() {
        let text = "[service]\nentry-points = [\"0.7\"]\n";
        let refusal = parse(text, None).unwrap_err().to_string();
        assert!(
            refusal.contains("give --spec erc-7677, or write spec = \"erc-7677\" on the first line"),
            "{refusal}"
        );
        let quotes = "[tokens]\nsupported = []\n";
        let asked = specification("erc-7677").unwrap();
        let refusal = parse(quotes, Some(asked)).unwrap_err().to_string();
        assert!(
            refusal.starts_with("line 1, column 2: unknown field `tokens`: a profile of `fee-quote` has it."),
            "{refusal}"
        );
        // Another mistake than a key is told as it is; what no specification knows is a misspelling.
        let refusal = parse("[service]\nentry-points = 7\n", Some(asked)).unwrap_err().to_string();
        assert!(!refusal.contains("a profile of"), "{refusal}");
        let refusal = parse("[service]\nentry-pints = [\"0.7\"]\n", Some(asked)).unwrap_err().to_string();
        assert!(refusal.contains("did you mean `entry-points`?"), "{refusal}");
    }

    #[test]
    fn wrong_values_are_placed_and_secrets_are_not_shown() {
        let refusal = parse("[target]\nheaders = [\"x-key: topsecret\"]\nconcurrency = \"many\"\n", None);
        let refusal = refusal.unwrap_err().to_string();
        assert!(refusal.starts_with("line 3, column 15: "), "{refusal}");
        assert!(!refusal.contains("topsecret"), "{refusal}");
    }

    #[test]
    fn a_file_contains_profile_and_run() {
        let text = r#"
            accounts = [{ name = "BICONOMY", version = "2.0.0" }]
            [target]
            url = "http://127.0.0.1:1/"
            [operations]
            accepts = "any"
            sponsorable = [{ sender = "0x00000000000000000000000000000000000000a1", nonce = 7 }]
            [run]
            cases = 3
        "#;
        let (profile, run) = parse(text, None).unwrap();
        assert_eq!(profile.target.url.as_deref(), Some("http://127.0.0.1:1/"));
        assert_ne!(*profile.known, *DEFAULT_SPECIFICATION.unknown());
        assert_eq!(run.cases, Some(3));
    }
}
