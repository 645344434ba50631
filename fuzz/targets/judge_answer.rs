//! Arbitrary bytes as an answer before the judge. Their number chooses group and status, so that examples of answers are seeds
//! as they are.
#![no_main]

use std::sync::LazyLock;

#[path = "../../conformance/tests/library/arbitrary_bytes/judge.rs"]
#[expect(dead_code, reason = "the seeds are for the tests")]
mod judge;

static BENCH: LazyLock<judge::Bench> = LazyLock::new(judge::Bench::new);

libfuzzer_sys::fuzz_target!(|answer: &[u8]| {
    let status = [200, 400, 404, 500][answer.len() / BENCH.groups() % 4];
    BENCH.holds(answer.len(), status, answer);
});
