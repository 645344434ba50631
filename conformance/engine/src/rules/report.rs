//! What a rule reports: how often it held, and where it was broken.

use std::fmt;

/// The findings of a check: how often the rule held, and where it was broken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How often the rule held.
    pub held: u64,
    /// Where it was broken.
    pub violations: Vec<Violation>,
    /// The members for which the rule held.
    pub held_at: Bits,
    member: usize,
}

/// A set of numbers below [`Self::MOST`], as bits: members of a group by their places, or rules by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bits([u64; 3]);

impl Bits {
    /// No rule of a specification and no member of a group has this number or a larger one, which tests hold.
    pub const MOST: usize = 3 * 64;

    /// Adds a number. One that is too large is left out.
    pub fn insert(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / 64) {
            *word |= 1 << (number % 64);
        }
    }

    /// Whether it has this number.
    pub fn contains(&self, number: usize) -> bool {
        let word = self.0.get(number / 64).copied().unwrap_or_default();
        word >> (number % 64) & 1 == 1
    }
}

impl Report {
    /// Sets the member of the group that the following calls are about.
    pub fn set_member(&mut self, member: usize) {
        self.member = member;
    }

    /// The rule was exercised and held.
    pub fn held(&mut self) {
        self.held += 1;
        self.held_at.insert(self.member);
    }

    /// The rule was broken at `pointer` of the answer.
    pub fn broken(
        &mut self,
        pointer: impl Into<String>,
        expected: impl Into<String>,
        actual: impl Into<String>,
    ) {
        self.violations.push(Violation {
            member: self.member,
            pointer: pointer.into(),
            expected: expected.into(),
            actual: actual.into(),
        });
    }

    /// Records that the rule held, or was broken when `holds` is false. The texts are only formatted for a violation.
    pub fn expect(
        &mut self,
        holds: bool,
        pointer: impl fmt::Display,
        expected: impl fmt::Display,
        actual: impl FnOnce() -> String,
    ) {
        if holds {
            self.held();
        } else {
            self.broken(pointer.to_string(), expected.to_string(), actual());
        }
    }
}

/// A broken rule at one place of one exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which member of the group, from 0.
    pub member: usize,
    /// The place in the answer: a JSON pointer, empty for the whole answer.
    pub pointer: String,
    /// What the rule expected there.
    pub expected: String,
    /// What the answer has there.
    pub actual: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_numbers_below_a_bound() {
        let mut set = Bits::default();
        for number in [0, 63, 64, 130, usize::MAX] {
            set.insert(number);
        }
        let held: Vec<usize> = (0..Bits::MOST).filter(|number| set.contains(*number)).collect();
        assert_eq!(held, [0, 63, 64, 130]);
        assert!(!set.contains(usize::MAX));
    }
}
