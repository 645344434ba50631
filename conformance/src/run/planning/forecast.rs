//! Estimates how long a run takes, once a rate limit is known or the target proved to be slow.
//! The number of requests of a plan is counted for it.

use std::{sync::Arc, time::Duration};

use paymaster_client::pace::Pace;
use paymaster_engine::cases::DEFAULT_CASES;
use paymaster_engine::knowledge::Knowledge;
use paymaster_settings::Settings;
use paymaster_settings::settings::QUICK;
use tokio::time::Instant;

use crate::estimate::{Estimate, rounded_up};
use crate::run::Suite;

/// A new estimate is reported when the time between requests is this many times the reported one.
const SLOWER: u32 = 2;

/// It is also reported when the number of requests has changed by more than one part in this many; less is no contradiction.
const CHANGED: u64 = 4;

/// How long the plan must have run before its own rate says how long it takes: many groups, and more than a slow start.
const SETTLED: Duration = Duration::from_secs(5);

/// Makes the estimates of one run.
pub(crate) struct Forecast<'a> {
    settings: &'a Settings,
    /// When the run started.
    pub(crate) started: Instant,
    suite: &'a Suite,
    /// What is known about the target.
    pub(crate) context: Arc<dyn Knowledge>,
    /// Requests that were sent before the plan.
    before: usize,
    /// When the plan began, and how many requests had been answered then.
    plan: Option<(Instant, u64)>,
    cost: Option<Cost>,
    reported: Option<Estimate>,
}

impl<'a> Forecast<'a> {
    /// A forecast based on the profile of the target.
    pub(crate) fn new(settings: &'a Settings, suite: &'a Suite, started: Instant) -> Self {
        Self {
            settings,
            started,
            suite,
            context: settings.profile.expected().with_chain(suite.chain.is_some()),
            before: 0,
            plan: None,
            cost: None,
            reported: None,
        }
    }

    /// Takes over what discovery learned about the target with `before` requests.
    pub(crate) fn learn(&mut self, context: &Arc<dyn Knowledge>, before: usize) {
        self.context = Arc::clone(context);
        self.before = before;
        self.cost = None;
    }

    /// The plan begins: from now on, answers tell how fast the target is.
    pub(crate) fn begin_plan(&mut self, pace: &Pace) {
        self.plan = Some((Instant::now(), pace.answers()));
    }

    /// The time between two answers of the plan.
    fn measured(&self, pace: &Pace) -> Option<Duration> {
        let (begun, before) = self.plan?;
        let answered = u32::try_from(pace.answers() - before).ok()?.max(1);
        Some(begun.elapsed()).filter(|elapsed| *elapsed >= SETTLED).map(|elapsed| elapsed / answered)
    }

    /// When the depth of the plan ends.
    pub(crate) fn depth_ends(&self) -> Instant {
        self.started + of_plan(self.budget())
    }

    /// When the whole run ends, of which the plan is over now: what is kept for confirming is kept, however long the plan took.
    pub(crate) fn ends(&self) -> Instant {
        let budget = self.budget();
        (self.started + budget).max(Instant::now() + budget / 3)
    }

    fn budget(&self) -> Duration {
        let stated = self.settings.budget.unwrap_or(self.settings.args.time_limit());
        self.reported.as_ref().filter(|last| !last.too_long).map_or(stated, |last| last.time_limit)
    }

    /// The estimate to report: the first one after a rate limit is known, or that of a target that is too slow for the whole depth; and each
    /// later one that differs much from the last, with the reason.
    pub(crate) async fn update(&mut self, pace: &Pace) -> Option<Estimate> {
        let limit = pace.known_interval();
        let mut estimate = self.at(limit.or_else(|| self.measured(pace))?).await?;
        if limit.or(self.reported.as_ref().map(|last| last.interval)).is_none() && !estimate.shortened {
            return None;
        }
        if let Some(last) = &self.reported {
            let is_slower = estimate.interval >= last.interval.saturating_mul(SLOWER);
            let is_other = estimate.requests.abs_diff(last.requests) * CHANGED > last.requests;
            estimate.revised = match (is_slower, is_other) {
                (true, _) => Some("the target takes fewer requests a second than expected"),
                (false, true) => Some("the target supports other features than expected"),
                (false, false) => return None,
            };
        }
        Some(self.reported.insert(estimate).clone())
    }

    /// The estimate for a run with this time between two requests.
    pub(crate) async fn at(&mut self, interval: Duration) -> Option<Estimate> {
        let (settings, before) = (self.settings, self.before);
        let (seed, cases) = (settings.seed(), settings.args.cases());
        if self.cost.is_none() {
            let (context, suite) = (Arc::clone(&self.context), self.suite.clone());
            let building =
                tokio::task::spawn_blocking(move || Cost::of(&suite, &*context, seed, cases, before));
            self.cost = building.await.ok();
        }
        let cost = self.cost.as_ref()?;
        Some(cost.estimate(settings.args.max_requests, interval, settings.budget, settings.args.time_limit()))
    }
}

/// The number of cases that a longer plan is estimated from.
const SAMPLE: u32 = DEFAULT_CASES;

/// From this time on, a run whose budget is not stated is a quick one.
const LONG: Duration = Duration::from_mins(2);

