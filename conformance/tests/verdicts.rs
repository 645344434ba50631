//! The rules against hand-typed exchanges: what each must see, and what none may call a fault.
//!
//! Nothing here comes from our server or from our generators, so that a mistake of theirs cannot hide one of the rules.

use std::time::Duration;

use bytes::Bytes;
use paymaster_conformance::{
    context::{Context, Support},
    exchange::{Exchange, Failure, Response},
    judge::Judge,
    profile::{Accepts, Operations, Profile, SmartAccount, Token, TokenLists},
    rules::{View, rules},
};

const USDC: &str = "0x2791bca1f2de4661ed88a30c99a7a9449aa84174";
const DAI: &str = "0x6b175474e89094c44da98b954eedeac495271d0f";
const NONE: &str = "0x1111111111111111111111111111111111111111";
const REFUSED: &str = "0x00000000000000000000000000000000deadbeef";

fn context() -> Context {
    let token = |address: &str, symbol: &str, decimals| Token {
        address: address.to_owned(),
        symbol: Some(symbol.to_owned()),
        decimals: Some(decimals),
    };
    Context::new(Profile {
        tokens: TokenLists {
            supported: vec![token(USDC, "USDC", 6), token(DAI, "DAI", 18)],
            unsupported: vec![NONE.to_owned()],
        },
        accounts: vec![SmartAccount {
            name: "BICONOMY".to_owned(),
            version: "2.0.0".to_owned(),
        }],
        operations: Operations {
            accepts: Accepts::Any,
            refused_senders: vec![REFUSED.to_owned()],
            ..Operations::default()
        },
        ..Profile::default()
    })
}

const OPERATION: &str = r#"{"sender":"0x6fa3c1a0cd5b8ad3d71d5c70f1fe1dc1eaf0c5e1","nonce":"7","initCode":"0x","callData":"0xb61d27f6","callGasLimit":"50000","verificationGasLimit":"100000","preVerificationGas":"21000","maxFeePerGas":"30000000000","maxPriorityFeePerGas":"1000000000"}"#;

fn request(id: &str, method: &str, mode: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":[{OPERATION},{mode}]}}"#)
}

fn sponsor(id: &str) -> String {
    request(
        id,
        "pm_sponsorUserOperation",
        r#"{"mode":"SPONSORED","calculateGasLimits":true,"expiryDuration":300,"sponsorshipInfo":{"webhookData":{},"smartAccountInfo":{"name":"BICONOMY","version":"2.0.0"}}}"#,
    )
}

fn refused(id: &str) -> String {
    sponsor(id).replace("0x6fa3c1a0cd5b8ad3d71d5c70f1fe1dc1eaf0c5e1", REFUSED)
}

fn sponsor_in(token: &str) -> String {
    request(
        "1",
        "pm_sponsorUserOperation",
        &format!(
            r#"{{"mode":"ERC20","calculateGasLimits":true,"tokenInfo":{{"feeTokenAddress":"{token}"}}}}"#
        ),
    )
}

fn quote(preferred: &str, list: &[&str]) -> String {
    let list = list
        .iter()
        .map(|token| format!("\"{token}\""))
        .collect::<Vec<_>>()
        .join(",");
    let info = format!(r#"{{"preferredToken":"{preferred}","tokenList":[{list}]}}"#);
    request(
        "1",
        "pm_getFeeQuoteOrData",
        &format!(r#"{{"mode":"ERC20","calculateGasLimits":true,"tokenInfo":{info}}}"#),
    )
}

const SPONSORED: &str = r#"{"MODE":"SPONSORED","mode":"SPONSORED","paymasterAndData":"0xabcdef","preVerificationGas":"21000","verificationGasLimit":100000,"callGasLimit":50000}"#;
const TOKEN_SPONSORED: &str = r#"{"MODE":"ERC20","paymasterAndData":"0xabcdef","preVerificationGas":"21000","verificationGasLimit":1e5,"callGasLimit":50000.0}"#;

fn fee_quote(token: &str, symbol: &str, decimal: u8) -> String {
    format!(
        r#"{{"symbol":"{symbol}","decimal":{decimal},"tokenAddress":"{token}","maxGasFee":0.0123,"maxGasFeeUSD":0.0123,"exchangeRate":232808808808808800000,"premiumPercentage":"7","validUntil":1686847490,"logoUrl":"https://example.org/logo.png"}}"#
    )
}

fn quotes(quotes: &[String], unsupported: Option<&[&str]>) -> String {
    let unsupported = unsupported.map_or_else(String::new, |list| {
        let list = list
            .iter()
            .map(|token| format!("\"{token}\""))
            .collect::<Vec<_>>()
            .join(",");
        format!(r#","unsupportedTokens":[{list}]"#)
    });
    let quotes = quotes.join(",");
    format!(
        r#"{{"MODE":"ERC20","mode":"ERC20","paymasterAddress":"0x00000f7365ca6c59a2c93719ad53d567ed49c14c","feeQuotes":[{quotes}]{unsupported}}}"#
    )
}

fn result(result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#)
}

const ERROR: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}"#;

/// The rules broken by this exchange, in order.
fn broken(request: &str, body: &str) -> Vec<&'static str> {
    broken_by(request, Ok(response(body)))
}

fn response(body: &str) -> Response {
    Response {
        status: 200,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: Bytes::from(body.to_owned()),
    }
}

fn broken_by(request: &str, outcome: Result<Response, Failure>) -> Vec<&'static str> {
    let mut context = context();
    context.unlisted_tokens = Support::Unsupported;
    broken_in(&context, request, outcome)
}

