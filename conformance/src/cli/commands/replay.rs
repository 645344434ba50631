//! `replay FILE`: sends the requests of a finding again and judges the answers. With a folder, those of every finding in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use paymaster_client::redact::{REDACTED, Redactor};
use paymaster_client::stop::Stop;
use paymaster_engine::cases::{DISCOVERY, Group};
use paymaster_engine::rules::fails_the_run;
use paymaster_engine::session::RECORDED;
use paymaster_settings::{
    EMBEDDED_WARNING, Embedded, Environment, RunSetup, Setup, ShownTarget, escape_controls, exit, output,
};
use tokio::sync::OnceCell;

use crate::cli::{CommandError, ReplayArgs, block_on, stop_at_interrupt};
use crate::report::words::count;
use crate::report::{EMBEDDED, Maker, ReplayDefect, ReplayFile, progress, replay_file};
use crate::run::{self, ReplayOutcome};
use crate::{Rule, Violation};

/// Longest reason with its answer that is printed, in characters.
const LONGEST_ANSWER: usize = 320;

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &ReplayArgs, environment: &Environment) -> Result<u8, CommandError> {
    if args.file.is_dir() {
        return replay_all(args, environment);
    }
    let replay = Replay::read(&args.file)?;
    block_on(async {
        progress::show(&format!("replaying {}", args.file.display()));
        let sent = replay.send(args, environment, &OnceCell::new(), &stop_at_interrupt()).await;
        progress::show("");
        print(&replay, &sent?)
    })
}

fn print(replay: &Replay, sent: &Sent) -> Result<u8, CommandError> {
    let state = State::of(&sent.conclusion);
    if state == State::CouldNotTest {
        return Err(CommandError::could_not_test(sent.detail()));
    }
    let headline = format!("{}  {}  {}\n", state.words(), replay.rule.id, sent.place);
    let detail = match &sent.conclusion {
        ReplayOutcome::StillThere(Violation { pointer, expected, actual, .. }) => {
            let [pointer, expected, actual] = [pointer, expected, actual].map(|text| sent.shown(text));
            format!("  at        {pointer}\n  expected  {expected}\n  actual    {actual}\n")
        }
        _ => format!("  {}\n", sent.detail()),
    };
    output::print(&(headline + &detail))?;
    Ok(state.code())
}

/// What became of a finding or a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    StillThere,
    CouldNotTest,
    NotProved,
    Fixed,
}

impl State {
    /// Each state with its words, those in a summary and its exit code, the worst one first.
    const ALL: [(Self, &str, &str, u8); 4] = [
        (Self::StillThere, "STILL THERE", "still there", exit::VIOLATIONS),
        (Self::CouldNotTest, "COULD NOT TEST", "could not be tested", exit::COULD_NOT_TEST),
        (Self::NotProved, "NOT PROVED", "not proved", exit::INCOMPLETE),
        (Self::Fixed, "FIXED", "fixed", exit::CONFORMS),
    ];

    fn of(conclusion: &ReplayOutcome) -> Self {
        match conclusion {
            ReplayOutcome::StillThere(_) => Self::StillThere,
            ReplayOutcome::CouldNotTest(_) => Self::CouldNotTest,
            ReplayOutcome::NotProved { .. } => Self::NotProved,
            ReplayOutcome::Fixed(_) => Self::Fixed,
        }
    }

    const fn words(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    const fn code(self) -> u8 {
        Self::ALL[self as usize].3
    }
}

/// A replay file that can be sent.
struct Replay {
    file: ReplayFile,
    rule: &'static Rule,
    group: Group,
}

/// The requests of a replay file were sent.
struct Sent {
    /// The target, secrets redacted.
    place: String,
    conclusion: ReplayOutcome,
    redactor: Redactor,
}

impl Replay {
    fn read(path: &Path) -> Result<Self, CommandError> {
        let file = ReplayFile::read(path)?;
        let specification = file.specification()?;
        let rule = specification
            .find_rule(&file.rule)
            .ok_or_else(|| format!("there is no rule `{}` in this version", file.rule))?;
        let relations = specification.relations.iter().copied().chain([&DISCOVERY, &RECORDED]);
        let group = file.group(&relations.collect::<Vec<_>>())?;
        Ok(Self { file, rule, group })
    }

