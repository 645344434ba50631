//! The forecast of a run: how long it takes, told once a rate limit is known.

use std::{sync::Arc, time::Duration};

use crate::estimate::{Cost, Estimate, expected};
use crate::run::Suite;
use paymaster_cli::settings::Settings;
use paymaster_client::pace::Pace;
use paymaster_judge::target::context::Context;

/// An estimate is told again when requests leave so many times more slowly than it was made for.
const SLOWER: u32 = 2;

/// It is also told again when the number of requests has changed by more than one part in so many.
const CHANGED: u64 = 10;

/// Makes the estimates of one run.
pub(crate) struct Forecast<'a> {
    settings: &'a Settings,
    suite: &'a Suite,
    context: Arc<Context>,
    /// Requests that were sent before the plan.
    before: usize,
    cost: Option<Cost>,
    told: Option<Estimate>,
}

impl<'a> Forecast<'a> {
    /// A forecast from what the profile says of the target.
    pub(crate) fn new(settings: &'a Settings, suite: &'a Suite) -> Self {
        let context = expected(Context::new(settings.profile.clone()));
        Self {
            settings,
            suite,
            context: Arc::new(context.asking_a_chain(suite.chain.is_some())),
            before: 0,
            cost: None,
            told: None,
        }
    }

    /// From here on, more is known of the target; `before` requests were sent to learn it.
    pub(crate) fn learn(&mut self, context: &Arc<Context>, before: usize) {
        self.context = Arc::clone(context);
        self.before = before;
        self.cost = None;
    }

    /// What is known of the target.
    pub(crate) fn context(&self) -> Arc<Context> {
        Arc::clone(&self.context)
    }

    /// The estimate to tell: the first one when a rate limit is known, and another one when it differs much from what was told.
    pub(crate) async fn news(&mut self, pace: &Pace) -> Option<Estimate> {
        let estimate = self.at(pace.interval()?).await?;
        let is_new = self.told.as_ref().is_none_or(|told| {
            estimate.interval >= told.interval.saturating_mul(SLOWER)
                || estimate.requests.abs_diff(told.requests) * CHANGED > told.requests
        });
        is_new.then(|| self.told.insert(estimate).clone())
    }

    /// How long the run takes with that time between two requests.
    pub(crate) async fn at(&mut self, interval: Duration) -> Option<Estimate> {
        let (settings, plan, before) = (self.settings, self.suite.plan, self.before);
        let (seed, cases) = (settings.seed, settings.cases);
        if self.cost.is_none() {
            let context = Arc::clone(&self.context);
            let making = tokio::task::spawn_blocking(move || Cost::of(plan, &context, seed, cases, before));
            self.cost = making.await.ok();
        }
        let cost = self.cost.as_ref()?;
        let (budget, limit) = (settings.max_requests, settings.time_limit);
        Some(Estimate::of(cost, cases, budget, interval, limit))
    }
}
