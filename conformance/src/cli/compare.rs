//! `compare BEFORE AFTER`: two reports, two targets with the same seed, or one of each.

use std::path::Path;

use crate::cli::{
    args::CompareArgs,
    check::{runtime, stop_at_interrupt},
    filter,
    on_chain::ChainArgs,
    out,
};
use crate::{
    report::{
        Finished, Progress,
        compare::{Words, compare, render},
        json,
        recorded::Recorded,
    },
    run::{self, Suite},
};
use paymaster_cli::{environment::Environment, setup::Setup};

/// Runs the command; gives the exit code.
pub(crate) fn run(args: &CompareArgs, environment: &Environment) -> Result<u8, String> {
    let (first, second) = (Side::of(&args.before), Side::of(&args.after));
    // What is wrong with a file is told before anything is sent.
    let (first, second) = (
        first.opened(args, environment)?,
        second.opened(args, environment)?,
    );
    let targets = matches!((&first, &second), (Opened::Target(_), Opened::Target(_)));
    let (before, after) = runtime()?.block_on(async {
        let before = first.report(args).await?;
        let after = second.report(args).await?;
        Ok::<_, String>((before, after))
    })?;
    let words = Words {
        before: before.0,
        after: after.0,
        targets,
    };
    let comparison = compare(&before.1, &after.1);
    out::print(&render(&comparison, &words, out::paint(environment, false)))?;
    Ok(comparison.exit_code(args.run.strictness.allow_incomplete))
}

/// One side of a comparison, as it was named.
enum Side<'a> {
    File(&'a Path),
    Url(&'a str),
}

/// One side, ready.
enum Opened {
    Report(String, Box<Recorded>),
    Target(Box<Setup>),
}

impl<'a> Side<'a> {
    fn of(text: &'a str) -> Self {
        if text.contains("://") {
            Self::Url(text)
        } else {
            Self::File(Path::new(text))
        }
    }

    fn opened(&self, args: &CompareArgs, environment: &Environment) -> Result<Opened, String> {
        match self {
            Self::File(path) => {
                let report = Recorded::read(path)?;
                Ok(Opened::Report(path.display().to_string(), Box::new(report)))
            }
            Self::Url(url) => {
                let setup = Setup::read(&args.run, Some(url), environment)?;
                setup.target(url)?;
                Ok(Opened::Target(Box::new(setup)))
            }
        }
    }
}

impl Opened {
    /// The report of that side, and its name; a target is judged now.
    async fn report(self, args: &CompareArgs) -> Result<(String, Recorded), String> {
        let setup = match self {
            Self::Report(name, report) => return Ok((name, *report)),
            Self::Target(setup) => setup,
        };
        let suite = Suite {
            rules: ChainArgs::default().applicable(filter::select(&args.rules, Suite::standard().rules)?)?,
            ..Suite::standard()
        };
        let url = setup.layer.url.clone().unwrap_or_default();
        let (settings, place, redactor) = setup.settings(&url)?;
        let outcome = run::check(&settings, &suite, &stop_at_interrupt(), &mut Progress::default()).await;
        let finished = Finished {
            summary: &outcome.summary,
            context: &outcome.context,
            strictness: settings.strictness,
            place: &place,
            redactor: &redactor,
            replays: &[],
        };
        let report = Recorded::of(json::report(&finished))?;
        Ok((place.shown, report))
    }
}
