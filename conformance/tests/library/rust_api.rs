//! The API for Rust programs: services of this process, URLs, events, outcomes, strategies.

use paymaster_fee_quote::SPECIFICATION;
use paymaster_fee_quote::target::context::Context;
use paymaster_fee_quote::target::profile::Profile;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::error::Error as _;
use std::future::pending;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, service::service_fn};
use paymaster_conformance::http::header::CONTENT_TYPE;
use paymaster_conformance::http::{HeaderName, HeaderValue, Request, Response, StatusCode};
use paymaster_conformance::proptest::prelude::*;
use paymaster_conformance::{Bytes, Check, CheckError, Conclusion, Event, kinds, read_profile, requests};
use paymaster_engine::cases::plan::DEFAULT_CASES;
use paymaster_reference_server::{Config, Service};
use paymaster_settings::{Embedded, embedded::profile_of, specification};
use serde_json::Value;

const NOW: u64 = 1_800_000_000;

fn reference() -> Service {
    Service::new(&Config::default()).expect("the default configuration is sound")
}

/// The reference server's response, its body changed by `edit`.
fn answered(service: &Service, body: &[u8], edit: fn(&mut Value)) -> Response<Full<Bytes>> {
    let reply = service.handle_bytes(body, NOW);
    let mut body = reply.body.unwrap_or_default();
    if let Ok(mut envelope) = serde_json::from_slice(&body) {
        edit(&mut envelope);
        body = envelope.to_string().into_bytes();
    }
    Response::builder()
        .status(StatusCode::from_u16(reply.status).expect("it is a status"))
        .header(CONTENT_TYPE, "application/json")
        .body(Full::from(body))
        .expect("it is a response")
}

/// A check of the reference server in this process, its responses changed by `edit`.
fn check<'l>(edit: fn(&mut Value)) -> Check<'l> {
    let service = Arc::new(reference());
    Check::service(move |request: Request<Bytes>| {
        let service = Arc::clone(&service);
        async move { answered(&service, request.body(), edit) }
    })
    .profile(profile_of(&SPECIFICATION, &Config::default(), &[]))
    .cases(20)
}

#[tokio::test]
async fn a_lawful_service_of_this_process_conforms() {
    let outcome = check(|_| {}).run().await.expect("it starts");
    outcome.assert_conforms();
    assert_eq!(outcome.broken_rules().count(), 0);
    let text = outcome.to_string();
    assert!(text.starts_with("CONFORMS") && text.contains("http://service.invalid/"), "{text}");
}

#[tokio::test]
async fn a_broken_service_is_found_and_shown() {
    let without_id = |envelope: &mut Value| {
        if envelope.get("error").is_some() {
            envelope["id"] = Value::from("another");
        }
    };
    let outcome = check(without_id).run().await.expect("it starts");
    assert_eq!(outcome.conclusion(), Conclusion::Violations);
    assert!(!outcome.conforms());
    let broken: Vec<&str> = outcome.broken_rules().map(|rule| rule.id).collect();
    assert!(broken.iter().any(|rule| rule.contains("id")) && !outcome.findings().is_empty(), "{broken:?}");
    let text = outcome.to_string();
    for part in ["VIOLATIONS", "DEFECT 1", "expected ", "request ", "answer ", "breaks ", "section "] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
    let json: Value = serde_json::from_str(&outcome.to_json()).expect("the report is JSON");
    assert!(json.is_object());
}

#[tokio::test]
#[should_panic(expected = "the service does not conform")]
async fn a_test_ends_with_the_report() {
    let nothing = |envelope: &mut Value| *envelope = Value::Null;
    let outcome = check(nothing).cases(2).run().await.expect("it starts");
    outcome.assert_conforms();
}

#[tokio::test]
async fn events_and_exchanges_arrive_in_order() {
    let (mut names, mut broken, mut exchanges) = (Vec::new(), Vec::new(), 0);
    let no_version = |envelope: &mut Value| {
        if let Some(members) = envelope.as_object_mut() {
            members.remove("jsonrpc");
        }
    };
    let outcome = check(no_version)
        .cases(5)
        .on_event(|event| match event {
            Event::Started { seed, .. } => names.push(format!("started with seed {seed}")),
            Event::Found(_) => names.push("found".to_owned()),
            Event::Finished(summary) => names.push(format!("finished as {:?}", summary.conclusion)),
            Event::Exchanged(_) => names.push("an exchange without a listener".to_owned()),
            _ => {}
        })
        .on_event(|event| {
            if let Event::Broken { rule } = event {
                broken.push(rule.id);
            }
        })
        .on_exchange(|delivered| exchanges += usize::from(delivered.exchange.outcome.is_ok()))
        .seed(3)
        .run()
        .await
        .expect("it starts");
    names.dedup();
    assert_eq!(names, ["started with seed 3", "found", "finished as Violations"]);
    assert!(!broken.is_empty());
    assert_eq!(exchanges, outcome.summary().requests);
}

#[tokio::test]
async fn a_url_is_judged_with_headers_that_no_text_shows() {
    let server = Embedded::start().await.expect("a free port");
    let url = format!("{}?key=s3cr3t-of-the-url", server.url);
    let outcome = Check::url(&url)
        .expect("it is a URL")
        .profile(server.profile(&SPECIFICATION))
        .header(HeaderName::from_static("x-api-key"), HeaderValue::from_static("s3cr3t-of-the-header"))
        .cases(2)
        .only_rules(|rule| rule.id.starts_with("answer."))
        .run()
        .await
        .expect("it starts");
    server.stop().await;
    assert_eq!(outcome.conclusion(), Conclusion::NothingBroken);
    assert!(outcome.summary().rules.iter().all(|rule| rule.rule.id.starts_with("answer.")));
    for text in [outcome.to_string(), outcome.to_json()] {
        assert!(!text.contains("s3cr3t"), "{text}");
    }
}

