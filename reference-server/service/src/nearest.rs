//! Suggests the most similar name for one that is unknown, and places what is wrong in a text.

/// Smallest similarity (normalized Damerau-Levenshtein, 0 to 1) of a suggestion.
const SIMILAR_ENOUGH: f64 = 0.6;

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

/// The end of a message about an unknown word, as ` (did you mean `url`?)`; empty where no candidate is like the word.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or(String::new(), |known| format!(" (did you mean `{known}`?)"))
}

/// The first line of a message of serde, with the nearest known key or value where it is about an unknown one: it lists the known ones in
/// backticks.
pub fn with_suggestion(message: &str) -> String {
    let message = message.lines().next().unwrap_or_default();
    let is_unknown = message.starts_with("unknown field") || message.starts_with("unknown variant");
    let mut quoted = message.split('`').skip(1).step_by(2);
    match quoted.next().filter(|_| is_unknown) {
        Some(unknown) => format!("{message}{}", did_you_mean(unknown, quoted)),
        None => message.to_owned(),
    }
}

/// Line and column of a byte offset, as the beginning of a message: `line 2, column 1: `.
pub fn place(text: &str, offset: usize) -> String {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = before.split(|byte| *byte == b'\n').count();
    let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
    format!("line {line}, column {column}: ")
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
