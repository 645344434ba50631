//! The verdict on a run in one sentence, with the counts that limit it. Every report uses this sentence.

use crate::rules::count;
use crate::verdict::{Conclusion, Counts, RuleState, known};

/// How a run ended, and what limits this verdict: rules that were not judged, known failures, entries that are out of date.
#[derive(Clone, Debug)]
pub struct VerdictLine {
    /// How the run ended.
    pub conclusion: Conclusion,
    /// How the selected rules ended.
    pub counts: Counts,
    /// How many defects break the rules that fail the run.
    pub defects: usize,
    /// How many rules `--rule` left out.
    pub left_out: usize,
    /// Whether valid requests were sent and none of them got a result.
    pub no_result: bool,
    /// Why the run ended before it completed its plan; none where it did complete it.
    pub cut_short: Option<String>,
    /// How many groups of requests were sent and not judged.
    pub unjudged: usize,
    /// Lines of the profile that the target contradicts from its first answer on, as `tokens.supported[1]`.
    pub contradicted: Vec<String>,
    /// The states of the entries of the list of known failures.
    pub known: Vec<known::EntryState>,
}

impl VerdictLine {
    /// `conforms but for 3 known failures`.
    pub fn sentence(&self) -> String {
        self.conclusion.headline().to_lowercase() + &self.qualification()
    }

    /// `CONFORMS but for 3 known failures`.
    pub fn heading(&self) -> String {
        self.conclusion.headline().to_owned() + &self.qualification()
    }

    /// The text after the headline. It begins with a space or a punctuation mark and is empty when nothing limits the verdict.
    pub fn qualification(&self) -> String {
        let known = match self.counts.get(RuleState::KnownFailing) {
            0 => String::new(),
            number => format!(" but for {}", count(number as u128, "known failure")),
        };
        let mut text = match self.conclusion {
            Conclusion::Conforms => known,
            Conclusion::NothingBroken => format!(" in what was judged{known}: {}", self.share()),
            Conclusion::Violations => {
                let defects = match self.defects {
                    0 => String::new(),
                    number => count(number as u128, "defect") + ", ",
                };
                let broken = count(self.counts.get(RuleState::Broken) as u128, "rule");
                format!(": {defects}{broken} broken{}", known.replace(" but for ", ", "))
            }
            Conclusion::ListOutOfDate => format!(": {}", self.stale()),
            Conclusion::Incomplete => {
                let why = if self.no_result { " no request got a result;" } else { "" };
                format!(":{why} nothing broken in what was judged{known}: {}", self.share())
            }
            Conclusion::CouldNotTest => {
                self.cut_short.as_ref().map_or_else(String::new, |cause| format!(": {cause}"))
            }
        };
        for note in self.notes() {
            text = format!("{text}; {note}");
        }
        if self.conclusion == Conclusion::Violations && !self.contradicted.is_empty() {
            let lines = self.contradicted.join(", ");
            text = format!(
                "{text}; either the profile or the target is wrong about {lines}, which the target never served"
            );
        }
        text
    }

    /// `27 of 81 rules`: how many rules were judged, of all rules.
    pub fn share(&self) -> String {
        let all = self.counts.rules() + self.left_out;
        format!("{} of {}", self.counts.judged(), count(all as u128, "rule"))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let inconclusive = self.counts.get(RuleState::Inconclusive);
        match self.counts.get(RuleState::Warned) {
            0 => {}
            1 => notes.push("1 rule warns".to_owned()),
            number => notes.push(format!("{number} rules warn")),
        }
        let stale = self.stale();
        match self.conclusion {
            Conclusion::Violations | Conclusion::ListOutOfDate | Conclusion::CouldNotTest => {
                if self.conclusion == Conclusion::Violations && !stale.is_empty() {
                    notes.push(format!("the known-failures list is out of date: {stale}"));
                }
                if self.counts.judged() > 0 && inconclusive + self.left_out > 0 {
                    notes.push(format!("{} judged", self.share()));
                }
            }
            Conclusion::Conforms | Conclusion::NothingBroken | Conclusion::Incomplete => {
                if self.conclusion == Conclusion::Conforms && inconclusive > 0 {
                    notes.push(format!("{} not judged", count(inconclusive as u128, "advisory rule")));
                }
                if self.unjudged > 0 {
                    let groups = count(self.unjudged as u128, "group");
                    notes.push(format!("{groups} of requests not judged"));
                }
                if self.cut_short.is_some() {
                    notes.push("the run was cut short".to_owned());
                }
            }
        }
        match self.counts.get(RuleState::Covered) {
            0 => {}
            number => notes.push(format!("{} covered by known failures", count(number as u128, "rule"))),
        }
        match self.counts.get(RuleState::NotApplicable) {
            0 => {}
            _ if self.conclusion == Conclusion::CouldNotTest => {}
            1 => notes.push("1 rule does not apply".to_owned()),
            number => notes.push(format!("{number} rules do not apply")),
        }
        notes
    }

