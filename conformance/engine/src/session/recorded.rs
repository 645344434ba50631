//! Judges recorded traffic, and the traffic that the proxy forwards.

use crate::cases::{Bases, Group, Member, Relation, Role, Rounds};
use crate::knowledge::{Knowledge, Learn};
use crate::rules::Rule;
use crate::session::{Ending, NewlyBroken, RecentExchanges, Session};
use crate::verdict::{End, KnownFailureList, Recorded, Strictness, Summary};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

use paymaster_exchange::Exchange;
use serde_json::Value;

/// The relation of recorded exchanges. Each is a group of its own.
pub static RECORDED: Relation = Relation::new("recorded", "exchanges of recorded traffic, each alone").of(
    Bases::NONE,
    Rounds::Fixed(0),
    |_, _| Vec::new(),
);

/// How many entries were left out, by the reason.
pub type Skipped = BTreeMap<String, u64>;

/// The rule that judges a header of the answer: a recording may have left the headers out.
const CONTENT_TYPE_RULE: &str = "http.content-type";

/// Learns what recorded exchanges show of the target, and judges each exchange alone.
#[derive(Debug)]
pub struct RecordedSession {
    session: Session,
    learner: Box<dyn Learn>,
    /// Whether the session's context is older than what was learned.
    learned: bool,
    /// Places that were broken while HTTP refused every request. They are reported once the service answers.
    withheld: Vec<NewlyBroken>,
    exchanges: u64,
    recent: RecentExchanges,
}

impl RecordedSession {
    /// A session that judges by these rules and by what the learner knows of the target.
    pub fn new(rules: Vec<&'static Rule>, known: Arc<KnownFailureList>, learner: Box<dyn Learn>) -> Self {
        Self {
            session: Session { known, ..Session::new(rules, learner.learned()) },
            learner,
            learned: false,
            withheld: Vec::new(),
            exchanges: 0,
            recent: RecentExchanges::default(),
        }
    }

    /// Learns from an exchange. Call it for every exchange of a file before judging the first, and for live traffic before
    /// judging each.
    pub fn learn(&mut self, exchange: &Exchange) {
        self.learner.see(exchange);
        self.learned = true;
    }

    /// Judges an exchange by what was learned so far. `place` names its place in the recording. Gives the places at which a rule was
    /// broken for the first time.
    pub fn judge(&mut self, place: &str, exchange: &Exchange) -> Vec<NewlyBroken> {
        if std::mem::take(&mut self.learned) {
            self.session.context = self.learner.learned();
        }
        let number = usize::try_from(self.exchanges).unwrap_or(usize::MAX);
        self.exchanges += 1;
        let group = Group {
            number,
            relation: &RECORDED,
            pair: None,
            base: Value::Null,
            round: 0,
            is_depth: false,
            first_id: 0,
            members: vec![Member {
                role: Role::Recorded,
                label: place.to_owned(),
                body: exchange.request.clone(),
                sent_as: None,
            }],
        };
        let response = exchange.outcome.as_ref();
        let without_headers = response.is_ok_and(|response| response.headers.is_empty());
        let left_out = |rule: &Rule| without_headers && rule.id == CONTENT_TYPE_RULE;
        let new = self.session.judge_except(&group, std::slice::from_ref(exchange), left_out);
        self.withheld.extend(new);
        self.recent.keep(&group, exchange);
        if self.session.tally.access.denied().is_some() {
            Vec::new()
        } else {
            std::mem::take(&mut self.withheld)
        }
    }

    /// The summary, and what is known of the target.
    pub fn finish(
        mut self,
        target: String,
        skipped: Skipped,
        strictness: Strictness,
        took: Duration,
    ) -> (Summary, Arc<dyn Knowledge>) {
        let cause = if self.exchanges == 0 {
            Some("there was no exchange to judge: no call of its methods with the answer".to_owned())
        } else {
            self.session.tally.denied()
        };
        let context = Arc::clone(&self.session.context);
        let mut findings = self.session.findings();
        for finding in &mut findings {
            let ever_held = !self.session.tally.examples(finding.rule, finding.pair).is_empty();
            self.recent.explain(finding, &*context, ever_held);
        }
        let ending = Ending {
            target,
            seed: 0,
            early: cause.map(|cause| (End::GaveUp, cause)),
            findings,
            strictness,
            recorded: Some(Recorded { exchanges: self.exchanges, skipped }),
            requests: 0,
            connections: 1,
            took,
        };
        (self.session.conclude(ending), context)
    }
}