fn broken_in(context: &Context, request: &str, outcome: Result<Response, Failure>) -> Vec<&'static str> {
    let exchange = Exchange {
        request: Bytes::from(request.to_owned()),
        outcome,
        took: Duration::ZERO,
        on_chain: None,
    };
    let view = View::new("call", "", &exchange, context);
    let judge = Judge::new(rules().collect());
    let judgements = judge.views(&[view], None, context);
    judgements
        .into_iter()
        .filter(|judgement| !judgement.violations.is_empty())
        .map(|judgement| judgement.rule.id)
        .collect()
}

#[track_caller]
fn fine(request: &str, body: &str) {
    assert_eq!(broken(request, body), [""; 0], "{body}");
}

#[test]
fn lawful_answers_break_nothing() {
    fine(&sponsor("1"), &result(SPONSORED));
    fine(
        &sponsor_in(USDC),
        &result(TOKEN_SPONSORED).replace("\"MODE\"", "\"extra\":[],\"MODE\""),
    );
    fine(&sponsor_in(NONE), ERROR);
    fine(&refused("1"), &result(&SPONSORED.replace("0xabcdef", "0x")));
    let both = [
        fee_quote(DAI, "DAI", 18),
        fee_quote(&USDC.to_uppercase().replace("0X", "0x"), "USDC", 6),
    ];
    fine(
        &quote(USDC, &[USDC, DAI, USDC]),
        &result(&quotes(&both, Some(&[]))),
    );
    fine(&quote(USDC, &[USDC, DAI]), &result(&quotes(&both, None)));
    fine(&quote(USDC, &[NONE]), &result(&quotes(&both[1..], Some(&[NONE]))));
    fine(&quote(NONE, &[NONE]), &result(&quotes(&[], Some(&[NONE]))));
    fine(
        "{",
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}"#,
    );
    let error_400 = Response {
        status: 400,
        ..response(ERROR)
    };
    assert_eq!(broken_by(&sponsor_in(NONE), Ok(error_400)), [""; 0]);
}

#[test]
fn limiters_and_gateways_are_not_the_service() {
    for status in [429, 503, 502, 504, 401] {
        let busy = Response {
            status,
            headers: Vec::new(),
            body: Bytes::from_static(b"<html>busy</html>"),
        };
        assert_eq!(broken_by(&sponsor("1"), Ok(busy)), [""; 0], "{status}");
    }
    assert_eq!(
        broken_by(&sponsor("1"), Err(Failure::Connect("refused".to_owned()))),
        [""; 0]
    );
}

#[test]
fn who_answers_in_place_of_the_service_is_told() {
    let by_another = |request: &str, status: u16| {
        let exchange = Exchange {
            request: Bytes::from(request.to_owned()),
            outcome: Ok(Response {
                status,
                headers: Vec::new(),
                body: Bytes::from_static(b"<html>"),
            }),
            took: Duration::ZERO,
            on_chain: None,
        };
        View::new("call", "", &exchange, &context()).answered_by_another()
    };
    for status in [401, 403, 502, 503, 504, 307] {
        assert_eq!(by_another(&sponsor("1"), status), Some(status));
    }
    // Limits of size, the service's own failures, and what nobody owes an answer.
    for status in [413, 414, 431, 500, 400, 200] {
        assert_eq!(by_another(&sponsor("1"), status), None, "{status}");
    }
    assert_eq!(by_another(&sponsor("1").replace("\"7\"", "7"), 502), None);
}

