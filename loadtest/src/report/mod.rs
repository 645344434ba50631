//! Reports of a finished run. Each renders a [`RunSummary`] and an optional comparison. To add one, add a file and its entry in
//! [`FORMATS`].

pub mod advice;
#[cfg(test)]
pub(crate) mod fixtures;
mod html;
mod json;
mod junit;
mod markdown;
mod phrases;
mod plot;
pub mod terminal;
mod workers;

use std::{
    error::Error,
    fs, io,
    path::{Path, PathBuf},
};

use crate::results::{compare::RunComparison, summary::RunSummary};

/// Why a report could not be rendered.
type RenderError = Box<dyn Error + Send + Sync>;

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// No format has this ending.
    #[error("{}: the ending of a report is its format: {known}", path.display())]
    UnknownFormat {
        /// The path of the report.
        path: PathBuf,
        /// The endings that exist, separated by commas.
        known: String,
    },
    /// It could not be rendered.
    #[error("{}: {cause}", path.display())]
    Render {
        /// The path of the report.
        path: PathBuf,
        /// Why.
        cause: RenderError,
    },
    /// The file could not be written.
    #[error("{}: {cause}", path.display())]
    Write {
        /// The path of the report.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

/// A format of report files.
#[derive(Debug)]
pub struct ReportFormat {
    /// The endings of its file names; the first one is shown in the help.
    pub endings: &'static [&'static str],
    /// What it is for, in one line.
    pub about: &'static str,
    render: fn(&RunSummary, Option<&RunComparison>) -> Result<String, RenderError>,
}

/// Every format of report files.
pub static FORMATS: &[ReportFormat] = &[
    ReportFormat {
        endings: &["json"],
        about: "everything, to merge and to compare",
        render: json::render,
    },
    ReportFormat {
        endings: &["html", "htm"],
        about: "a page with plots, in one file",
        render: html::render,
    },
    ReportFormat {
        endings: &["md"],
        about: "Markdown, for a pull request",
        render: markdown::render,
    },
    ReportFormat {
        endings: &["xml"],
        about: "JUnit, one test case for each threshold",
        render: junit::render,
    },
];

/// The format of a path, by its ending.
pub fn format_of(path: &Path) -> Result<&'static ReportFormat, ReportError> {
    let ending = path
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or_default();
    let found = FORMATS.iter().find(|format| {
        format
            .endings
            .iter()
            .any(|known| known.eq_ignore_ascii_case(ending))
    });
    found.ok_or_else(|| {
        let known: Vec<_> = FORMATS
            .iter()
            .map(|format| format!(".{}", format.endings[0]))
            .collect();
        ReportError::UnknownFormat {
            path: path.to_owned(),
            known: known.join(", "),
        }
    })
}

/// Writes a report in the format of its path.
pub fn write(
    path: &Path,
    summary: &RunSummary,
    comparison: Option<&RunComparison>,
) -> Result<(), ReportError> {
    let text = (format_of(path)?.render)(summary, comparison).map_err(|cause| ReportError::Render {
        path: path.to_owned(),
        cause,
    })?;
    fs::write(path, text).map_err(|cause| ReportError::Write {
        path: path.to_owned(),
        cause,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_unique_and_name_their_format() {
        let mut seen = std::collections::BTreeSet::new();
        for format in FORMATS {
            for ending in format.endings {
                assert!(seen.insert(*ending), "{ending}");
                let path = format!("a.b/c.{}", ending.to_uppercase());
                assert!(std::ptr::eq(format_of(Path::new(&path)).unwrap(), format));
            }
        }
        let error = format_of(Path::new("report.pdf")).unwrap_err().to_string();
        assert!(error.contains(".html") && error.contains("report.pdf"), "{error}");
    }

    #[test]
    fn every_format_renders_every_verdict() {
        for summary in [fixtures::passed(), fixtures::failed(), fixtures::unreachable()] {
            for format in FORMATS {
                let text = (format.render)(&summary, None).unwrap();
                assert!(!text.is_empty());
            }
        }
    }
}
