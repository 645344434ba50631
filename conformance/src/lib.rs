//! Tests whether a paymaster service conforms to its specification, from a Rust program or a Rust test.
//!
//! - [`Check`] judges a service at a URL, or a service in the same process, and gives an [`Outcome`].
//! - [`requests()`] is a [proptest](https://docs.rs/proptest) strategy of valid requests, for property tests of a service.
//! - [`profile`] describes what a service supports. With a profile, more rules are judged.
//!
//! `docs/rust-api.md` has a page of examples, and `conformance/examples/` has whole programs.
//!
//! # A first run
//!
//! [`Check::reference_server`] judges the reference server, [`Check::url`] any URL and [`Check::service`] a function of this process.
//! [`Outcome::assert_conforms`] panics with the report.
//!
//! ```
//! use paymaster_conformance::Check;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let mut requests = 0;
//! let outcome = Check::reference_server()
//!     .seed(1)
//!     .cases(10)
//!     .on_exchange(|_| requests += 1)
//!     .run()
//!     .await
//!     .unwrap();
//! outcome.assert_conforms();
//! assert_eq!(requests, outcome.summary().requests);
//! # });
//! ```
//!
//! # What was wrong
//!
//! An [`Outcome`] has the broken rules, and of each the smallest request that shows it. As text it is the report of the terminal.
//!
//! ```
//! use paymaster_conformance::{Bytes, Check, http::{Request, Response}};
//!
//! // A service whose every answer has the id 1.
//! async fn paymaster(_: Request<Bytes>) -> Response<String> {
//!     Response::new(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"not today"}}"#.to_owned())
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let outcome = Check::service(paymaster).cases(2).run().await.unwrap();
//! assert!(!outcome.conforms());
//! let broken: Vec<&str> = outcome.broken_rules().map(|rule| rule.id).collect();
//! assert!(broken.contains(&"answer.id"), "{outcome}");
//! # });
//! ```
//!
//! # Requests for a property test
//!
//! ```
//! use paymaster_conformance::{kinds, proptest::{strategy::{Strategy, ValueTree}, test_runner::TestRunner}, requests};
//!
//! let request = requests(kinds::SPONSOR_ERC20).new_tree(&mut TestRunner::deterministic()).unwrap().current();
//! assert_eq!(request.value()["method"], "pm_sponsorUserOperation");
//! ```

#![deny(missing_docs)]

mod check;
mod cli;
mod estimate;
mod events;
mod first_profile;
#[doc(hidden)] // Not part of the API. `tests/library/recorded.rs` reads recordings with it.
pub mod recorded;
mod relay;
mod report;
#[doc(hidden)]
// Not part of the API. The benchmark and tests of this package run suites of their own with it.
pub mod run;
#[doc(hidden)] // Not part of the API. `tests/library/kill_matrix.rs` runs it.
pub mod selftest;

pub use check::{Check, CheckError, Outcome, read_profile};
pub use estimate::Estimate;
pub use events::{Event, SentExchange};

#[doc(hidden)] // Not part of the API. `tests/shell/` reads the table of report formats.
pub use report::formats::FORMATS;

pub use bytes::Bytes;
pub use hyper::http;
pub use proptest;

pub use paymaster_engine::cases::Draw;
pub use paymaster_engine::diagnosis::Finding;
pub use paymaster_engine::rules::{Rule, Violation};
pub use paymaster_engine::verdict::{Conclusion, RuleOutcome, Summary, Verdict};
pub use paymaster_exchange::{Exchange, Failure, Response};
pub use paymaster_fee_quote::base::Tokens;
pub use paymaster_fee_quote::generate::{NoRequests, RequestEnvelope, RequestTree, Requests, requests};
pub use paymaster_schemas::{Kind, KindOfCall, Mode, kinds};

/// What a service supports, as a profile file states it: see `docs/profile.md`.
pub mod profile {
    pub use paymaster_fee_quote::target::{
        Accepts, Amounts, Dialect, Operations, Pins, Profile, QuotedTokens, SizeLimits, SmartAccount,
        Sponsors, Token, TokenLists,
    };
    pub use paymaster_settings::settings::file::{Target, TargetProfile};
}

/// Compiles the examples of the page.
#[cfg(doctest)]
#[doc = include_str!("../../docs/rust-api.md")]
struct RustApiPage;

/// The command line. Not part of the API: the binary calls it.
#[doc(hidden)]
pub fn main() -> std::process::ExitCode {
    cli::main()
}
