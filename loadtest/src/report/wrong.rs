//! Wrong answers, grouped: the kinds that one defect most likely causes stand together, with a few examples.

use std::collections::BTreeSet;

use crate::figures::WrongAnswers;
use crate::text::{count, share};

/// Most examples of a group that are shown.
pub(super) const EXAMPLES: usize = 3;

/// Wrong answers that break one rule at the same place, or that lack the same.
pub(super) struct WrongGroup<'a> {
    /// The rule that they break.
    pub(super) rule: &'a str,
    /// How many answers break it.
    pub(super) times: u64,
    /// The kinds, by scenario and place: first the one whose example has the shortest request, then the most frequent ones.
    pub(super) kinds: Vec<&'a WrongAnswers>,
}

impl WrongGroup<'_> {
    fn takes(&self, wrong: &WrongAnswers) -> bool {
        let same = |own: &&WrongAnswers| {
            own.key.pointer == wrong.key.pointer || own.example.expected == wrong.example.expected
        };
        self.rule == wrong.key.rule && self.kinds.iter().any(same)
    }

    /// The kinds of which an example is shown.
    pub(super) fn examples(&self) -> &[&WrongAnswers] {
        &self.kinds[..self.kinds.len().min(EXAMPLES)]
    }

    /// The rule, where it is broken, and how often: of so many judged answers.
    pub(super) fn headline(&self, judged: u64) -> String {
        let (answers, share) = (count(self.times, "answer"), share(self.times, judged));
        format!("{} in {}: {answers} ({share} of judged answers)", self.rule, self.labels().join(", "))
    }

    /// How many kinds are not shown.
    pub(super) fn hidden(&self) -> u64 {
        (self.kinds.len() - self.examples().len()) as u64
    }

    /// The scenarios and steps, each once, in the order of the kinds.
    pub(super) fn labels(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let labels = self.kinds.iter().map(|kind| kind.key.label.as_str());
        labels.filter(|label| seen.insert(*label)).collect()
    }
}

/// The groups, the most frequent first.
pub(super) fn groups(wrong: &[WrongAnswers]) -> Vec<WrongGroup<'_>> {
    let mut groups: Vec<WrongGroup<'_>> = Vec::new();
    for kind in wrong {
        match groups.iter_mut().find(|group| group.takes(kind)) {
            Some(group) => {
                group.times += kind.times;
                group.kinds.push(kind);
            }
            None => groups.push(WrongGroup { rule: &kind.key.rule, times: kind.times, kinds: vec![kind] }),
        }
    }
    for group in &mut groups {
        let smallest = (0..group.kinds.len()).min_by_key(|place| group.kinds[*place].example.request.len());
        group.kinds[..=smallest.unwrap_or_default()].rotate_right(1);
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.times));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{Example, WrongKey};

    fn kind(rule: &str, label: &str, pointer: &str, expected: &str, times: u64) -> WrongAnswers {
        WrongAnswers {
            key: WrongKey { rule: rule.to_owned(), label: label.to_owned(), pointer: pointer.to_owned() },
            times,
            example: Example { expected: expected.to_owned(), ..Example::default() },
        }
    }

    #[test]
    fn one_defect_is_one_group_with_three_examples() {
        let mut wrong = vec![kind("b", "q", "/x", "another", 50)];
        for n in 0..6 {
            // The same place with other words, and another place with the same words.
            wrong.push(kind("a", &format!("l{}", n % 4), "/id", &format!("{n}"), 10));
            wrong.push(kind("a", "q", &format!("/m{n}"), "0", 1));
        }
        wrong.push(kind("a", "q", "/elsewhere", "a string", 2));
        let groups = groups(&wrong);
        let times: Vec<_> = groups.iter().map(|group| (group.rule, group.times)).collect();
        assert_eq!(times, [("a", 66), ("b", 50), ("a", 2)]);
        assert_eq!((groups[0].examples().len(), groups[0].hidden()), (EXAMPLES, 9));
        assert_eq!(groups[0].labels(), ["l0", "q", "l1", "l2", "l3"]);
        assert_eq!((groups[2].examples().len(), groups[2].hidden()), (1, 0));
    }
}
