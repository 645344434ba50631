//! Known failures: findings that a team has listed with a reason and an expiry date. A run fails only for other findings.
//!
//! Listed rules still run and are still judged. An entry that passes, matches nothing or is expired fails the run, so that the
//! list is kept up to date. An entry names a rule and a place, never a number of failures.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::diagnosis::{Key, without_indices};
use crate::rules::Rule;

/// The list that an entry is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum KnownFailureKind {
    /// `[[failing]]`: fails in every run. When it passes, the entry is out of date.
    Failing,
    /// `[[flaky]]`: fails in some runs. Passing proves nothing: the entry is valid until it expires.
    Flaky,
}

/// One known failure and its owner. Method, mode and pointer narrow it; each may be left out.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownFailure {
    /// The list that the entry is in.
    pub kind: KnownFailureKind,
    /// The rule.
    pub rule: &'static str,
    /// Only requests of that method.
    pub method: Option<&'static str>,
    /// Only requests with that value of the parameter that selects the kind of call.
    pub selected: Option<&'static str>,
    /// Only that place of the answer; `*` for any index of an array, empty for the answer as a whole.
    pub pointer: Option<String>,
    /// Why it is accepted for now.
    pub reason: String,
    /// Who is responsible for the entry.
    pub owner: String,
    /// The last day on which it counts.
    pub expires: NaiveDate,
}

impl KnownFailure {
    /// Whether the entry covers findings with that key.
    pub fn matches(&self, key: &Key) -> bool {
        self.rule == key.rule
            && self.method.is_none_or(|method| key.pair.is_some_and(|pair| pair.method == method))
            && self.selected.is_none_or(|value| {
                key.pair.is_some_and(|pair| pair.selector.is_some_and(|(_, own)| own == value))
            })
            && self.pointer.as_ref().is_none_or(|pointer| without_indices(pointer) == key.pointer)
    }

    /// Whether the entry is expired on that day.
    pub fn is_expired(&self, today: NaiveDate) -> bool {
        self.expires < today
    }

    /// Whether the entry names that rule.
    pub fn is_about(&self, rule: &Rule) -> bool {
        self.rule == rule.id
    }

    /// The rule and what narrows the entry, for people: `quote-result.symbol, ERC20, at /result/feeQuotes/*/symbol`.
    pub fn scope(&self) -> String {
        let mut parts = vec![self.rule.to_owned()];
        parts.extend([self.method, self.selected].into_iter().flatten().map(str::to_owned));
        parts.extend(self.pointer.as_ref().map(|pointer| {
            if pointer.is_empty() { "the answer as a whole".to_owned() } else { format!("at {pointer}") }
        }));
        parts.join(", ")
    }
}

/// A list of known failures and the day of the run.
#[derive(Clone, Debug, Default)]
pub struct KnownFailureList {
    /// The entries, in the order of the file.
    pub entries: Vec<KnownFailure>,
    /// The day of the run.
    pub today: NaiveDate,
}

/// The state of an entry at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum EntryState {
    /// The listed failure occurred.
    StillFailing,
    /// The entry is in the flaky list, and the failure did not occur in this run.
    Quiet,
    /// The rule passed: delete the entry.
    UnexpectedlyPassing,
    /// The rule was not exercised, or broken only at other places: correct or delete the entry.
    MatchesNothing,
    /// The entry is expired: the failure counts like any other.
    Expired,
    /// The failure did not occur, but the run did not complete its plan.
    NotReached,
}

impl EntryState {
    /// Whether an entry in this state fails the run.
    pub const fn fails_the_run(self) -> bool {
        matches!(self, Self::UnexpectedlyPassing | Self::MatchesNothing | Self::Expired)
    }
}

/// An entry and its state at the end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryOutcome {
    /// The entry.
    pub entry: KnownFailure,
    /// Its state.
    pub state: EntryState,
}

impl KnownFailureList {
    /// The entry that covers findings with that key. Expired entries cover nothing.
    pub fn covers(&self, key: &Key) -> Option<&KnownFailure> {
        self.entries.iter().find(|entry| entry.matches(key) && !entry.is_expired(self.today))
    }

