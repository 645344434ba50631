//! `replay FOLDER`: for each defect what is fixed, what is still there, and what could not be tested.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{EmbeddedServer, Replay};
use crate::cli::{
    args::ReplayArgs,
    process::{
        error::CommandError,
        output,
        runtime::{Runtime, stop_at_interrupt},
    },
};
use crate::report::{
    replay_file::{ReplayDefect, ReplayFile},
    replay_folder,
    text::words::count,
};
use paymaster_cli::{exit, output::terminal::escape_controls, settings::environment::Environment};
use paymaster_client::stop::Stop;
use paymaster_judge::session::recheck;

/// How often the requests of a finding are sent that was not broken each time: seldom enough to be quick, and a rule that one answer
/// of three breaks holds by chance in one of 58 such tries.
const TRIES_OF_FLAKY: usize = 10;

/// What became of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Fixed,
    StillThere,
    CouldNotTest,
    /// The rule judges none of the answers.
    NotJudged,
}

impl State {
    const fn words(self) -> &'static str {
        match self {
            Self::Fixed => "FIXED",
            Self::StillThere => "STILL THERE",
            Self::CouldNotTest | Self::NotJudged => "COULD NOT TEST",
        }
    }
}

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
    detail: Option<String>,
}

/// Runs the command; returns the exit code.
pub(super) fn run(args: &ReplayArgs, environment: &Environment) -> Result<u8, CommandError> {
    let folder = &args.file;
    let files = replay_folder::files(folder).map_err(|cause| format!("{}: {cause}", folder.display()))?;
    if files.is_empty() {
        return Err(format!("{}: there is no replay file in this folder", folder.display()).into());
    }
    let states = Runtime::start()?.block_on(async {
        let mut embedded = EmbeddedServer::default();
        let stop = stop_at_interrupt();
        let mut states = Vec::new();
        for defect in defects(files) {
            let mut findings = Vec::new();
            for path in &defect.files {
                let (state, detail) = replayed(path, args, environment, &mut embedded, &stop).await;
                let name = path
                    .file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                findings.push(Replayed { name, state, detail });
            }
            states.push(print(&defect, &findings)?);
        }
        embedded.stop().await;
        Ok::<_, CommandError>(states)
    })?;
    output::print(&format!("{}\n", summary(&states)))?;
    Ok(code(&states))
}

/// The files, grouped by defect: those of the first run and defect first, those without a defect last. Runs against other targets, and
/// parts of earlier runs, have defects of their own.
fn defects(files: Vec<PathBuf>) -> Vec<Defect> {
    let mut grouped = BTreeMap::<(String, ReplayDefect), Vec<PathBuf>>::new();
    let mut alone = Vec::new();
    for path in files {
        // A file that cannot be read is reported when it is sent.
        match ReplayFile::read(&path)
            .ok()
            .and_then(|file| Some((file.target, file.defect?)))
        {
            Some(key) => grouped.entry(key).or_default().push(path),
            None => alone.push(Defect {
                headline: None,
                files: vec![path],
            }),
        }
    }
    let grouped = grouped.into_iter().map(|((_, defect), files)| Defect {
        headline: Some(defect.headline),
        files,
    });
    grouped.chain(alone).collect()
}

/// Prints what became of a defect, and below it each of its findings. Returns the state of the defect.
fn print(defect: &Defect, findings: &[Replayed]) -> Result<State, CommandError> {
    let states: Vec<State> = findings.iter().map(|finding| finding.state).collect();
    let state = worst(&states);
    let line = |indent: &str, state: State, text: &str| format!("{indent}{:<14}  {text}\n", state.words());
    let named = |finding: &Replayed| match &finding.detail {
        Some(detail) => format!("{}  {detail}", finding.name),
        None => finding.name.clone(),
    };
    let mut text = String::new();
    let indent = match &defect.headline {
        Some(headline) => {
            text.push_str(&line("", state, &escape_controls(headline)));
            "  "
        }
        None => "",
    };
    for finding in findings {
        text.push_str(&line(indent, finding.state, &named(finding)));
    }
    output::print(&text)?;
    Ok(state)
}

