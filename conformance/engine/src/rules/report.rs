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
    pub held_at: Members,
    member: usize,
}

/// Members of a group, by their places: up to 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Members(u64);

impl Members {
    /// Adds a member. One beyond the 64th is left out.
    pub fn insert(&mut self, member: usize) {
        if member < 64 {
            self.0 |= 1 << member;
        }
    }

    /// The members, in order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        // Each step takes the last bit away.
        let places = std::iter::successors(Some(self.0), |left| Some(left & left.wrapping_sub(1)));
        places.take_while(|left| *left != 0).map(|left| left.trailing_zeros() as usize)
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
