//! The configuration file, `paymaster.toml`: the profile of the target and the settings of the run.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::environment::Environment;
use paymaster_judge::target::{
    dialect::Pins,
    profile::{Operations, Profile, SmartAccount, Target, TokenLists},
};

/// The file that is read when none is named and it is there.
pub const DEFAULT_PATH: &str = "paymaster.toml";

/// Everything that a file can say.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Contents {
    target: Target,
    tokens: TokenLists,
    accounts: Vec<SmartAccount>,
    operations: Operations,
    dialect: Pins,
    run: RunTable,
    load: LoadTable,
}

/// `[run]`: how a run goes, as the flags of the same names.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RunTable {
    /// As `--cases`.
    pub cases: Option<u32>,
    /// As `--seed`.
    pub seed: Option<u64>,
    /// As `--timeout`.
    pub timeout: Option<String>,
    /// As `--time-limit`.
    pub time_limit: Option<String>,
    /// As `--max-requests`.
    pub max_requests: Option<usize>,
    /// As `--shrink-requests`.
    pub shrink_requests: Option<u32>,
    /// As `--strict`.
    pub strict: Option<bool>,
    /// As `--allow-incomplete`.
    pub allow_incomplete: Option<bool>,
    /// The list of known failures; a relative path counts from the folder of this file.
    pub known_failing: Option<PathBuf>,
    /// `[load]`, which stands beside `[run]` in the file and is for the load generator alone.
    #[serde(skip)]
    pub load: LoadTable,
}

/// `[load]`: what the load generator reads of the same file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LoadTable {
    /// The target is the user's own, and may be sent more than a polite rate.
    pub own_target: bool,
    /// How often each scenario is part of `mixed`, by its name.
    pub weights: BTreeMap<String, u32>,
    /// Thresholds, as `--threshold` takes them.
    pub thresholds: Vec<String>,
}

/// The file to read: the one that is named by the flag, else by `PAYMASTER_CONFIG`, else the default one when it is there.
pub fn chosen(flag: Option<&Path>, environment: &Environment) -> Option<PathBuf> {
    let named = flag.or_else(|| environment.get("PAYMASTER_CONFIG").map(Path::new));
    let default = Path::new(DEFAULT_PATH);
    named.or(default.exists().then_some(default)).map(Path::to_owned)
}

/// Reads the file, if there is one.
pub fn read(path: Option<&Path>) -> Result<(Profile, RunTable), String> {
    let Some(path) = path else {
        return Ok(Default::default());
    };
    let text = fs::read_to_string(path).map_err(|cause| format!("{}: {cause}", path.display()))?;
    let (profile, mut run) = parse(&text).map_err(|cause| format!("{}: {cause}", path.display()))?;
    if let (Some(list), Some(folder)) = (&mut run.known_failing, path.parent()) {
        *list = folder.join(&*list);
    }
    Ok((profile, run))
}

/// Reads the text of a file. Messages name the place and the key, never the values: they can be secrets.
pub fn parse(text: &str) -> Result<(Profile, RunTable), String> {
    let contents: Contents = toml::from_str(text).map_err(|cause| {
        let place = cause.span().map(|span| place(text, span.start));
        let said = suggest(cause.message().lines().next().unwrap_or_default());
        place.map_or(said.clone(), |place| format!("{place}: {said}"))
    })?;
    let profile = Profile {
        target: contents.target,
        tokens: contents.tokens,
        accounts: contents.accounts,
        operations: contents.operations,
        dialect: contents.dialect,
    };
    super::plausible::check(&profile)?;
    let run = RunTable {
        load: contents.load,
        ..contents.run
    };
    Ok((profile, run))
}

/// Line and column of a byte offset, for messages.
pub fn place(text: &str, offset: usize) -> String {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = before.split(|byte| *byte == b'\n').count();
    let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
    format!("line {line}, column {column}")
}

/// Adds the nearest known key to serde's message about an unknown one, which lists the known ones in backticks.
pub fn suggest(message: &str) -> String {
    if !message.starts_with("unknown field") && !message.starts_with("unknown variant") {
        return message.to_owned();
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    let Some(unknown) = quoted.next() else {
        return message.to_owned();
    };
    match nearest(unknown, quoted) {
        Some(known) => format!("{message} (did you mean `{known}`?)"),
        None => message.to_owned(),
    }
}

/// How alike two words must be to be taken for one another, from 0 to 1.
const ALIKE: f64 = 0.6;

/// The candidate that is most like a word, when it is like it at all.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|candidate| (strsim::normalized_damerau_levenshtein(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_are_placed_and_the_nearest_is_named() {
        let refusal = parse("[target]\nurl = \"http://h/\"\n\n[tokens]\nsuported = []\n").unwrap_err();
        assert!(refusal.starts_with("line 5, column 1: "), "{refusal}");
        assert!(refusal.ends_with("(did you mean `supported`?)"), "{refusal}");
        let refusal = parse("[operations]\naccepts = \"anny\"\n").unwrap_err();
        assert!(refusal.contains("did you mean `any`?"), "{refusal}");
        assert_eq!(nearest("ulr", ["headers", "url"].into_iter()), Some("url"));
        assert_eq!(nearest("x", ["headers", "url"].into_iter()), None);
    }

    #[test]
    fn wrong_values_are_placed_and_secrets_are_not_shown() {
        let refusal =
            parse("[target]\nheaders = [\"x-key: topsecret\"]\nconcurrency = \"many\"\n").unwrap_err();
        assert!(refusal.starts_with("line 3, column 15: "), "{refusal}");
        assert!(!refusal.contains("topsecret"), "{refusal}");
    }

    #[test]
    fn a_file_says_profile_and_run() {
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
        let (profile, run) = parse(text).unwrap();
        assert_eq!(profile.accounts[0].name, "BICONOMY");
        assert_eq!(profile.operations.sponsorable[0]["nonce"], 7);
        assert_eq!(run.cases, Some(3));
    }
}
