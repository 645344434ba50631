//! Finds entries by name, and suggests the most similar name for one that is unknown.

use std::fmt;

/// Smallest similarity (normalized Damerau-Levenshtein, 0 to 1) of a suggestion.
const SIMILAR_ENOUGH: f64 = 0.6;

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
    entries.find(|entry| name_of(entry) == name).ok_or_else(|| UnknownName {
        kind,
        name: name.to_owned(),
        nearest: nearest(name, names),
    })
}

/// The candidate that is most similar to `name`, by its letters or by its words, which end at `-` or `.`; none when none is similar enough
/// or shares a word.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let words = |text: &'a str| text.split(['-', '.']);
    let likeness = |candidate: &'a str| {
        let own: Vec<&str> = name.split(['-', '.']).collect();
        let shared = words(candidate).filter(|word| own.contains(word)).count();
        let most = own.len().max(words(candidate).count());
        #[expect(clippy::cast_precision_loss, reason = "names have few words")]
        let by_words = shared as f64 / most as f64;
        let by_letters = strsim::normalized_damerau_levenshtein(name, candidate);
        (by_letters >= SIMILAR_ENOUGH || shared > 0).then_some(by_letters.max(by_words))
    };
    let likely = candidates.into_iter();
    let likely = likely.filter_map(|candidate| Some((likeness(candidate)?, candidate)));
    likely.max_by(|left, right| left.0.total_cmp(&right.0)).map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use crate::{find_fault, find_variant};

    #[test]
    fn a_name_with_the_right_words_is_suggested_however_they_are_ordered() {
        for (name, words) in [
            ("id-nul", "did you mean `id-null`?"),
            ("id-refused-string", "did you mean `id-string-refused`?"),
            ("zzz", "--list-faults lists them"),
        ] {
            let unknown = find_fault(name).unwrap_err().to_string();
            assert!(unknown.ends_with(words), "{unknown}");
        }
        assert!(find_variant("zzz").unwrap_err().to_string().ends_with("--list-variants lists them"));
    }
}
