//! What a run is made of: rules, cases, observers.

use std::sync::Arc;

use super::{Shelf, shrink::Simpler};
use crate::{
    case::Relation,
    context::Context,
    discovery::DISCOVERY,
    events::Observations,
    generate,
    known::Known,
    plan::Plan,
    recorded::RECORDED,
    relations::RELATIONS,
    rules::{self, Rule, View, observers::OBSERVERS},
};

/// What a run is made of; a test brings its own.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The rules that judge. Without any, requests are sent and nothing is read of the answers: for measuring.
    pub rules: Vec<&'static Rule>,
    /// The relations that groups are built by.
    pub relations: Vec<&'static Relation>,
    /// Makes every group of the run from context, seed and number of cases.
    pub plan: fn(&Context, u64, u32) -> Plan<'_>,
    /// Where plans that were made before are kept; none for a suite that runs once.
    pub shelf: Option<Arc<Shelf>>,
    /// Makes simpler bases from a base.
    pub simpler: Simpler,
    /// Watches what is not judged.
    pub observe: fn(&[View<'_>], &Context, &mut Observations),
    /// Failures that are known, explained and dated.
    pub known: Arc<Known>,
}

impl Suite {
    /// Every rule, every relation and every observer.
    pub fn standard() -> Self {
        Self {
            rules: rules::rules().collect(),
            relations: RELATIONS.iter().copied().chain([&DISCOVERY, &RECORDED]).collect(),
            plan: |context, seed, cases| Plan::new(context, seed, cases),
            shelf: None,
            simpler: generate::shrink::simpler,
            observe: observe_all,
            known: Arc::default(),
        }
    }
}

fn observe_all(views: &[View<'_>], context: &Context, seen: &mut Observations) {
    let mut values = Vec::new();
    for observer in OBSERVERS {
        (observer.watch)(views, context, &mut values);
        if values.is_empty() {
            continue;
        }
        let counts = seen.entry(observer.clause).or_default();
        for value in values.drain(..) {
            *counts.entry(value).or_default() += 1;
        }
    }
}
