//! Replay files: the requests of a finding, and what is needed to judge the answers to them again.
//!
//! A run writes one for each finding. Those of earlier runs against the same target are removed or set aside, so that the folder has no
//! files of two runs against it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use paymaster_client::files;
use paymaster_engine::cases::{Group, Member, Relation, find_client};
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::session::Original;
use paymaster_engine::specification::Specification;
use paymaster_engine::verdict::Conclusion;
use paymaster_settings::{escape_controls, output::report_file, specification};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::report::{Report, Request};

/// The format that this version writes.
pub(crate) const FORMAT: &str = "paymaster-replay/v3";

/// The target in a replay file of a run against the embedded reference server.
pub(crate) const EMBEDDED: &str = "embedded";

/// A replay file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ReplayFile {
    /// [`FORMAT`].
    pub format: String,
    /// The specification that the target was judged by.
    pub spec: String,
    /// The rule that was broken.
    pub rule: String,
    /// The violation, and what a replay needs to show that it is fixed.
    pub finding: Original,
    /// The defect that the finding belongs to; none for a known failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defect: Option<ReplayDefect>,
    /// The target, secrets replaced, or [`EMBEDDED`].
    pub target: String,
    /// The seed of the run.
    pub seed: u64,
    /// The relation that built the group.
    pub relation: String,
    /// The name of the pair of method and mode, such as `quote-sponsored`.
    pub pair: Option<String>,
    /// The round of the relation. Files of the versions before name it otherwise.
    #[serde(alias = "twist")]
    pub round: u32,
    /// The requests, in order.
    pub members: Vec<ReplayRequest>,
    /// What was known about the target, as its specification writes it.
    pub known: Value,
}

/// The defect of a run that a finding belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct ReplayDefect {
    /// Its number in the reports, from 1.
    pub number: usize,
    /// What is wrong, in a sentence.
    pub headline: String,
}

/// A request in a replay file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ReplayRequest {
    /// Its role in the relation, such as `baseline`.
    pub role: String,
    /// What distinguishes it from the other requests.
    pub label: String,
    /// The body, where it is UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The body in base64, where it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_base64: Option<String>,
    /// The name of the published client whose request headers are sent; none for the plain headers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The headers of that client, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
}

impl ReplayFile {
    /// The replay file of the finding with this index; none where the finding is of a report that was read back.
    pub(crate) fn of(number: usize, report: &Report) -> Option<Self> {
        let finding = report.findings.get(number)?;
        let (pair, round) = finding.details.made_for.clone();
        let defect = report.defect_of(number);
        Some(Self {
            format: FORMAT.to_owned(),
            spec: report.specification.name.clone(),
            rule: finding.rule.clone(),
            finding: finding.details.original.clone()?,
            defect: defect.map(|defect| ReplayDefect {
                number: defect.number,
                headline: escape_controls(&defect.headline),
            }),
            target: target_of(report),
            seed: report.seed,
            relation: finding.relation.clone(),
            pair,
            round,
            members: finding.requests.iter().map(ReplayRequest::of).collect(),
            known: report.details.known.clone(),
        })
    }

    /// What was known of the target.
    pub(crate) fn known(&self) -> Result<Arc<dyn Knowledge>, String> {
        (self.specification()?.restore)(&self.known)
            .map_err(|cause| format!("what was known of the target cannot be read: {cause}"))
    }

