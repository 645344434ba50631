//! `replay FILE`: sends the requests of a finding again and judges the answers.

use crate::cli::{
    args::ReplayArgs,
    check::{runtime, stop_at_interrupt},
    on_chain, out,
};
use crate::{
    report::{
        compact,
        replay_file::{EMBEDDED, Replay},
        words,
    },
    run::{self, Suite},
};
use paymaster_cli::{embedded::Embedded, terminal::harmless};
use paymaster_cli::{environment::Environment, exit, setup::Setup};
use paymaster_client::redact::REDACTED;
use paymaster_judge::session::recheck::{Original, Replayed};

/// Longest part of an answer that is printed, in characters.
const GIST: usize = 320;

/// Runs the command; gives the exit code.
pub(crate) fn run(args: &ReplayArgs, environment: &Environment) -> Result<u8, String> {
    let replay = Replay::read(&args.file)?;
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
    runtime()?.block_on(async {
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
                    "the recorded URL has secrets in it that were not written: give the URL, or set PAYMASTER_URL"
                        .to_owned(),
                );
            }
        };
        let way = args.chain.way(&setup)?;
        let (settings, place, mut redactor) = setup.settings(&url)?;
        args.chain.hide(&mut redactor);
        args.chain.applicable(vec![rule])?;
        let told = |text: &str| harmless(&redactor.apply(text));
        let could_not_test = |cause: &str| {
            out::error(&format!("could not test {}: {}", place.shown, told(cause)));
            Ok(exit::COULD_NOT_TEST)
        };
        let chain = match on_chain::connect(way).await {
            Ok(chain) => chain,
            Err(cause) => return could_not_test(&cause),
        };
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
            Replayed::NotTested(cause) => could_not_test(&cause),
            Replayed::Held => {
                out::print(&headline("NOT SEEN AGAIN"))?;
                Ok(exit::CONFORMS)
            }
            Replayed::NotJudged => {
                let answer = exchanges.get(original.member).map(words::answer).unwrap_or_default();
                let answer = compact::cut(&told(&answer), GIST);
                out::print(&headline("NOT JUDGED"))?;
                out::print(&format!(
                    "  answer    {answer}\n  the rule judges no such answer, so that nothing is known of it\n"
                ))?;
                Ok(exit::INCOMPLETE)
            }
            Replayed::Broken(violation) => {
                let pointer = told(&violation.pointer);
                let (expected, actual) = (told(&violation.expected), told(&violation.actual));
                out::print(&headline("BROKEN AGAIN"))?;
                out::print(&format!("  at        {pointer}\n  expected  {expected}\n  actual    {actual}\n"))?;
                Ok(exit::VIOLATIONS)
            }
        }
    })
}
