//! Suggests the most similar name for one that is unknown.

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
