//! Draws the base requests of a run, one after another, by a seed.

use std::rc::Rc;

use proptest::test_runner::TestRunner;
use serde_json::Value;

use crate::{generate::requests::Requests, target::context::Context};
use paymaster_engine::{cases::case::Base, generate::random::runner};

/// Draws base requests. The same seed, context and sequence of bases give the same requests.
#[derive(Debug)]
pub struct Source {
    context: Rc<Context>,
    runner: TestRunner,
    known: Vec<Requests>,
}

impl Source {
    /// A source of requests for `context`. The draws depend on `seed`.
    pub fn new(seed: u64, context: &Context) -> Self {
        Self { context: Rc::new(context.clone()), runner: runner(seed), known: Vec::new() }
    }

    /// A whole valid request envelope with the id 1 as a placeholder. None when the context has no operation or token for it.
    pub fn base(&mut self, wanted: &Base) -> Option<Value> {
        let known = self.known.iter().position(|requests| requests.base() == wanted);
        let index = known.unwrap_or_else(|| {
            self.known.push(Requests::of_base(*wanted, Rc::clone(&self.context)));
            self.known.len() - 1
        });
        self.known[index].draw(&mut self.runner).ok()
    }
}
