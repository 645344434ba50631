//! Finds entries by name, and suggests the most similar name for one that is unknown.

use std::fmt;

/// Smallest similarity (Jaro-Winkler, 0 to 1) of a suggestion.
const SIMILAR_ENOUGH: f64 = 0.7;

/// A name that is not in its table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    kind: &'static str,
    name: String,
    nearest: Option<&'static str>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, nearest } = self;
        write!(formatter, "unknown {kind} `{name}`")?;
        match nearest {
            Some(nearest) => write!(formatter, ": did you mean `{nearest}`?"),
            None => write!(formatter, ": --list-{kind}s lists them"),
        }
    }
}

impl std::error::Error for UnknownName {}

/// The entry called `name`; `kind` is what the error calls an entry.
pub(crate) fn find<T>(
    kind: &'static str,
    mut entries: impl Iterator<Item = &'static T> + Clone,
    name_of: fn(&'static T) -> &'static str,
    name: &str,
) -> Result<&'static T, UnknownName> {
    let names = entries.clone().map(name_of);
    entries
        .find(|entry| name_of(entry) == name)
        .ok_or_else(|| UnknownName {
            kind,
            name: name.to_owned(),
            nearest: nearest(name, names),
        })
}

/// The candidate that is most similar to `name`; none when none is similar enough.
pub(crate) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= SIMILAR_ENOUGH)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}
