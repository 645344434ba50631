//! `replay FILE`: sends the requests of a finding again and judges the answers. With a folder, those of every finding in it.

mod folder;

use std::path::Path;

use crate::cli::{
    args::ReplayArgs,
    on_chain,
    process::{
        error::CommandError,
        output,
        runtime::{Runtime, stop_at_interrupt},
    },
};
use crate::{
    report::{
        replay_file::{EMBEDDED, ReplayFile},
        text::{compact, words},
    },
    run::{self, Suite},
};
use paymaster_cli::{embedded::Embedded, output::terminal::escape_controls};
use paymaster_cli::{
    exit,
    settings::{
        environment::Environment,
        setup::{RunSetup, Setup},
    },
};
use paymaster_client::{
    redact::{REDACTED, Redactor},
    stop::Stop,
};
use paymaster_exchange::Exchange;
use paymaster_judge::{
    cases::case::Group,
    rules::Rule,
    session::recheck::{Original, Replayed},
};

/// Longest part of an answer that is printed, in characters.
const LONGEST_ANSWER: usize = 320;

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &ReplayArgs, environment: &Environment) -> Result<u8, CommandError> {
    if args.file.is_dir() {
        return folder::run(args, environment);
    }
    let replay = Replay::read(&args.file)?;
    Runtime::start()?.block_on(async {
        let mut embedded = EmbeddedServer::default();
        let sent = replay
            .send(args, environment, &mut embedded, &stop_at_interrupt())
            .await;
        embedded.stop().await;
        print(&replay, &sent?)
    })
}

fn print(replay: &Replay, sent: &Sent) -> Result<u8, CommandError> {
    let shown = |text: &str| sent.shown(text);
    let headline = |words: &str| format!("{words}  {}  {}\n", replay.rule.id, sent.place);
    match &sent.replayed {
        Replayed::NotTested(cause) => Err(CommandError::could_not_test(sent.untested(cause))),
        Replayed::Held => {
            output::print(&headline("NOT SEEN AGAIN"))?;
            Ok(exit::CONFORMS)
        }
        Replayed::NotJudged => {
            let answer = sent.exchanges.get(replay.file.finding.member);
            let answer = answer.map(words::answer).unwrap_or_default();
            let answer = compact::cut(&shown(&answer), LONGEST_ANSWER);
            output::print(&headline("NOT JUDGED"))?;
            output::print(&format!(
                "  answer    {answer}\n  the rule does not judge such an answer, so the result is unknown\n"
            ))?;
            Ok(exit::INCOMPLETE)
        }
        Replayed::Broken(violation) => {
            let pointer = shown(&violation.pointer);
            let (expected, actual) = (shown(&violation.expected), shown(&violation.actual));
            output::print(&headline("BROKEN AGAIN"))?;
            output::print(&format!(
                "  at        {pointer}\n  expected  {expected}\n  actual    {actual}\n"
            ))?;
            Ok(exit::VIOLATIONS)
        }
    }
}

/// A replay file that can be sent.
struct Replay {
    file: ReplayFile,
    rule: &'static Rule,
    group: Group,
}

/// The embedded server, which is started for the first file that needs it.
#[derive(Default)]
struct EmbeddedServer(Option<Embedded>);

/// The requests of a replay file were sent.
struct Sent {
    /// The target, secrets redacted.
    place: String,
    exchanges: Vec<Exchange>,
    replayed: Replayed,
    redactor: Redactor,
}

impl Replay {
    fn read(path: &Path) -> Result<Self, CommandError> {
        let file = ReplayFile::read(path)?;
        let suite = Suite::standard();
        let rule = suite
            .rules
            .iter()
            .copied()
            .find(|rule| rule.id == file.rule)
            .ok_or_else(|| format!("there is no rule `{}` in this version", file.rule))?;
        let group = file.group(&suite.relations)?;
        Ok(Self { file, rule, group })
    }

    /// Sends the requests once and judges the answers.
    async fn send(
        &self,
        args: &ReplayArgs,
        environment: &Environment,
        embedded: &mut EmbeddedServer,
        stop: &Stop,
    ) -> Result<Sent, CommandError> {
        let mut setup = Setup::read(&args.run, args.url.as_deref(), environment)?;
        let recorded = (!self.file.target.contains(REDACTED)).then(|| self.file.target.clone());
        let url = match setup.layer.url.clone().or(recorded) {
            Some(url) if url == EMBEDDED => {
                let server = embedded.started().await?;
                setup = setup.for_embedded(server.profile.clone());
                server.url.clone()
            }
            Some(url) => url,
            None => {
                return Err(
                    "the URL in the replay file lacks the secrets that were replaced: give the URL, or set PAYMASTER_URL".into(),
                );
            }
        };
        let access = args.chain.access(&setup)?;
        let RunSetup {
            settings,
            shown_target,
            mut redactor,
        } = setup.settings(&url)?;
        args.chain.hide(&mut redactor);
        args.chain.applicable(vec![self.rule])?;
        let mut sent = Sent {
            place: shown_target.shown,
            exchanges: Vec::new(),
            replayed: Replayed::NotJudged,
            redactor,
        };
        let chain = on_chain::connect(access)
            .await
            .map_err(|cause| CommandError::could_not_test(sent.untested(&cause.to_string())))?;
        let original = Original {
            member: self.file.finding.member,
            status: self.file.finding.status,
        };
        let context = self.file.known.context();
        (sent.exchanges, sent.replayed) =
            run::replay(&settings, chain, self.rule, &self.group, original, &context, stop).await;
        Ok(sent)
    }
}

impl EmbeddedServer {
    async fn started(&mut self) -> Result<&Embedded, CommandError> {
        let server = match self.0.take() {
            Some(server) => server,
            None => Embedded::start()
                .await
                .map_err(|cause| format!("the embedded reference server: {cause}"))?,
        };
        Ok(self.0.insert(server))
    }

    async fn stop(self) {
        if let Some(server) = self.0 {
            server.stop().await;
        }
    }
}

impl Sent {
    /// A text from the target without secrets and control characters.
    fn shown(&self, text: &str) -> String {
        escape_controls(&self.redactor.apply(text))
    }

    fn untested(&self, cause: &str) -> String {
        format!("could not test {}: {}", self.place, self.shown(cause))
    }
}
