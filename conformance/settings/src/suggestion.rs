//! "Did you mean": the known word that is nearest to an unknown one.

use std::ffi::OsString;

use paymaster_reference_server::nearest;

/// The error message for a first argument that is nearly the name of a command, which would else be taken for a URL; none for any other.
pub fn mistyped_command(program: &clap::Command, first: Option<OsString>) -> Option<String> {
    let word = first?.into_string().ok()?;
    let is_none = word.starts_with('-') || word.contains(['.', ':', '/']); // a flag or a host
    if is_none || program.find_subcommand(&word).is_some() {
        return None;
    }
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
    let known = nearest(&word, commands.map(clap::Command::get_name))?;
    Some(format!("there is no command `{word}` (did you mean `{known}`?)"))
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
