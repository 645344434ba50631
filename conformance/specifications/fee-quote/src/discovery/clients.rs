//! Which published clients are refused for their request headers. The same bytes are sent in plain headers, too: a refusal that these do
//! not get, again and again, is about the headers, whatever its status and body are.

use crate::{base, generate::source::Source};
use paymaster_engine::{
    cases::{
        case::{Group, Member},
        clients::CLIENTS,
        edit::{TIMES, alternately},
    },
    message::answer::Answer,
};
use paymaster_exchange::{Exchange, HeaderSet};
use paymaster_schemas::kinds;

use super::Discovery;

impl Discovery {
    /// One request in plain headers, then with those of every client.
    pub(super) fn which_clients(&mut self) -> Vec<Group> {
        if !self.tries_clients {
            return Vec::new();
        }
        self.compared(CLIENTS.iter(), |plain, clients| std::iter::once(plain).chain(clients).collect())
    }

    /// The clients that were answered otherwise than the plain headers, by turns with these.
    pub(super) fn which_clients_again(&mut self) -> Vec<Group> {
        let suspects = std::mem::take(&mut self.suspects);
        self.compared(suspects.into_iter(), |plain, clients| {
            clients.flat_map(|client| alternately(&plain, &client)).collect()
        })
    }

    /// One group of members made of a request and of the same request with the headers of these clients.
    fn compared(
        &mut self,
        clients: impl ExactSizeIterator<Item = &'static HeaderSet>,
        members: impl FnOnce(Member, &mut dyn Iterator<Item = Member>) -> Vec<Member>,
    ) -> Vec<Group> {
        let context = self.context.clone();
        let pair = self.served.first().copied().unwrap_or(kinds::SPONSOR_SPONSORED);
        let wanted = base::sponsored(pair);
        let request = Source::new(self.seed ^ u64::from(self.round), &context).base(&wanted);
        let mut groups = Vec::new();
        if let Some(request) = request.filter(|_| clients.len() > 0) {
            self.push(&mut groups, None, wanted, request, &context);
        }
        if let Some(group) = groups.first_mut() {
            let plain = group.members.remove(0);
            let with_headers = |client| Member { sent_as: Some(client), ..plain.clone() };
            group.members = members(plain.clone(), &mut clients.map(with_headers));
        }
        groups
    }

    /// Compares the answers of the rounds about clients.
    pub(super) fn learn_clients(&mut self, answers: &[(Group, Vec<Exchange>)]) {
        let Some((_, exchanges)) = answers.first().filter(|_| self.round >= 8) else {
            return;
        };
        if self.round == 8 {
            let plain = exchanges.first().map(outcome);
            let others = exchanges.iter().filter(|exchange| Some(outcome(exchange)) != plain);
            self.suspects = others.filter_map(|exchange| exchange.sent_as).collect();
            return;
        }
        for turns in exchanges.chunks_exact(2 * TIMES) {
            let (plain, client) = (outcome(&turns[0]), outcome(&turns[1]));
            let mut pairs = turns.chunks_exact(2);
            let is_steady = pairs.all(|pair| outcome(&pair[0]) == plain && outcome(&pair[1]) == client);
            if let Some(refused) =
                turns[1].sent_as.filter(|_| is_steady && plain != client && client.is_refusal)
            {
                self.context.refused_clients.insert(refused.name);
            }
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

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, time::Duration};

    use bytes::Bytes;
    use paymaster_exchange::Response;

    use super::*;
    use crate::target::context::Context;

    const RESULT: (u16, &str) = (200, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    const ERROR: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32003,"message":"origin"}}"#;

    /// The clients that are refused by a target that answers a request by its headers and its number among the same bytes.
    fn refused(answer: impl Fn(Option<&HeaderSet>, usize) -> (u16, &'static str)) -> BTreeSet<&'static str> {
        let mut discovery = Discovery::new(Context::default(), 1).trying_clients();
        let (mut answers, mut bodies) = (Vec::new(), Vec::new());
        while let Some(groups) = discovery.next_round(&answers) {
            let answered = groups.into_iter().map(|group| {
                let members = group.members.iter();
                let exchanges = members.map(|member| {
                    let earlier = bodies.iter().filter(|body| **body == member.body).count();
                    bodies.push(member.body.clone());
                    let (status, body) = answer(member.sent_as, earlier);
                    let response =
                        Response { status, headers: Vec::new(), body: Bytes::from_static(body.as_bytes()) };
                    Exchange {
                        sent_as: member.sent_as,
                        ..Exchange::new(member.body.clone(), Ok(response), Duration::ZERO)
                    }
                });
                let exchanges = exchanges.collect();
                (group, exchanges)
            });
            answers = answered.collect();
        }
        discovery.finish().0.refused_clients
    }

    #[test]
    fn a_refusal_is_about_headers_if_the_plain_ones_never_get_it_whatever_it_is() {
        let has_origin =
            |headers: Option<&HeaderSet>| headers.is_some_and(|headers| headers.header("origin").is_some());
        for refusal in [(200, ERROR), (401, ERROR), (403, ERROR), (403, "<html>"), (500, "")] {
            let found = refused(|headers, _| if has_origin(headers) { refusal } else { RESULT });
            assert_eq!(found, BTreeSet::from(["browser", "chrome"]), "{refusal:?}");
        }
        let by_chance = refused(|headers, earlier| match headers {
            Some(_) if earlier == 3 => (403, ERROR),
            _ => RESULT,
        });
        assert_eq!(by_chance, BTreeSet::new());
        let repetitions = refused(|_, earlier| if earlier > 0 { (409, ERROR) } else { RESULT });
        assert_eq!(repetitions, BTreeSet::new());
        let garbled = refused(|headers, _| if headers.is_some() { (200, "\u{1f}") } else { RESULT });
        assert_eq!(garbled, BTreeSet::new(), "no refusal");
    }
}
