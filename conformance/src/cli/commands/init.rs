//! `init`: writes a commented configuration file to fill in.

use std::{
    fs::OpenOptions,
    io::{ErrorKind, Write},
    path::Path,
};

use crate::cli::process::{
    error::{CommandError, at},
    output,
};
use paymaster_cli::exit;

/// The content of the file.
pub(crate) const TEMPLATE: &str = include_str!("template.toml");

/// Runs the command. An existing file is not overwritten.
pub(crate) fn run(path: &Path) -> Result<u8, CommandError> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(|cause| match cause.kind() {
            ErrorKind::AlreadyExists => format!(
                "{}: the file exists already and is not overwritten: name another file",
                path.display()
            ),
            _ => at(path)(cause).to_string(),
        })?;
    file.write_all(TEMPLATE.as_bytes()).map_err(at(path))?;
    output::print(&format!(
        "wrote {}: fill in what you know about the target, then run `paymaster-conformance --config {}`\n",
        path.display(),
        path.display()
    ))?;
    Ok(exit::CONFORMS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use paymaster_cli::file;

    #[test]
    fn the_template_is_read_as_it_is_and_with_every_example_in_force() {
        file::parse(TEMPLATE).unwrap();
        let in_force: String = TEMPLATE
            .lines()
            .map(|line| line.strip_prefix("#: ").unwrap_or(line))
            .fold(String::new(), |text, line| text + line + "\n");
        let (profile, run) = file::parse(&in_force).unwrap();
        assert!(!profile.tokens.supported.is_empty());
        assert!(!profile.operations.sponsorable.is_empty());
        assert!(run.cases.is_some());
    }
}
