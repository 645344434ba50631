//! The workers of a distributed run, each with its share.

use serde::{Deserialize, Serialize};

/// At most this many seconds of figures are lost with a worker: it reports every 3 seconds.
const LOST_SECONDS: u32 = 3;

/// A worker of a distributed run, and its share of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerShare {
    /// Its name: host and a random number, as the master of Locust shows it.
    pub name: String,
    /// The index that the master gave to it; none if it sent no figures.
    pub index: Option<u64>,
    /// Most users at a time.
    pub users: usize,
    /// Its requests in the figures.
    pub requests: u64,
    /// The time in seconds that its figures cover.
    pub seconds: f64,
    /// Whether its figures are complete: it ended its load and sent its last figures.
    pub complete: bool,
}

impl WorkerShare {
    /// A worker of which no figures arrived.
    pub fn missing(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            index: None,
            users: 0,
            requests: 0,
            seconds: 0.0,
            complete: false,
        }
    }

    /// What is missing of its figures; none if nothing is.
    pub fn loss(&self) -> Option<String> {
        if self.complete {
            return None;
        }
        let name = &self.name;
        Some(match self.index {
            None => {
                format!("worker {name} sent no figures: what it sent to the target is not in this report")
            }
            Some(index) => format!(
                "worker {name} (index {index}) was lost: its figures end {:.1} s after its start, and those of at most {LOST_SECONDS} s after that are missing",
                self.seconds
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_worker_is_named_with_what_was_lost() {
        let lost = WorkerShare {
            index: Some(2),
            seconds: 9.04,
            ..WorkerShare::missing("host_1")
        };
        let text = lost.loss().unwrap();
        assert!(
            text.contains("host_1 (index 2)") && text.contains("9.0 s") && text.contains("3 s"),
            "{text}"
        );
        assert!(
            WorkerShare::missing("p")
                .loss()
                .unwrap()
                .contains("sent no figures")
        );
        let complete = WorkerShare {
            complete: true,
            ..lost
        };
        assert_eq!(complete.loss(), None);
    }
}
