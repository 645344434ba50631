//! The requests of a plan for any number of cases, from which the time of a run is estimated.

use std::{collections::BTreeMap, time::Duration};

use crate::{
    estimate::{Estimate, QuickRun, rounded_up},
    run::Suite,
};
use paymaster_engine::{
    cases::{case::Relation, plan::DEFAULT_CASES, scope::Scope},
    knowledge::Knowledge,
};
use paymaster_schemas::Kind;

/// The number of cases that a longer plan is estimated from.
const SAMPLE: u32 = DEFAULT_CASES;

/// One part in this many is added for pauses, repeated requests and the confirmation of findings.
const RESERVE: u32 = 10;

/// The longest time limit that the command line accepts.
const LONGEST: Duration = Duration::from_hours(24);

/// How many requests a plan has, for any number of cases.
#[derive(Clone, Debug)]
pub(crate) struct Cost {
    /// The requests of each relation and pair in a plan with `cases` cases.
    requests: BTreeMap<(&'static str, Kind), RelationCost>,
    cases: u32,
    scope: Scope,
    /// The requests of a quick run; none where this run is one.
    quick: Option<u64>,
    /// Requests that were sent before the plan.
    before: u64,
}

/// The requests of one relation with base requests of one pair.
#[derive(Clone, Copy, Debug)]
struct RelationCost {
    relation: &'static Relation,
    requests: u64,
}

impl Cost {
    /// The cost of a run whose plan has `cases` cases and whose discovery sent `before` requests.
    pub(crate) fn of(suite: &Suite, context: &dyn Knowledge, seed: u64, cases: u32, before: usize) -> Self {
        let mut cost = Self {
            requests: BTreeMap::new(),
            cases: cases.min(SAMPLE),
            scope: suite.scope.clone(),
            quick: None,
            before: before as u64,
        };
        for group in suite.groups(context, seed, cost.cases) {
            let (relation, Some(pair)) = (group.relation, group.pair) else {
                continue;
            };
            let cost =
                cost.requests.entry((relation.id, pair)).or_insert(RelationCost { relation, requests: 0 });
            cost.requests += group.members.len() as u64;
        }
        if !suite.scope.is_quick() {
            let quick = suite.scope.clone().quick();
            let groups = (suite.plan)(context, seed, cost.cases).within(&quick);
            let requests: usize = groups.map(|group| group.members.len()).sum();
            cost.quick = Some(cost.before + requests as u64);
        }
        cost
    }

    /// The approximate number of requests of a run with this many cases.
    pub(crate) fn requests(&self, cases: u32) -> u64 {
        let of_plan = self.requests.iter().map(|((_, pair), cost)| {
            let rounds = |cases| self.scope.rounds(cost.relation, *pair, cases);
            let (wanted, made) = (rounds(cases), rounds(self.cases));
            cost.requests * u64::from(wanted) / u64::from(made.max(1))
        });
        self.before + of_plan.sum::<u64>()
    }

    /// Estimates a run with this many cases and at most `budget` requests.
    pub(crate) fn estimate(
        &self,
        cases: u32,
        budget: Option<usize>,
        interval: Duration,
        time_limit: Duration,
    ) -> Estimate {
        let requests = |cases| {
            let all = self.requests(cases);
            budget.map_or(all, |budget| all.min(budget as u64))
        };
        let takes = |cases| interval.saturating_mul(u32::try_from(requests(cases)).unwrap_or(u32::MAX));
        let with_reserve = |cases| takes(cases).saturating_add(takes(cases) / RESERVE);
        let fits = |cases| with_reserve(cases) <= time_limit;
        let too_long = !fits(cases);
        let enough = rounded_up(with_reserve(cases));
        Estimate {
            interval,
            requests: requests(cases),
            takes: takes(cases),
            time_limit,
            too_long,
            cases: most(cases, fits).filter(|_| too_long && !self.scope.is_quick()),
            quick: self.quick.map(|requests| QuickRun {
                requests,
                takes: interval.saturating_mul(u32::try_from(requests).unwrap_or(u32::MAX)),
            }),
            enough: Some(enough).filter(|enough| too_long && *enough <= LONGEST),
            revised: None,
        }
    }
}

/// The largest number below `cases` that fits; all smaller ones fit as well.
fn most(cases: u32, fits: impl Fn(u32) -> bool) -> Option<u32> {
    let (mut low, mut high) = (0, cases);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low).filter(|low| *low > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use paymaster_engine::cases::plan::plan;
    use paymaster_fee_quote::SPECIFICATION;
    use std::sync::Arc;

    const LIMIT: Duration = Duration::from_mins(5);

    fn context() -> Arc<dyn Knowledge> {
        SPECIFICATION.unknown().expected()
    }

    fn cost() -> Cost {
        Cost::of(&Suite::standard(), &*context(), 1, DEFAULT_CASES, 30)
    }

    #[test]
    fn the_cost_of_a_plan_is_known_from_its_beginning() {
        let cost = cost();
        for cases in [20, 60, DEFAULT_CASES] {
            let groups = plan(&*context(), 1, cases);
            let real = 30 + groups.iter().map(|group| group.members.len() as u64).sum::<u64>();
            let estimated = cost.requests(cases);
            assert!(estimated.abs_diff(real) * 100 <= real * 3, "{cases}: {estimated} {real}");
        }
    }

    #[test]
    fn a_quick_run_costs_what_its_plan_has() {
        let quick = Suite { scope: Scope::default().quick(), ..Suite::standard() };
        let context = context();
        let groups = quick.groups(&*context, 1, DEFAULT_CASES);
        let real = 30 + groups.map(|group| group.members.len() as u64).sum::<u64>();
        assert_eq!(cost().quick, Some(real));
        let of_quick = Cost::of(&quick, &*context, 1, DEFAULT_CASES, 30);
        assert_eq!((of_quick.requests(DEFAULT_CASES), of_quick.quick), (real, None));
    }

    #[test]
    fn an_estimate_that_is_too_long_names_what_fits() {
        let cost = cost();
        let estimate = |millis, budget| {
            let interval = Duration::from_millis(millis);
            cost.estimate(DEFAULT_CASES, budget, interval, LIMIT)
        };
        let slow = estimate(100, None);
        assert!(slow.too_long);
        let cases = slow.cases.unwrap();
        for (cases, time_limit, too_long) in
            [(cases, LIMIT, false), (cases + 1, LIMIT, true), (DEFAULT_CASES, slow.enough.unwrap(), false)]
        {
            let again = cost.estimate(cases, None, slow.interval, time_limit);
            assert_eq!(again.too_long, too_long, "{again}");
        }
        let fast = estimate(10, None);
        assert_eq!((fast.too_long, fast.cases, fast.enough), (false, None, None));
        assert!(!estimate(100, Some(1_000)).too_long, "a budget bounds the time");
        let hopeless = estimate(100_000, None);
        assert_eq!((hopeless.too_long, hopeless.cases, hopeless.enough), (true, None, None));
    }
}
