//! Dialect and behaviour of the target where the specification leaves them open, and the answers to valid requests.

use maud::{Markup, html};

use crate::report::{
    html::{Page, escape_controls},
    text::{compact, words},
};
use paymaster_engine::verdict::{conclusion::Conclusion, summary::Reached};

/// How many values of one observation are listed. The rest is counted.
const MOST_VALUES: usize = 12;

/// The longest value, in characters; longer ones are cut.
const LONGEST_VALUE: usize = 80;

impl Page<'_> {
    pub(super) fn fingerprint(&self) -> Markup {
        let report = self.report;
        if report.conclusion == Conclusion::CouldNotTest {
            return html! {};
        }
        html! {
            section #fingerprint {
                h2 { "Dialect and behaviour" }
                @if self.verdict.no_result {
                    p { "No request got a result, so that this is only what was sent." }
                } @else {
                    p { "How the target reads what the specification leaves open. None of this is a failure." }
                }
                dl.dialect {
                    @for (name, value) in compact::members(&report.dialect) {
                        div { dt { (name.replace('-', " ")) } dd { code { (escape_controls(&value)) } } }
                    }
                }
                @if !report.observations.is_empty() {
                    div.scroll tabindex="0" role="region" aria-label="Observed behaviour" {
                        table {
                            thead { tr { th scope="col" { "observed" } th scope="col" { "values, and how often" } } }
                            tbody {
                                @for (clause, values) in &report.observations {
                                    @let sorted = words::by_frequency(values);
                                    tr {
                                        th scope="row" { a href=(format!("#{clause}")) { (clause) } }
                                        td { (value_list(&sorted)) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    pub(super) fn reached(&self) -> Markup {
        let report = self.report;
        if report.reached.iter().all(|(_, reached)| *reached == Reached::default()) {
            return html! {};
        }
        html! {
            section #reached {
                h2 { "What valid requests reached" }
                div.scroll tabindex="0" role="region" aria-label="What valid requests reached" {
                    table.numbers {
                        thead { tr {
                            th scope="col" { "call" }
                            th scope="col" { "results" }
                            th scope="col" { "errors" }
                            th scope="col" { "unreadable" }
                        } }
                        tbody {
                            @for (call, reached) in &report.reached {
                                tr {
                                    th scope="row" { (call) }
                                    td { (reached.results) }
                                    td { (reached.errors) }
                                    td { (reached.unreadable) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Values and how often each was seen.
pub(super) fn value_list(sorted: &[(&String, &u64)]) -> Markup {
    html! {
        ul.values {
            @for (value, times) in sorted.iter().take(MOST_VALUES) {
                li { code { (compact::cut(&escape_controls(value), LONGEST_VALUE)) } " " span.held { (times) "×" } }
            }
            @if sorted.len() > MOST_VALUES { li { (sorted.len() - MOST_VALUES) " more" } }
        }
    }
}
