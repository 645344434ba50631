//! Reports of a run that is over. Each reads a [`Summary`] and nothing else; to add one: a file, and its line in [`FORMATS`].

pub mod advice;
mod html;
mod json;
mod junit;
mod markdown;
mod plot;
#[cfg(test)]
pub(crate) mod sample;
pub mod terminal;
pub mod words;

use std::path::Path;

use crate::{compare::Comparison, summary::Summary};

/// A report that goes to a file.
#[derive(Debug)]
pub struct Format {
    /// Endings of file names that mean it.
    pub endings: &'static [&'static str],
    /// What it is for, in a line.
    pub about: &'static str,
    render: fn(&Summary, Option<&Comparison>) -> Result<String, String>,
}

/// Every report that goes to a file.
pub static FORMATS: &[Format] = &[
    Format {
        endings: &["json"],
        about: "everything, to merge and to compare",
        render: json::render,
    },
    Format {
        endings: &["html", "htm"],
        about: "a page with plots, whole in one file",
        render: html::render,
    },
    Format {
        endings: &["md"],
        about: "Markdown, for a pull request",
        render: markdown::render,
    },
    Format {
        endings: &["xml"],
        about: "JUnit, one test case a threshold",
        render: junit::render,
    },
];

/// The format that the ending of a path means; the error names those there are.
pub fn format_of(path: &Path) -> Result<&'static Format, String> {
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
        format!(
            "{}: the ending of a report says what it is: {}",
            path.display(),
            known.join(", ")
        )
    })
}

/// Writes a report.
pub fn write(path: &Path, summary: &Summary, comparison: Option<&Comparison>) -> Result<(), String> {
    let text = (format_of(path)?.render)(summary, comparison)?;
    std::fs::write(path, text).map_err(|cause| format!("{}: {cause}", path.display()))
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
        let refusal = format_of(Path::new("report.pdf")).unwrap_err();
        assert!(
            refusal.contains(".html") && refusal.contains("report.pdf"),
            "{refusal}"
        );
    }

    #[test]
    fn every_format_renders_every_verdict() {
        for summary in [sample::passed(), sample::failed(), sample::nobody()] {
            for format in FORMATS {
                let text = (format.render)(&summary, None).unwrap();
                assert!(!text.is_empty());
            }
        }
    }
}
