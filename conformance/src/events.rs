//! The event stream of a run: the only thing between the runner and the reporters.

use std::time::{Duration, SystemTime};

use crate::estimate::Estimate;
use paymaster_exchange::Exchange;
use paymaster_judge::{
    rules::Rule,
    target::dialect::Dialect,
    verdict::{finding::Finding, summary::Summary},
};

/// Something that happened in a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// The run begins.
    Started {
        /// The target, secrets redacted.
        target: &'a str,
        /// The seed.
        seed: u64,
    },
    /// The dialect and the tokens of the target are known; groups are made, sent and judged from here on.
    Planned {
        /// The dialect in use.
        dialect: &'a Dialect,
        /// How many groups will be sent at most: fewer where the target gives nothing to build them from.
        at_most: usize,
    },
    /// A request was sent, and answered or not. Told only to a reporter that wants exchanges, in the order in which they ended.
    Exchanged(&'a Delivered),
    /// A group was judged.
    Judged {
        /// How many groups are done.
        groups: usize,
        /// How many requests were sent.
        requests: usize,
        /// How many findings there are so far.
        findings: usize,
    },
    /// The target asked us to slow down.
    Waiting {
        /// How long.
        pause: Duration,
        /// Why.
        reason: &'a str,
    },
    /// How long the run takes, at a rate that is set or that the target was seen to allow.
    Estimated(&'a Estimate),
    /// A rule was seen broken for the first time; shrinking follows.
    Broken {
        /// The rule.
        rule: &'static Rule,
    },
    /// A finding is complete: shrunk and sent again.
    Found(&'a Finding),
    /// The run is over.
    Finished(&'a Summary),
}

/// An exchange, and what it was part of.
#[derive(Clone, Debug)]
pub struct Delivered {
    /// The relation that built its group.
    pub relation: &'static str,
    /// The place of its group in the plan, from 0; groups of discovery, shrinking and re-sending keep the number they came from.
    pub group: usize,
    /// Its place in the group, from 0.
    pub member: usize,
    /// Its part in the relation.
    pub role: &'static str,
    /// What sets it apart.
    pub label: String,
    /// What was sent and what came back.
    pub exchange: Exchange,
    /// When it ended.
    pub ended: SystemTime,
}
