//! The signs of states, and the legend that explains them.

use maud::{Markup, html};
use paymaster_schemas::Basis;
use paymaster_settings::output::document::{Block, Table, Text, html};

use crate::report::counts::RuleState;

/// The sign of a state, in its colour.
pub(crate) fn mark(state: RuleState) -> Markup {
    html! { span.mark data-state=(state.name()) aria-hidden="true" { (state.sign()) } }
}

/// The legend.
pub(super) fn legend() -> Markup {
    let table = |title: &str, rows: Vec<Vec<Text>>| {
        let columns = vec![title.to_owned(), "meaning".to_owned()];
        Block::Table(Table { title: title.to_owned(), columns, rows, ..Table::default() })
    };
    let states = RuleState::ALL
        .map(|state| vec![format!("{} {}", state.sign(), state.word()).into(), verdict(state).into()]);
    let bases = Basis::ALL.map(|basis| vec![basis.name().into(), reason(basis).into()]);
    let tables = vec![table("verdict", states.to_vec()), table("basis", bases.to_vec())];
    html::blocks(&[Block::details("What the signs and words mean", false, tables)])
}

const fn verdict(state: RuleState) -> &'static str {
    match state {
        RuleState::Broken => "it did not hold, and fails the run",
        RuleState::Warned => "it did not hold; only a strict run fails",
        RuleState::KnownFailing => "it did not hold, as the list of known failures says",
        RuleState::UnexpectedlyPassing => "it held, although the list of known failures names it",
        RuleState::Passed => "it held as often as it must",
        RuleState::Covered => "it can be judged once a known failure is mended",
        RuleState::Inconclusive => "it was exercised too seldom to pass",
        RuleState::NotApplicable => "the profile excludes it, or the run did not try it",
    }
}

const fn reason(basis: Basis) -> &'static str {
    match basis {
        Basis::Stated => "the specification says so: only this fails a run that is not strict",
        Basis::Recommended => "the specification recommends it",
        Basis::JsonRpc => "JSON-RPC or its use over HTTP recommends it",
        Basis::Interoperability => "published clients need it",
        Basis::Plausibility => "lawful in form, without it senseless in content",
        Basis::OnChain => "a simulation on the chain shows it",
        Basis::Ambiguous => "the specification disagrees with itself",
        Basis::NotShown => "the specification does not mention it",
    }
}
