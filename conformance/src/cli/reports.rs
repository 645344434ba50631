//! `--report FORMAT=PATH`, and writing everything that was asked for: one for every command that ends with a report.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use clap::Args;

use crate::cli::out;
use crate::{
    events::Event,
    report::{
        Finished,
        formats::{self, FORMATS, Format, Maker, Recorder},
        terminal,
    },
    run::Reporter,
};
use paymaster_cli::{environment::Environment, suggestion::did_you_mean};
use paymaster_cli::{exit, settings::Place};
use paymaster_client::redact::Redactor;

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ReportArgs {
    /// Write a report; repeatable. FORMAT is one of the formats below; PATH may be `-` for standard output.
    #[arg(long, value_name = "FORMAT=PATH", help = about())]
    pub(crate) report: Vec<String>,
}

fn about() -> String {
    format!(
        "Write a report; repeatable. PATH may be `-` for standard output, or missing for paymaster-report.*. Formats: {}",
        formats::help()
    )
}

/// The reports of a run. As a reporter, it writes those that grow with the run.
#[derive(Default)]
pub(crate) struct Reports(Vec<Wanted>);

struct Wanted {
    format: &'static Format,
    place: Goal,
    log: Option<Open>,
}

/// Where a report goes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Goal {
    Stdout,
    File(PathBuf),
}

/// A report that is being written.
struct Open {
    log: Box<dyn Recorder>,
    out: Box<dyn Write>,
    /// The first thing that went wrong; nothing is written after it.
    trouble: Option<io::Error>,
}

impl Reports {
    /// Reads the arguments. What cannot be meant is an error; a file that cannot be written now is told on standard error, and the
    /// run goes on for the other reports.
    pub(crate) fn asked(args: &ReportArgs) -> Result<Self, String> {
        let mut reports = Self::default();
        for text in &args.report {
            let (name, path) = match text.split_once('=') {
                Some((name, path)) => (name, Some(path)),
                None => (text.as_str(), None),
            };
            let format = formats::find(name).ok_or_else(|| unknown(name))?;
            if path == Some("") {
                return Err(format!(
                    "--report {text} names no file: write {name}=PATH, or {name}=- for standard output"
                ));
            }
            reports.add(format, path.unwrap_or(&format.default_file()))?;
        }
        for wanted in &reports.0 {
            if let Goal::File(path) = &wanted.place
                && let Err(cause) = writable(path)
            {
                let text = wanted.trouble(&format!("{}: {cause}", path.display()));
                out::eprint(&format!("warning: {text}; the run goes on\n"));
            }
        }
        Ok(reports)
    }

    fn add(&mut self, format: &'static Format, path: &str) -> Result<(), String> {
        let place = if path == "-" {
            Goal::Stdout
        } else {
            Goal::File(path.into())
        };
        if self.0.iter().any(|wanted| wanted.place == place) {
            let name = if path == "-" { "standard output" } else { path };
            return Err(format!(
                "two reports cannot both go to {name}: give each a path of its own"
            ));
        }
        self.0.push(Wanted {
            format,
            place,
            log: None,
        });
        Ok(())
    }

    /// Opens the reports that grow with the run; call it before the run starts, when there is one.
    pub(crate) fn begin(&mut self, place: &Place, redactor: &Redactor) {
        for wanted in &mut self.0 {
            let Maker::Log(open) = wanted.format.maker else {
                continue;
            };
            let (out, trouble): (Box<dyn Write>, _) = match &wanted.place {
                Goal::Stdout => (Box::new(io::stdout()), None),
                Goal::File(path) => match File::create(path) {
                    Ok(file) => (Box::new(BufWriter::new(file)), None),
                    Err(cause) => (Box::new(io::sink()), Some(cause)),
                },
            };
            wanted.log = Some(Open {
                log: open(place, redactor),
                out,
                trouble,
            });
        }
    }