#[test]
fn what_goes_beyond_the_tables_may_be_refused_in_any_way() {
    let beyond = [
        sponsor("1").replace("\"nonce\":\"7\"", "\"nonce\":7"),
        sponsor("1").replace("\"nonce\":\"7\"", "\"nonce\":\"0x7\""),
        sponsor("1").replace("\"initCode\":\"0x\",", ""),
        sponsor("1").replace("\"callGasLimit\":\"50000\",", ""),
        sponsor("1").replace("\"initCode\"", "\"signature\":\"0x\",\"initCode\""),
        sponsor("1").replace("\"jsonrpc\":\"2.0\"", "\"jsonrpc\":\"2.0.0\""),
        sponsor("1").replace("\"SPONSORED\"", "\"SPONSORSHIP\""),
        sponsor("1").replace("\"expiryDuration\":300,", ""),
        sponsor_in(USDC).replace("feeTokenAddress", "tokenAddress"),
        quote(USDC, &[DAI]).replace(&format!("\"preferredToken\":\"{USDC}\","), ""),
    ];
    let null = ERROR.replace("\"id\":1", "\"id\":null");
    let plain = Response {
        status: 422,
        ..response("{\"detail\":\"no\"}")
    };
    for request in beyond {
        fine(&request, ERROR);
        fine(&request, &null);
        assert_eq!(broken_by(&request, Ok(plain.clone())), [""; 0], "{request}");
    }
    for request in [sponsor("1"), sponsor_in(USDC), quote(USDC, &[DAI])] {
        assert!(!broken(&request, ERROR).is_empty(), "{request}");
        assert!(!broken_by(&request, Ok(plain.clone())).is_empty(), "{request}");
    }
}

#[test]
fn every_row_bites_when_its_member_is_missing_of_the_wrong_type_or_of_the_wrong_form() {
    let rows = [
        (
            "sponsored-result",
            sponsor("1"),
            SPONSORED.to_owned(),
            vec![
                ("MODE", vec!["1", "\"ERC20\"", "\"sponsored\""]),
                (
                    "paymasterAndData",
                    vec!["1", "\"abcdef\"", "\"0xabc\"", "\"0xzz\"", "null", "\"\""],
                ),
                (
                    "preVerificationGas",
                    vec!["21000", "\"0x5208\"", "\"\"", "\"-1\"", "\"2.1\""],
                ),
                ("verificationGasLimit", vec!["\"100000\"", "-1", "1.5", "null"]),
                ("callGasLimit", vec!["\"100000\"", "-1", "1.5", "{}"]),
            ],
        ),
        (
            "token-sponsor-result",
            sponsor_in(USDC),
            TOKEN_SPONSORED.to_owned(),
            vec![
                ("MODE", vec!["1", "\"SPONSORED\""]),
                ("paymasterAndData", vec!["1", "\"abcdef\"", "\"0x\"", "null"]),
                ("preVerificationGas", vec!["21000", "\"\"", "\"none\""]),
                ("verificationGasLimit", vec!["\"100000\"", "-1"]),
                ("callGasLimit", vec!["\"100000\"", "[]"]),
            ],
        ),
    ];
    for (document, request, good, members) in rows {
        let good: serde_json::Value = serde_json::from_str(&good).unwrap();
        for (member, wrong) in members {
            let id = format!("{document}.{member}");
            let mut without = good.clone();
            without.as_object_mut().unwrap().remove(member);
            assert_eq!(broken(&request, &result(&without.to_string())), [id.as_str()]);
            for wrong in wrong {
                let mut with = good.clone();
                with[member] = serde_json::from_str(wrong).unwrap();
                let found = broken(&request, &result(&with.to_string()));
                assert_eq!(found, [id.as_str()], "{member}: {wrong}");
            }
        }
    }
}

