//! Small pieces of the page that its parts share: ids, code in texts, signs of states.

use maud::{Markup, html};

use crate::report::counts::RuleState;

/// The state under which observed clauses are filtered.
pub(super) const OBSERVED: &str = "observed";

/// An id that a narrow window breaks after a dot, never in a word.
pub(crate) fn id(id: &str) -> Markup {
    html! {
        @for (place, part) in id.split('.').enumerate() {
            @if place > 0 { "." wbr; }
            (part)
        }
    }
}

/// A text of our own in which backticks mark code.
pub(super) fn code_spans(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split('`').enumerate() {
            @if place % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// The sign of a state, in its colour.
pub(crate) fn mark(state: RuleState) -> Markup {
    html! { span.mark data-state=(state.name()) aria-hidden="true" { (state.sign()) } }
}

/// The sign of what is only observed.
pub(super) fn observed_mark() -> Markup {
    html! { span.mark data-state=(OBSERVED) aria-hidden="true" { "○" } }
}
