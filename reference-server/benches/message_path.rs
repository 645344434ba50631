//! Measures the message path from bytes to bytes: each method and mode and an error, with signing off and on.
//!
//! Signed data of ERC-7677 must cost at most 1.1 times as much as `sponsor sponsored`.

#[path = "samples/paymaster_data.rs"]
mod paymaster_data;
mod samples;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use paymaster_reference_server::{Config, Service};

use crate::paymaster_data::PAYMASTER_DATA;
use crate::samples::PAIRS;

/// The Unix time of all requests; the cost does not depend on it.
const NOW: u64 = 1_700_000_000;

fn service(signing: bool) -> Service {
    let mut config = Config::default();
    config.signing.enabled = signing;
    Service::new(&config).expect("the default configuration is valid")
}

fn message_path(criterion: &mut Criterion) {
    let broken = PAIRS[0].1.replace("\"nonce\":\"0x2a\"", "\"nonce\":\"0x\"");
    for (group, service) in [("unsigned", service(false)), ("signed", service(true))] {
        let mut group = criterion.benchmark_group(group);
        for (name, text) in PAIRS.into_iter().chain(PAYMASTER_DATA).chain([("error", broken.as_str())]) {
            group.bench_function(name, |bencher| {
                bencher.iter(|| service.handle_bytes(black_box(text.as_bytes()), NOW));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, message_path);
criterion_main!(benches);
