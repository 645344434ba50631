//! Exit codes: one table, the same for every binary of this project.

use paymaster_engine::verdict::Conclusion;

/// Every stated clause holds; or no clause is broken, where `--rule` or `--allow-incomplete` left some out.
pub const CONFORMS: u8 = 0;
/// A clause is broken, or the list of known failures is out of date.
pub const VIOLATIONS: u8 = 1;
/// The command line, the configuration or a file is wrong.
pub const USAGE: u8 = 2;
/// The target could not be tested.
pub const COULD_NOT_TEST: u8 = 3;
/// No clause is broken, but not every clause could be judged.
pub const INCOMPLETE: u8 = 4;

/// Every exit code and its meaning. The help and the documentation show this table.
pub const TABLE: &[(u8, &str)] = &[
    (CONFORMS, "conforms; with --rule or --allow-incomplete: nothing broken in what was judged"),
    (
        VIOLATIONS,
        "violations found (a target that ended with requests in flight is one), or the list of known failures is out of date",
    ),
    (
        USAGE,
        "wrong usage or configuration, or a report could not be written, whatever the verdict (which is printed)",
    ),
    (
        COULD_NOT_TEST,
        "could not test: the target does not answer, stopped answering, refuses every request (HTTP 401, 403, 404), or no \
         answer could be judged",
    ),
    (INCOMPLETE, "incomplete: stated rules inconclusive, no request got a result, or the run was cut short"),
];

/// The exit code of a conclusion.
pub const fn code(conclusion: Conclusion) -> u8 {
    match conclusion {
        Conclusion::Conforms | Conclusion::NothingBroken => CONFORMS,
        Conclusion::Violations | Conclusion::ListOutOfDate => VIOLATIONS,
        Conclusion::CouldNotTest => COULD_NOT_TEST,
        Conclusion::Incomplete => INCOMPLETE,
    }
}

/// A table of exit codes as text, for the help.
pub fn help(table: &[(u8, &str)]) -> String {
    let rows = table.iter().map(|(code, meaning)| format!("  {code}  {meaning}")).collect::<Vec<_>>();
    format!("Exit codes:\n{}", rows.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_conclusion_has_its_code() {
        let codes = [
            (Conclusion::Conforms, 0),
            (Conclusion::NothingBroken, 0),
            (Conclusion::Violations, 1),
            (Conclusion::ListOutOfDate, 1),
            (Conclusion::CouldNotTest, 3),
            (Conclusion::Incomplete, 4),
        ];
        for (conclusion, expected) in codes {
            assert_eq!(code(conclusion), expected, "{conclusion:?}");
        }
    }

    #[test]
    fn the_help_lists_every_code() {
        let help = help(TABLE);
        for (code, meaning) in TABLE {
            assert!(help.contains(&format!("  {code}  {meaning}")), "{help}");
        }
    }
}
