//! Plans that were made before. A plan depends on context, seed and number of cases alone: runs against many servers of which
//! the same is known can share one.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use paymaster_judge::{cases::case::Group, target::context::Context};

/// How many plans are kept: those asked for last. A plan takes tens of megabytes.
const KEPT: usize = 3;

/// Whole plans, for the runs of one suite.
#[derive(Default)]
pub struct Shelf(Mutex<Vec<Made>>);

#[derive(Clone)]
struct Made {
    made_of: (Arc<Context>, u64, u32),
    groups: Arc<[Arc<Group>]>,
}

impl Shelf {
    /// The groups of that plan, when it is here.
    pub(crate) fn find(&self, context: &Arc<Context>, seed: u64, cases: u32) -> Option<Arc<[Arc<Group>]>> {
        let mut kept = self.lock();
        let made_of = (Arc::clone(context), seed, cases);
        let place = kept.iter().position(|made| made.made_of == made_of)?;
        kept[place..].rotate_left(1);
        kept.last().map(|made| Arc::clone(&made.groups))
    }

    /// Keeps a whole plan.
    pub(crate) fn keep(&self, context: &Arc<Context>, seed: u64, cases: u32, groups: Vec<Arc<Group>>) {
        let mut kept = self.lock();
        let made_of = (Arc::clone(context), seed, cases);
        // Another run may have made the same meanwhile.
        kept.retain(|made| made.made_of != made_of);
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push(Made {
            made_of,
            groups: groups.into(),
        });
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Made>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shelf").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paymaster_judge::cases::plan::plan;

    fn made(seed: u64) -> Vec<Arc<Group>> {
        plan(&Context::default(), seed, 1)
            .into_iter()
            .map(Arc::new)
            .collect()
    }

    #[test]
    fn what_was_asked_for_last_stays() {
        let shelf = Shelf::default();
        let context = Arc::default();
        let holds = |seed: u64| shelf.find(&context, seed, 1).is_some();
        let groups = made(1);
        for seed in 1..=3 {
            shelf.keep(&context, seed, 1, groups.clone());
        }
        assert!(holds(1));
        shelf.keep(&context, 4, 1, groups.clone());
        assert!(!holds(2), "it was not asked for");
        assert!(holds(1) && holds(3) && holds(4));
        shelf.keep(&context, 4, 1, groups);
        assert!(
            holds(1) && holds(3) && holds(4),
            "the same plan stands there once"
        );
    }

    #[test]
    fn another_context_or_length_is_another_plan() {
        let shelf = Shelf::default();
        let context: Arc<Context> = Arc::default();
        shelf.keep(&context, 1, 1, made(1));
        let asking = Arc::new(Context::default().asking_a_chain(true));
        assert!(shelf.find(&asking, 1, 1).is_none());
        assert!(shelf.find(&context, 1, 2).is_none());
        assert!(shelf.find(&context, 2, 1).is_none());
        assert!(shelf.find(&Arc::new(Context::default()), 1, 1).is_some());
    }
}
