//! The folder of replay files: a run writes one for each finding, and removes those of earlier runs against the same target.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::report::{
    Finished,
    replay_file::{FORMAT, ReplayDefect, ReplayFile, target_of},
    text::defects,
};
use paymaster_judge::verdict::conclusion::Conclusion;

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
        let label: Self = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
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

/// Removes the replay files of earlier runs against this target, for the rules that this run judged. A run that ended early, and
/// recorded traffic, show too little to say that anything is fixed. Returns messages about files that could not be removed.
fn remove_earlier(folder: &Path, finished: &Finished<'_>) -> Vec<String> {
    let summary = finished.summary;
    let is_whole = summary.cut_short.is_none()
        && summary.recorded.is_none()
        && summary.conclusion != Conclusion::CouldNotTest;
    // A folder that cannot be read is one that is not there yet, or is reported when a file is written.
    let Some(files) = is_whole.then(|| files(folder).ok()).flatten() else {
        return Vec::new();
    };
    let target = target_of(finished);
    let judged = |rule: &str| summary.rules.iter().any(|outcome| outcome.rule.id == rule);
    let mut errors = Vec::new();
    for path in files {
        let is_earlier =
            Label::read(&path).is_some_and(|label| label.target == target && judged(&label.rule));
        if is_earlier && let Err(cause) = fs::remove_file(&path) {
            errors.push(format!("{}: {cause}", path.display()));
        }
    }
    errors
}

/// The replay files that were written.
pub(crate) struct WrittenReplays {
    /// The file of each finding, in the order of the findings.
    pub(crate) paths: Vec<Option<PathBuf>>,
    /// Messages about files that could not be written.
    pub(crate) errors: Vec<String>,
}

/// Writes one file for each finding, and removes those of earlier runs against the same target.
pub(crate) fn write_all(folder: &Path, finished: &Finished<'_>) -> WrittenReplays {
    let findings = &finished.summary.findings;
    let mut errors = remove_earlier(folder, finished);
    if !findings.is_empty()
        && let Err(cause) = fs::create_dir_all(folder)
    {
        return WrittenReplays {
            paths: vec![None; findings.len()],
            errors: vec![format!("{}: {cause}", folder.display())],
        };
    }
    let mut of_rule = BTreeMap::<&str, usize>::new();
    let defects = defects::shown(finished);
    let paths = findings
        .iter()
        .enumerate()
        .map(|(place, finding)| {
            let defect = defects.iter().find(|defect| defect.findings.contains(&place));
            let defect = defect.map(|defect| ReplayDefect {
                number: defect.number,
                headline: defect.headline.clone(),
            });
            let number = of_rule.entry(finding.rule.id).or_default();
            *number += 1;
            let path = folder.join(format!("{}-{number}.json", finding.rule.id));
            match write(&path, &ReplayFile::of(finding, defect, finished)) {
                Ok(()) => Some(path),
                Err(cause) => {
                    errors.push(format!("{}: {cause}", path.display()));
                    None
                }
            }
        })
        .collect();
    WrittenReplays { paths, errors }
}

fn write(path: &Path, replay: &ReplayFile) -> io::Result<()> {
    let mut text = serde_json::to_string_pretty(replay)?;
    text.push('\n');
    fs::write(path, text)
}