/// The longest time limit that the command line accepts.
const LONGEST: Duration = Duration::from_hours(24);

/// The part of a budget that the plan may take, discovery included. The rest is kept for confirming findings and searching their causes.
pub(crate) fn of_plan(budget: Duration) -> Duration {
    budget * 2 / 3
}

/// How many requests a run sends, those before the plan included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Until every rule was exercised.
    first: u64,
    /// Until the end of the plan.
    all: u64,
}

impl Cost {
    /// The cost of a run whose plan has `cases` cases and whose discovery sent `before` requests.
    pub(crate) fn of(suite: &Suite, context: &dyn Knowledge, seed: u64, cases: u32, before: usize) -> Self {
        let (mut first, mut all) = (0, 0);
        for group in suite.groups(context, seed, cases.min(SAMPLE)) {
            let requests = group.members.len() as u64;
            all += requests;
            first += if group.is_depth { 0 } else { requests };
        }
        let depth = (all - first) * u64::from(cases) / u64::from(cases.min(SAMPLE));
        let first = first + before as u64;
        Self { first, all: first + depth }
    }

    /// Estimates a run of at most `most` requests within this time limit. Without a stated budget, a long run is a quick one.
    pub(crate) fn estimate(
        self,
        most: Option<usize>,
        interval: Duration,
        budget: Option<Duration>,
        time_limit: Duration,
    ) -> Estimate {
        let within = |requests: u64| most.map_or(requests, |most| requests.min(most as u64));
        let time = |requests| interval.saturating_mul(u32::try_from(within(requests)).unwrap_or(u32::MAX));
        let fits = |requests, budget| time(requests) <= of_plan(budget);
        let quick = if time(self.all) > LONG { QUICK.min(time_limit) } else { time_limit };
        let budget = budget.unwrap_or(quick);
        let too_long = !fits(self.first, time_limit);
        let shortened = !fits(self.all, budget);
        let wanted = time(if too_long { self.first } else { self.all });
        let enough = rounded_up(wanted.saturating_add(wanted / 2));
        Estimate {
            interval,
            requests: within(self.all),
            takes: time(self.all),
            // What exercises every rule is sent whatever the budget is.
            time_limit: if too_long { time_limit } else { budget.max(time(self.first)) },
            shortened,
            too_long,
            enough: Some(enough).filter(|enough| shortened && *enough <= LONGEST),
            revised: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paymaster_engine::cases::plan::Plan;
    use paymaster_fee_quote::SPECIFICATION;
    use paymaster_settings::DEFAULT_SPECIFICATION;
    use std::sync::Arc;

    const LIMIT: Duration = Duration::from_mins(5);

    fn context() -> Arc<dyn Knowledge> {
        SPECIFICATION.unknown().expected()
    }

    fn cost() -> Cost {
        Cost::of(&Suite::of(DEFAULT_SPECIFICATION), &*context(), 1, DEFAULT_CASES, 30)
    }

    #[test]
    fn the_cost_of_a_plan_is_what_it_sends() {
        let context = context();
        let groups = Plan::new(&*context, 1, DEFAULT_CASES);
        let real = 30 + groups.map(|group| group.members.len() as u64).sum::<u64>();
        assert_eq!(cost().all, real);
        assert!(cost().first * 5 < real, "{:?}", cost());
    }

    #[test]
    fn a_budget_has_every_rule_first_and_what_fits_is_named() {
        let estimate =
            |millis, most, budget| cost().estimate(most, Duration::from_millis(millis), budget, LIMIT);
        // 20 requests a second: longer than two minutes, so that it is a quick run unless its budget is stated.
        let slow = estimate(50, None, None);
        assert_eq!((slow.shortened, slow.too_long, slow.time_limit), (true, false, QUICK), "{slow}");
        let whole = slow.enough.unwrap();
        assert!(!cost().estimate(None, slow.interval, Some(whole), whole).shortened);
        assert_eq!(estimate(50, None, Some(LIMIT)).time_limit, LIMIT);
        let fast = estimate(10, None, None);
        assert_eq!((fast.shortened, fast.too_long, fast.enough), (false, false, None), "{fast}");
        assert!(!estimate(50, Some(500), Some(LIMIT)).shortened, "a budget of requests bounds the time");
        let hopeless = estimate(2_000, None, None);
        assert!(hopeless.too_long, "{hopeless}");
        // What is named as long enough is longer than the limit, and every rule fits into it.
        let enough = hopeless.enough.unwrap();
        let within_enough = cost().estimate(None, hopeless.interval, Some(enough), enough);
        assert!(enough > LIMIT && !within_enough.too_long, "{hopeless}: {within_enough}");
        assert_eq!(estimate(200_000, None, None).enough, None);
    }

    #[test]
    fn a_new_estimate_begins_with_its_reason() {
        let first = cost().estimate(None, Duration::from_millis(50), None, LIMIT);
        let reason = "the target takes fewer requests a second than expected";
        let second = Estimate { revised: Some(reason), ..first.clone() };
        let words = second.to_string();
        assert_eq!(words, format!("new estimate, because {reason}: {first}"));
        assert!(words.contains("expected: at 20 requests a second, about "), "{words}");
    }
}
