//! Exit codes: those of every binary of this project, in the words of a load test.

use paymaster_cli::exit;

use crate::summary::Verdict;

/// Every exit code and what it says: the help reads this.
pub const TABLE: &[(u8, &str)] = &[
    (
        exit::CONFORMS,
        "every threshold was met, and no judged answer was wrong; an asked rate (--rate) that was not reached is stated in the first line",
    ),
    (
        exit::VIOLATIONS,
        "a threshold was missed, wrong answers included (wrong-rate<=0% and error-rate<1% hold by default); a comparison shows worse",
    ),
    (
        exit::USAGE,
        "wrong usage or configuration, or a report that could not be written",
    ),
    (
        exit::COULD_NOT_TEST,
        "could not test: nobody answers, nothing was measured, or the target stopped answering",
    ),
    (
        exit::INCOMPLETE,
        "incomplete: nothing failed, but the run was cut short, or a comparison cannot tell",
    ),
];

/// The exit code of a verdict.
pub const fn code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Passed => exit::CONFORMS,
        Verdict::Failed => exit::VIOLATIONS,
        Verdict::CouldNotTest => exit::COULD_NOT_TEST,
        Verdict::Incomplete => exit::INCOMPLETE,
    }
}

/// The table as text, for the help.
pub fn help() -> String {
    exit::help_of(TABLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_those_of_the_conformance_run() {
        let codes = |table: &[(u8, &str)]| table.iter().map(|(code, _)| *code).collect::<Vec<_>>();
        assert_eq!(codes(TABLE), codes(exit::TABLE));
    }
}
