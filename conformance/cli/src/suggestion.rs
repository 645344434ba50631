//! "Did you mean": the known word that is nearest to an unknown one.

/// How alike two words must be to be suggested for each other, from 0 to 1.
const LEAST_LIKENESS: f64 = 0.6;

/// The candidate that is most like a word; none where no candidate is like it.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::normalized_damerau_levenshtein(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= LEAST_LIKENESS)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

/// The end of a message about an unknown word, as ` (did you mean `url`?)`; empty where no candidate is like the word.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or(String::new(), |known| format!(" (did you mean `{known}`?)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_suggested() {
        assert_eq!(did_you_mean("ulr", ["headers", "url"]), " (did you mean `url`?)");
        assert_eq!(did_you_mean("x", ["headers", "url"]), "");
    }
}
