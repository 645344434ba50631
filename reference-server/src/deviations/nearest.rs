//! Finding a table's row by name; the error names the row that was probably meant.

use std::fmt;

/// Below this similarity (Jaro-Winkler, 0 to 1) a suggestion would be a guess.
const SIMILAR_ENOUGH: f64 = 0.7;

/// A name that its table does not have.
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

/// The row called `name`; `kind` is what the error calls a row.
pub(crate) fn find<T>(
    kind: &'static str,
    mut rows: impl Iterator<Item = &'static T> + Clone,
    name_of: fn(&'static T) -> &'static str,
    name: &str,
) -> Result<&'static T, UnknownName> {
    let names = rows.clone().map(name_of);
    rows.find(|row| name_of(row) == name).ok_or_else(|| UnknownName {
        kind,
        name: name.to_owned(),
        nearest: names
            .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
            .filter(|(similarity, _)| *similarity >= SIMILAR_ENOUGH)
            .max_by(|left, right| left.0.total_cmp(&right.0))
            .map(|(_, candidate)| candidate),
    })
}