    /// The state of every entry that names a selected rule. `passed` returns whether a rule was exercised often enough and never
    /// broken; `complete` is true when the run completed its plan.
    pub fn outcomes<'a>(
        &self,
        rules: &[&'static Rule],
        keys: &(impl Iterator<Item = &'a Key> + Clone),
        passed: impl Fn(&'static str) -> bool,
        complete: bool,
    ) -> Vec<EntryOutcome> {
        let selected = |entry: &&KnownFailure| rules.iter().any(|rule| entry.is_about(rule));
        self.entries
            .iter()
            .filter(selected)
            .map(|entry| {
                let matched = keys.clone().any(|key| entry.matches(key));
                let state = if entry.is_expired(self.today) {
                    EntryState::Expired
                } else if matched {
                    EntryState::StillFailing
                } else if entry.kind == KnownFailureKind::Flaky {
                    EntryState::Quiet
                } else if !complete {
                    EntryState::NotReached
                } else if passed(entry.rule) {
                    EntryState::UnexpectedlyPassing
                } else {
                    EntryState::MatchesNothing
                };
                EntryOutcome { entry: entry.clone(), state }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use paymaster_schemas::kinds;

    use super::*;
    use crate::specification::SAMPLE;

    const RULE: &str = "quote-result.feeQuotes";

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn entry(kind: KnownFailureKind, pointer: Option<&str>) -> KnownFailure {
        KnownFailure {
            kind,
            rule: RULE,
            method: None,
            selected: None,
            pointer: pointer.map(str::to_owned),
            reason: "r".to_owned(),
            owner: "o".to_owned(),
            expires: day("2026-06-30"),
        }
    }

    fn key(pointer: &str) -> Key {
        Key { rule: RULE, pair: Some(kinds::QUOTE_ERC20), pointer: pointer.to_owned() }
    }

    #[test]
    fn an_entry_matches_only_what_it_names() {
        let any = entry(KnownFailureKind::Failing, None);
        assert!(any.matches(&key("/a")) && any.matches(&key("")));
        let index = entry(KnownFailureKind::Failing, Some("/result/feeQuotes/3/symbol"));
        assert!(index.matches(&key("/result/feeQuotes/*/symbol")));
        assert!(!index.matches(&key("/result/feeQuotes")));
        assert!(!entry(KnownFailureKind::Failing, Some("")).matches(&key("/a")));
        let mut other = any.clone();
        other.selected = Some("SPONSORED");
        assert!(!other.matches(&key("/a")));
        other.selected = Some("ERC20");
        assert!(other.matches(&key("/a")));
        other.rule = "answer.id";
        assert!(!other.matches(&key("/a")));
    }

    #[test]
    fn the_state_of_an_entry_at_the_end_of_a_run() {
        use EntryState::{Expired, MatchesNothing, NotReached, Quiet, StillFailing, UnexpectedlyPassing};
        use KnownFailureKind::{Failing, Flaky};
        let (broken, held, silent) = (false, true, false);
        for (kind, today, keys, passed, complete, expected) in [
            (Failing, "2026-06-30", &["/x"][..], broken, true, StillFailing),
            (Failing, "2026-07-01", &["/x"], broken, true, Expired),
            (Failing, "2026-07-01", &[], held, true, Expired),
            (Failing, "2026-06-30", &[], held, true, UnexpectedlyPassing),
            (Failing, "2026-06-30", &[], silent, true, MatchesNothing),
            (Failing, "2026-06-30", &["/y"], broken, true, MatchesNothing),
            (Failing, "2026-06-30", &[], held, false, NotReached),
            (Flaky, "2026-06-30", &["/x"], broken, true, StillFailing),
            (Flaky, "2026-06-30", &[], held, true, Quiet),
            (Flaky, "2026-07-01", &[], held, true, Expired),
        ] {
            let known = KnownFailureList { entries: vec![entry(kind, Some("/x"))], today: day(today) };
            let keys: Vec<Key> = keys.iter().map(|pointer| key(pointer)).collect();
            let rules = [SAMPLE.find_rule(RULE).unwrap()];
            let outcomes = known.outcomes(&rules, &keys.iter(), |_| passed, complete);
            assert_eq!(outcomes[0].state, expected, "{kind:?} {today} {keys:?} {passed}");
            let nothing = known.outcomes(&[], &keys.iter(), |_| passed, complete);
            assert!(nothing.is_empty(), "entries of rules that are not judged are left alone");
            assert_eq!(
                known.covers(&key("/x")).is_some(),
                today == "2026-06-30",
                "an expired entry covers nothing"
            );
        }
    }
}