    /// The specification of the target.
    pub(crate) fn specification(&self) -> Result<&'static Specification, String> {
        specification(&self.spec)
    }

    /// Reads a replay file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or is not a replay file of this version.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let refused = |cause: String| format!("{}: {cause}", path.display());
        let text =
            files::read_text(path, files::WRITTEN_BY_A_RUN).map_err(|cause| refused(cause.to_string()))?;
        let damaged = |cause: serde_json::Error| refused(cause.to_string());
        // The format is read first: files of other formats may lack members.
        let Label { format, .. } = serde_json::from_str(&text).map_err(damaged)?;
        if format != FORMAT {
            let advice = "run again, or use the version that wrote it";
            return Err(refused(format!(
                "the format is `{format}`; this version reads `{FORMAT}`: {advice}"
            )));
        }
        serde_json::from_str(&text).map_err(damaged)
    }

    /// The group to send.
    ///
    /// # Errors
    ///
    /// When the relation is none of `relations`, or a body cannot be decoded.
    pub(crate) fn group(&self, relations: &[&'static Relation]) -> Result<Group, String> {
        let relation = relations.iter().find(|relation| relation.id == self.relation);
        let relation = relation.ok_or_else(|| unknown("relation", &self.relation))?;
        let members = self.members.iter().map(ReplayRequest::member).collect::<Result<_, _>>()?;
        Ok(Group {
            number: 0,
            relation,
            pair: self.pair.as_deref().and_then(|name| specification(&self.spec).ok()?.find_kind(name)),
            base: Value::Null,
            round: self.round,
            is_depth: false,
            first_id: 0,
            members,
        })
    }
}

impl ReplayRequest {
    fn of(request: &Request) -> Self {
        let body = &request.body;
        let is_text = body.base64.is_none() && !body.has_secret;
        let client = request.client.as_deref().and_then(find_client);
        let headers = client.iter().flat_map(|client| &*client.lines);
        Self {
            role: request.role.clone(),
            label: request.label.clone(),
            body: is_text.then(|| body.text.clone()),
            body_base64: body.base64.clone(),
            client: request.client.clone(),
            headers: headers.map(|(name, value)| format!("{name}: {value}")).collect(),
        }
    }

    fn member(&self) -> Result<Member, String> {
        let body = match (&self.body, &self.body_base64) {
            (Some(text), None) => Bytes::from(text.clone()),
            (None, Some(encoded)) => {
                let refused = |cause| format!("a body is not base64: {cause}");
                BASE64_STANDARD.decode(encoded).map_err(refused)?.into()
            }
            // A body with a secret is not written, as it could not be sent again without it.
            _ => {
                let needs = "a member needs exactly one of body and body_base64";
                return Err(format!("{needs}; a body with a secret is not written"));
            }
        };
        let no_client = |name| unknown("client", name) + ": its request headers are not known";
        Ok(Member {
            role: self.role.parse().map_err(|_| unknown("role", &self.role))?,
            label: self.label.clone(),
            body: body.into(),
            sent_as: self
                .client
                .as_deref()
                .map(|name| find_client(name).ok_or_else(|| no_client(name)))
                .transpose()?,
        })
    }
}

/// The target of a run as its replay files name it.
pub(crate) fn target_of(report: &Report) -> String {
    if report.embedded { EMBEDDED.to_owned() } else { report.target.clone() }
}

/// This version has no relation, role or published client with this name.
fn unknown(what: &str, name: &str) -> String {
    format!("there is no {what} `{name}` in this version")
}

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
        let label: Self = serde_json::from_slice(&files::read(path, files::WRITTEN_BY_A_RUN).ok()?).ok()?;
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
        let Some(label) = Label::read(&path).filter(|label| label.target == target) else { continue };
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

/// Writes one file for each finding, after those of earlier runs against the same target were removed or set aside. Returns the file of
/// each finding, in their order, and messages about files that could not be written.
pub(crate) fn write_all(folder: &Path, report: &Report) -> (Vec<Option<PathBuf>>, Vec<String>) {
    let findings = &report.findings;
    let mut errors = clear_earlier(folder, report);
    if !findings.is_empty()
        && let Err(cause) = fs::create_dir_all(folder)
    {
        errors.push(format!("{}: {cause}", folder.display()));
        return (vec![None; findings.len()], errors);
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
    (paths, errors)
}

fn write(path: &Path, replay: &ReplayFile) -> io::Result<()> {
    let mut text = serde_json::to_string_pretty(replay)?;
    text.push('\n');
    report_file::write(path, &text)
}
