//! The messages between worker and master: MessagePack of `[type, data, node id]`. What the master sends is read leniently: members
//! that a worker does not need are skipped, whatever their type.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize, Serializer};

/// A message of the master.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FromMaster {
    /// The answer to `client_ready`, with the index of the worker. Masters before Locust 2.10.2 send no index.
    Ack(Option<u64>),
    /// The users that the worker must have now.
    Spawn(Box<Spawn>),
    /// Every worker has its users: so many in all.
    SpawningComplete(Option<f64>),
    /// The run ends, and the worker stays.
    Stop,
    /// The run ends, and so does the worker.
    Quit,
    /// The locustfile asks for the last figures, because the run is over (see `locustfile.py`).
    Finish,
    /// The worker must connect anew.
    Reconnect,
    /// The answer to a heartbeat.
    Heartbeat,
    /// A message that is of no use for us, such as `update_user_class`.
    Other(String),
}

/// The type of [`FromMaster::SpawningComplete`] from our locustfile, where an older Locust sends no such message.
const SPAWNED: &str = "paymaster_spawned";
/// The type of [`FromMaster::Finish`].
const FINISH: &str = "paymaster_finish";

/// The users that a worker must have. The target (`host`) is not among the members that we read: the command line of the worker
/// alone decides what is loaded.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct Spawn {
    /// When the master sent it, in seconds since 1970. An older one than the last is dropped.
    pub(crate) timestamp: f64,
    /// The number of users of each class.
    pub(crate) user_classes_count: BTreeMap<String, u64>,
    /// How long users may finish their work when the run ends, in seconds.
    #[serde(default)]
    pub(crate) stop_timeout: Option<f64>,
    #[serde(default)]
    pub(crate) parsed_options: Option<MasterOptions>,
}

/// Those options of the master that a worker uses.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct MasterOptions {
    /// The number of users of the whole run.
    pub(crate) num_users: Option<f64>,
    /// `--rate` of our locustfile.
    pub(crate) paymaster_rate: Option<String>,
    /// `--arrivals` of our locustfile.
    pub(crate) paymaster_arrivals: Option<String>,
    /// `--threshold` of our locustfile.
    pub(crate) paymaster_thresholds: Option<Vec<String>>,
}

impl MasterOptions {
    /// The rate that arrivals follow; none for the closed model.
    pub(crate) fn rate(&self) -> Option<&str> {
        self.paymaster_rate.as_deref().map(str::trim).filter(|rate| !rate.is_empty())
    }
}

/// Deepest nesting of a message. Those of Locust have five levels.
const DEEPEST: usize = 32;

pub(crate) fn read(bytes: &[u8]) -> Result<FromMaster, rmp_serde::decode::Error> {
    /// What messages with few members have for us.
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Members {
        index: Option<u64>,
        user_count: Option<f64>,
    }
    let members = || data::<Option<Members>>(bytes).map(Option::unwrap_or_default);
    let (kind, _, _): (String, IgnoredAny, IgnoredAny) = parsed(bytes)?;
    Ok(match kind.as_str() {
        "ack" => FromMaster::Ack(members()?.index),
        "spawn" => FromMaster::Spawn(Box::new(data(bytes)?)),
        "spawning_complete" | SPAWNED => FromMaster::SpawningComplete(members()?.user_count),
        "stop" => FromMaster::Stop,
        "quit" => FromMaster::Quit,
        FINISH => FromMaster::Finish,
        "reconnect" => FromMaster::Reconnect,
        "heartbeat" => FromMaster::Heartbeat,
        _ => FromMaster::Other(kind.chars().take(40).collect()),
    })
}

fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, rmp_serde::decode::Error> {
    let mut deserializer = rmp_serde::Deserializer::from_read_ref(bytes);
    // The default of 1024 overflows the stack.
    deserializer.set_max_depth(DEEPEST);
    T::deserialize(&mut deserializer)
}

fn data<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, rmp_serde::decode::Error> {
    let (_, data, _): (IgnoredAny, T, IgnoredAny) = parsed(bytes)?;
    Ok(data)
}

/// The kind and the data of the first message: -1 instead of a version of Locust, so that the master compares no versions.
pub(crate) const READY: (&str, i8) = ("client_ready", -1);

/// The bytes of a message of the worker with this node id.
pub(crate) fn from_worker(kind: &str, data: &impl Serialize, node_id: &str) -> Vec<u8> {
    // Writing to memory cannot fail, and no type here is one that MessagePack lacks.
    rmp_serde::to_vec_named(&(kind, data, node_id)).unwrap_or_default()
}

/// The data of a heartbeat.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Heartbeat {
    /// `ready` without a run, `spawning` while users are started, `running` with users.
    pub(crate) state: &'static str,
    /// CPU use in percent of all cores.
    pub(crate) current_cpu_usage: f64,
    /// Memory in bytes.
    pub(crate) current_memory_usage: u64,
}

/// The users of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct UserCounts {
    /// By class, also the classes without users.
    pub(crate) user_classes_count: BTreeMap<String, usize>,
    /// All.
    pub(crate) user_count: usize,
}

impl UserCounts {
    pub(crate) fn of(user_classes_count: BTreeMap<String, usize>) -> Self {
        Self { user_count: user_classes_count.values().sum(), user_classes_count }
    }
}

/// What happened since the last message of this type.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(clippy::struct_field_names, reason = "the names are those of Locust")]
pub(crate) struct Stats {
    /// One entry for each scenario or step with requests.
    pub(crate) stats: Vec<StatsEntry>,
    /// The sum of all.
    pub(crate) stats_total: StatsEntry,
    /// Rows of the failures table, by a key that is the same on every worker.
    pub(crate) errors: BTreeMap<String, StatsError>,
    #[serde(flatten)]
    pub(crate) users: UserCounts,
    /// The exact figures of the run so far (see `exact`), which only our locustfile reads.
    #[serde(rename = "bin", skip_serializing_if = "Option::is_none")]
    pub(crate) exact: Option<Bytes>,
}

/// A row of Locust's statistics: differences since the last message. Times of requests are in ms, times of day in seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct StatsEntry {
    pub(crate) name: String,
    pub(crate) method: &'static str,
    pub(crate) last_request_timestamp: Option<f64>,
    pub(crate) start_time: f64,
    pub(crate) num_requests: u64,
    /// Requests without a time: those without a complete answer.
    pub(crate) num_none_requests: u64,
    pub(crate) num_failures: u64,
    pub(crate) total_response_time: f64,
    pub(crate) max_response_time: f64,
    pub(crate) min_response_time: Option<f64>,
    pub(crate) total_content_length: u64,
    /// Counts by the bits of a time in ms: those of positive numbers have the order of the numbers.
    #[serde(serialize_with = "float_keys")]
    pub(crate) response_times: BTreeMap<u64, u64>,
    pub(crate) num_reqs_per_sec: BTreeMap<u64, u64>,
    pub(crate) num_fail_per_sec: BTreeMap<u64, u64>,
}

/// A row of Locust's failures table: differences since the last message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct StatsError {
    pub(crate) name: String,
    pub(crate) method: &'static str,
    pub(crate) error: String,
    pub(crate) occurrences: u64,
    pub(crate) first_seen: f64,
    pub(crate) last_seen: f64,
}

fn float_keys<S: Serializer>(counts: &BTreeMap<u64, u64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(counts.iter().map(|(bits, count)| (f64::from_bits(*bits), count)))
}

#[cfg(test)]
mod tests;
