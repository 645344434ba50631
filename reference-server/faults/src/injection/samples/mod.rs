//! Sample requests for tests. Every injection changes the response to at least one of them.

mod paymaster_requests;
mod requests;

use std::sync::LazyLock;
use std::time::Duration;

use hyper::HeaderMap;
use hyper::header::{ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONTENT_TYPE, HeaderName, HeaderValue, ORIGIN};
use paymaster_schemas::{Kind, kinds};
use paymaster_service::{Config, PolicyConfig, Service};
use serde_json::{Value, json};

pub(crate) use self::paymaster_requests::paymaster_bodies;
use super::Arrival;
use crate::faults::NATIVE_COIN;

/// The Unix time of all tests, in seconds.
pub(crate) const NOW: u64 = 1_700_000_000;

const USDC: &str = "0xda5289fcaaf71d52a80a254da614a192b693e977";
const DAI: &str = "0x27a44456bedb94dbd59d0f0a14fe977c777fc5c3";
const WBTC: &str = "0x8eb24319393716668d768dcec29356ae9cffe285";
const USDC_OTHER_LETTERS: &str = "0xDA5289fcAAF71d52a80A254da614a192b693e977";
const UNSUPPORTED: &str = "0x1111111111111111111111111111111111111111";
const ALSO_UNSUPPORTED: &str = "0xABcdefABcdefABcdefABcdefABcdefABcdefABcd";
const QUOTE: &str = "pm_getFeeQuoteOrData";
const SPONSOR: &str = "pm_sponsorUserOperation";

/// A service without signatures, which would take most of the time of the tests.
pub(crate) fn service() -> Service {
    configured(|_| {})
}

/// The same service with another configuration.
pub(crate) fn configured(configure: fn(&mut Config)) -> Service {
    let mut config = Config::default();
    config.signing.enabled = false;
    configure(&mut config);
    Service::new(&config).expect("the configuration is valid")
}

/// The sample requests of a specification, and how their service is configured. Those of ERC-7677 are signed: what is wrong with some answers
/// is the signature alone.
pub(crate) fn samples_of(specification: Option<&str>) -> (Vec<Vec<u8>>, fn(&mut Config)) {
    match specification {
        Some("erc-7677") => (paymaster_bodies(), |config| config.signing.enabled = true),
        _ => (bodies(), |_| {}),
    }
}

/// The request headers of the samples: `Accept` and `User-Agent` are absent. Two sets of headers accept different content codings, and are of a
/// page and of an extension.
static HEADERS: LazyLock<[HeaderMap; 2]> = LazyLock::new(|| {
    [
        ("gzip, deflate", "application/json; charset=utf-8", "https://wallet.example"),
        (
            "br, zstd",
            "application/json; charset=UTF-8",
            "chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn",
        ),
    ]
    .map(|(codings, content_type, origin)| {
        let lines = [
            (CONTENT_TYPE, content_type),
            (ACCEPT_ENCODING, codings),
            (ACCEPT_LANGUAGE, "pl, de"),
            (ORIGIN, origin),
        ];
        let lines = lines.map(|(name, value)| (name, HeaderValue::from_static(value)));
        let others = [
            ("transfer-encoding", "chunked"),
            ("connection", "close"),
            ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
            ("x-forwarded-for", "203.0.113.7, 198.51.100.23"),
        ];
        let others =
            others.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        lines.into_iter().chain(others).collect()
    })
});

/// The headers of the sample request with this body, many other requests in flight, after a connection was idle.
pub(crate) fn arrival(body: &[u8]) -> Arrival<'static> {
    Arrival { headers: &HEADERS[body.len() % HEADERS.len()], in_flight: 100, idle: Duration::from_secs(1) }
}

