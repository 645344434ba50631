//! Refusals that are about request headers.

use paymaster_engine::session::clients::RefusedClients;
use paymaster_exchange::HeaderSet;

use crate::*;

const RESULT: (u16, &str) = (200, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
const ERROR: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32003,"message":"origin"}}"#;

/// The clients that are refused by a target that answers a request by its headers and its number among the same bytes.
fn refused(answer: impl Fn(Option<&HeaderSet>, usize) -> (u16, &'static str)) -> BTreeSet<&'static str> {
    let mut discovery = RefusedClients::new(Arc::new(Context::default()), 1);
    let (mut answers, mut bodies) = (Vec::new(), Vec::new());
    while let Some(groups) = discovery.next_round(&answers) {
        let answered = groups.into_iter().map(|group| {
            let members = group.members.iter();
            let exchanges = members.map(|member| {
                let earlier = bodies.iter().filter(|body| **body == member.body).count();
                bodies.push(member.body.clone());
                let (status, body) = answer(member.sent_as.as_deref(), earlier);
                let response = Response { status, headers: Vec::new(), body: body.into() };
                Exchange {
                    sent_as: member.sent_as.clone(),
                    ..Exchange::new(member.body.clone(), Ok(response), Duration::ZERO)
                }
            });
            let exchanges = exchanges.collect();
            (group, exchanges)
        });
        answers = answered.collect();
    }
    discovery.finish().refused_clients().clone()
}

#[test]
fn a_refusal_is_about_headers_if_the_plain_ones_never_get_it_whatever_it_is() {
    let has_origin =
        |headers: Option<&HeaderSet>| headers.is_some_and(|headers| headers.header("origin").is_some());
    for refusal in [(200, ERROR), (401, ERROR), (403, ERROR), (403, "<html>"), (500, "")] {
        let found = refused(|headers, _| if has_origin(headers) { refusal } else { RESULT });
        assert_eq!(found, BTreeSet::from(["browser", "chrome", "extension"]), "{refusal:?}");
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
