//! The entries of the list of known failures in words.

use paymaster_judge::verdict::known::{EntryOutcome, EntryState, KnownFailureKind};

/// The state of an entry that does not fail the run.
pub(crate) fn state(known: &EntryOutcome) -> &'static str {
    match (known.entry.kind, known.state) {
        (KnownFailureKind::Failing, EntryState::StillFailing) => "fails",
        (KnownFailureKind::Flaky, EntryState::StillFailing) => "flaky, failed this time",
        (_, EntryState::Quiet) => "flaky, did not fail this time",
        _ => "did not fail in what was judged, which is too little to show that it is gone",
    }
}

/// What to do about an entry that fails the run.
pub(crate) fn advice(known: &EntryOutcome) -> String {
    let entry = &known.entry;
    match known.state {
        EntryState::UnexpectedlyPassing => {
            "unexpectedly passing: the rule held every time; delete the entry".to_owned()
        }
        EntryState::MatchesNothing => {
            "matches nothing: no violation matches it; correct the entry or delete it".to_owned()
        }
        EntryState::Expired => format!(
            "expired on {}: the failure counts again; fix it, or ask {} to set a later date",
            entry.expires, entry.owner
        ),
        EntryState::StillFailing | EntryState::Quiet | EntryState::NotReached => entry.reason.clone(),
    }
}
