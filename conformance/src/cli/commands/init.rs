//! `init`: writes a configuration file. With a URL, what the target shows; without one, a commented file to fill in.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::cli::{CommandError, InitArgs, at, block_on, printed, stop_at_interrupt};
use crate::first_profile::{self, Given};
use crate::run;
use paymaster_engine::{rules::MissingLine, specification::Specification};
use paymaster_settings::output::{curl, report_file};
use paymaster_settings::settings::file;
use paymaster_settings::{
    DEFAULT_SPECIFICATION, Environment, RunSetup, escape_controls, specification, which,
};

/// The commented file for a specification, with every key.
pub(crate) fn template(specification: &Specification) -> String {
    let is_default = specification == DEFAULT_SPECIFICATION;
    let spec = format!("{}spec = \"{}\"", if is_default { "#: " } else { "" }, specification.name);
    include_str!("template.toml").replace("{spec}", &spec).replace("{tables}", specification.template)
}

/// Runs the command. An existing file is not overwritten.
pub(crate) fn run(args: &InitArgs, environment: &Environment) -> Result<u8, CommandError> {
    let output = args.output.clone();
    match &args.target {
        Some(url) if is_url(url) => block_on(ask(url, &path_or_default(output), args, environment)),
        Some(path) if output.is_some() => Err(format!(
            "`{path}` is no URL, and -o names the file: give an http:// or https:// URL, or one file"
        )
        .into()),
        Some(path) => fill_in(Path::new(path), args),
        None => fill_in(&path_or_default(output), args),
    }
}

fn is_url(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https"))
}

fn path_or_default(path: Option<PathBuf>) -> PathBuf {
    path.unwrap_or_else(|| file::DEFAULT_PATH.into())
}

/// Writes the commented file.
fn fill_in(path: &Path, args: &InitArgs) -> Result<u8, CommandError> {
    let specification = args.run.common.spec.as_deref().map_or(Ok(DEFAULT_SPECIFICATION), specification)?;
    write(path, &template(specification))?;
    let shown = path.display();
    printed(&format!(
        "wrote {shown}: fill in what you know about the target, then run `paymaster-conformance --config {shown}`\n"
    ))
}

/// Asks the target and writes what it shows.
async fn ask(url: &str, path: &Path, args: &InitArgs, environment: &Environment) -> Result<u8, CommandError> {
    if path.exists() {
        return Err(exists(path));
    }
    report_file::check_writable(path).map_err(|cause| format!("{}: {cause}", path.display()))?;
    let setup = which::read(&args.run, Some(url), environment).await?;
    let RunSetup { settings, shown_target: place, redactor, .. } = setup.settings(url)?;
    let specification = settings.profile.specification();
    let given = Given { specification, place: &place, redactor: &redactor, rate: settings.args.rate };
    let surveyed = run::survey(&settings, &redactor, &stop_at_interrupt()).await;
    let needs = surveyed.found.needs;
    if let Some(cause) = surveyed.ended.as_ref().filter(|_| needs.is_some()) {
        let cause = escape_controls(&redactor.apply(cause));
        let message = format!("could not ask {}: {cause}; no file was written", place.shown);
        return Err(CommandError::could_not_test(message));
    }
    let text = first_profile::text(&surveyed, given);
    file::parse(&text, None).map_err(|cause| format!("what was found is no valid profile: {cause}"))?;
    write(path, &text)?;
    let shown = path.display();
    let mut lines = first_profile::findings(&surveyed, given);
    lines.push(match needs {
        None => {
            let target = curl::url(&place);
            format!(
                "wrote {shown}: add what only you can say, then run `paymaster-conformance {target} --config {shown}`"
            )
        }
        Some(MissingLine { table, meaning, text, .. }) => {
            let text = text(&*settings.profile);
            format!("wrote {shown}: it needs one key, in {table}, with {meaning}:\n  {text}\n")
        }
    });
    printed(&(lines.join("\n") + "\n"))
}

/// Writes a new file, and the folders that it needs.
fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    report_file::make_folder(path).map_err(at(path))?;
    let mut file =
        OpenOptions::new().write(true).create_new(true).open(path).map_err(|cause| match cause.kind() {
            ErrorKind::AlreadyExists => exists(path),
            _ => at(path)(cause).into(),
        })?;
    file.write_all(text.as_bytes()).map_err(at(path))?;
    Ok(())
}

fn exists(path: &Path) -> CommandError {
    format!("{}: the file exists already and is not overwritten: name another file", path.display()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use paymaster_settings::{
        SPECIFICATIONS,
        settings::{environment::variables, file},
    };

    #[test]
    fn the_template_is_read_as_it_is_and_with_every_example_in_force() {
        for specification in SPECIFICATIONS.iter().copied() {
            let text = template(specification);
            let (profile, _) = file::parse(&text, None).unwrap();
            assert_eq!(*profile.known, *specification.unknown());
            let in_force: String = text
                .lines()
                .map(|line| line.strip_prefix("#: ").unwrap_or(line))
                .fold(String::new(), |text, line| text + line + "\n");
            let (profile, run) = file::parse(&in_force, None).unwrap();
            assert_eq!(profile.known.specification(), specification);
            assert_ne!(*profile.known, *specification.unknown());
            assert!(run.cases.is_some());
            let flags =
                variables().filter_map(|(_, meaning)| Some(meaning.strip_prefix("as --")?.to_owned()));
            for flag in flags.filter(|flag| !["jobs", "rate", "spec"].contains(&flag.as_str())) {
                assert!(text.contains(&format!("\n#: {flag} = ")), "{flag} has no line in template.toml");
            }
        }
    }
}