/// A defect is still there when one of its findings is, and fixed when none is and all could be tested.
fn worst(states: &[State]) -> State {
    [State::StillThere, State::CouldNotTest, State::NotJudged]
        .into_iter()
        .find(|state| states.contains(state))
        .unwrap_or(State::Fixed)
}

/// What became of the finding in a file, and a detail for people.
async fn replayed(
    path: &Path,
    args: &ReplayArgs,
    environment: &Environment,
    embedded: &mut EmbeddedServer,
    stop: &Stop,
) -> (State, Option<String>) {
    let untested = |cause: CommandError| (State::CouldNotTest, Some(cause.message));
    let replay = match Replay::read(path) {
        Ok(replay) => replay,
        Err(cause) => return untested(cause),
    };
    let tries = if is_flaky(&replay.file.finding.reproduced) {
        TRIES_OF_FLAKY
    } else {
        1
    };
    let mut last = (State::NotJudged, None);
    for _ in 0..tries {
        let sent = match replay.send(args, environment, embedded, stop).await {
            Ok(sent) => sent,
            Err(cause) => return untested(cause),
        };
        last = match &sent.replayed {
            recheck::Replayed::Broken(violation) => {
                let (expected, actual) = (sent.shown(&violation.expected), sent.shown(&violation.actual));
                let detail = format!("expected {expected}, got {actual}");
                return (State::StillThere, Some(detail));
            }
            recheck::Replayed::NotTested(cause) => return (State::CouldNotTest, Some(sent.untested(cause))),
            recheck::Replayed::Held if tries > 1 => {
                (State::Fixed, Some(format!("held {tries} times; it was flaky")))
            }
            recheck::Replayed::Held => (State::Fixed, None),
            recheck::Replayed::NotJudged => {
                let detail = "the rule does not judge such an answer".to_owned();
                (State::NotJudged, Some(detail))
            }
        };
    }
    last
}

/// Whether a finding was not broken each time that it was sent: `reproduced 1/3`.
fn is_flaky(reproduced: &str) -> bool {
    let counts = reproduced
        .rsplit(' ')
        .next()
        .and_then(|share| share.split_once('/'));
    counts.is_some_and(|(broken, sent)| broken != sent)
}

/// `3 defects: 1 fixed, 1 still there, 1 could not be tested`.
fn summary(states: &[State]) -> String {
    let number = |state: State| states.iter().filter(|other| **other == state).count();
    let parts = [
        (number(State::Fixed), "fixed"),
        (number(State::StillThere), "still there"),
        (
            number(State::CouldNotTest) + number(State::NotJudged),
            "could not be tested",
        ),
    ];
    let parts = parts.iter().filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts.map(|(number, words)| format!("{number} {words}")).collect();
    format!("{}: {}", count(states.len() as u128, "defect"), parts.join(", "))
}

fn code(states: &[State]) -> u8 {
    match worst(states) {
        State::StillThere => exit::VIOLATIONS,
        State::CouldNotTest => exit::COULD_NOT_TEST,
        State::NotJudged => exit::INCOMPLETE,
        State::Fixed => exit::CONFORMS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_that_of_the_worst_defect() {
        use State::{CouldNotTest, Fixed, NotJudged, StillThere};
        for (states, expected, words) in [
            (&[Fixed, Fixed][..], 0, "2 defects: 2 fixed"),
            (
                &[Fixed, NotJudged],
                4,
                "2 defects: 1 fixed, 1 could not be tested",
            ),
            (&[CouldNotTest, NotJudged], 3, "2 defects: 2 could not be tested"),
            (
                &[CouldNotTest, StillThere, Fixed],
                1,
                "3 defects: 1 fixed, 1 still there, 1 could not be tested",
            ),
        ] {
            assert_eq!(code(states), expected);
            assert_eq!(summary(states), words);
        }
    }

    #[test]
    fn a_finding_that_was_not_broken_each_time_is_flaky() {
        for (reproduced, flaky) in [
            ("reproduced 3/3", false),
            ("reproduced 1/3", true),
            ("reproduced 0/3", true),
            ("recorded, not sent again", false),
        ] {
            assert_eq!(is_flaky(reproduced), flaky, "{reproduced}");
        }
    }
}
