//! What must hold of the judge, whatever bytes it is shown as an answer.

use bytes::Bytes;
use paymaster_engine::rules::observers::{Observations, observe};
use paymaster_engine::session::judge::read;

use crate::*;

const NOW: u64 = 1_800_000_000;
/// Answers to a single call that nobody could take for one.
const NOT_JSON: &str = "answer.json-text";

/// serde_json reads no deeper, and our reader does.
const SERDE_DEPTH: usize = 100;

/// One group of each relation, and the right answers.
pub(crate) struct Bench {
    context: Context,
    judge: Judge,
    groups: Vec<(Group, Vec<Bytes>)>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let service = Service::new(&Config::default()).expect("the default configuration is sound");
        let context = Context::new(Profile::default());
        let mut seen = BTreeSet::new();
        let groups = Plan::new(&context, 1, 4)
            .filter(|group| seen.insert((group.relation.id, group.pair, group.round)))
            .map(|group| {
                let answer = |body: &Bytes| service.handle_bytes(body, NOW).body.unwrap_or_default();
                let answers = group.members.iter().map(|member| answer(member.body.bytes()).into()).collect();
                (group, answers)
            })
            .collect();
        Self { judge: Judge::new(SPECIFICATION.rules().collect()), context, groups }
    }

    pub(crate) fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Right answers, one of each group.
    pub(crate) fn answers(&self) -> Vec<Vec<u8>> {
        let last = |answers: &Vec<Bytes>| answers.last().map(|answer| answer.to_vec());
        self.groups.iter().filter_map(|(_, answers)| last(answers)).collect()
    }

    /// The last member of a group gets these bytes for its answer, the others the right one. Rules and observers must cope, say
    /// the same twice, and point into the group; and no rule may hold of what cannot be read.
    pub(crate) fn holds(&self, group: usize, status: u16, answer: &[u8]) {
        let (group, right) = &self.groups[group % self.groups.len()];
        let last = right.len() - 1;
        let exchanges: Vec<Exchange> = group
            .members
            .iter()
            .enumerate()
            .map(|(place, member)| {
                let (status, body) = if place == last {
                    (status, Bytes::copy_from_slice(answer))
                } else {
                    (200, right[place].clone())
                };
                let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
                let outcome = Ok(Response { status, headers, body: body.into() });
                Exchange::new(member.body.clone(), outcome, Duration::ZERO)
            })
            .collect();
        let judged = self.judge.group(group, &exchanges, &self.context);
        let again = self.judge.group(group, &exchanges, &self.context);
        assert_eq!(format!("{judged:?}"), format!("{again:?}"), "two judgements of one answer");
        for violation in judged.iter().flat_map(|judgement| &judgement.report.violations) {
            assert!(violation.member < exchanges.len(), "{violation:?} points out of the group");
        }
        let mut seen = Observations::new();
        observe(&read(group, &exchanges, &self.context), &self.context, &mut seen);
        let readable = serde_json::from_slice::<serde::de::IgnoredAny>(answer);
        let deep = answer.iter().filter(|byte| b"[{".contains(byte)).count() > SERDE_DEPTH;
        if group.relation.id == "calls" && status == 200 && !deep && readable.is_err() {
            let broken = judged.iter().any(|judgement| {
                judgement.rule.clause == NOT_JSON && !judgement.report.violations.is_empty()
            });
            assert!(broken, "{:?} passed for JSON", String::from_utf8_lossy(answer));
        }
    }
}
