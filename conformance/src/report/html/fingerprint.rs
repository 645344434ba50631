//! What the target speaks and how it behaves where the specification leaves it open, and how far valid requests got.

use maud::{Markup, html};
use paymaster_schemas::Pair;

use crate::report::{html::Page, text::compact};
use paymaster_judge::verdict::conclusion::Conclusion;

/// More values of one observation are counted, not listed.
const MOST_VALUES: usize = 12;

/// Longer values are cut.
const LONGEST_VALUE: usize = 80;

impl Page<'_> {
    pub(super) fn fingerprint(&self) -> Markup {
        let summary = self.finished.summary;
        if summary.conclusion == Conclusion::CouldNotTest {
            return html! {};
        }
        html! {
            section #fingerprint {
                h2 { "Dialect and behaviour" }
                p { "How the target reads what the specification leaves open. None of this is a failure." }
                dl.dialect {
                    @for (name, value) in compact::members(&summary.dialect) {
                        div { dt { (name.replace('-', " ")) } dd { code { (self.foreign(&value)) } } }
                    }
                }
                @if !summary.observations.is_empty() {
                    div.scroll tabindex="0" role="region" aria-label="Observed behaviour" {
                        table {
                            thead { tr { th scope="col" { "observed" } th scope="col" { "values, and how often" } } }
                            tbody {
                                @for (clause, values) in &summary.observations {
                                    @let told = most_first(values);
                                    tr {
                                        th scope="row" { a href=(format!("#{clause}")) { (clause) } }
                                        td { (self.values(&told)) }
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
    pub(super) fn values(&self, told: &[(&String, &u64)]) -> Markup {
        html! {
            ul.values {
                @for (value, times) in told.iter().take(MOST_VALUES) {
                    li { code { (compact::cut(&self.foreign(value), LONGEST_VALUE)) } " " span.held { (times) "×" } }
                }
                @if told.len() > MOST_VALUES { li { (told.len() - MOST_VALUES) " more" } }
            }
        }
    }

    pub(super) fn reached(&self) -> Markup {
        let summary = self.finished.summary;
        if summary.reached.is_empty() {
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
                            @for pair in Pair::ALL {
                                @let reached = summary.reached.get(pair.name()).copied().unwrap_or_default();
                                tr {
                                    th scope="row" { (pair.name()) }
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

fn most_first(values: &std::collections::BTreeMap<String, u64>) -> Vec<(&String, &u64)> {
    let mut told: Vec<_> = values.iter().collect();
    told.sort_by(|left, right| right.1.cmp(left.1).then(left.0.cmp(right.0)));
    told
}
