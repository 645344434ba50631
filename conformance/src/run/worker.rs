//! A worker: takes groups from the plan, has them delivered, judges the answers and counts.

use std::{
    collections::{BTreeMap, BTreeSet},
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::run::{
    Suite,
    courier::{Courier, Undelivered},
    supply::Supply,
    vitals,
};
use paymaster_exchange::Exchange;
use paymaster_judge::{
    cases::case::Group,
    rules::Rule,
    session::{
        judge::{self, Judge},
        tally::Tally,
        unread::Unread,
    },
    target::context::Context,
};

/// What the workers share.
pub(crate) struct Work {
    pub(crate) courier: Arc<Courier>,
    pub(crate) judge: Judge,
    pub(crate) suite: Suite,
    pub(crate) context: Arc<Context>,
    pub(crate) groups: Supply,
    pub(crate) done: AtomicUsize,
    pub(crate) broken: Mutex<BTreeSet<&'static str>>,
}

/// What one worker brings home.
#[derive(Default)]
pub(crate) struct Yield {
    pub(crate) tally: Tally,
    /// Groups that were not judged because answers stayed away, by the reason.
    pub(crate) unjudged: BTreeMap<String, usize>,
    /// What came back and tells nothing of the service.
    pub(crate) unread: Unread,
    /// Groups in which an answer stayed away: judged at the end, when it is known whether the target was still there.
    suspects: Vec<Suspect>,
}

struct Suspect {
    group: Arc<Group>,
    exchanges: Vec<Exchange>,
    stamp: u64,
}

impl Work {
    /// Works until the plan is done or the run is over.
    pub(crate) async fn run(self: Arc<Self>) -> Yield {
        let mut home = Yield::default();
        let stop = self.courier.stop.clone();
        let mut stopped = pin!(stop.stopped());
        // What is under way is judged to its end, so that the verdict stands on something.
        while self.courier.vitals.hopeless().is_none() {
            let next = async {
                let group = self.groups.next().await?;
                let share = self.courier.share();
                let delivered = self.courier.deliver_within(&group, &share).await;
                Some((group, delivered, share))
            };
            let next = tokio::select! {
                biased;
                () = &mut stopped => return home,
                next = next => next,
            };
            // The share is held until the answers are judged.
            let Some((group, delivered, _share)) = next else {
                return home;
            };
            self.done.fetch_add(1, Ordering::Relaxed);
            match delivered {
                Ok(exchanges) if exchanges.iter().all(vitals::is_answered) => {
                    self.judge(&mut home, &group, &exchanges);
                }
                Ok(exchanges) => home.suspects.push(Suspect {
                    group,
                    exchanges,
                    stamp: self.courier.vitals.now(),
                }),
                Err(Undelivered::Stopped) => return home,
                Err(undelivered) => *home.unjudged.entry(undelivered.to_string()).or_default() += 1,
            }
        }
        home
    }

    /// Judges what was set aside, now that it is known when the target died, if it did.
    pub(crate) fn settle(&self, home: &mut Yield, died: bool) {
        for suspect in std::mem::take(&mut home.suspects) {
            if died
                && self
                    .courier
                    .vitals
                    .is_after_death(suspect.stamp, self.courier.jobs())
            {
                *home
                    .unjudged
                    .entry("the target stopped answering".to_owned())
                    .or_default() += 1;
            } else {
                self.judge(home, &suspect.group, &suspect.exchanges);
            }
        }
    }

    fn judge(&self, home: &mut Yield, group: &Group, exchanges: &[Exchange]) {
        if self.judge.rules().is_empty() {
            return;
        }
        let views = judge::read(group, exchanges, &self.context);
        if !home.unread.lets_judge(&views) {
            return;
        }
        let tally = &mut home.tally;
        let judgements = self.judge.views(&views, Some(group), &self.context);
        (self.suite.observe)(&views, &self.context, &mut tally.observations);
        for rule in tally.add(group, exchanges, &views, judgements) {
            self.broken
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(rule.id);
        }
    }

    /// The rules that were seen broken so far and are not in `told`.
    pub(crate) fn newly_broken(&self, told: &BTreeSet<&'static str>) -> Vec<&'static Rule> {
        let broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        let rules = self.judge.rules().iter().copied();
        rules
            .filter(|rule| broken.contains(rule.id) && !told.contains(rule.id))
            .collect()
    }
}