#[tokio::test]
async fn a_service_of_hyper_is_judged_and_its_errors_are_violations() {
    let calls = Arc::new(AtomicUsize::new(0));
    let (service, counted) = (Arc::new(reference()), Arc::clone(&calls));
    let service = service_fn(move |request: Request<Incoming>| {
        let (service, calls) = (Arc::clone(&service), Arc::clone(&counted));
        async move {
            calls.fetch_add(1, Ordering::Relaxed);
            let body = request.into_body().collect().await.expect("it is whole").to_bytes();
            Ok::<_, Infallible>(answered(&service, &body, |_| {}))
        }
    });
    let outcome = Check::hyper_service(service)
        .profile(profile_of(&SPECIFICATION, &Config::default(), &[]))
        .run()
        .await
        .expect("it starts");
    outcome.assert_conforms();
    assert_eq!(calls.load(Ordering::Relaxed), outcome.summary().requests);

    let refusing = service_fn(|_: Request<Incoming>| async {
        Err::<Response<String>, _>(io::Error::other("out of order"))
    });
    let outcome = Check::hyper_service(refusing).cases(2).run().await.expect("it starts");
    assert!(!outcome.conforms());
}

#[tokio::test]
async fn a_service_that_never_responds_ends_with_the_run() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
    let running = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&running);
    let outcome = Check::service(move |_: Request<Bytes>| {
        counted.fetch_add(1, Ordering::Relaxed);
        let call = Counted(Arc::clone(&counted));
        async move {
            let _call = call;
            pending::<Response<String>>().await
        }
    })
    .timeout(Duration::from_mins(1))
    .time_limit(Duration::from_millis(300))
    .run()
    .await
    .expect("it starts");
    assert!(!outcome.conforms());
    // Tasks that were aborted end when the runtime gets to them.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(running.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn the_reference_server_is_judged_without_a_port() {
    let outcome = Check::reference_server().run().await.expect("it starts");
    outcome.assert_conforms();
}

#[test]
fn the_documentation_states_the_default_number_of_cases() {
    let row = format!("at least | {DEFAULT_CASES} |");
    assert!(include_str!("../../../docs/rust-api.md").contains(&row), "{row}");
    let row = format!("(Self::cases) | {DEFAULT_CASES} |");
    assert!(include_str!("../../src/check/mod.rs").contains(&row), "{row}");
}

#[test]
fn what_cannot_start_says_why() {
    let cause = Check::url("127.0.0.1:3000").expect_err("it has no scheme");
    assert!(matches!(cause, CheckError::Url(_)));
    assert!(cause.source().is_some_and(|cause| cause.to_string().contains("scheme")));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("paymaster.toml");
    assert!(matches!(read_profile(&path), Err(CheckError::Profile(_))));
    std::fs::write(&path, "[tokens]\ncomplete = true\n").expect("it is written");
    let known = read_profile(&path).expect("it is a profile").known;
    assert!(Context::of(&*known).profile.tokens.complete);
}

fn profile() -> Profile {
    Context::of(&*profile_of(&SPECIFICATION, &Config::default(), &[])).profile.clone()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// What a vendor writes: every valid request of the profile gets a result.
    #[test]
    fn a_request_of_the_profile_gets_a_result(
        request in requests(kinds::SPONSOR_ERC20).profile(profile())
    ) {
        let reply = reference().handle_bytes(&request.body(), NOW);
        let answer: Value = serde_json::from_slice(&reply.body.unwrap_or_default()).expect("it is JSON");
        prop_assert!(answer.get("result").is_some(), "{}", answer);
    }
}

/// A service that answers data with null while data for the same sender and nonce are signed.
#[tokio::test]
async fn the_same_data_are_asked_for_twice_at_the_same_time() {
    let (service, signing) = (Arc::new(reference()), Arc::new(Mutex::new(BTreeSet::new())));
    let service = Check::service(move |request: Request<Bytes>| {
        let (service, signing) = (Arc::clone(&service), Arc::clone(&signing));
        async move {
            let call: Value = serde_json::from_slice(request.body()).unwrap_or_default();
            let operation = &call["params"][0];
            let name = format!("{}{}", operation["sender"], operation["nonce"]);
            if call["method"] != "pm_getPaymasterData" {
                return answered(&service, request.body(), |_| {});
            }
            if !signing.lock().expect("no thread panics").insert(name.clone()) {
                return answered(&service, request.body(), |answer| {
                    if let Some(result) = answer.get_mut("result") {
                        *result = Value::Null;
                    }
                });
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
            signing.lock().expect("no thread panics").remove(&name);
            answered(&service, request.body(), |_| {})
        }
    });
    let profile = profile_of(specification("erc-7677").expect("it is one of ours"), &Config::default(), &[]);
    let outcome = service.profile(profile).cases(2).run().await.expect("it starts");
    let broken: BTreeSet<&str> = outcome.broken_rules().map(|rule| rule.id).collect();
    assert_eq!(broken, ["answer.result-object"].into());
}
