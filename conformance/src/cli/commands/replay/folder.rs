//! `replay FOLDER`: for each defect what is fixed, what is still there, and what could not be tested.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{Replay, State};
use crate::cli::{
    args::ReplayArgs,
    process::{CommandError, block_on, stop_at_interrupt},
};
use crate::report::{
    replay_file::{ReplayDefect, ReplayFile},
    replay_folder,
    text::words::count,
};
use paymaster_client::stop::Stop;
use paymaster_settings::{
    Embedded, Environment, escape_controls,
    output::{self},
};
use tokio::sync::OnceCell;

/// The findings of a folder that belong to one defect.
struct Defect {
    /// None for a finding that stands alone: a known failure, or one of an earlier version.
    headline: Option<String>,
    files: Vec<PathBuf>,
}

/// A finding that was sent again.
struct Replayed {
    /// The name of its file without the ending.
    name: String,
    state: State,
    detail: String,
}

/// Runs the command; returns the exit code.
pub(super) fn run(args: &ReplayArgs, environment: &Environment) -> Result<u8, CommandError> {
    let folder = &args.file;
    let files = replay_folder::files(folder).map_err(|cause| format!("{}: {cause}", folder.display()))?;
    if files.is_empty() {
        return Err(format!("{}: there is no replay file in this folder", folder.display()).into());
    }
    let states = block_on(async {
        let embedded = OnceCell::new();
        let stop = stop_at_interrupt();
        let mut states = Vec::new();
        for defect in defects(files) {
            let mut findings = Vec::new();
            for path in &defect.files {
                let replayed = replayed(path, args, environment, &embedded, &stop).await;
                let (state, detail) = replayed.unwrap_or_else(|cause| (State::CouldNotTest, cause.message));
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                findings.push(Replayed { name, state, detail });
            }
            states.push(print(&defect, &findings)?);
        }
        Ok::<_, CommandError>(states)
    })?;
    output::print(&format!("{}\n", summary(&states)))?;
    Ok(worst(&states).code())
}

/// The files, grouped by defect: those of the first run and defect first, those without a defect last. Runs against other targets, and
/// parts of earlier runs, have defects of their own.
fn defects(files: Vec<PathBuf>) -> Vec<Defect> {
    let mut grouped = BTreeMap::<(String, ReplayDefect), Vec<PathBuf>>::new();
    let mut alone = Vec::new();
    for path in files {
        // A file that cannot be read is reported when it is sent.
        match ReplayFile::read(&path).ok().and_then(|file| Some((file.target, file.defect?))) {
            Some(key) => grouped.entry(key).or_default().push(path),
            None => alone.push(Defect { headline: None, files: vec![path] }),
        }
    }
    let grouped =
        grouped.into_iter().map(|((_, defect), files)| Defect { headline: Some(defect.headline), files });
    grouped.chain(alone).collect()
}

/// Prints what became of a defect, and below it each of its findings. Returns the state of the defect.
fn print(defect: &Defect, findings: &[Replayed]) -> Result<State, CommandError> {
    let states: Vec<State> = findings.iter().map(|finding| finding.state).collect();
    let state = worst(&states);
    let line = |indent: &str, state: State, text: &str| format!("{indent}{:<14}  {text}\n", state.words());
    let mut text = String::new();
    let indent = match &defect.headline {
        Some(headline) => {
            text.push_str(&line("", state, &escape_controls(headline)));
            "  "
        }
        None => "",
    };
    for finding in findings {
        let Replayed { name, state, detail } = finding;
        text.push_str(&line(indent, *state, &format!("{name}  {detail}")));
    }
    output::print(&text)?;
    Ok(state)
}

/// The worst state: a defect is still there when one of its findings is, and fixed when all are.
fn worst(states: &[State]) -> State {
    let mut worst_first = State::ALL.into_iter().map(|(state, ..)| state);
    worst_first.find(|state| states.contains(state)).unwrap_or(State::Fixed)
}

/// What became of the finding in a file, and what that rests on.
async fn replayed(
    path: &Path,
    args: &ReplayArgs,
    environment: &Environment,
    embedded: &OnceCell<Embedded>,
    stop: &Stop,
) -> Result<(State, String), CommandError> {
    let sent = Replay::read(path)?.send(args, environment, embedded, stop).await?;
    Ok((State::of(&sent.conclusion), sent.detail()))
}

/// `3 defects: 1 fixed, 1 still there, 1 could not be tested`.
fn summary(states: &[State]) -> String {
    let number = |state: State| states.iter().filter(|other| **other == state).count();
    let parts = [
        (number(State::Fixed), "fixed"),
        (number(State::StillThere), "still there"),
        (number(State::NotProved), "not proved"),
        (number(State::CouldNotTest), "could not be tested"),
    ];
    let parts = parts.iter().filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts.map(|(number, words)| format!("{number} {words}")).collect();
    format!("{}: {}", count(states.len() as u128, "defect"), parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_that_of_the_worst_defect() {
        use State::{CouldNotTest, Fixed, NotProved, StillThere};
        for (states, expected, words) in [
            (&[Fixed, Fixed][..], 0, "2 defects: 2 fixed"),
            (&[Fixed, NotProved], 4, "2 defects: 1 fixed, 1 not proved"),
            (&[CouldNotTest, NotProved], 3, "2 defects: 1 not proved, 1 could not be tested"),
            (
                &[CouldNotTest, StillThere, Fixed],
                1,
                "3 defects: 1 fixed, 1 still there, 1 could not be tested",
            ),
        ] {
            assert_eq!(worst(states).code(), expected);
            assert_eq!(summary(states), words);
        }
    }
}
