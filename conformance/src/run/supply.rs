//! The supply of groups: made on a thread of their own while the workers send, a bounded number of them ahead.

use std::sync::Arc;

use tokio::{
    sync::{Mutex, mpsc},
    task::JoinHandle,
};

use crate::run::Suite;
use paymaster_judge::{cases::case::Group, target::context::Context};

/// How many groups are handed over at a time: waking the other side for each of them would cost more than making it.
const BATCH: usize = 32;

/// How many batches are made ahead of the workers: enough that nobody waits, few enough to be no memory.
const AHEAD: usize = 8;

/// Groups in the order of the plan, for whoever asks next.
pub(crate) struct Supply(Mutex<Stock>);

struct Stock {
    batches: mpsc::Receiver<Vec<Arc<Group>>>,
    open: std::vec::IntoIter<Arc<Group>>,
}

impl Supply {
    /// Starts to make the groups of a plan, in `budget` requests: the plan ends at the first group that does not fit, so that
    /// the cases are the same whatever the concurrency. The task says whether it ended so; it also ends when nobody takes
    /// groups any more.
    pub(crate) fn start(
        suite: &Suite,
        context: &Arc<Context>,
        seed: u64,
        cases: u32,
        budget: usize,
    ) -> (Self, JoinHandle<bool>) {
        let (ready, taken) = mpsc::channel(AHEAD);
        let (plan, context, shelf) = (suite.plan, Arc::clone(context), suite.shelf.clone());
        let making = tokio::task::spawn_blocking(move || {
            let kept = shelf.as_ref().and_then(|shelf| shelf.find(&context, seed, cases));
            let shelf = shelf.filter(|_| kept.is_none());
            let groups: Box<dyn Iterator<Item = Arc<Group>>> = match &kept {
                Some(groups) => Box::new(groups.iter().cloned()),
                None => Box::new(plan(&context, seed, cases).map(Arc::new)),
            };
            let (mut left, mut cut) = (budget, false);
            let (mut batch, mut whole) = (Vec::new(), Vec::new());
            for group in groups {
                let Some(rest) = left.checked_sub(group.members.len()) else {
                    cut = true;
                    break;
                };
                left = rest;
                if shelf.is_some() {
                    whole.push(Arc::clone(&group));
                }
                batch.push(group);
                if batch.len() == BATCH && ready.blocking_send(std::mem::take(&mut batch)).is_err() {
                    return false;
                }
            }
            // Nobody takes the last ones when the run is over.
            let _ = ready.blocking_send(batch);
            if let Some(shelf) = shelf.filter(|_| !cut) {
                shelf.keep(&context, seed, cases, whole);
            }
            cut
        });
        let stock = Stock {
            batches: taken,
            open: Vec::new().into_iter(),
        };
        (Self(Mutex::new(stock)), making)
    }

    /// The next group; none when the plan is done.
    pub(crate) async fn next(&self) -> Option<Arc<Group>> {
        let mut stock = self.0.lock().await;
        loop {
            if let Some(group) = stock.open.next() {
                return Some(group);
            }
            stock.open = stock.batches.recv().await?.into_iter();
        }
    }

    /// Nobody takes groups any more.
    pub(crate) async fn close(&self) {
        self.0.lock().await.batches.close();
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Shelf, *};
    use paymaster_judge::cases::plan::plan;

    const CASES: u32 = 4;

    fn start(budget: usize) -> (Supply, JoinHandle<bool>) {
        Supply::start(&Suite::standard(), &Arc::default(), 1, CASES, budget)
    }

    async fn drain(supply: &Supply) -> Vec<Arc<Group>> {
        let mut groups = Vec::new();
        while let Some(group) = supply.next().await {
            groups.push(group);
        }
        groups
    }

    #[tokio::test]
    async fn it_supplies_the_plan() {
        let (supply, making) = start(usize::MAX);
        let supplied = drain(&supply).await;
        assert!(!making.await.unwrap());
        let planned = plan(&Context::default(), 1, CASES);
        assert_eq!(supplied.len(), planned.len());
        for (supplied, planned) in supplied.iter().zip(&planned) {
            assert_eq!(supplied.number, planned.number);
            assert_eq!(supplied.name(), planned.name());
            assert_eq!(supplied.members, planned.members);
        }
    }

    #[tokio::test]
    async fn what_stands_on_the_shelf_is_not_made_again() {
        let shelf = Arc::new(Shelf::default());
        let suite = Suite {
            shelf: Some(Arc::clone(&shelf)),
            ..Suite::standard()
        };
        let context: Arc<Context> = Arc::default();
        let start = |budget| Supply::start(&suite, &context, 1, CASES, budget);
        let (supply, making) = start(20);
        drain(&supply).await;
        assert!(making.await.unwrap());
        assert!(shelf.find(&context, 1, CASES).is_none(), "a part is no plan");

        let mut suppliers = Vec::new();
        for _ in 0..2 {
            let (supply, making) = start(usize::MAX);
            suppliers.push(drain(&supply).await);
            assert!(!making.await.unwrap());
        }
        assert_eq!(suppliers[0].len(), plan(&context, 1, CASES).len());
        assert_eq!(suppliers[0].len(), suppliers[1].len());
        for (first, second) in suppliers[0].iter().zip(&suppliers[1]) {
            assert!(Arc::ptr_eq(first, second));
        }

        let (supply, making) = start(20);
        let part = drain(&supply).await;
        assert!(making.await.unwrap(), "the budget holds for what was made before");
        assert!(Arc::ptr_eq(&part[0], &suppliers[0][0]));
    }

    #[tokio::test]
    async fn it_ends_where_the_budget_does() {
        let planned = plan(&Context::default(), 1, CASES);
        let planned: Vec<Arc<Group>> = planned.into_iter().map(Arc::new).collect();
        let all: usize = planned.iter().map(|group| group.members.len()).sum();
        let requests = |groups: &[Arc<Group>]| groups.iter().map(|group| group.members.len()).sum::<usize>();
        for (budget, cut) in [(0, true), (20, true), (all - 1, true), (all, false)] {
            let (supply, making) = start(budget);
            let supplied = drain(&supply).await;
            assert_eq!(making.await.unwrap(), cut, "{budget}");
            assert!(requests(&supplied) <= budget);
            let next = planned.get(supplied.len());
            assert!(next.is_none_or(|next| requests(&supplied) + next.members.len() > budget));
        }
    }

    #[tokio::test]
    async fn it_ends_when_nobody_takes() {
        let (supply, making) =
            Supply::start(&Suite::standard(), &Arc::default(), 1, u32::MAX / 100, usize::MAX);
        assert_eq!(supply.next().await.unwrap().number, 0);
        supply.close().await;
        assert!(!making.await.unwrap());

        let (supply, making) =
            Supply::start(&Suite::standard(), &Arc::default(), 1, u32::MAX / 100, usize::MAX);
        drop(supply);
        assert!(!making.await.unwrap());
    }
}
