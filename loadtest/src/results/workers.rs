//! The workers of a distributed run, each with its share.

use std::{collections::BTreeMap, fmt::Write as _};

use serde::{Deserialize, Serialize};

/// At most this many seconds of figures are lost with a worker: it reports every 3 seconds.
const LOST_SECONDS: u32 = 3;

/// A worker of a distributed run, and its share of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerShare {
    /// Its name: host and a random number, as the master of Locust shows it.
    pub name: String,
    /// The index that the master gave to it; none if it sent no figures.
    pub index: Option<u64>,
    /// Most users at a time.
    pub users: usize,
    /// Most users of all workers together, as the master reported them; none if it did not, and in a merged report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_users: Option<usize>,
    /// Its requests in the figures.
    pub requests: u64,
    /// The time in seconds that its figures cover.
    pub seconds: f64,
    /// Whether its figures are complete: it ended its load and sent its last figures.
    pub complete: bool,
    /// Whether a signal ended it before the run was over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// What must be equal for all workers of a run: name and value. Empty if it is unknown. A merged report has it at its first worker
    /// only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub setup: BTreeMap<String, String>,
    /// In a merged report: the differences from the setup of the other workers. If there are any, no figures of it are in the report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
}

impl WorkerShare {
    /// A worker of which no figures arrived.
    pub fn missing(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// The same worker without its figures, because its setup is not `usual`.
    pub(super) fn left_out(&self, usual: &BTreeMap<String, String>) -> Self {
        let own = |name| self.setup.get(name).map_or("", String::as_str);
        let different = usual.iter().filter(|(name, value)| own(*name) != *value);
        let differences = different.map(|(name, value)| format!("{name} {} instead of {value}", own(name)));
        Self { requests: 0, differences: differences.collect(), ..self.clone() }
    }

    /// What happened to it, in a word or two; none if its figures are complete and in the report.
    pub fn state(&self) -> Option<&'static str> {
        match self {
            _ if !self.differences.is_empty() => Some("left out"),
            _ if self.interrupted => Some("interrupted"),
            _ if self.complete => None,
            _ if self.index.is_some() => Some("lost"),
            _ => Some("no figures"),
        }
    }

    /// What happened to it, and what is missing in the report; none if its figures are complete and in the report.
    pub fn problem(&self) -> Option<String> {
        let (state, name) = (self.state()?, &self.name);
        let Some(index) = self.index else {
            return Some(format!(
                "worker {name} sent no figures: what it sent to the target is not in this report"
            ));
        };
        let mut why = format!("its figures end {:.1} s after its start", self.seconds);
        if !self.differences.is_empty() {
            why = format!("its setup is different: {}", self.differences.join(", "));
        } else if !self.complete {
            let _ = write!(why, ", and those of at most {LOST_SECONDS} s after that are missing");
        }
        Some(format!("worker {name} (index {index}) was {state}: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_worker_is_named_with_what_was_lost() {
        let lost = WorkerShare { index: Some(2), seconds: 9.04, ..WorkerShare::missing("host_1") };
        let text = lost.problem().unwrap();
        assert!(
            text.contains("host_1 (index 2)") && text.contains("9.0 s") && text.contains("3 s"),
            "{text}"
        );
        assert!(WorkerShare::missing("p").problem().unwrap().contains("sent no figures"));
        let complete = WorkerShare { complete: true, ..lost };
        assert_eq!(complete.problem(), None);
        let interrupted = WorkerShare { interrupted: true, ..complete };
        assert_eq!(
            interrupted.problem().unwrap(),
            "worker host_1 (index 2) was interrupted: its figures end 9.0 s after its start"
        );
    }
}
