use std::collections::HashSet;
use std::io::Read;

use flate2::read::{GzDecoder, ZlibDecoder};
use paymaster_schemas::{Basis, Kind, find_clause, validator_for};
use paymaster_service::SenderNonces;
use serde_json::Value;

use super::{Variant, find_variant, variants};
use crate::injection::samples::{NOW, arrival, configured, pair_of, samples_of};
use crate::injection::{Framing, InjectedService, WireResponse};

/// Enough rounds for a variant that changes 1 of 200 responses.
const ROUNDS: usize = 4;

#[test]
fn names_are_unique_and_faults_have_others() {
    let mut seen = HashSet::new();
    for variant in variants() {
        assert!(seen.insert(variant.name), "{} occurs twice", variant.name);
        assert!(crate::find_fault(variant.name).is_err(), "{} is a fault too", variant.name);
        assert!(variant.about.len() > 6, "{} has too short a description", variant.name);
    }
    assert!(seen.len() >= 40, "only {} variants", seen.len());
}

#[test]
fn no_variant_breaks_a_stated_clause() {
    for variant in variants() {
        for id in variant.warns {
            let clause = find_clause(id).unwrap_or_else(|| panic!("{}: no clause {id}", variant.name));
            assert_ne!(clause.basis, Basis::Stated, "{}: {id}", variant.name);
        }
    }
}

#[test]
fn the_nearest_variant_is_named() {
    let error = find_variant("chunkd").unwrap_err().to_string();
    assert_eq!(error, "unknown variant `chunkd`: did you mean `chunked`?");
}

async fn responses(service: &InjectedService, bodies: &[Vec<u8>]) -> Vec<WireResponse> {
    let mut responses = Vec::new();
    for _ in 0..ROUNDS {
        for body in bodies {
            responses.push(service.response(arrival(body), body, NOW, &SenderNonces::default()).await);
        }
    }
    responses
}

#[tokio::test]
async fn every_variant_changes_a_response_and_keeps_every_answer_valid() {
    let mut without_effect = Vec::new();
    for specification in [None, Some("erc-7677")] {
        let (bodies, _) = samples_of(specification);
        let clean = responses(&configured(|_| {}).into(), &bodies).await;
        let is_of =
            |variant: &&Variant| (variant.specification == Some("erc-7677")) == specification.is_some();
        for variant in variants().filter(is_of) {
            let varied = InjectedService::from(configured(variant.configure)).with_variants([variant]);
            let varied = responses(&varied, &bodies).await;
            if varied == clean {
                without_effect.push(variant.name);
            }
            for (body, response) in bodies.iter().cycle().zip(&varied) {
                check(variant.name, body, response);
            }
        }
    }
    assert!(without_effect.is_empty(), "these change nothing: {without_effect:?}");
}

/// Checks a response against the schemas.
fn check(variant: &str, body: &[u8], response: &WireResponse) {
    let request_text = String::from_utf8_lossy(body);
    if variant == "closed-above-four" && response.framing == Framing::Nothing {
        return;
    }
    assert!(
        !matches!(
            response.framing,
            Framing::TooLong(_) | Framing::CutChunks | Framing::Half | Framing::Nothing | Framing::Reset
        ),
        "{variant}: {:?}",
        response.framing
    );
    // A firewall, a gateway or a parser may answer with any text.
    let has_any_text = matches!(response.status, 302 | 400 | 403 | 413 | 429 | 503)
        && response.content_type != Some("application/json");
    let Some(text) = response.body.as_ref().filter(|_| !has_any_text) else {
        assert!(has_any_text || response.status == 204, "{variant}: no answer to {request_text}");
        return;
    };
    let answer: Value = serde_json::from_slice(&decoded(response, text)).expect("the response is JSON");
    let request: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    let single = [answer.clone()];
    let answers = answer.as_array().map_or(single.as_slice(), Vec::as_slice);
    for answer in answers {
        let id = &answer["id"];
        let request = match &request {
            Value::Array(batch) => batch.iter().find(|request| is_same_id(&request["id"], id)),
            request => Some(request),
        };
        let paymaster_document = request.and_then(paymaster_answer);
        let document = if answer.get("error").is_some() {
            "error-answer"
        } else if let Some(document) = paymaster_document {
            document
        } else if request.is_some_and(|request| request["method"] == "eth_chainId") {
            continue;
        } else {
            assert_eq!(response.status, 200, "{variant}: {request_text}");
            answer_document(request.and_then(pair_of))
        };
        let validator = validator_for(document).expect("the document exists");
        let errors: Vec<String> = validator
            .iter_errors(answer)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{variant}: {errors:?} in {answer} for {request_text}");
        if let Some(request) = request.filter(|_| !id.is_null() && variant != "large-ids-rounded") {
            assert!(is_same_id(&request["id"], id), "{variant}: {id} for {request_text}");
        }
    }
}

/// 7.0 is 7.
fn is_same_id(sent: &Value, answered: &Value) -> bool {
    sent == answered || sent.as_f64().is_some_and(|sent| Some(sent) == answered.as_f64())
}

/// The text of a body whose content coding the response announces.
fn decoded(response: &WireResponse, body: &[u8]) -> Vec<u8> {
    let coding = response.headers.iter().find(|(name, _)| *name == "content-encoding");
    let mut text = Vec::new();
    let read = match coding.map(|(_, coding)| *coding) {
        Some("gzip") => GzDecoder::new(body).read_to_end(&mut text),
        Some("deflate") => ZlibDecoder::new(body).read_to_end(&mut text),
        Some("br") => brotli::Decompressor::new(body, 4096).read_to_end(&mut text),
        _ => return body.to_vec(),
    };
    read.expect("the body is of its coding");
    text
}

/// The document of an answer of ERC-7677.
fn paymaster_answer(request: &Value) -> Option<&'static str> {
    let is_06 = request["params"][1].as_str().is_some_and(|address| address.starts_with("0x5FF1"));
    match (request["method"].as_str()?, is_06) {
        ("pm_getPaymasterStubData", true) => Some("stub-answer-06"),
        ("pm_getPaymasterStubData", false) => Some("stub-answer-07"),
        ("pm_getPaymasterData", true) => Some("data-answer-06"),
        ("pm_getPaymasterData", false) => Some("data-answer-07"),
        _ => None,
    }
}

fn answer_document(pair: Option<Kind>) -> &'static str {
    match pair.map(|pair| pair.result_document) {
        Some("quote-result") => "quote-answer",
        Some("token-sponsor-result") => "token-sponsor-answer",
        _ => "sponsored-answer",
    }
}
