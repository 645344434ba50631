//! A worker of a run: takes groups from the queue, sends them and judges the answers.

use std::{
    collections::BTreeSet,
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::run::{
    fail_fast::FailFast,
    planning::group_queue::GroupQueue,
    sending::{
        liveness::is_answered,
        sender::{DeliveryError, Sender},
    },
};
use paymaster_exchange::Exchange;
use paymaster_judge::{
    cases::case::Group,
    rules::Rule,
    session::{Session, tally::NewlyBroken},
};

/// What all workers of a run share.
pub(crate) struct Work {
    pub(crate) sender: Arc<Sender>,
    /// An empty session: each worker judges in a clone of it.
    pub(crate) session: Session,
    pub(crate) groups: GroupQueue,
    /// How many groups were sent.
    pub(crate) done: AtomicUsize,
    /// The ids of broken rules.
    pub(crate) broken: Mutex<BTreeSet<&'static str>>,
    /// Where the run ends at its first confirmed violation.
    pub(crate) fail_fast: Option<FailFast>,
}

/// The results of one worker.
pub(crate) struct Judged {
    pub(crate) session: Session,
    /// Groups with a missing answer. They are judged at the end, when it is known whether the target had stopped answering.
    unanswered: Vec<UnansweredGroup>,
}

struct UnansweredGroup {
    group: Arc<Group>,
    exchanges: Vec<Exchange>,
    stamp: u64,
}

impl Work {
    /// Sends and judges groups until the queue is empty or the run is stopped.
    pub(crate) async fn run(self: Arc<Self>) -> Judged {
        let mut judged = Judged {
            session: self.session.clone(),
            unanswered: Vec::new(),
        };
        let stop = self.sender.stop.clone();
        let mut stopped = pin!(stop.stopped());
        while self.sender.liveness.hopeless().is_none() && !self.is_over() {
            let next = async {
                let group = self.groups.next().await?;
                let mut share = self.sender.share();
                let delivered = self.sender.deliver_within(&group, &mut share).await;
                Some((group, delivered, share))
            };
            let next = tokio::select! {
                biased;
                () = &mut stopped => return judged,
                next = next => next,
            };
            // The share is held until the answers are judged.
            let Some((group, delivered, share)) = next else {
                return judged;
            };
            self.done.fetch_add(1, Ordering::Relaxed);
            match delivered {
                Ok(exchanges) if exchanges.iter().all(is_answered) => {
                    let new = self.judge(&mut judged.session, &group, &exchanges);
                    drop((exchanges, share));
                    if let Some(fail_fast) = &self.fail_fast {
                        fail_fast.confirm(&self.sender, &group, new).await;
                    }
                }
                Ok(exchanges) => judged.unanswered.push(UnansweredGroup {
                    group,
                    exchanges,
                    stamp: self.sender.liveness.last_stamp(),
                }),
                Err(DeliveryError::Stopped) => return judged,
                Err(cause) => judged.session.leave_out(cause.to_string()),
            }
        }
        judged
    }

    /// Judges the groups with a missing answer. Where the target stopped answering, those after its last answer are left out.
    pub(crate) fn settle(&self, judged: Judged, stopped_answering: bool) -> Session {
        let mut session = judged.session;
        for unanswered in judged.unanswered {
            let liveness = &self.sender.liveness;
            if stopped_answering && liveness.is_after_last_answer(unanswered.stamp, self.sender.jobs()) {
                session.leave_out("the target stopped answering".to_owned());
            } else {
                self.judge(&mut session, &unanswered.group, &unanswered.exchanges);
            }
        }
        session
    }

    fn judge(&self, session: &mut Session, group: &Group, exchanges: &[Exchange]) -> Vec<NewlyBroken> {
        let new = session.judge(group, exchanges);
        if !new.is_empty() {
            let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
            broken.extend(new.iter().map(|new| new.rule.id));
        }
        new
    }

    /// Whether a violation was confirmed that ends the run.
    pub(crate) fn is_over(&self) -> bool {
        self.fail_fast.as_ref().is_some_and(FailFast::is_over)
    }

    /// The rules that are broken so far and not in `reported`.
    pub(crate) fn newly_broken(&self, reported: &BTreeSet<&'static str>) -> Vec<&'static Rule> {
        let broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        let rules = self.session.rules().iter().copied();
        rules
            .filter(|rule| broken.contains(rule.id) && !reported.contains(rule.id))
            .collect()
    }
}