    /// The settings, by the specification of the file where nothing names another one.
    fn setup(&self, args: &ReplayArgs, environment: &Environment) -> Result<Setup, CommandError> {
        let mut run = args.run.clone();
        run.common.spec.get_or_insert(self.file.specification()?.name.to_owned());
        Ok(Setup::read(&run, args.url.as_deref(), environment)?)
    }

    /// Sends the requests and judges the answers.
    async fn send(
        &self,
        args: &ReplayArgs,
        environment: &Environment,
        embedded: &OnceCell<Embedded>,
        stop: &Stop,
    ) -> Result<Sent, CommandError> {
        let own = self.file.specification()?;
        let mut setup = self.setup(args, environment)?;
        let asked = setup.profile.known.specification();
        if asked != own {
            return Err(format!(
                "the replay file is of the specification `{}`, and `{}` was asked for: leave out --spec, or give the configuration \
                 file of that target",
                own.name, asked.name
            )
            .into());
        }
        let recorded = (!self.file.target.contains(REDACTED)).then(|| self.file.target.clone());
        let url = match setup.merged.url.clone().or(recorded) {
            Some(url) if url == EMBEDDED => {
                // It is started for the first file that asks for it.
                let start = async || {
                    output::print(&format!("warning: {EMBEDDED_WARNING}\n"))?;
                    let failed =
                        |cause| CommandError::from(format!("the embedded reference server: {cause}"));
                    Embedded::start().await.map_err(failed)
                };
                let server = embedded.get_or_try_init(start).await?;
                setup = setup.for_embedded(&*server.profile(own));
                server.url.clone()
            }
            Some(url) => url,
            None => {
                return Err(
                    "the URL in the replay file lacks the secrets that were replaced: give the URL, or set PAYMASTER_URL".into(),
                );
            }
        };
        let access = args.chain.transport(&setup)?;
        let RunSetup { settings, shown_target, mut redactor, .. } = setup.settings(&url)?;
        args.chain.hide(&mut redactor);
        args.chain.applicable(vec![self.rule])?;
        let conclusion = match args.chain.connect(access).await {
            Err(cause) => ReplayOutcome::CouldNotTest(cause),
            Ok(chain) => {
                let (finding, context) = (&self.file.finding, self.file.known()?);
                run::replay(&settings, chain, self.rule, &self.group, finding, &*context, stop).await
            }
        };
        Ok(Sent { place: shown_target.shown, conclusion, redactor })
    }
}

impl Sent {
    /// A text from the target without secrets and control characters.
    fn shown(&self, text: &str) -> String {
        escape_controls(&self.redactor.apply(text))
    }

