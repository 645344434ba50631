//! A worker: takes groups from the plan, has them delivered, judges the answers and counts.

use std::{
    collections::BTreeSet,
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::run::{
    courier::{Courier, Undelivered},
    supply::Supply,
    vitals,
};
use paymaster_exchange::Exchange;
use paymaster_judge::{cases::case::Group, rules::Rule, session::Session};

/// What the workers share.
pub(crate) struct Work {
    pub(crate) courier: Arc<Courier>,
    /// A session without counts: each worker judges in a copy of it.
    pub(crate) session: Session,
    pub(crate) groups: Supply,
    /// How many groups were sent.
    pub(crate) done: AtomicUsize,
    /// Rules that were seen broken.
    pub(crate) broken: Mutex<BTreeSet<&'static str>>,
}

/// What one worker judged.
pub(crate) struct Judged {
    pub(crate) session: Session,
    /// Groups in which an answer is missing: they are judged when it is known whether the target had stopped answering.
    unanswered: Vec<Suspect>,
}

struct Suspect {
    group: Arc<Group>,
    exchanges: Vec<Exchange>,
    stamp: u64,
}

impl Work {
    /// Works until the plan is done or the run is over.
    pub(crate) async fn run(self: Arc<Self>) -> Judged {
        let mut judged = Judged {
            session: self.session.clone(),
            unanswered: Vec::new(),
        };
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
                () = &mut stopped => return judged,
                next = next => next,
            };
            // The share is held until the answers are judged.
            let Some((group, delivered, _share)) = next else {
                return judged;
            };
            self.done.fetch_add(1, Ordering::Relaxed);
            match delivered {
                Ok(exchanges) if exchanges.iter().all(vitals::is_answered) => {
                    self.judge(&mut judged.session, &group, &exchanges);
                }
                Ok(exchanges) => judged.unanswered.push(Suspect {
                    group,
                    exchanges,
                    stamp: self.courier.vitals.now(),
                }),
                Err(Undelivered::Stopped) => return judged,
                Err(undelivered) => judged.session.leave_out(undelivered.to_string()),
            }
        }
        judged
    }

    /// Judges the groups in which an answer is missing. Where the target stopped answering, those at its end are left out.
    pub(crate) fn settle(&self, judged: Judged, stopped_answering: bool) -> Session {
        let mut session = judged.session;
        for suspect in judged.unanswered {
            let vitals = &self.courier.vitals;
            if stopped_answering && vitals.is_after_death(suspect.stamp, self.courier.jobs()) {
                session.leave_out("the target stopped answering".to_owned());
            } else {
                self.judge(&mut session, &suspect.group, &suspect.exchanges);
            }
        }
        session
    }

    fn judge(&self, session: &mut Session, group: &Group, exchanges: &[Exchange]) {
        let new = session.judge(group, exchanges);
        if !new.is_empty() {
            let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
            broken.extend(new.iter().map(|new| new.rule.id));
        }
    }

    /// The rules that were seen broken so far and are not in `told`.
    pub(crate) fn newly_broken(&self, told: &BTreeSet<&'static str>) -> Vec<&'static Rule> {
        let broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        let rules = self.session.rules().iter().copied();
        rules
            .filter(|rule| broken.contains(rule.id) && !told.contains(rule.id))
            .collect()
    }
}