    /// `2 entries expired, 1 entry passes now`: the entries of the list of known failures that fail the run.
    fn stale(&self) -> String {
        let words = [
            (known::EntryState::Expired, "entry expired", "entries expired"),
            (known::EntryState::UnexpectedlyPassing, "entry passes now", "entries pass now"),
            (known::EntryState::MatchesNothing, "entry matches nothing", "entries match nothing"),
        ];
        let parts = words.into_iter().filter_map(|(state, one, several)| {
            match self.known.iter().filter(|known| **known == state).count() {
                0 => None,
                1 => Some(format!("1 {one}")),
                number => Some(format!("{number} {several}")),
            }
        });
        parts.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::known::EntryState;

    fn line(conclusion: Conclusion, counts: &[(RuleState, usize)]) -> VerdictLine {
        let states = counts.iter().flat_map(|(state, number)| [*state].repeat(*number));
        VerdictLine {
            conclusion,
            counts: Counts::of_states(states),
            defects: 0,
            left_out: 0,
            no_result: false,
            cut_short: None,
            unjudged: 0,
            contradicted: Vec::new(),
            known: Vec::new(),
        }
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table of cases")]
    fn a_verdict_names_what_limits_it() {
        use RuleState::{
            Broken, Inconclusive, KnownFailing, NotApplicable, Passed, UnexpectedlyPassing, Warned,
        };

        let passed = |number| (Passed, number);
        let base = |conclusion| line(conclusion, &[passed(27), (Inconclusive, 54)]);
        let stale = vec![
            EntryState::Expired,
            EntryState::StillFailing,
            EntryState::UnexpectedlyPassing,
            EntryState::Expired,
            EntryState::MatchesNothing,
        ];
        for (line, expected) in [
            (line(Conclusion::Conforms, &[passed(81)]), "conforms"),
            (line(Conclusion::Conforms, &[passed(78), (Warned, 3)]), "conforms; 3 rules warn"),
            (
                line(Conclusion::Conforms, &[passed(75), (KnownFailing, 3), (NotApplicable, 3)]),
                "conforms but for 3 known failures; 3 rules do not apply",
            ),
            (
                VerdictLine {
                    cut_short: Some("no reason".to_owned()),
                    ..line(Conclusion::Conforms, &[passed(79), (Inconclusive, 1), (NotApplicable, 1)])
                },
                "conforms; 1 advisory rule not judged; the run was cut short; 1 rule does not apply",
            ),
            (base(Conclusion::NothingBroken), "nothing broken in what was judged: 27 of 81 rules"),
            (
                VerdictLine { left_out: 80, ..line(Conclusion::NothingBroken, &[(KnownFailing, 1)]) },
                "nothing broken in what was judged but for 1 known failure: 1 of 81 rules",
            ),
            (base(Conclusion::Incomplete), "incomplete: nothing broken in what was judged: 27 of 81 rules"),
            (
                VerdictLine {
                    no_result: true,
                    unjudged: 2,
                    cut_short: Some("no reason".to_owned()),
                    ..base(Conclusion::Incomplete)
                },
                "incomplete: no request got a result; nothing broken in what was judged: 27 of 81 rules; \
                 2 groups of requests not judged; the run was cut short",
            ),
            (
                VerdictLine {
                    known: vec![EntryState::Expired],
                    ..line(Conclusion::Violations, &[(Broken, 2), (KnownFailing, 1), (Inconclusive, 1)])
                },
                "violations: 2 rules broken, 1 known failure; the known-failures list is out of date: \
                 1 entry expired; 3 of 4 rules judged",
            ),
            (
                VerdictLine {
                    known: stale,
                    ..line(Conclusion::ListOutOfDate, &[passed(80), (UnexpectedlyPassing, 1)])
                },
                "known-failures list is out of date: 2 entries expired, 1 entry passes now, 1 entry matches nothing",
            ),
            (
                VerdictLine {
                    contradicted: vec!["tokens.supported[1]".to_owned(), "tokens.supported[3]".to_owned()],
                    ..line(Conclusion::Violations, &[(Broken, 2)])
                },
                "violations: 2 rules broken; either the profile or the target is wrong about tokens.supported[1], \
                 tokens.supported[3], which the target never served",
            ),
            (base(Conclusion::CouldNotTest), "could not test; 27 of 81 rules judged"),
            (line(Conclusion::CouldNotTest, &[(Inconclusive, 79), (NotApplicable, 2)]), "could not test"),
        ] {
            assert_eq!(line.sentence(), expected);
        }
    }

    #[test]
    fn violations_are_counted_in_defects_and_rules() {
        use RuleState::{Broken, Passed};

        let passed = |number| (Passed, number);
        for (line, expected) in [
            (line(Conclusion::Violations, &[(Broken, 1), passed(80)]), "violations: 1 rule broken"),
            (
                VerdictLine { defects: 2, ..line(Conclusion::Violations, &[(Broken, 6), passed(75)]) },
                "violations: 2 defects, 6 rules broken",
            ),
        ] {
            assert_eq!(line.sentence(), expected);
        }
    }

    #[test]
    fn every_entry_that_fails_a_run_is_in_the_verdict() {
        for state in [
            EntryState::StillFailing,
            EntryState::Quiet,
            EntryState::UnexpectedlyPassing,
            EntryState::MatchesNothing,
            EntryState::Expired,
            EntryState::NotReached,
        ] {
            let line = VerdictLine { known: vec![state], ..line(Conclusion::ListOutOfDate, &[]) };
            assert_eq!(!line.stale().is_empty(), state.fails_the_run(), "{state:?}");
        }
    }
}
