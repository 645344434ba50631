//! A queue of groups: a thread builds them while the workers send, a bounded number ahead.
//!
//! A plan depends only on context, seed and number of cases. A cache of plans lets runs against several servers share one, where the same
//! is known about them.

use std::sync::Arc;

use parking_lot::Mutex;
use paymaster_engine::cases::{Group, Scope};
use paymaster_engine::knowledge::Knowledge;
use tokio::sync::{Mutex as AsyncMutex, mpsc};
use tokio::task::JoinHandle;

use crate::run::Suite;

/// How many groups are queued at a time: waking the receiver for each group would cost more than building it.
const BATCH: usize = 8;

/// How many batches are built ahead: enough that no worker waits, few enough to take little memory.
const BATCHES_AHEAD: usize = 4;

/// Groups in the order of the plan. Each goes to the worker that takes it first.
pub(crate) struct GroupQueue(AsyncMutex<Queued>);

struct Queued {
    batches: mpsc::Receiver<Vec<Arc<Group>>>,
    current: std::vec::IntoIter<Arc<Group>>,
}

impl GroupQueue {
    /// Starts to build the groups of a plan. The plan ends at the first group that does not fit into `budget` requests, so that the
    /// cases are the same at any concurrency. The task returns whether the budget ended the plan; it also ends when the queue is
    /// closed or dropped.
    pub(crate) fn start(
        suite: &Suite,
        context: &Arc<dyn Knowledge>,
        seed: u64,
        cases: u32,
        budget: usize,
    ) -> (Self, JoinHandle<bool>) {
        let (sender, receiver) = mpsc::channel(BATCHES_AHEAD);
        let (suite, cache) = (suite.clone(), suite.plan_cache.clone());
        let key = suite.plan_key(context, seed, cases);
        let building = tokio::task::spawn_blocking(move || {
            let (groups, is_cached) = suite.cached_groups(&key);
            let cache = cache.filter(|_| !is_cached);
            let (mut left, mut cut) = (budget, false);
            let (mut batch, mut whole) = (Vec::new(), Vec::new());
            for group in groups {
                let Some(rest) = left.checked_sub(group.members.len()) else {
                    cut = true;
                    break;
                };
                left = rest;
                if cache.is_some() {
                    whole.push(Arc::clone(&group));
                }
                batch.push(group);
                if batch.len() == BATCH && sender.blocking_send(std::mem::take(&mut batch)).is_err() {
                    return false;
                }
            }
            // The receiver is closed when the run is over.
            let _ = sender.blocking_send(batch);
            if let Some(cache) = cache.filter(|_| !cut) {
                cache.insert(key.clone(), whole);
            }
            cut
        });
        let queued = Queued { batches: receiver, current: Vec::new().into_iter() };
        (Self(AsyncMutex::new(queued)), building)
    }

    /// The next group; none when the plan is done.
    pub(crate) async fn next(&self) -> Option<Arc<Group>> {
        let mut queued = self.0.lock().await;
        loop {
            if let Some(group) = queued.current.next() {
                return Some(group);
            }
            queued.current = queued.batches.recv().await?.into_iter();
        }
    }

    /// Ends the queue: no more groups are built.
    pub(crate) async fn close(&self) {
        self.0.lock().await.batches.close();
    }
}

/// How many plans are kept: those used last. A plan takes tens of megabytes.
const CAPACITY: usize = 3;

/// Complete plans, shared by the runs of one suite. The plan that was used longest ago is dropped first.
#[derive(Debug, Default)]
pub struct PlanCache(Mutex<Vec<CachedPlan>>);

type CachedPlan = (PlanKey, Arc<[Arc<Group>]>);

/// Everything that a plan depends on.
#[derive(Clone, Debug)]
pub(crate) struct PlanKey {
    pub(crate) context: Arc<dyn Knowledge>,
    pub(crate) seed: u64,
    pub(crate) cases: u32,
    pub(crate) scope: Scope,
}

impl PartialEq for PlanKey {
    fn eq(&self, other: &Self) -> bool {
        let Self { context, seed, cases, scope } = self;
        **context == *other.context && (*seed, *cases) == (other.seed, other.cases) && *scope == other.scope
    }
}

impl PlanCache {
    /// The groups of the plan, where it is cached.
    pub(crate) fn find(&self, key: &PlanKey) -> Option<Arc<[Arc<Group>]>> {
        let mut plans = self.0.lock();
        let index = plans.iter().position(|(known, _)| known == key)?;
        plans[index..].rotate_left(1);
        plans.last().map(|(_, groups)| Arc::clone(groups))
    }

