//! Known failures, as people read them: what stays known, and which entries of the list are out of date.

use crate::report::terminal::Page;
use paymaster_judge::verdict::known::{Kind, Outcome, Standing};

/// Writes what the list of known failures says, where there is one.
pub(crate) fn write(page: &mut Page<'_>) {
    let finished = page.finished;
    let known = &finished.summary.known;
    let (stale, rest): (Vec<_>, Vec<_>) = known.iter().partition(|known| known.standing.fails_the_run());
    if !stale.is_empty() {
        page.line("");
        let title = page.paint.bad("Out of date");
        page.line(&format!(
            "{title} in the list of known failures; each of these fails the run"
        ));
        for known in stale {
            one(page, known, &advice(known));
        }
    }
    if !rest.is_empty() {
        page.line("");
        let title = page.paint.odd("Known");
        page.line(&format!("{title} to fail: listed, explained and dated"));
        for known in rest {
            let text = format!(
                "{}: {} ({}, until {})",
                word(known),
                known.entry.reason,
                known.entry.owner,
                known.entry.expires
            );
            one(page, known, &text);
        }
    }
}

fn one(page: &mut Page<'_>, known: &Outcome, text: &str) {
    page.hanging("  ", 4, &known.entry.scope());
    let text = page.foreign(text);
    page.hanging("    ", 4, &text);
}

/// How an entry that does not fail the run stands.
pub(crate) fn word(known: &Outcome) -> &'static str {
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
            "matches nothing: nothing that it names was broken; correct the entry or delete it".to_owned()
        }
        Standing::Expired => format!(
            "expired on {}: what it names counts again; mend it, or have {} say why it may last longer",
            entry.expires, entry.owner
        ),
        Standing::StillFailing | Standing::Quiet | Standing::NotReached => entry.reason.clone(),
    }
}
