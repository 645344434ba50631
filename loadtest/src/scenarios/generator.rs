//! Draws the requests of scenarios for a target.

use paymaster_engine::cases::case::Base;
use paymaster_fee_quote::{
    generate::Source,
    target::{context::Context, profile::Accepts},
};
use serde_json::Value;

use super::template::has_room;

/// How many draws are tried to find an operation whose call data has room for a number.
const TRIES: usize = 20;

/// Draws requests that a target should accept. The same seed gives the same requests.
#[derive(Debug)]
pub struct RequestGenerator<'a> {
    /// Profile and dialect of the target.
    pub context: &'a Context,
    pub seed: u64,
    /// How many request sequences to make for each scenario.
    pub size: usize,
    source: Source,
}

impl<'a> RequestGenerator<'a> {
    /// A generator with this seed that makes `size` request sequences for each scenario.
    pub fn new(context: &'a Context, seed: u64, size: usize) -> Self {
        Self { context, seed, size, source: Source::new(seed, context) }
    }

    /// Whether the call data of operations may be changed. It may not where the target accepts listed operations only.
    pub fn distinct(&self) -> bool {
        let operations = &self.context.profile.operations;
        operations.accepts == Accepts::Any
            || operations.sponsorable.is_empty() && operations.accepts != Accepts::Listed
    }

    /// Draws a valid request; `None` if the profile names nothing to make one from.
    pub fn request(&mut self, base: &Base) -> Option<Value> {
        let mut drawn = self.source.base(base)?;
        for _ in 0..TRIES {
            let room = drawn["params"][0]["callData"].as_str().is_some_and(has_room);
            if room || !self.distinct() {
                break;
            }
            drawn = self.source.base(base)?;
        }
        Some(drawn)
    }
}
