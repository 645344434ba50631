//! What a schema check costs: a verdict on each whole message, and one on a single member.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use paymaster_schemas::{member_validator, validator_for};
use serde_json::Value;

/// A typical message of each kind, and the document that describes it.
const SAMPLES: [(&str, &str); 8] = [
    (
        "quote-sponsored-request",
        include_str!("../fee-quote/examples/quote-sponsored-request/valid/account-4.json"),
    ),
    ("quote-erc20-request", include_str!("../fee-quote/examples/quote-erc20-request/valid/account-4.json")),
    (
        "sponsor-sponsored-request",
        include_str!("../fee-quote/examples/sponsor-sponsored-request/valid/account-4.json"),
    ),
    (
        "sponsor-erc20-request",
        include_str!("../fee-quote/examples/sponsor-erc20-request/valid/account-4.json"),
    ),
    ("sponsored-answer", include_str!("../fee-quote/examples/sponsored-answer/valid/sponsored.json")),
    ("quote-answer", include_str!("../fee-quote/examples/quote-answer/valid/one-quote.json")),
    ("token-sponsor-answer", include_str!("../fee-quote/examples/token-sponsor-answer/valid/granted.json")),
    ("error-answer", include_str!("../fee-quote/examples/error-answer/valid/invalid-params.json")),
];

fn messages(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("is_valid");
    for (document, text) in SAMPLES {
        let value: Value = serde_json::from_str(text).expect("an example is JSON");
        let is_valid = |value| validator_for(document).is_some_and(|validator| validator.is_valid(value));
        assert!(is_valid(&value), "{document}");
        group.bench_function(document, |bencher| {
            bencher.iter(|| is_valid(black_box(&value)));
        });
    }
    group.finish();
}

fn members(criterion: &mut Criterion) {
    let rate: Value = serde_json::from_str("232808808808808800000").expect("a number");
    let nonce = Value::from("29754871216733254453211103789056");
    let mut group = criterion.benchmark_group("member");
    for (document, member, value) in
        [("fee-quote", "exchangeRate", &rate), ("user-operation", "nonce", &nonce)]
    {
        group.bench_function(format!("{document} {member}"), |bencher| {
            bencher.iter(|| member_validator(document, member).map(|it| it.is_valid(black_box(value))));
        });
    }
    group.finish();
}

criterion_group!(benches, messages, members);
criterion_main!(benches);
