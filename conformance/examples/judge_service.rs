//! Judges an async function of this process, from HTTP request to HTTP response, without a port.
//!
//! The function here is the reference server's, once as it is and once with a mistake: it leaves out the id of errors.
//!
//! ```sh
//! cargo run --example judge_service
//! ```
#![expect(clippy::print_stdout, reason = "an example prints its outcome")]

use std::error::Error;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use http_body_util::Full;
use paymaster_conformance::http::header::CONTENT_TYPE;
use paymaster_conformance::http::{Request, Response, StatusCode};
use paymaster_conformance::profile::{Accepts, Operations, Profile, SmartAccount, Token, TokenLists};
use paymaster_conformance::{Bytes, Check};
use paymaster_reference_server::{Config, Service};
use serde_json::Value;

/// The service: reads a request, gives a response.
fn answer(service: &Service, request: &Request<Bytes>, is_broken: bool) -> Response<Full<Bytes>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let reply = service.handle_bytes(request.body(), now.unwrap_or_default().as_secs());
    let mut body = reply.body.unwrap_or_default();
    if is_broken && let Ok(mut envelope) = serde_json::from_slice::<Value>(&body) {
        if envelope.get("error").is_some() {
            envelope["id"] = Value::Null;
        }
        body = envelope.to_string().into_bytes();
    }
    let mut response = Response::new(Full::from(body));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or_default();
    let json = "application/json".parse().expect("it is a header value");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// What the service supports.
fn profile(config: &Config) -> Profile {
    let supported =
        config.tokens.iter().map(|token| Token { address: token.address.clone(), ..Token::default() });
    let accounts = config
        .policy
        .account_names
        .iter()
        .map(|name| SmartAccount { name: name.clone(), version: "1.0.0".to_owned() });
    Profile {
        accounts: accounts.collect(),
        tokens: TokenLists { supported: supported.collect(), complete: true, ..TokenLists::default() },
        operations: Operations {
            accepts: Accepts::Any,
            refused_senders: config.policy.denied_senders.clone(),
            ..Operations::default()
        },
        ..Profile::default()
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let config = Config::default();
    for is_broken in [false, true] {
        let service = Arc::new(Service::new(&config)?);
        let outcome = Check::service(move |request| {
            let service = Arc::clone(&service);
            async move { answer(&service, &request, is_broken) }
        })
        .profile(profile(&config))
        .cases(20)
        .run()
        .await?;
        println!("{outcome}");
    }
    Ok(())
}
