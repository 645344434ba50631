//! Estimates how long a run takes, once a rate limit is known.

use std::{sync::Arc, time::Duration};

use paymaster_client::pace::Pace;
use paymaster_engine::knowledge::Knowledge;
use paymaster_settings::Settings;
use tokio::time::Instant;

use crate::{
    estimate::Estimate,
    run::{
        Suite,
        planning::cost::{Cost, of_plan},
    },
};

/// A new estimate is reported when the time between requests is this many times the reported one.
const SLOWER: u32 = 2;

/// It is also reported when the number of requests has changed by more than one part in this many; less is no contradiction.
const CHANGED: u64 = 4;

/// Makes the estimates of one run.
pub(crate) struct Forecast<'a> {
    settings: &'a Settings,
    /// When the run started.
    pub(crate) started: Instant,
    suite: &'a Suite,
    context: Arc<dyn Knowledge>,
    /// Requests that were sent before the plan.
    before: usize,
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

    /// When the depth of the plan ends.
    pub(crate) fn depth_ends(&self) -> Instant {
        let stated = self.settings.budget.unwrap_or(self.settings.time_limit);
        let budget =
            self.reported.as_ref().filter(|last| !last.too_long).map_or(stated, |last| last.time_limit);
        self.started + of_plan(budget)
    }

    /// What is known about the target.
    pub(crate) fn context(&self) -> Arc<dyn Knowledge> {
        Arc::clone(&self.context)
    }

    /// The estimate to report: the first one after a rate limit is known, and each later one that differs much from the last, with the
    /// reason.
    pub(crate) async fn update(&mut self, pace: &Pace) -> Option<Estimate> {
        let mut estimate = self.at(pace.known_interval()?).await?;
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
        let (seed, cases) = (settings.seed, settings.cases);
        if self.cost.is_none() {
            let (context, suite) = (Arc::clone(&self.context), self.suite.clone());
            let building =
                tokio::task::spawn_blocking(move || Cost::of(&suite, &*context, seed, cases, before));
            self.cost = building.await.ok();
        }
        let cost = self.cost.as_ref()?;
        Some(cost.estimate(settings.max_requests, interval, settings.budget, settings.time_limit))
    }
}
