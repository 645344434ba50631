//! "Did you mean": the known word that is nearest to an unknown one.

use std::ffi::OsString;

use clap::{Parser, error::ErrorKind};
use paymaster_reference_server::nearest;

use crate::{exit, output};

/// The arguments of this process; where they are wrong or ask for help, what there is to say is printed, and the error is the exit code.
pub fn command_line<C: Parser>() -> Result<C, u8> {
    if let Some(message) = mistyped_command(&C::command(), std::env::args_os().nth(1)) {
        output::error(&message);
        return Err(exit::USAGE);
    }
    C::try_parse().map_err(|cause| {
        // Where this cannot be printed, there is no other place to report it.
        let _ = cause.print();
        let is_asked = matches!(cause.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
        if is_asked { exit::CONFORMS } else { exit::USAGE }
    })
}

/// The error message for a first argument that is nearly the name of a command, which would else be taken for a URL; none for any other.
fn mistyped_command(program: &clap::Command, first: Option<OsString>) -> Option<String> {
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
