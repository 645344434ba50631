//! `replay FILE`: sends the requests of a finding again and judges the answers.

use super::{
    args::ReplayArgs,
    check::{runtime, stop_at_interrupt},
    environment::Environment,
    exit, on_chain, out,
    setup::Setup,
};
use crate::{
    redact::SHOWN,
    report::replay_file::{EMBEDDED, Replay},
    run::{self, Embedded, Suite},
};

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
    let recorded = (!replay.target.contains(SHOWN)).then(|| replay.target.clone());
    runtime()?.block_on(async {
        let mut setup = setup;
        let mut embedded = None;
        let url = match setup.layer.url.clone().or(recorded) {
            Some(url) if url == EMBEDDED => {
                let server = Embedded::start()
                    .await
                    .map_err(|cause| format!("the embedded reference server: {cause}"))?;
                setup = setup.of_known(server.profile.clone());
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
        let (mut settings, place, mut redactor) = setup.settings(&url)?;
        args.chain.hide(&mut redactor);
        args.chain.applicable(vec![rule])?;
        settings.transport.chain = on_chain::connect(way).await?;
        let context = replay.known.context();
        let seen = run::once(&settings, rule, &group, &context, &stop_at_interrupt()).await;
        if let Some(server) = embedded {
            server.stop().await;
        }
        let told = |text: &str| redactor.apply(text).into_owned();
        match seen {
            Err(cause) => {
                out::error(&told(&format!("could not test {}: {cause}", place.shown)));
                Ok(exit::COULD_NOT_TEST)
            }
            Ok((_, None)) => {
                out::print(&format!("NOT SEEN AGAIN  {}  {}\n", rule.id, place.shown))?;
                Ok(exit::CONFORMS)
            }
            Ok((_, Some(violation))) => {
                let pointer = told(&violation.pointer);
                let (expected, actual) = (told(&violation.expected), told(&violation.actual));
                out::print(&format!("BROKEN AGAIN  {}  {}\n", rule.id, place.shown))?;
                out::print(&format!("  at        {pointer}\n  expected  {expected}\n  actual    {actual}\n"))?;
                Ok(exit::VIOLATIONS)
            }
        }
    })
}
