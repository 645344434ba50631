//! `compare BEFORE AFTER`: two reports, two targets with the same seed, or one of each.

use std::path::Path;

use paymaster_settings::output;
use paymaster_settings::output::Own;
use paymaster_settings::output::document::terminal::Lines;
use paymaster_settings::{Environment, RunSetup, Setup};

use crate::cli::{ChainArgs, CommandError, CompareArgs, at, block_on, filter, stop_at_interrupt};
use crate::report::comparison::compare::{SideNames, compare, document};
use crate::report::{Finished, Progress, Report};
use crate::run::{self, RunOutcome, Suite};

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &CompareArgs, environment: &Environment) -> Result<u8, CommandError> {
    // Errors of both sides are reported before anything is sent.
    let first = Side::open(&args.before, args, environment)?;
    let second = Side::open(&args.after, args, environment)?;
    let targets = matches!((&first, &second), (Side::Target(_), Side::Target(_)));
    let ((before_name, before), (after_name, after)) =
        block_on(async { Ok::<_, CommandError>((first.report(args).await?, second.report(args).await?)) })?;
    before.compared_with(&after)?;
    let comparison = compare(&before, &after);
    let names = SideNames { before: before_name, after: after_name, targets };
    let document = document(&comparison, &names);
    let lines = Lines { paint: output::paint(environment, false), ..Lines::default() };
    output::print(&lines.document(&document))?;
    if let Some(path) = &args.output {
        document.write(path, Own::default()).map_err(at(path))?;
    }
    Ok(comparison.exit_code(args.run.strictness.allow_incomplete))
}

/// One side of a comparison.
enum Side {
    /// A report, under the name of its file.
    Report(String, Box<Report>),
    Target(Box<Setup>),
}

impl Side {
    /// Reads a report, or the settings for a URL.
    fn open(named: &str, args: &CompareArgs, environment: &Environment) -> Result<Self, CommandError> {
        if !named.contains("://") {
            return Ok(Self::Report(named.to_owned(), Box::new(Report::read(Path::new(named))?)));
        }
        let setup = Setup::read(&args.run, Some(named), environment)?;
        setup.target(named)?;
        Ok(Self::Target(Box::new(setup)))
    }

    /// The name and the report of this side. A target is tested now.
    async fn report(self, args: &CompareArgs) -> Result<(String, Report), CommandError> {
        let setup = match self {
            Self::Report(name, report) => return Ok((name, *report)),
            Self::Target(setup) => setup,
        };
        let mut suite = Suite::of(setup.profile.known.specification());
        suite.rules = ChainArgs::default().applicable(filter::rules(&args.rules, suite.rules)?)?;
        let url = setup.merged.url.clone().unwrap_or_default();
        let RunSetup { settings, shown_target: place, redactor, .. } = setup.settings(&url)?;
        let stop = stop_at_interrupt();
        let RunOutcome { summary, context } =
            run::check(&settings, &suite, &stop, &mut Progress::default()).await;
        let finished = Finished { summary, context, strictness: settings.strictness(), place, redactor };
        Ok((finished.place.shown.clone(), Report::of(&finished)))
    }
}
