//! The folder of replay files: a run writes one for each finding. Those of earlier runs against the same target are removed or set aside,
//! so that the folder has no files of two runs against it.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::report::{
    model::Report,
    replay_file::{FORMAT, ReplayFile, target_of},
};
use paymaster_client::files as input;
use paymaster_engine::verdict::conclusion::Conclusion;
use paymaster_settings::output::report_file;

/// The members of a replay file that say whose it is. Files of other versions have them too.
#[derive(Deserialize)]
struct Label {
    format: String,
    target: String,
    rule: String,
}

impl Label {
    /// The label of a file; none where the file is no replay file.
    fn read(path: &Path) -> Option<Self> {
        let label: Self = serde_json::from_slice(&input::read(path, input::WRITTEN_BY_A_RUN).ok()?).ok()?;
        let (kind, _) = FORMAT.split_once('/')?;
        let is_ours = label.format.split('/').next() == Some(kind);
        is_ours.then_some(label)
    }
}

/// The replay files of a folder, sorted by their names. Other files are left out.
pub(crate) fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_json = path.extension().is_some_and(|ending| ending == "json");
        if is_json && path.is_file() && Label::read(&path).is_some() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The folder, inside that of the replay files, of those that a later run set aside.
const EARLIER: &str = "earlier";

/// Removes the replay files of earlier runs against this target, for the rules that this run judged. A run that ended early, and
/// recorded traffic, show too little to say that anything is fixed: before they write files, those of earlier runs are moved into
/// [`EARLIER`], as are those for rules that this run did not judge. Returns messages about files that could not be removed or moved.
fn clear_earlier(folder: &Path, report: &Report) -> Vec<String> {
    let is_whole = report.cut_short.is_none()
        && report.recorded.is_none()
        && report.conclusion != Conclusion::CouldNotTest;
    let target = target_of(report);
    let mut errors = Vec::new();
    // A folder that cannot be read is one that is not there yet, or is reported when a file is written.
    for path in files(folder).unwrap_or_default() {
        let Some(label) = Label::read(&path).filter(|label| label.target == target) else {
            continue;
        };
        let cleared = if is_whole && report.rule(&label.rule).is_some() {
            fs::remove_file(&path)
        } else if report.findings.is_empty() {
            Ok(())
        } else {
            set_aside(folder, &path)
        };
        if let Err(cause) = cleared {
            errors.push(format!("{}: {cause}", path.display()));
        }
    }
    errors
}

/// Moves a replay file into the folder of earlier ones.
fn set_aside(folder: &Path, path: &Path) -> io::Result<()> {
    let earlier = folder.join(EARLIER);
    fs::create_dir_all(&earlier)?;
    fs::rename(path, earlier.join(path.file_name().unwrap_or_default()))
}

/// The replay files that were written.
pub(crate) struct WrittenReplays {
    /// The file of each finding, in the order of the findings.
    pub(crate) paths: Vec<Option<PathBuf>>,
    /// Messages about files that could not be written.
    pub(crate) errors: Vec<String>,
}

/// Writes one file for each finding, after those of earlier runs against the same target were removed or set aside.
pub(crate) fn write_all(folder: &Path, report: &Report) -> WrittenReplays {
    let findings = &report.findings;
    let mut errors = clear_earlier(folder, report);
    if !findings.is_empty()
        && let Err(cause) = fs::create_dir_all(folder)
    {
        errors.push(format!("{}: {cause}", folder.display()));
        return WrittenReplays { paths: vec![None; findings.len()], errors };
    }
    let mut of_rule = BTreeMap::<&str, usize>::new();
    let mut paths = Vec::new();
    for (place, finding) in findings.iter().enumerate() {
        let number = of_rule.entry(&finding.rule).or_default();
        *number += 1;
        let path = folder.join(format!("{}-{number}.json", finding.rule));
        let written = ReplayFile::of(place, report).map(|replay| write(&path, &replay));
        paths.push(written.and_then(|written| {
            let failed = |cause| errors.push(format!("{}: {cause}", path.display()));
            written.map_err(failed).ok().map(|()| path.clone())
        }));
    }
    WrittenReplays { paths, errors }
}

fn write(path: &Path, replay: &ReplayFile) -> io::Result<()> {
    let mut text = serde_json::to_string_pretty(replay)?;
    text.push('\n');
    report_file::write(path, &text)
}
