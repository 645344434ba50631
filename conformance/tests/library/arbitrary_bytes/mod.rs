//! Arbitrary bytes: as a message to the reference server, and as an answer before the judge. Neither may panic, and what
//! each says of them must make sense.
//!
//! `server.rs` and `judge.rs` state what must hold of any bytes; `fuzz/` hands the same functions to a coverage-guided fuzzer.
//! Here they see a short, deterministic series: real messages and awkward ones, broken by a few edits.

mod edits;
mod judge;
mod server;

use edits::{AWKWARD, edited};

/// How many edited messages a test tries: enough to pass each kind of edit over each seed, in about a second.
const EDITED: u32 = 3_000;

#[test]
fn the_server_answers_arbitrary_bytes() {
    let server = server::Server::new();
    let seeds: Vec<Vec<u8>> =
        server::messages().into_iter().chain(AWKWARD.iter().map(|bytes| bytes.to_vec())).collect();
    for seed in &seeds {
        server.holds(seed);
    }
    edited(&seeds, EDITED, |bytes| server.holds(bytes));
}

#[test]
fn the_judge_reads_arbitrary_answers() {
    let bench = judge::Bench::new();
    let seeds: Vec<Vec<u8>> =
        bench.answers().into_iter().chain(AWKWARD.iter().map(|bytes| bytes.to_vec())).collect();
    for group in 0..bench.groups() {
        for seed in AWKWARD {
            bench.holds(group, 200, seed);
        }
    }
    let mut turn = 0_usize;
    edited(&seeds, EDITED, |bytes| {
        turn += 1;
        bench.holds(turn % bench.groups(), [200, 200, 400, 500][turn % 4], bytes);
    });
}
