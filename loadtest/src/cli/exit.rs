//! Exit codes: the same as of the other binaries, with descriptions for a load test.

use paymaster_settings::exit;

/// Every exit code and its description, as the help shows them.
const TABLE: &[(u8, &str)] = &[
    (exit::CONFORMS, "every threshold was met, and no judged answer was wrong"),
    (
        exit::VIOLATIONS,
        "a threshold was missed (wrong-rate<=0%, error-rate<1% and, with --rate, reached-rate>=95% are the defaults), or a figure became worse (--compare)",
    ),
    (exit::USAGE, "wrong usage or configuration, or a report that could not be written"),
    (
        exit::COULD_NOT_TEST,
        "could not test: the target does not answer, nothing was measured, or the target stopped answering",
    ),
    (
        exit::INCOMPLETE,
        "incomplete: nothing failed, but the run was cut short, the generator was too slow for --rate, or the run is too short for a comparison",
    ),
];

/// The list of exit codes.
pub(crate) fn help() -> String {
    exit::help(TABLE)
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