#[test]
fn every_row_of_a_quote_bites() {
    let rows: [(&str, &[&str]); 9] = [
        ("symbol", &["1", "\"\"", "null"]),
        ("decimal", &["\"6\"", "6.5", "-6", "300"]),
        ("tokenAddress", &["1", "\"0x12\"", "null"]),
        ("maxGasFee", &["\"0.01\"", "-1", "null"]),
        ("maxGasFeeUSD", &["\"0.01\"", "-1"]),
        ("exchangeRate", &["\"1\"", "1.5", "-1"]),
        ("premiumPercentage", &["7", "\"7%\"", "\"\""]),
        ("validUntil", &["\"1686847490\"", "1.5", "null"]),
        ("logoUrl", &["1", "\"\"", "\"logo.png\""]),
    ];
    let request = quote(DAI, &[USDC, DAI]);
    for (member, wrong) in rows {
        let second: serde_json::Value = serde_json::from_str(&fee_quote(USDC, "USDC", 6)).unwrap();
        let id = format!("fee-quote.{member}");
        for wrong in wrong {
            let mut second = second.clone();
            second[member] = serde_json::from_str(wrong).unwrap();
            let body = result(&quotes(
                &[fee_quote(DAI, "DAI", 18), second.to_string()],
                Some(&[]),
            ));
            let found = broken(&request, &body);
            assert!(found.contains(&id.as_str()), "{member}: {wrong}: {found:?}");
            // An address that cannot be read, or another token's decimals, may be seen from elsewhere too.
            assert!(
                found
                    .iter()
                    .all(|rule| rule.starts_with("fee-quote.") || member == "tokenAddress"),
                "{found:?}"
            );
        }
    }
    let good = result(&quotes(
        &[fee_quote(DAI, "DAI", 18), fee_quote(USDC, "USDC", 6)],
        Some(&[]),
    ));
    assert_eq!(
        broken(&request, &good.replace("\"feeQuotes\":[", "\"feeQuotes\":[7,")),
        ["quote-result.feeQuotes"]
    );
    assert_eq!(
        broken(
            &request,
            &good.replace("\"unsupportedTokens\":[]", "\"unsupportedTokens\":{}")
        ),
        ["quote-result.unsupportedTokens"]
    );
    assert_eq!(
        broken(&request, &good.replace("0x00000f7365", "0x")),
        ["quote-result.paymasterAddress"]
    );
    assert_eq!(
        broken(
            &request,
            &good.replace("\"symbol\":\"DAI\"", "\"symbol\":\"USDC\"")
        ),
        ["fee-quote.symbol-of-token"]
    );
    assert_eq!(
        broken(&request, &good.replace("\"decimal\":18", "\"decimal\":6")),
        ["fee-quote.decimal-of-token"]
    );
}

#[test]
fn quoted_and_unsupported_tokens_are_those_of_the_request() {
    let usdc = fee_quote(USDC, "USDC", 6);
    let dai = fee_quote(DAI, "DAI", 18);
    let answer = |tokens: &[&String], unsupported: Option<&[&str]>| {
        result(&quotes(
            &tokens.iter().map(|quote| (*quote).clone()).collect::<Vec<_>>(),
            unsupported,
        ))
    };
    assert_eq!(
        broken(&quote(USDC, &[USDC, DAI]), &answer(&[&usdc], Some(&[]))),
        ["quote.tokens-quoted"]
    );
    assert_eq!(
        broken(&quote(USDC, &[USDC]), &answer(&[&usdc, &dai], Some(&[]))),
        ["quote.only-requested"]
    );
    assert_eq!(
        broken(&quote(NONE, &[USDC]), &answer(&[&usdc], None)),
        ["quote.unsupported-listed"]
    );
    assert_eq!(
        broken(&quote(NONE, &[USDC]), &answer(&[&usdc], Some(&[]))),
        ["quote.unsupported-listed"]
    );
    assert_eq!(
        broken(&quote(NONE, &[USDC]), &answer(&[&usdc], Some(&[NONE, DAI]))),
        ["quote.unsupported-only-unsupported"]
    );
    assert_eq!(
        broken(
            &quote(USDC, &[USDC, NONE]),
            &answer(&[&usdc], Some(&[NONE, USDC]))
        ),
        ["quote.unsupported-only-unsupported"]
    );
}

