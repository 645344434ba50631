//! The event stream of a run: the only interface between the runner and the reporters.

use std::time::{Duration, SystemTime};

use crate::{Estimate, Exchange, Finding, Rule, Summary};
use paymaster_engine::spending::SpendingLimits;

/// Something that happened in a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// The run begins.
    Started {
        /// The target, secrets redacted.
        target: &'a str,
        /// Name, title, version and place of the specification that it is judged by.
        specification: &'a str,
        /// The seed.
        seed: u64,
    },
    /// Discovery is over: the dialect and the tokens of the target are known. Sending the plan begins.
    Planned {
        /// The dialect in use.
        dialect: &'a serde_json::Map<String, serde_json::Value>,
        /// The largest number of groups that will be sent. Groups that need what the target did not provide are left out.
        at_most: usize,
        /// The most that the target is asked to pay for; none without a bound.
        limits: SpendingLimits,
    },
    /// A request was sent, and answered or not. Reported only to reporters that want exchanges, in the order in which they ended.
    Exchanged(&'a SentExchange),
    /// Groups were judged: the counts so far.
    Judged {
        /// How many groups were sent.
        groups: usize,
        /// How many requests were sent.
        requests: usize,
        /// How many rules were broken.
        findings: usize,
    },
    /// The target asked for a pause; no request is sent until it is over.
    Waiting {
        /// The length of the pause.
        pause: Duration,
        /// The reason, for people.
        reason: &'a str,
    },
    /// The target refused requests only while others were in flight. The run goes on with fewer at a time.
    Overloaded {
        /// How many requests are sent at a time from now on.
        jobs: usize,
        /// What the target did when more were in flight, in words.
        sign: &'a str,
    },
    /// How long the run takes, at the configured rate limit or at one that the target showed.
    Estimated(&'a Estimate),
    /// A rule was broken for the first time. [`Event::Found`] follows when its findings are confirmed.
    Broken {
        /// The rule.
        rule: &'static Rule,
    },
    /// The plan is over. What broke rules is sent again, to confirm it, to make it small and to find its cause.
    Confirming,
    /// A finding is complete: sent again and shrunk.
    Found(&'a Finding),
    /// The run is over.
    Finished(&'a Summary),
}

/// An exchange, and the group that it is part of.
#[derive(Clone, Debug)]
pub struct SentExchange {
    /// The relation that built its group.
    pub relation: &'static str,
    /// The index of its group in the plan, from 0. Groups of shrinking and re-sending keep the index of the group they repeat.
    pub group: usize,
    /// Its index in the group, from 0; behind the last one for a request that is sent because of what the group got.
    pub member: usize,
    /// Its role in the relation, as `baseline`.
    pub role: &'static str,
    /// What distinguishes its request from the others of the group.
    pub label: String,
    /// The request and the response.
    pub exchange: Exchange,
    /// When it ended.
    pub ended: SystemTime,
}
