//! Lines of the profile that the target contradicts from its first answer on: a supported token that is never served, a sponsorable
//! operation that is never sponsored. The profile or the target is wrong; the rules cannot tell which.

use std::collections::BTreeMap;

use crate::{knowledge::Knowledge, rules::View, verdict::summary::Contradiction};

/// How often the target kept what lines of the profile promise, and how often it did not, by the list and the place in it. In the order
/// in which profiles have these lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptPromises(BTreeMap<(std::cmp::Reverse<&'static str>, usize), Count>);

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    kept: u64,
    broken: u64,
}

impl KeptPromises {
    /// Adds an answer.
    pub(crate) fn see(&mut self, view: &View<'_>, knowledge: &dyn Knowledge) {
        knowledge.kept_lines(view, &mut |list, place, is_kept| {
            let count = self.0.entry((std::cmp::Reverse(list), place)).or_default();
            count.kept += u64::from(is_kept);
            count.broken += u64::from(!is_kept);
        });
    }

    /// Adds the counts of another part of the run.
    pub(crate) fn merge(&mut self, other: Self) {
        for (line, count) in other.0 {
            let own = self.0.entry(line).or_default();
            own.kept += count.kept;
            own.broken += count.broken;
        }
    }

    /// The lines that were never kept, in the order of the profile.
    pub(crate) fn contradictions(&self) -> Vec<Contradiction> {
        let never = self.0.iter().filter(|(_, count)| count.kept == 0 && count.broken > 0);
        never
            .map(|((list, place), count)| Contradiction {
                line: format!("{}[{place}]", list.0),
                times: count.broken,
            })
            .collect()
    }
}
