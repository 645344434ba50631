//! Arbitrary bytes as a message to the reference server.
#![no_main]

use std::sync::LazyLock;

#[path = "../../conformance/tests/library/arbitrary_bytes/server.rs"]
#[expect(dead_code, reason = "the seeds are for the tests")]
mod server;

static SERVER: LazyLock<server::Server> = LazyLock::new(server::Server::new);

libfuzzer_sys::fuzz_target!(|message: &[u8]| SERVER.holds(message));
