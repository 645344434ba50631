//! A cache of plans. A plan depends only on context, seed and number of cases, so runs against several servers about which the same
//! is known can share one.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use paymaster_engine::{
    cases::{case::Group, scope::Scope},
    knowledge::Knowledge,
};

/// How many plans are kept: those used last. A plan takes tens of megabytes.
const CAPACITY: usize = 3;

/// Complete plans, shared by the runs of one suite. The plan that was used longest ago is dropped first.
#[derive(Default)]
pub struct PlanCache(Mutex<Vec<CachedPlan>>);

/// Everything that a plan depends on.
#[derive(Clone)]
pub(crate) struct PlanKey {
    pub(crate) context: Arc<dyn Knowledge>,
    pub(crate) seed: u64,
    pub(crate) cases: u32,
    pub(crate) scope: Scope,
}

impl PartialEq for PlanKey {
    fn eq(&self, other: &Self) -> bool {
        let rest = |key: &Self| (key.seed, key.cases);
        *self.context == *other.context && rest(self) == rest(other) && self.scope == other.scope
    }
}

struct CachedPlan {
    key: PlanKey,
    groups: Arc<[Arc<Group>]>,
}

impl PlanCache {
    /// The groups of the plan, where it is cached.
    pub(crate) fn find(&self, key: &PlanKey) -> Option<Arc<[Arc<Group>]>> {
        let mut plans = self.lock();
        let index = plans.iter().position(|plan| plan.key == *key)?;
        plans[index..].rotate_left(1);
        plans.last().map(|plan| Arc::clone(&plan.groups))
    }

    /// Adds a complete plan.
    pub(crate) fn insert(&self, key: PlanKey, groups: Vec<Arc<Group>>) {
        let mut plans = self.lock();
        // Another run may have added the same plan meanwhile.
        plans.retain(|plan| plan.key != key);
        if plans.len() == CAPACITY {
            plans.remove(0);
        }
        plans.push(CachedPlan { key, groups: groups.into() });
    }

    fn lock(&self) -> MutexGuard<'_, Vec<CachedPlan>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for PlanCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlanCache").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paymaster_engine::cases::plan::plan;
    use paymaster_fee_quote::target::context::Context;

    fn groups(seed: u64) -> Vec<Arc<Group>> {
        plan(&Context::default(), seed, 1).into_iter().map(Arc::new).collect()
    }

    fn key(context: &Arc<dyn Knowledge>, seed: u64, cases: u32) -> PlanKey {
        PlanKey { context: Arc::clone(context), seed, cases, scope: Scope::default() }
    }

    fn unknown() -> Arc<dyn Knowledge> {
        Arc::new(Context::default())
    }

    #[test]
    fn the_plans_used_last_are_kept() {
        let cache = PlanCache::default();
        let context = unknown();
        let holds = |seed: u64| cache.find(&key(&context, seed, 1)).is_some();
        let groups = groups(1);
        for seed in 1..=3 {
            cache.insert(key(&context, seed, 1), groups.clone());
        }
        assert!(holds(1));
        cache.insert(key(&context, 4, 1), groups.clone());
        assert!(!holds(2), "it was used longest ago");
        assert!(holds(1) && holds(3) && holds(4));
        cache.insert(key(&context, 4, 1), groups);
        assert!(holds(1) && holds(3) && holds(4), "a plan is cached once");
    }

    #[test]
    fn another_context_or_length_is_another_plan() {
        let cache = PlanCache::default();
        let context: Arc<dyn Knowledge> = Arc::new(Context::default());
        cache.insert(key(&context, 1, 1), groups(1));
        let with_chain = context.with_chain(true);
        assert!(cache.find(&key(&with_chain, 1, 1)).is_none());
        assert!(cache.find(&key(&context, 1, 2)).is_none());
        assert!(cache.find(&key(&context, 2, 1)).is_none());
        assert!(cache.find(&key(&unknown(), 1, 1)).is_some());
    }
}