#[test]
fn the_decision_is_held_to_the_profile() {
    let served = result(SPONSORED);
    assert_eq!(
        broken(&sponsor("1"), &served.replace("0xabcdef", "0x")),
        ["sponsor.sponsorable-is-sponsored"]
    );
    assert_eq!(broken(&refused("1"), &served), ["sponsor.refused-gets-0x"]);
    assert_eq!(broken(&refused("1"), ERROR), ["error.refusal-is-none"]);
    assert_eq!(broken(&sponsor("1"), ERROR), ["sponsor.sponsored-result"]);
    assert_eq!(broken(&sponsor_in(USDC), ERROR), ["sponsor.erc20-result"]);
    assert_eq!(broken(&quote(USDC, &[USDC]), ERROR), ["quote.erc20-result"]);
    assert_eq!(
        broken(&sponsor_in(NONE), &result(TOKEN_SPONSORED)),
        ["error.token-unsupported"]
    );
    let absent = request(
        "1",
        "pm_sponsorUserOperation",
        r#"{"mode":"ERC20","tokenInfo":{}}"#,
    );
    assert_eq!(broken(&absent, &result(TOKEN_SPONSORED)), ["error.token-absent"]);
    for nothing in ["null", "\"\""] {
        let absent = absent.replace("{}", &format!("{{\"feeTokenAddress\":{nothing}}}"));
        assert_eq!(
            broken(&absent, &result(TOKEN_SPONSORED)),
            ["error.token-absent"],
            "{absent}"
        );
        fine(&absent, ERROR);
    }
    let malformed = absent.replace("{}", "{\"feeTokenAddress\":7}");
    fine(&malformed, &result(TOKEN_SPONSORED));
}

#[test]
fn a_listed_operation_is_owed_a_result_only_as_it_is_listed() {
    let operation: serde_json::Value = serde_json::from_str(&OPERATION.replace("\"7\"", "\"0x7\"")).unwrap();
    let mut context = context();
    context.profile.operations = Operations {
        accepts: Accepts::Listed,
        sponsorable: vec![operation.as_object().unwrap().clone()],
        ..Operations::default()
    };
    let as_listed = sponsor("1").replace("\"nonce\":\"7\"", "\"nonce\":\"0x7\"");
    assert_eq!(
        broken_in(&context, &as_listed, Ok(response(ERROR))),
        ["sponsor.sponsored-result"]
    );
    let in_another_notation = [
        sponsor("1"),
        as_listed.replace("\"0x7\"", "7"),
        as_listed.replace("\"50000\"", "50000"),
    ];
    for request in in_another_notation {
        assert_eq!(
            broken_in(&context, &request, Ok(response(ERROR))),
            [""; 0],
            "{request}"
        );
    }
}

