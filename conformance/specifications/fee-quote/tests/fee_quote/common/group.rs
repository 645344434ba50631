//! Groups of a relation, built from a request that is typed by hand, and answers to them.

use paymaster_engine::cases::case::Relation;
use paymaster_exchange::Body;

use super::sample;
use crate::*;

pub(crate) const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"MODE":"SPONSORED","paymasterAndData":"0xab","preVerificationGas":"1","verificationGasLimit":1,"callGasLimit":1}}"#;

pub(crate) const NO: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#;

/// A response with JSON.
pub(crate) fn json_response(status: u16, body: impl Into<Body>) -> Response {
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    Response { status, headers, body: body.into() }
}

/// An exchange whose response has no headers.
pub(crate) fn exchanged(request: impl Into<Body>, status: u16, body: impl Into<Body>) -> Exchange {
    let response = Response { status, headers: Vec::new(), body: body.into() };
    Exchange::new(request, Ok(response), Duration::ZERO)
}

/// The relation of that id.
pub(crate) fn find_relation(id: &str) -> &'static Relation {
    RELATIONS.iter().copied().find(|relation| relation.id == id).expect("it is one of ours")
}

pub(crate) fn group(relation: &str) -> Group {
    let known = find_relation(relation);
    let quotes = known.bases.of(&Context::default()).iter().all(|base| base.pair == kinds::QUOTE_ERC20);
    group_of(relation, if quotes { kinds::QUOTE_ERC20 } else { kinds::SPONSOR_SPONSORED })
}

/// A group of the relation with this id, made of the sample request of that pair.
pub(crate) fn group_of(relation: &str, pair: Kind) -> Group {
    let relation = find_relation(relation);
    let mut base = sample::sponsor_request(pair.method);
    if pair == kinds::QUOTE_ERC20 {
        let token = "0x2791bca1f2de4661ed88a30c99a7a9449aa84174";
        let info = json!({"preferredToken": token, "tokenList": [token]});
        base["params"][1] = json!({"mode": "ERC20", "calculateGasLimits": true, "tokenInfo": info});
    }
    if pair == kinds::SPONSOR_ERC20 {
        let info = json!({"feeTokenAddress": "0x2791bca1f2de4661ed88a30c99a7a9449aa84174"});
        base["params"][1] = json!({"mode": "ERC20", "calculateGasLimits": true, "tokenInfo": info});
    }
    let seed = BuildInput { pair, base: &base, round: 0, context: &Context::default() };
    let members = (relation.members)(&seed, &mut Ids::starting_at(1));
    let pair = Some(pair);
    Group { number: 0, relation, pair, members, base, round: 0, is_depth: false, first_id: 1 }
}
