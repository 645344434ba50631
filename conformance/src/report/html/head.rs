//! The head of the page: verdict, counts, and under which conditions the run was made.

use chrono::Utc;
use maud::{Markup, html};

use crate::report::{
    counts::RuleState,
    html::{Page, escape_controls},
    text::words,
};
use paymaster_settings::output::page;

impl Page<'_> {
    pub(super) fn head(&self) -> Markup {
        let report = self.report;
        let conclusion = report.conclusion;
        let counts = &self.verdict.counts;
        let limits = self.verdict.qualification();
        let head = page::Head {
            tool: &format!(
                "paymaster-conformance {}, {}",
                env!("CARGO_PKG_VERSION"),
                Utc::now().format("%Y-%m-%d %H:%M UTC")
            ),
            state: words::tone(conclusion).name(),
            word: conclusion.headline(),
            limits: limits.trim_start_matches([':', ';', ' ']),
            target: &report.target,
        };
        let below = html! {
            @if let Some(next) = words::next(report) { p.meaning { b { "Next: " } (next) } }
            (page::counts(RuleState::ALL.into_iter().map(|state| (state.name(), state.word(), counts.get(state) as u64))))
            dl.facts {
                div { dt { "specification" } dd { (report.details.specification) } }
                div { dt { "profile" } dd { (escape_controls(&report.details.profile)) } }
                @if let Some(recorded) = &report.recorded {
                    div { dt { "recorded exchanges" } dd { (recorded.exchanges) } }
                } @else {
                    div { dt { "seed" } dd { (report.seed) } }
                    div { dt { "requests" } dd { (report.requests) } }
                    div { dt { "duration" } dd { (words::time(report.details.took)) } }
                }
                div { dt { "exit code" } dd { (report.exit_code) } }
                @if report.strict { div { dt { "strict" } dd { "yes" } } }
            }
            @for (title, limit) in words::limits(report) { p.note { b { (title) ": " } (limit) } }
            (self.contradictions())
            @if let Some((about, line)) = &report.details.missing_line {
                div.note { p { b { "Missing: " } (about) ":" } pre { code { (line) } } }
            }
        };
        page::head(head, &below)
    }

    /// Where profile and target contradict each other.
    fn contradictions(&self) -> Markup {
        let all = &self.report.details.contradictions;
        html! {
            @if !all.is_empty() {
                div.note #contradictions {
                    p { b { "Profile and target contradict each other. " } "One of the two is wrong: correct the line of the profile, or the target." }
                    ul {
                        @for one in all {
                            li {
                                p { code { (one.title) } ": the profile states that " (one.states) }
                                p { (one.cause) }
                                @if let Some(answer) = &one.answer { pre tabindex="0" { code { (answer) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}
