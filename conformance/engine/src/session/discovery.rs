//! The rounds of discovery, as every sender drives them. What they are answered is judged like all other answers.

use std::mem;

use paymaster_exchange::Exchange;
use serde_json::Value;

use crate::cases::Group;
use crate::knowledge::Discover;
use crate::message::{Answer, ParsedRequest};
use crate::specification::Specification;

/// Groups that were sent, each with its exchanges.
pub type Sent = Vec<(Group, Vec<Exchange>)>;

/// The codes of errors that say what is wrong with a request: not JSON-RPC, an unknown method, wrong params (JSON-RPC 2.0, section 5.1).
const REQUEST_IS_WRONG: [i32; 3] = [-32600, -32601, -32602];

/// How many bytes of answers are kept until they are judged. Those beyond are not: the plan sends requests like them.
const MOST_KEPT: usize = 4 << 20;

/// A discovery that sends a round once more if every request of it failed, so that a target which still starts is not taken for another
/// one.
pub struct Rounds {
    discovery: Box<dyn Discover>,
    round: Vec<Group>,
    is_repeated: bool,
    sent: Sent,
    kept: usize,
}

impl Rounds {
    /// The rounds of this discovery.
    pub fn new(discovery: Box<dyn Discover>) -> Self {
        Self { discovery, round: Vec::new(), is_repeated: false, sent: Vec::new(), kept: 0 }
    }

    /// Takes the answers of the previous round (none at first) and returns the groups of the next round; none at the end.
    pub fn next_round(&mut self, answers: Sent) -> Option<Vec<Group>> {
        let exchanges = answers.iter().flat_map(|(_, exchanges)| exchanges);
        let all_failed = exchanges.clone().all(has_failed);
        if exchanges.count() > 0 && all_failed && !mem::replace(&mut self.is_repeated, true) {
            self.keep(answers);
            return Some(self.round.clone());
        }
        let round = self.discovery.next_round(&answers);
        self.keep(answers);
        self.is_repeated = false;
        self.round = round.clone().unwrap_or_default();
        round
    }

    fn keep(&mut self, answers: Sent) {
        for (group, exchanges) in answers {
            let bodies = exchanges.iter().filter_map(|exchange| exchange.outcome.as_ref().ok());
            self.kept += bodies.map(|response| response.body.len()).sum::<usize>();
            if self.kept <= MOST_KEPT {
                self.sent.push((group, exchanges));
            }
        }
    }

    /// The discovery, to be asked what it found, and what was sent to the service. A node behind the same URL may be asked something, too,
    /// which is not the service's to answer.
    pub fn finish(self, specification: &Specification) -> (Box<dyn Discover>, Sent) {
        let is_of_service = |group: &Group| {
            let requests = group.members.iter().map(|member| ParsedRequest::of(&member.body, specification));
            requests.into_iter().all(|request| request.pair().is_some())
        };
        let sent = self.sent.into_iter().filter(|(group, _)| is_of_service(group)).collect();
        (self.discovery, sent)
    }
}

/// Whether the target failed, and did not refuse the request for what it says.
fn has_failed(exchange: &Exchange) -> bool {
    let answer = Answer::of(exchange);
    let names_another_cause = |error: &Value| !REQUEST_IS_WRONG.iter().any(|code| error["code"] == *code);
    match answer.response().map(|response| response.status) {
        Some(200) => answer.error().is_some_and(names_another_cause),
        status => status.is_none_or(|status| status >= 500),
    }
}