    /// Writes the report for people and every other one that was asked for, and tells what could not be written; gives the exit
    /// code. `trouble` is what could not be written before.
    pub(crate) fn finish(
        self,
        finished: &Finished<'_>,
        environment: &Environment,
        trouble: Vec<String>,
    ) -> u8 {
        let mut trouble = trouble;
        trouble.extend(self.write(finished, environment));
        for cause in &trouble {
            out::error(cause);
        }
        let code = exit::code(finished.summary.conclusion);
        if trouble.is_empty() || code == exit::VIOLATIONS {
            code
        } else {
            exit::USAGE
        }
    }

    /// Writes all; gives what went wrong. One that cannot be written loses none of the others.
    fn write(self, finished: &Finished<'_>, environment: &Environment) -> Vec<String> {
        let mut trouble = Vec::new();
        let stdout_taken = self.0.iter().any(|wanted| wanted.place == Goal::Stdout);
        let text = terminal::render(finished, out::paint(environment, stdout_taken));
        if stdout_taken {
            out::eprint(&text);
        } else if let Err(cause) = out::print(&text) {
            trouble.push(format!("the report could not be written: {cause}"));
        }
        for wanted in self.0 {
            let (format, place) = (wanted.format, wanted.place.clone());
            if let Err(cause) = wanted.write(finished) {
                trouble.push(told(format, &place.named(&cause)));
            }
        }
        trouble
    }
}

impl Wanted {
    fn write(self, finished: &Finished<'_>) -> Result<(), String> {
        if let Some(open) = self.log {
            return open.end(finished).map_err(|cause| cause.to_string());
        }
        let text = self.format.render(finished)?;
        match &self.place {
            Goal::Stdout => out::print(&text).map_err(|cause| cause.to_string()),
            Goal::File(path) => fs::write(path, text).map_err(|cause| cause.to_string()),
        }
    }

    fn trouble(&self, cause: &str) -> String {
        told(self.format, cause)
    }
}

impl Goal {
    fn named(&self, cause: &str) -> String {
        match self {
            Self::Stdout => cause.to_owned(),
            Self::File(path) => format!("{}: {cause}", path.display()),
        }
    }
}

impl Open {
    fn attempt(&mut self, work: impl FnOnce(&mut dyn Recorder, &mut dyn Write) -> io::Result<()>) {
        if self.trouble.is_none() {
            self.trouble = work(self.log.as_mut(), self.out.as_mut()).err();
        }
    }

    fn end(mut self, finished: &Finished<'_>) -> io::Result<()> {
        self.attempt(|log, out| {
            log.end(finished, out)?;
            out.flush()
        });
        match self.trouble {
            // Whoever read has read enough.
            Some(cause) if cause.kind() != io::ErrorKind::BrokenPipe => Err(cause),
            _ => Ok(()),
        }
    }
}

impl Reporter for Reports {
    fn event(&mut self, event: &Event<'_>) {
        for open in self.0.iter_mut().filter_map(|wanted| wanted.log.as_mut()) {
            open.attempt(|log, out| log.event(event, out));
        }
    }

    fn wants_exchanges(&self) -> bool {
        let mut logs = self.0.iter().filter_map(|wanted| wanted.log.as_ref());
        logs.any(|open| open.trouble.is_none() && open.log.wants_exchanges())
    }
}

fn told(format: &Format, cause: &str) -> String {
    format!("the {} report could not be written: {cause}", format.title)
}

fn unknown(name: &str) -> String {
    let names = || FORMATS.iter().map(|format| format.name);
    let hint = did_you_mean(name, names());
    format!(
        "there is no report format `{name}`{hint}; there are {}",
        names().collect::<Vec<_>>().join(", ")
    )
}

/// Whether a file could be written now; nothing is changed by asking.
fn writable(path: &Path) -> Result<(), String> {
    if path.is_dir() {
        return Err("this is a folder: name a file in it".to_owned());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return Err(format!("there is no folder {}", folder.display()));
    }
    // What is no plain file (a pipe, a terminal) is not opened to find out: that could wait for a reader.
    if path.is_file() {
        File::options()
            .append(true)
            .open(path)
            .map_err(|cause| cause.to_string())?;
    }
    Ok(())
}
