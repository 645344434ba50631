//! `replay FILE`: sends the requests of a finding again and judges the answers. With a folder, those of every finding in it.

mod folder;

use std::path::Path;

use crate::{
    cli::{
        args::ReplayArgs,
        process::{CommandError, block_on, stop_at_interrupt},
    },
    report::{
        Maker,
        replay_file::{EMBEDDED, ReplayFile},
        text::compact,
    },
    run::{self, ReplayOutcome, Suite},
};
use paymaster_client::{
    redact::{REDACTED, Redactor},
    stop::Stop,
};
use paymaster_engine::{cases::case::Group, rules::Rule};
use paymaster_settings::{
    EMBEDDED_WARNING, Embedded, Environment, RunSetup, Setup, ShownTarget, escape_controls, exit,
    output::{self},
};
use tokio::sync::OnceCell;

/// Longest reason with its answer that is printed, in characters.
const LONGEST_ANSWER: usize = 320;

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &ReplayArgs, environment: &Environment) -> Result<u8, CommandError> {
    if args.file.is_dir() {
        return folder::run(args, environment);
    }
    let replay = Replay::read(&args.file)?;
    block_on(async {
        print(&replay, &replay.send(args, environment, &OnceCell::new(), &stop_at_interrupt()).await?)
    })
}

fn print(replay: &Replay, sent: &Sent) -> Result<u8, CommandError> {
    let state = State::of(&sent.conclusion);
    if state == State::CouldNotTest {
        return Err(CommandError::could_not_test(sent.detail()));
    }
    let headline = format!("{}  {}  {}\n", state.words(), replay.rule.id, sent.place);
    let detail = match &sent.conclusion {
        ReplayOutcome::StillThere(violation) => format!(
            "  at        {}\n  expected  {}\n  actual    {}\n",
            sent.shown(&violation.pointer),
            sent.shown(&violation.expected),
            sent.shown(&violation.actual)
        ),
        _ => format!("  {}\n", sent.detail()),
    };
    output::print(&(headline + &detail))?;
    Ok(state.code())
}

/// What became of a finding or a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    StillThere,
    CouldNotTest,
    NotProved,
    Fixed,
}

impl State {
    /// Each state with its words and its exit code, the worst one first.
    const ALL: [(Self, &str, u8); 4] = [
        (Self::StillThere, "STILL THERE", exit::VIOLATIONS),
        (Self::CouldNotTest, "COULD NOT TEST", exit::COULD_NOT_TEST),
        (Self::NotProved, "NOT PROVED", exit::INCOMPLETE),
        (Self::Fixed, "FIXED", exit::CONFORMS),
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
        Self::ALL[self as usize].2
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
        let suite = Suite::of(file.specification()?);
        let rule = suite
            .rules
            .iter()
            .copied()
            .find(|rule| rule.id == file.rule)
            .ok_or_else(|| format!("there is no rule `{}` in this version", file.rule))?;
        let group = file.group(&suite.relations)?;
        Ok(Self { file, rule, group })
    }

    /// Sends the requests and judges the answers.
    async fn send(
        &self,
        args: &ReplayArgs,
        environment: &Environment,
        embedded: &OnceCell<Embedded>,
        stop: &Stop,
    ) -> Result<Sent, CommandError> {
        let mut setup = Setup::read(&args.run, args.url.as_deref(), environment)?;
        let (asked, own) = (setup.profile.known.specification(), self.file.specification()?);
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
                let server = embedded_server(embedded).await?;
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
        let RunSetup { settings, shown_target, mut redactor } = setup.settings(&url)?;
        args.chain.hide(&mut redactor);
        args.chain.applicable(vec![self.rule])?;
        let conclusion = match args.chain.connect(access).await {
            Err(cause) => ReplayOutcome::CouldNotTest(cause.to_string()),
            Ok(chain) => {
                let (finding, context) = (&self.file.finding, self.file.known()?);
                run::replay(&settings, chain, self.rule, &self.group, finding, &*context, stop).await
            }
        };
        Ok(Sent { place: shown_target.shown, conclusion, redactor })
    }
}

/// The embedded server, which is started for the first file that asks for it.
async fn embedded_server(embedded: &OnceCell<Embedded>) -> Result<&Embedded, CommandError> {
    let start = async || {
        output::print(&format!("warning: {EMBEDDED_WARNING}\n"))?;
        Embedded::start().await.map_err(|cause| format!("the embedded reference server: {cause}").into())
    };
    embedded.get_or_try_init(start).await
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
                compact::cut(&text, LONGEST_ANSWER)
            }
            ReplayOutcome::CouldNotTest(cause) => {
                format!("could not test {}: {}", self.place, self.shown(cause))
            }
        }
    }
}
