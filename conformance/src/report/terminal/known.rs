//! The known failures in the terminal report: entries that are out of date, then those that still apply.

use crate::report::{
    terminal::Page,
    text::known_failures::{advice, state},
};
use paymaster_judge::verdict::known::EntryOutcome;

/// Writes the entries of the list of known failures, where there is one.
pub(crate) fn write(page: &mut Page<'_>) {
    let finished = page.finished;
    let known = &finished.summary.known;
    let (stale, rest): (Vec<_>, Vec<_>) = known.iter().partition(|known| known.state.fails_the_run());
    if !stale.is_empty() {
        page.line("");
        let title = page.paint.bad("Out of date");
        page.line(&format!("{title} in the list of known failures; each of these fails the run"));
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
                state(known),
                known.entry.reason,
                known.entry.owner,
                known.entry.expires
            );
            one(page, known, &text);
        }
    }
}

fn one(page: &mut Page<'_>, known: &EntryOutcome, text: &str) {
    page.hanging("  ", 4, &known.entry.scope());
    let text = page.foreign(text);
    page.hanging("    ", 4, &text);
}