    /// What the conclusion rests on, in a line.
    fn detail(&self) -> String {
        match &self.conclusion {
            ReplayOutcome::Fixed(times) => format!("the rule held {times} times"),
            ReplayOutcome::StillThere(violation) => {
                let (expected, actual) = (self.shown(&violation.expected), self.shown(&violation.actual));
                format!("expected {expected}, got {actual}")
            }
            ReplayOutcome::NotProved { reason, answer } => {
                let maker = Maker { redactor: &self.redactor, place: &ShownTarget::default() };
                let answer = answer.as_ref().map(|answer| format!(": {}", maker.exchange(answer).line()));
                let text = self.shown(&format!("{reason}{}", answer.unwrap_or_default()));
                output::terminal::cut(&text, LONGEST_ANSWER)
            }
            ReplayOutcome::CouldNotTest(cause) => {
                format!("could not test {}: {}", self.place, self.shown(cause))
            }
        }
    }
}

/// Runs the command; returns the exit code.
fn replay_all(args: &ReplayArgs, environment: &Environment) -> Result<u8, CommandError> {
    let folder = &args.file;
    let files = replay_file::files(folder).map_err(|cause| format!("{}: {cause}", folder.display()))?;
    if files.is_empty() {
        return Err(format!("{}: there is no replay file in this folder", folder.display()).into());
    }
    let states = block_on(async {
        let embedded = OnceCell::new();
        let stop = stop_at_interrupt();
        let mut states = Vec::new();
        let (all, mut done) = (files.len(), 0);
        for (headline, files) in defects(files) {
            let (mut findings, mut only_warns) = (Vec::new(), true);
            for path in &files {
                done += 1;
                progress::show(&format!("replaying {done} of {all}: {}", path.display()));
                let replay = Replay::read(path);
                only_warns &= replay.as_ref().is_ok_and(|replay| !fails_the_run(replay.rule.basis(), false));
                if let Ok(replay) = &replay {
                    // What is wrong with the settings is wrong for every file.
                    let setup = replay.setup(args, environment)?;
                    if let Some(url) = setup.merged.url.clone().filter(|url| url != EMBEDDED) {
                        setup.settings(&url)?;
                    }
                }
                let sent = async { replay?.send(args, environment, &embedded, &stop).await };
                let (state, detail) = match sent.await {
                    Ok(sent) => (State::of(&sent.conclusion), sent.detail()),
                    Err(cause) => (State::CouldNotTest, cause.message),
                };
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                findings.push((state, format!("{name}  {detail}")));
            }
            progress::show("");
            states.push((print_defect(headline, &findings)?, only_warns));
        }
        Ok::<_, CommandError>(states)
    })?;
    let (lines, code) = conclusion(states);
    output::print(&lines)?;
    Ok(code)
}

/// A line for the defects and one for the warnings, and the exit code. As in a run, warnings decide only where nothing else does.
fn conclusion(states: Vec<(State, bool)>) -> (String, u8) {
    let (of_warnings, of_defects): (Vec<_>, Vec<_>) =
        states.into_iter().partition(|(_, only_warns)| *only_warns);
    let [of_defects, of_warnings]: [Vec<State>; 2] =
        [of_defects, of_warnings].map(|states| states.into_iter().map(|(state, _)| state).collect());
    let lines = [summary(&of_defects, "defect"), summary(&of_warnings, "warning")].concat();
    (lines, worst(if of_defects.is_empty() { of_warnings } else { of_defects }).code())
}

/// The files of each defect with its headline: those of the first run and defect first, those without a defect last, each alone. These are
/// known failures. Runs against other targets, and parts of earlier runs, have defects of their own.
fn defects(files: Vec<PathBuf>) -> Vec<(Option<String>, Vec<PathBuf>)> {
    let mut grouped = BTreeMap::<(String, ReplayDefect), Vec<PathBuf>>::new();
    let mut alone = Vec::new();
    for path in files {
        // A file that cannot be read is reported when it is sent.
        match ReplayFile::read(&path).ok().and_then(|file| Some((file.target, file.defect?))) {
            Some(key) => grouped.entry(key).or_default().push(path),
            None => alone.push((None, vec![path])),
        }
    }
    let grouped = grouped.into_iter().map(|((_, defect), files)| (Some(defect.headline), files));
    grouped.chain(alone).collect()
}

/// Prints what became of a defect, and below it the state and a line for each of its findings. Returns the state of the defect.
fn print_defect(headline: Option<String>, findings: &[(State, String)]) -> Result<State, CommandError> {
    let state = worst(findings.iter().map(|(state, _)| *state));
    let indent = if headline.is_some() { "  " } else { "" };
    let line = |indent: &str, state: State, text: &str| format!("{indent}{:<14}  {text}\n", state.words());
    let mut text = headline.map_or_else(String::new, |headline| line("", state, &escape_controls(&headline)));
    text.extend(findings.iter().map(|(state, finding)| line(indent, *state, finding)));
    output::print(&text)?;
    Ok(state)
}

/// The worst state: a defect is still there when one of its findings is, and fixed when all are.
fn worst(states: impl IntoIterator<Item = State>) -> State {
    states.into_iter().min().unwrap_or(State::Fixed)
}

/// `3 defects: 1 fixed, 1 could not be tested, 1 still there`, in a line; nothing where there are none.
fn summary(states: &[State], noun: &str) -> String {
    if states.is_empty() {
        return String::new();
    }
    let number = |state: State| states.iter().filter(|other| **other == state).count();
    let parts = State::ALL.map(|(state, _, words, _)| (number(state), words)).into_iter().rev();
    let parts = parts.filter(|(number, _)| *number > 0).map(|(number, words)| format!("{number} {words}"));
    let parts: Vec<String> = parts.collect();
    format!("{}: {}\n", count(states.len() as u128, noun), parts.join(", "))
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
                "3 defects: 1 fixed, 1 could not be tested, 1 still there",
            ),
        ] {
            let defects = states.iter().map(|state| (*state, false)).collect();
            assert_eq!(conclusion(defects), (format!("{words}\n"), expected));
        }
        let with_warning = conclusion(vec![(Fixed, false), (NotProved, true)]);
        assert_eq!(with_warning, ("1 defect: 1 fixed\n1 warning: 1 not proved\n".to_owned(), 0));
        assert_eq!(conclusion(vec![(NotProved, true)]).1, 4);
    }
}
