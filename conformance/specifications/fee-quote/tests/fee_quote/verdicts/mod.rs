//! The rules against hand-typed exchanges: what each must see, and what none may call a fault.
//!
//! Nothing here comes from our server or from our generators, so that a mistake of theirs cannot hide one of the rules.

mod decisions;
mod forms;
mod json_rpc;
mod lawful;
mod observed;
mod rows;
mod units_and_gateways;

use crate::*;

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
            complete: false,
        },
        accounts: vec![SmartAccount { name: "BICONOMY".to_owned(), version: "2.0.0".to_owned() }],
        operations: Operations {
            accepts: Accepts::Any,
            refused_senders: vec![REFUSED.to_owned()],
            ..Operations::default()
        },
        dialect: Pins { quoted_tokens: Some(QuotedTokens::Union), ..Pins::default() },
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
    let list = list.iter().map(|token| format!("\"{token}\"")).collect::<Vec<_>>().join(",");
    let info = format!(r#"{{"preferredToken":"{preferred}","tokenList":[{list}]}}"#);
    request(
        "1",
        "pm_getFeeQuoteOrData",
        &format!(r#"{{"mode":"ERC20","calculateGasLimits":true,"tokenInfo":{info}}}"#),
    )
}

const SPONSORED: &str = r#"{"MODE":"SPONSORED","mode":"SPONSORED","paymasterAndData":"0xabcdef","preVerificationGas":"21000","verificationGasLimit":100000,"callGasLimit":50000}"#;
const TOKEN_SPONSORED: &str = r#"{"MODE":"ERC20","paymasterAndData":"0x0576a174d229e3cfa37253523e645a78a0c91b57abcdef","preVerificationGas":"21000","verificationGasLimit":1e5,"callGasLimit":50000.0}"#;

fn fee_quote(token: &str, symbol: &str, decimal: u8) -> String {
    format!(
        r#"{{"symbol":"{symbol}","decimal":{decimal},"tokenAddress":"{token}","maxGasFee":0.0123,"maxGasFeeUSD":0.0123,"exchangeRate":232808808808808800000,"premiumPercentage":"7","validUntil":1686847490,"logoUrl":"https://example.org/logo.png"}}"#
    )
}

fn quotes(quotes: &[String], unsupported: Option<&[&str]>) -> String {
    let unsupported = unsupported.map_or_else(String::new, |list| {
        let list = list.iter().map(|token| format!("\"{token}\"")).collect::<Vec<_>>().join(",");
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
    json_response(200, body.to_owned())
}

fn broken_by(request: &str, outcome: Result<Response, Failure>) -> Vec<&'static str> {
    let mut context = context();
    context.unlisted_tokens = Support::Unsupported;
    broken_in(&context, request, outcome)
}

fn broken_in(context: &Context, request: &str, outcome: Result<Response, Failure>) -> Vec<&'static str> {
    let exchange = Exchange::new(request.to_owned(), outcome, Duration::ZERO);
    let view = View::new(Role::Call, "", &exchange, context);
    let judge = Judge::new(SPECIFICATION.rules().collect());
    let judgements = judge.views(&[view], None, context);
    judgements
        .into_iter()
        .filter(|judgement| !judgement.report.violations.is_empty())
        .map(|judgement| judgement.rule.id)
        .collect()
}

#[track_caller]
fn fine(request: &str, body: &str) {
    assert_eq!(broken(request, body), [""; 0], "{body}");
}
