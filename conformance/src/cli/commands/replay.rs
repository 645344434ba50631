//! `replay FILE`: sends the requests of a finding again and judges the answers.

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
use paymaster_cli::{embedded::Embedded, terminal::escape_controls};
use paymaster_cli::{
    environment::Environment,
    exit,
    setup::{RunSetup, Setup},
};
use paymaster_client::redact::REDACTED;
use paymaster_judge::session::recheck::{Original, Replayed};

/// Longest part of an answer that is printed, in characters.
const LONGEST_ANSWER: usize = 320;

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &ReplayArgs, environment: &Environment) -> Result<u8, CommandError> {
    let replay = ReplayFile::read(&args.file)?;
    let setup = Setup::read(&args.run, args.url.as_deref(), environment)?;
    let suite = Suite::standard();
    let rule = suite
        .rules
        .iter()
        .copied()
        .find(|rule| rule.id == replay.rule)
        .ok_or_else(|| format!("there is no rule `{}` in this version", replay.rule))?;
    let group = replay.group(&suite.relations)?;
    let recorded = (!replay.target.contains(REDACTED)).then(|| replay.target.clone());
    Runtime::start()?.block_on(async {
        let mut setup = setup;
        let mut embedded = None;
        let url = match setup.layer.url.clone().or(recorded) {
            Some(url) if url == EMBEDDED => {
                let server = Embedded::start()
                    .await
                    .map_err(|cause| format!("the embedded reference server: {cause}"))?;
                setup = setup.for_embedded(server.profile.clone());
                let url = server.url.clone();
                embedded = Some(server);
                url
            }
            Some(url) => url,
            None => {
                return Err(
                    "the URL in the replay file lacks the secrets that were replaced: give the URL, or set PAYMASTER_URL".into(),
                );
            }
        };
        let access = args.chain.access(&setup)?;
        let RunSetup { settings, shown_target: place, mut redactor } = setup.settings(&url)?;
        args.chain.hide(&mut redactor);
        args.chain.applicable(vec![rule])?;
        let shown = |text: &str| escape_controls(&redactor.apply(text));
        let could_not_test = |cause: &str| {
            CommandError::could_not_test(format!("could not test {}: {}", place.shown, shown(cause)))
        };
        let chain = on_chain::connect(access)
            .await
            .map_err(|cause| could_not_test(&cause.to_string()))?;
        let context = replay.known.context();
        let original = Original {
            member: replay.finding.member,
            status: replay.finding.status,
        };
        let stop = stop_at_interrupt();
        let (exchanges, replayed) =
            run::replay(&settings, chain, rule, &group, original, &context, &stop).await;
        if let Some(server) = embedded {
            server.stop().await;
        }
        let headline = |words: &str| format!("{words}  {}  {}\n", rule.id, place.shown);
        match replayed {
            Replayed::NotTested(cause) => Err(could_not_test(&cause)),
            Replayed::Held => {
                output::print(&headline("NOT SEEN AGAIN"))?;
                Ok(exit::CONFORMS)
            }
            Replayed::NotJudged => {
                let answer = exchanges.get(original.member).map(words::answer).unwrap_or_default();
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
                output::print(&format!("  at        {pointer}\n  expected  {expected}\n  actual    {actual}\n"))?;
                Ok(exit::VIOLATIONS)
            }
        }
    })
}