/// The bodies of all sample requests.
pub(crate) fn bodies() -> Vec<Vec<u8>> {
    let mut bodies: Vec<Vec<u8>> =
        requests::requests().iter().map(|request| request.to_string().into_bytes()).collect();
    let plain = request(30, SPONSOR, operation(), sponsored()).to_string();
    let notification = json!({ "jsonrpc": "2.0", "method": SPONSOR, "params": [operation(), sponsored()] });
    let second = request(31, QUOTE, operation(), quote_of(None, &[USDC]));
    let unknown = r#"{"jsonrpc":"2.0","id":40,"method":"pm_unknown","params":[{},{}]}"#;
    for text in [
        plain.replace(":{", ": {"),
        plain.replace(",\"", ",\n\""),
        plain.replace("\"expiryDuration\":300", "\"expiryDuration\":300.0"),
        plain.replace("\"expiryDuration\":300", "\"expiryDuration\":300e0"),
        plain.replace("SPONSORED", "\\u0053PONSORED"),
        plain.replace("pm_", "\\u0070m_"),
        plain.replace("\"id\":30", r#""id":"a\/30""#),
        format!(" {plain}\n"),
        plain.replace("0xdead", "0xDEAD"),
        plain[..plain.len() - 1].to_owned(),
        "not json".to_owned(),
        "5".to_owned(),
        "[]".to_owned(),
        format!("[{plain}]"),
        format!("[{plain},{second}]"),
        format!("[{plain},{notification}]"),
        format!("[{plain},{second},{unknown}]"),
        format!("[{plain},{}]", plain.replace("\"id\":30", "\"id\":\"30\"")),
        format!("[{}]", [plain.as_str(); 9].join(",")),
        json!([request(1, SPONSOR, operation(), sponsored()), request(2, SPONSOR, refused(), sponsored())])
            .to_string(),
        notification.to_string(),
        unknown.to_owned(),
        unknown.replace("pm_unknown", "eth_chainId"),
        format!("[{plain},1]"),
        r#"{"jsonrpc":"2.0","id":41,"method":"pm_sponsorUserOperation","params":[{"sender":1},{"mode":"SPONSORED"}]}"#.to_owned(),
    ] {
        bodies.push(text.into_bytes());
    }
    bodies
}

/// The pair of a sample request. It does not use `RequestView::pair`, so that a mistake there does not hide here.
pub(crate) fn pair_of(request: &Value) -> Option<Kind> {
    let mode = request["params"][1].get("mode");
    if mode.is_none() && request["method"] == SPONSOR {
        return None;
    }
    let token_mode = mode.is_some_and(|mode| mode == "ERC20");
    match (request["method"].as_str()?, token_mode) {
        ("pm_getFeeQuoteOrData", true) => Some(kinds::QUOTE_ERC20),
        ("pm_getFeeQuoteOrData", false) => Some(kinds::QUOTE_SPONSORED),
        ("pm_sponsorUserOperation", true) => Some(kinds::SPONSOR_ERC20),
        ("pm_sponsorUserOperation", false) => Some(kinds::SPONSOR_SPONSORED),
        _ => None,
    }
}

fn request(id: impl Into<Value>, method: &str, operation: Value, mode: Value) -> Value {
    let params = Value::Array(vec![operation, mode]);
    let mut request = json!({ "jsonrpc": "2.0", "method": method, "params": params });
    if let Some(object) = request.as_object_mut() {
        object.shift_insert(1, "id".to_owned(), id.into());
    }
    request
}

fn operation() -> Value {
    json!({
        "sender": "0x00000000000000000000000000000000000000aa",
        "nonce": "7",
        "initCode": "0x",
        "callData": "0xdeadbeef",
        "callGasLimit": "60000",
        "verificationGasLimit": "120000",
        "preVerificationGas": "45000",
        "maxFeePerGas": "2000000000",
        "maxPriorityFeePerGas": "1000000000",
    })
}

fn with(mut value: Value, members: &[(&str, Value)]) -> Value {
    for (name, member) in members {
        value[*name] = member.clone();
    }
    value
}

fn without(mut value: Value, members: &[&str]) -> Value {
    for name in members {
        value.as_object_mut().map(|object| object.shift_remove(*name));
    }
    value
}

fn sponsored() -> Value {
    json!({
        "mode": "SPONSORED",
        "calculateGasLimits": true,
        "expiryDuration": 300,
        "sponsorshipInfo": {
            "webhookData": {},
            "smartAccountInfo": { "name": "BICONOMY", "version": "2.0.0" },
        },
    })
}

fn quote_of(preferred: Option<&str>, list: &[&str]) -> Value {
    let mut info = json!({ "tokenList": list });
    if let Some(preferred) = preferred {
        info["preferredToken"] = preferred.into();
    }
    json!({ "mode": "ERC20", "calculateGasLimits": true, "tokenInfo": info })
}

fn paid_in(token: &str) -> Value {
    json!({ "mode": "ERC20", "calculateGasLimits": true, "tokenInfo": { "feeTokenAddress": token } })
}

fn refused() -> Value {
    with(operation(), &[("sender", PolicyConfig::DENIED_SENDER.into())])
}

fn deploying() -> Value {
    with(operation(), &[("initCode", "0xcafe".into())])
}

fn smallest() -> Value {
    without(operation(), &["callGasLimit", "verificationGasLimit", "preVerificationGas"])
}

fn uncalculated(mode: Value) -> Value {
    with(mode, &[("calculateGasLimits", false.into())])
}

fn account(name: &str) -> Value {
    json!({ "smartAccountInfo": { "name": name, "version": "1.0.0" } })
}

fn token_info() -> Value {
    json!({ "feeTokenAddress": USDC })
}
