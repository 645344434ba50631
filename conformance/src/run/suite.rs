//! The rules, relations and observers that a run uses.

use std::sync::Arc;

use crate::run::{Chain, PlanCache, Simplify, planning::plan_cache::PlanKey};
use paymaster_judge::knowledge::Knowledge;
use paymaster_judge::{
    cases::{
        case::{Group, Relation},
        discovery::DISCOVERY,
        generate,
        plan::Plan,
        relations::RELATIONS,
        scope::Scope,
    },
    rules::{self, Rule, View, observers::OBSERVERS},
    session::recorded::RECORDED,
    verdict::{known::KnownFailureList, summary::Observations},
};

/// What a run sends and judges. Tests use suites of their own.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The rules. Without any, requests are sent and their answers are not judged, as in benchmarks.
    pub rules: Vec<&'static Rule>,
    /// The relations that build groups; a replay file names one of them.
    pub relations: Vec<&'static Relation>,
    /// Builds every group of the run from context, seed and number of cases.
    pub plan: fn(&dyn Knowledge, u64, u32) -> Plan<'_>,
    /// How much of the plan is sent.
    pub scope: Scope,
    /// Whether the run ends at the first violation that is seen again when its requests are sent again.
    pub fail_fast: bool,
    /// A cache of plans, for a suite that runs several times.
    pub plan_cache: Option<Arc<PlanCache>>,
    /// Returns simpler versions of the base of a group, for shrinking.
    pub simplify: Simplify,
    /// Counts behaviour that the specification leaves open.
    pub observe: fn(&[View<'_>], &dyn Knowledge, &mut Observations),
    /// The chain on which returned operations are simulated, where there is one.
    pub chain: Option<Chain>,
    /// The list of known failures.
    pub known: Arc<KnownFailureList>,
}

impl Suite {
    /// Every rule, every relation and every observer.
    pub fn standard() -> Self {
        Self {
            rules: rules::rules().collect(),
            relations: RELATIONS.iter().copied().chain([&DISCOVERY, &RECORDED]).collect(),
            plan: |context, seed, cases| Plan::new(context, seed, cases),
            scope: Scope::default(),
            fail_fast: false,
            plan_cache: None,
            simplify: generate::shrink::simpler,
            observe: observe_all,
            chain: None,
            known: Arc::default(),
        }
    }
}

impl Suite {
    /// The groups of the run.
    pub(crate) fn groups<'a>(&self, context: &'a dyn Knowledge, seed: u64, cases: u32) -> Plan<'a> {
        (self.plan)(context, seed, cases).within(&self.scope)
    }

    /// What the plan of the run depends on.
    pub(crate) fn plan_key(&self, context: &Arc<dyn Knowledge>, seed: u64, cases: u32) -> PlanKey {
        PlanKey { context: Arc::clone(context), seed, cases, scope: self.scope.clone() }
    }

    /// The groups of the run, and whether they come from the cache.
    pub(crate) fn cached_groups<'a>(
        &self,
        key: &'a PlanKey,
    ) -> (Box<dyn Iterator<Item = Arc<Group>> + 'a>, bool) {
        match self.plan_cache.as_ref().and_then(|cache| cache.find(key)) {
            Some(groups) => (Box::new((0..groups.len()).map(move |place| Arc::clone(&groups[place]))), true),
            None => (Box::new(self.groups(&*key.context, key.seed, key.cases).map(Arc::new)), false),
        }
    }
}

fn observe_all(views: &[View<'_>], context: &dyn Knowledge, seen: &mut Observations) {
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
