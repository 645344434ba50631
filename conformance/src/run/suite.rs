//! The rules, the plan and the chain that a run uses.

use std::sync::Arc;

use crate::run::planning::PlanKey;
use crate::run::{Chain, PlanCache};
use paymaster_engine::cases::{Group, Plan, Scope};
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::rules::Rule;
use paymaster_engine::specification::Specification;
use paymaster_engine::verdict::KnownFailureList;

/// What a run sends and judges. Tests use suites of their own.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The specification that the target is judged by.
    pub specification: &'static Specification,
    /// The rules. Without any, requests are sent and their answers are not judged, as in benchmarks.
    pub rules: Vec<&'static Rule>,
    /// Builds every group of the run from context, seed and number of cases.
    pub plan: fn(&dyn Knowledge, u64, u32) -> Plan<'_>,
    /// How much of the plan is sent.
    pub scope: Scope,
    /// Whether the run ends at the first violation that is seen again when its requests are sent again.
    pub fail_fast: bool,
    /// A cache of plans, for a suite that runs several times.
    pub plan_cache: Option<Arc<PlanCache>>,
    /// The chain on which returned operations are simulated, where there is one.
    pub chain: Option<Chain>,
    /// The list of known failures.
    pub known: Arc<KnownFailureList>,
}

impl Suite {
    /// Every rule of a specification.
    pub fn of(specification: &'static Specification) -> Self {
        Self {
            specification,
            rules: specification.rules().collect(),
            plan: |context, seed, cases| Plan::new(context, seed, cases),
            scope: Scope::default(),
            fail_fast: false,
            plan_cache: None,
            chain: None,
            known: Arc::default(),
        }
    }

    /// The same with or without the requests on connections that were idle.
    pub(crate) fn with_idle(&self, idle: bool) -> Self {
        Self { scope: self.scope.clone().with_idle(idle), ..self.clone() }
    }

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