#[test]
fn the_form_of_an_answer_is_judged_on_its_bytes() {
    let good = result(SPONSORED);
    let seen = |body: &str| broken(&sponsor("1"), body);
    assert_eq!(seen(""), ["answer.json-text"]);
    assert_eq!(seen(&format!("\u{feff}{good}")), ["answer.json-text"]);
    assert_eq!(seen(&format!("{good}{good}")), ["answer.json-text"]);
    assert_eq!(seen(&good.replace("50000", "NaN")), ["answer.json-text"]);
    assert_eq!(seen(&good[..good.len() - 1]), ["answer.json-text"]);
    assert_eq!(seen(&format!("[{good}]")), ["answer.object"]);
    assert_eq!(
        seen(&good.replace("\"id\":1", "\"id\":2,\"id\":1")),
        ["answer.single-valued-members"]
    );
    assert_eq!(
        seen(&good.replace("\"id\":1", "\"id\":1,\"id\":1")),
        ["json-rpc.unique-members"]
    );
    assert_eq!(
        seen(&good.replace("\"result\"", "\"error\":null,\"result\"")),
        ["answer.result-or-error"]
    );
    assert_eq!(seen(r#"{"jsonrpc":"2.0","id":1}"#), ["answer.result-or-error"]);
    assert_eq!(
        seen(r#"{"jsonrpc":"2.0","id":1,"result":[]}"#),
        ["answer.result-object"]
    );
    assert_eq!(seen(&good.replace("\"2.0\"", "2.0")), ["answer.jsonrpc"]);
    assert_eq!(seen(&good.replace("\"2.0\"", "\"2.0.0\"")), ["answer.jsonrpc"]);
    let broken_off = Err(Failure::Broken("the body ended early".to_owned()));
    assert_eq!(broken_by(&sponsor("1"), broken_off), ["answer.http-message"]);
    let not_found = Response {
        status: 404,
        ..response("not found")
    };
    assert_eq!(broken_by(&sponsor("1"), Ok(not_found)), ["endpoint.both-methods"]);
    let plain = Response {
        headers: Vec::new(),
        ..response(&good)
    };
    assert_eq!(broken_by(&sponsor("1"), Ok(plain)), ["http.content-type"]);
    assert_eq!(
        broken_by(
            &sponsor("1"),
            Ok(Response {
                status: 500,
                ..response(&good)
            })
        ),
        ["http.status-of-result"]
    );
}

#[test]
fn an_id_is_echoed_in_kind_and_exact_value() {
    let told = |sent: &str, told: &str| {
        broken(
            &sponsor(sent),
            &result(SPONSORED).replace("\"id\":1", &format!("\"id\":{told}")),
        )
    };
    for (sent, echo) in [
        ("1", "1.0"),
        ("1e2", "100"),
        ("\"\"", "\"\""),
        ("0", "0"),
        ("9007199254740993", "9007199254740993"),
        ("\"\\u0041\"", "\"A\""),
    ] {
        assert_eq!(told(sent, echo), [""; 0], "{sent} as {echo}");
    }
    for (sent, echo) in [
        ("1", "\"1\""),
        ("\"1\"", "1"),
        ("0", "null"),
        ("\"\"", "null"),
        ("9007199254740993", "9007199254740992"),
        ("\"Id\"", "\"id\""),
        ("-1", "1"),
        ("1.5", "null"),
    ] {
        assert_eq!(told(sent, echo), ["answer.id"], "{sent} as {echo}");
    }
    let without = result(SPONSORED).replace("\"id\":1,", "");
    assert_eq!(broken(&sponsor("1"), &without), ["answer.id"]);
    // A fractional id may be refused by one who does not read it as an id.
    let null = ERROR.replace("\"id\":1", "\"id\":null");
    assert!(!broken(&sponsor("1.5"), &null).contains(&"answer.id"));
    assert!(broken(&sponsor("1"), &null).contains(&"answer.id"));
}

#[test]
fn the_form_of_an_error_is_judged() {
    let seen = |error: &str| {
        broken(
            &sponsor_in(NONE),
            &format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#),
        )
    };
    assert_eq!(seen("\"no\""), ["error.object"]);
    assert_eq!(seen(r#"{"code":"-32001","message":"no"}"#), ["error.code"]);
    assert_eq!(seen(r#"{"code":1.5,"message":"no"}"#), ["error.code"]);
    assert_eq!(seen(r#"{"code":-32001}"#), ["error.message"]);
    assert_eq!(seen(r#"{"code":-32001.0,"message":"","data":null}"#), [""; 0]);
}

#[test]
fn reserved_codes_and_notifications_warn() {
    let error = |code: i32, id: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":""}}}}"#)
    };
    assert_eq!(broken("{", &error(-32600, "null")), ["json-rpc.parse-error"]);
    assert_eq!(broken("{", &error(-32700, "1")), ["json-rpc.null-id"]);
    assert_eq!(broken("7", &error(-32700, "null")), ["json-rpc.invalid-request"]);
    assert_eq!(broken("[]", "[]"), ["json-rpc.empty-batch"]);
    let unknown = sponsor("1").replace("pm_sponsorUserOperation", "pm_none");
    assert_eq!(
        broken(&unknown, &error(-32600, "1")),
        ["json-rpc.method-not-found"]
    );
    let malformed = sponsor("1").replace("\"nonce\":\"7\"", "\"nonce\":{}");
    assert_eq!(
        broken(&malformed, &error(-32603, "1")),
        ["json-rpc.invalid-params"]
    );
    assert!(broken(&malformed, &error(-32700, "1")).contains(&"json-rpc.reserved-codes"));
    let notification = sponsor("1").replace("\"id\":1,", "");
    assert_eq!(
        broken(&notification, &result(SPONSORED)),
        ["json-rpc.notification"]
    );
    assert_eq!(broken(&notification, ""), [""; 0]);
    let batch = format!("[{},{}]", sponsor("1"), sponsor("2"));
    let second = result(SPONSORED).replace("\"id\":1", "\"id\":2");
    assert_eq!(
        broken(&batch, &format!("[{second},{}]", result(SPONSORED))),
        [""; 0]
    );
    assert_eq!(broken(&batch, &format!("[{second}]")), ["json-rpc.batch"]);
    assert_eq!(broken(&batch, &result(SPONSORED)), ["json-rpc.batch"]);
}