    /// Adds a complete plan.
    pub(crate) fn insert(&self, key: PlanKey, groups: Vec<Arc<Group>>) {
        let mut plans = self.0.lock();
        // Another run may have added the same plan meanwhile.
        plans.retain(|(known, _)| *known != key);
        if plans.len() == CAPACITY {
            plans.remove(0);
        }
        plans.push((key, groups.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::PlanCache;
    use paymaster_engine::{cases::plan::Plan, cases::scope::Scope};
    use paymaster_fee_quote::target::context::Context;
    use paymaster_settings::DEFAULT_SPECIFICATION;

    const CASES: u32 = 4;

    fn start(budget: usize) -> (GroupQueue, JoinHandle<bool>) {
        GroupQueue::start(&Suite::of(DEFAULT_SPECIFICATION), &unknown(), 1, CASES, budget)
    }

    async fn drain(queue: &GroupQueue) -> Vec<Arc<Group>> {
        let mut groups = Vec::new();
        while let Some(group) = queue.next().await {
            groups.push(group);
        }
        groups
    }

    fn unknown() -> Arc<dyn Knowledge> {
        Arc::new(Context::default())
    }

    #[tokio::test]
    async fn it_holds_the_plan() {
        let (queue, building) = start(usize::MAX);
        let supplied = drain(&queue).await;
        assert!(!building.await.unwrap());
        let planned: Vec<Group> = Plan::new(&Context::default(), 1, CASES).collect();
        assert_eq!(supplied.len(), planned.len());
        for (supplied, planned) in supplied.iter().zip(&planned) {
            assert_eq!(supplied.number, planned.number);
            let name = |group: &Group| (group.relation.id, group.pair, group.round);
            assert_eq!(name(supplied), name(planned));
            assert_eq!(supplied.members, planned.members);
        }
    }

    #[tokio::test]
    async fn a_cached_plan_is_not_built_again() {
        let cache = Arc::new(PlanCache::default());
        let suite = Suite { plan_cache: Some(Arc::clone(&cache)), ..Suite::of(DEFAULT_SPECIFICATION) };
        let context: Arc<dyn Knowledge> = Arc::new(Context::default());
        let key = PlanKey { context: Arc::clone(&context), seed: 1, cases: CASES, scope: Scope::default() };
        let start = |budget| GroupQueue::start(&suite, &context, 1, CASES, budget);
        let (queue, building) = start(20);
        drain(&queue).await;
        assert!(building.await.unwrap());
        assert!(cache.find(&key).is_none(), "a part of a plan is not cached");

        let mut drained = Vec::new();
        for _ in 0..2 {
            let (queue, building) = start(usize::MAX);
            drained.push(drain(&queue).await);
            assert!(!building.await.unwrap());
        }
        assert_eq!(drained[0].len(), Plan::new(&*context, 1, CASES).count());
        assert_eq!(drained[0].len(), drained[1].len());
        for (first, second) in drained[0].iter().zip(&drained[1]) {
            assert!(Arc::ptr_eq(first, second));
        }

        let (queue, building) = start(20);
        let part = drain(&queue).await;
        assert!(building.await.unwrap(), "the budget applies to a cached plan too");
        assert!(Arc::ptr_eq(&part[0], &drained[0][0]));
    }

    #[tokio::test]
    async fn it_ends_where_the_budget_does() {
        let planned: Vec<Arc<Group>> = Plan::new(&Context::default(), 1, CASES).map(Arc::new).collect();
        let all: usize = planned.iter().map(|group| group.members.len()).sum();
        let requests = |groups: &[Arc<Group>]| groups.iter().map(|group| group.members.len()).sum::<usize>();
        for (budget, cut) in [(0, true), (20, true), (all - 1, true), (all, false)] {
            let (queue, building) = start(budget);
            let supplied = drain(&queue).await;
            assert_eq!(building.await.unwrap(), cut, "{budget}");
            assert!(requests(&supplied) <= budget);
            let next = planned.get(supplied.len());
            assert!(next.is_none_or(|next| requests(&supplied) + next.members.len() > budget));
        }
    }

    #[tokio::test]
    async fn it_ends_when_it_is_closed_or_dropped() {
        let (queue, building) =
            GroupQueue::start(&Suite::of(DEFAULT_SPECIFICATION), &unknown(), 1, u32::MAX / 100, usize::MAX);
        assert_eq!(queue.next().await.unwrap().number, 0);
        queue.close().await;
        assert!(!building.await.unwrap());

        let (queue, building) =
            GroupQueue::start(&Suite::of(DEFAULT_SPECIFICATION), &unknown(), 1, u32::MAX / 100, usize::MAX);
        drop(queue);
        assert!(!building.await.unwrap());
    }
}

#[cfg(test)]
mod tests_1 {
    use super::*;
    use paymaster_engine::cases::plan::Plan;
    use paymaster_fee_quote::target::context::Context;

    fn groups(seed: u64) -> Vec<Arc<Group>> {
        Plan::new(&Context::default(), seed, 1).map(Arc::new).collect()
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
