//! `--report FORMAT=PATH`: opens and writes the requested reports, for every command that ends with one.

use std::io::{self, Write};
use std::path::PathBuf;
use std::slice;

use paymaster_client::redact::Redactor;
use paymaster_settings::output;
use paymaster_settings::output::document::terminal::WIDTH;
use paymaster_settings::output::report_file;
use paymaster_settings::output::{Destination, FormatNames, PendingFile, check_writable};
use paymaster_settings::{Environment, ShownTarget, exit};

use crate::cli::{CommandError, KnownFailures, OutputArgs};
use crate::events::Event;
use crate::report::document;
use crate::report::formats;
use crate::report::{Extent, FORMATS, Finished, Format, Maker, Render, Report, ReportLog, replay_file};
use crate::run::Reporter;

/// The requested reports of a run. As a reporter, it writes those that are logs of events.
pub(crate) struct Reports {
    requested: Vec<RequestedReport>,
    /// How much the terminal shows.
    extent: Extent,
    /// The folder for replay files.
    replay_dir: PathBuf,
    /// The target as it may be shown, and what replaces the secrets in events.
    source: (ShownTarget, Redactor),
}

struct RequestedReport {
    format: &'static Format,
    destination: Destination,
    log: Option<OpenLog>,
}

/// A log that is being written.
struct OpenLog {
    log: Box<dyn ReportLog>,
    /// After the first error, this error: nothing is written any more.
    out: io::Result<PendingFile>,
}

impl Reports {
    /// Reads the arguments. A format that does not exist is an error; a file that cannot be written is only a warning, and the run goes
    /// on for the other reports.
    pub(crate) fn requested(args: &OutputArgs) -> Result<Self, CommandError> {
        let mut requested: Vec<RequestedReport> = Vec::new();
        let names = |format: &'static Format| FormatNames {
            name: format.name,
            endings: slice::from_ref(&format.suffix),
        };
        let names: Vec<FormatNames> = FORMATS.iter().map(names).collect();
        for text in &args.report {
            let (format, destination) = report_file::parse(text, formats::DEFAULT_STEM, &names)?;
            if requested.iter().any(|report| report.destination == destination) {
                return Err(format!(
                    "two reports cannot both go to {destination}: give each a path of its own"
                )
                .into());
            }
            requested.push(RequestedReport { format: &FORMATS[format], destination, log: None });
        }
        for report in &requested {
            if let Destination::File(path) = &report.destination
                && let Err(cause) = check_writable(path)
            {
                let message = not_written(report.format, &format!("{}: {cause}", path.display()));
                output::eprint(&format!("warning: {message}; the run goes on\n"));
            }
        }
        let (extent, replay_dir) = (args.extent, args.replay_dir.clone());
        Ok(Self { requested, extent, replay_dir, source: Default::default() })
    }

    /// Opens the reports that are logs. Must be called before the run starts.
    pub(crate) fn begin(&mut self, place: &ShownTarget, redactor: &Redactor) {
        self.source = (place.clone(), redactor.clone());
        for report in &mut self.requested {
            if let Render::Log(open) = report.format.render {
                report.log = Some(OpenLog { log: open(), out: report.destination.open() });
            }
        }
    }

    /// Writes the replay files and every report, and updates the list of known failures. Returns the exit code.
    pub(crate) fn finish(self, finished: &Finished, known: &KnownFailures, environment: &Environment) -> u8 {
        let mut report = Report::of(finished);
        let (paths, mut errors) = replay_file::write_all(&self.replay_dir, &report);
        report.add_replays(&paths, &finished.place);
        errors.extend(self.write(&report, environment));
        for cause in &errors {
            output::error(cause);
        }
        let code = if errors.is_empty() { exit::code(finished.summary.conclusion) } else { exit::USAGE };
        known.update(code, &finished.summary, finished.strictness)
    }

    /// Writes every report; returns the errors. A report that cannot be written does not keep others from being written.
    fn write(self, whole: &Report, environment: &Environment) -> Vec<String> {
        let mut errors = Vec::new();
        let stdout_taken = self.requested.iter().any(|report| report.destination == Destination::Stdout);
        let (paint, width) = (output::paint(environment, stdout_taken), output::columns(stdout_taken, WIDTH));
        let text = document::terminal(whole, self.extent, paint, width);
        if stdout_taken {
            output::eprint(&text);
        } else if let Err(cause) = output::print(&text) {
            errors.push(format!("the report could not be written: {cause}"));
        }
        for report in self.requested {
            let written = match report.format.render {
                Render::Text(render) => report.destination.write(&render(whole)),
                Render::Log(_) => report.log.map_or(Ok(()), |log| log.end(whole)),
            };
            if let Err(cause) = written {
                errors.push(not_written(report.format, &format!("{}: {cause}", report.destination)));
            }
        }
        errors
    }
}

impl OpenLog {
    fn attempt(&mut self, work: impl FnOnce(&mut dyn ReportLog, &mut dyn Write) -> io::Result<()>) {
        if let Ok(out) = &mut self.out
            && let Err(cause) = work(self.log.as_mut(), out.out.as_mut())
        {
            self.out = Err(cause);
        }
    }

    fn end(mut self, report: &Report) -> io::Result<()> {
        self.attempt(|log, out| log.end(report, out));
        match self.out.and_then(PendingFile::complete) {
            // A closed pipe is not an error: its reader has what it wants.
            Err(cause) if cause.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            ended => ended,
        }
    }
}

impl Reporter for Reports {
    fn event(&mut self, event: &Event<'_>) {
        let (place, redactor) = &self.source;
        for open in self.requested.iter_mut().filter_map(|report| report.log.as_mut()) {
            open.attempt(|log, out| log.event(event, Maker { redactor, place }, out));
        }
    }

    fn wants_exchanges(&self) -> bool {
        let mut logs = self.requested.iter().filter_map(|report| report.log.as_ref());
        logs.any(|open| open.out.is_ok() && open.log.wants_exchanges())
    }
}

fn not_written(format: &Format, cause: &str) -> String {
    format!("the {} report could not be written: {cause}", format.title)
}
