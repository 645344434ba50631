//! Which published clients are refused for their request headers. The same bytes are sent in plain headers, too: a refusal that these do
//! not get, again and again, is about the headers, whatever its status and body are.

use std::{collections::BTreeSet, mem, sync::Arc};

use paymaster_exchange::{Exchange, HeaderSet};

use crate::cases::{CLIENTS, DISCOVERY, FIRST_ID, Group, Member, TIMES, alternately, group};
use crate::knowledge::Knowledge;
use crate::message::Answer;

/// The last rounds of discovery: one request in plain headers and with those of every client, then by turns with those of the clients that
/// were answered otherwise.
#[derive(Debug)]
pub struct RefusedClients {
    context: Arc<dyn Knowledge>,
    seed: u64,
    round: u32,
    suspects: Vec<Arc<HeaderSet>>,
    refused: BTreeSet<&'static str>,
}

impl RefusedClients {
    /// Starts from what discovery found.
    pub fn new(context: Arc<dyn Knowledge>, seed: u64) -> Self {
        Self { context, seed, round: 0, suspects: CLIENTS.clone(), refused: BTreeSet::new() }
    }

    /// Takes the answers of the previous round (none at first) and returns the group of the next round; none at the end.
    pub fn next_round(&mut self, answers: &[(Group, Vec<Exchange>)]) -> Option<Vec<Group>> {
        if let Some((_, exchanges)) = answers.first() {
            self.learn(exchanges);
        }
        self.round += 1;
        let clients = mem::take(&mut self.suspects);
        let group = self.plain_group().filter(|_| self.round <= 2 && !clients.is_empty())?;
        let plain = group.members.first()?;
        let with_headers =
            |client: &Arc<HeaderSet>| Member { sent_as: Some(client.clone()), ..plain.clone() };
        let members = if self.round == 1 {
            std::iter::once(plain.clone()).chain(clients.iter().map(with_headers)).collect()
        } else {
            clients.iter().flat_map(|client| alternately(plain, &with_headers(client))).collect()
        };
        Some(vec![Group { members, ..group }])
    }

    /// What is known now.
    pub fn finish(self) -> Arc<dyn Knowledge> {
        if self.refused.is_empty() { self.context } else { self.context.with_refused_clients(self.refused) }
    }

    /// A group of one ordinary request; none where none can be made.
    fn plain_group(&self) -> Option<Group> {
        let bases = self.context.specification().plain_bases.iter();
        let mut source = self.context.source(self.seed ^ u64::from(self.round));
        let (base, request) = bases
            .filter(|base| self.context.may_serve(base.pair))
            .find_map(|base| Some((*base, source(base)?)))?;
        Some(group(&DISCOVERY, base, request, 0, FIRST_ID - 1, &*self.context)?.0)
    }

    fn learn(&mut self, exchanges: &[Exchange]) {
        if self.round == 1 {
            let plain = exchanges.first().map(outcome);
            let others = exchanges.iter().filter(|exchange| Some(outcome(exchange)) != plain);
            self.suspects = others.filter_map(|exchange| exchange.sent_as.clone()).collect();
            return;
        }
        for turns in exchanges.chunks_exact(2 * TIMES) {
            let (plain, client) = (outcome(&turns[0]), outcome(&turns[1]));
            let mut pairs = turns.chunks_exact(2);
            let is_steady = pairs.all(|pair| outcome(&pair[0]) == plain && outcome(&pair[1]) == client);
            let is_refused = is_steady && plain != client && client.is_refusal;
            self.refused.extend(turns[1].sent_as.as_ref().filter(|_| is_refused).map(|client| client.name));
        }
    }
}

/// What two answers to the same bytes have in common if headers make no difference.
#[derive(PartialEq, Eq)]
struct Outcome {
    status: Option<u16>,
    has_result: bool,
    code: Option<String>,
    /// Whether it refuses the request, by HTTP or by JSON-RPC.
    is_refusal: bool,
}

fn outcome(exchange: &Exchange) -> Outcome {
    let answer = Answer::of(exchange);
    let status = answer.response().map(|response| response.status);
    let error = answer.error();
    Outcome {
        status,
        has_result: answer.result().is_some(),
        code: error.map(|error| error["code"].to_string()),
        is_refusal: error.is_some() || status.is_some_and(|status| status >= 300),
    }
}
