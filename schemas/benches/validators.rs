//! What a schema check costs: a verdict on each whole message, and one on a single member.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use paymaster_schemas::{Message, member_validator};
use serde_json::Value;

/// A typical message of each kind.
const SAMPLES: [(Message, &str); 8] = [
    (
        Message::QuoteSponsoredRequest,
        include_str!("../fee-quote/examples/quote-sponsored-request/valid/account-4.json"),
    ),
    (
        Message::QuoteErc20Request,
        include_str!("../fee-quote/examples/quote-erc20-request/valid/account-4.json"),
    ),
    (
        Message::SponsorSponsoredRequest,
        include_str!("../fee-quote/examples/sponsor-sponsored-request/valid/account-4.json"),
    ),
    (
        Message::SponsorErc20Request,
        include_str!("../fee-quote/examples/sponsor-erc20-request/valid/account-4.json"),
    ),
    (Message::SponsoredAnswer, include_str!("../fee-quote/examples/sponsored-answer/valid/sponsored.json")),
    (Message::QuoteAnswer, include_str!("../fee-quote/examples/quote-answer/valid/one-quote.json")),
    (
        Message::TokenSponsorAnswer,
        include_str!("../fee-quote/examples/token-sponsor-answer/valid/granted.json"),
    ),
    (Message::ErrorAnswer, include_str!("../fee-quote/examples/error-answer/valid/invalid-params.json")),
];

fn messages(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("is_valid");
    for (message, text) in SAMPLES {
        let value: Value = serde_json::from_str(text).expect("an example is JSON");
        assert!(message.validator().is_valid(&value), "{message:?}");
        group.bench_function(message.document(), |bencher| {
            bencher.iter(|| message.validator().is_valid(black_box(&value)));
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
