//! `compare BEFORE AFTER`: two reports, two targets with the same seed, or one of each.

use std::path::Path;

use paymaster_settings::{
    output,
    settings::{
        environment::Environment,
        setup::{RunSetup, Setup},
    },
};

use crate::{
    cli::{
        args::{ChainArgs, CompareArgs},
        filter,
        process::{CommandError, Runtime, stop_at_interrupt},
    },
    report::{
        Finished,
        comparison::compare::{SideNames, compare, render},
        model::Report,
        terminal::progress::Progress,
    },
    run::{self, Suite},
};

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &CompareArgs, environment: &Environment) -> Result<u8, CommandError> {
    let (first, second) = (Side::of(&args.before), Side::of(&args.after));
    // Errors of both sides are reported before anything is sent.
    let (first, second) = (first.open(args, environment)?, second.open(args, environment)?);
    let targets = matches!((&first, &second), (Source::Target(_), Source::Target(_)));
    let (before, after) = Runtime::start()?.block_on(async {
        let before = first.report(args).await?;
        let after = second.report(args).await?;
        Ok::<_, CommandError>((before, after))
    })?;
    before.report.compared_with(&after.report)?;
    let comparison = compare(&before.report, &after.report);
    let names = SideNames { before: before.name, after: after.name, targets };
    output::print(&render(&comparison, &names, output::paint(environment, false)))?;
    Ok(comparison.exit_code(args.run.strictness.allow_incomplete))
}

/// One side of a comparison, as the arguments name it.
enum Side<'a> {
    File(&'a Path),
    Url(&'a str),
}

/// Where the report of one side comes from.
enum Source {
    Report(Box<NamedReport>),
    Target(Box<Setup>),
}

/// The report of one side, under the name of its file or its target.
struct NamedReport {
    name: String,
    report: Report,
}

impl<'a> Side<'a> {
    fn of(text: &'a str) -> Self {
        if text.contains("://") { Self::Url(text) } else { Self::File(Path::new(text)) }
    }

    fn open(&self, args: &CompareArgs, environment: &Environment) -> Result<Source, CommandError> {
        match self {
            Self::File(path) => {
                let report = Report::read(path)?;
                let name = path.display().to_string();
                Ok(Source::Report(Box::new(NamedReport { name, report })))
            }
            Self::Url(url) => {
                let setup = Setup::read(&args.run, Some(url), environment)?;
                setup.target(url)?;
                Ok(Source::Target(Box::new(setup)))
            }
        }
    }
}

impl Source {
    /// The report of this side. A target is tested now.
    async fn report(self, args: &CompareArgs) -> Result<NamedReport, CommandError> {
        let setup = match self {
            Self::Report(report) => return Ok(*report),
            Self::Target(setup) => setup,
        };
        let standard = Suite::of(setup.profile.known.specification());
        let suite = Suite {
            rules: ChainArgs::default().applicable(filter::rules(&args.rules, standard.rules.clone())?)?,
            ..standard
        };
        let url = setup.merged.url.clone().unwrap_or_default();
        let RunSetup { settings, shown_target: place, redactor } = setup.settings(&url)?;
        let outcome = run::check(&settings, &suite, &stop_at_interrupt(), &mut Progress::default()).await;
        let (summary, context) = (&outcome.summary, &*outcome.context);
        let report = Report::of(&Finished::new(summary, context, settings.strictness, &place, &redactor));
        let name = place.shown;
        Ok(NamedReport { name, report })
    }
}
