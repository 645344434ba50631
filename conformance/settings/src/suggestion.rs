//! "Did you mean": the known word that is nearest to an unknown one.

use paymaster_reference_server::nearest;

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
