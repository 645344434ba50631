//! The entries of the list of known failures in words.

use paymaster_judge::verdict::known::{Kind, Outcome, Standing};

/// The state of an entry that does not fail the run.
pub(crate) fn state(known: &Outcome) -> &'static str {
    match (known.entry.kind, known.standing) {
        (Kind::Failing, Standing::StillFailing) => "fails",
        (Kind::Flaky, Standing::StillFailing) => "flaky, failed this time",
        (_, Standing::Quiet) => "flaky, did not fail this time",
        _ => "not reached: the run did not get through its plan",
    }
}

/// What to do about an entry that fails the run.
pub(crate) fn advice(known: &Outcome) -> String {
    let entry = &known.entry;
    match known.standing {
        Standing::UnexpectedlyPassing => {
            "unexpectedly passing: the rule held every time; delete the entry".to_owned()
        }
        Standing::MatchesNothing => {
            "matches nothing: no violation matches it; correct the entry or delete it".to_owned()
        }
        Standing::Expired => format!(
            "expired on {}: the failure counts again; fix it, or ask {} to set a later date",
            entry.expires, entry.owner
        ),
        Standing::StillFailing | Standing::Quiet | Standing::NotReached => entry.reason.clone(),
    }
}
