//! The head of the page: verdict, counts, and under which conditions the run was made.

use std::time::SystemTime;

use maud::{Markup, html};

use crate::report::{
    counts::RuleState,
    html::{Page, shell},
    machine::moment,
    text::{contradictions, words},
};
use paymaster_engine::verdict::conclusion::Conclusion;

impl Page<'_> {
    pub(super) fn head(&self) -> Markup {
        let summary = self.finished.summary;
        let conclusion = summary.conclusion;
        let counts = &self.verdict.counts;
        html! {
            header.verdict data-conclusion=(conclusion.name()) {
                div.inner {
                    p.tool { "paymaster-conformance " (env!("CARGO_PKG_VERSION")) ", " time { (now()) } }
                    h1 {
                        span.word { (conclusion.headline()) }
                        @let limits = self.verdict.qualification();
                        @if !limits.is_empty() { span.limits { (limits.trim_start_matches([':', ';', ' '])) } }
                        " "
                        span.target { (self.finished.place.shown) }
                    }
                    p.meaning { (self.meaning()) }
                    (shell::bar(counts))
                    p.counts {
                        @for state in RuleState::ALL {
                            @let number = counts.get(state);
                            @if number > 0 {
                                span.count data-state=(state.name()) { b { (number) } " " (state.word()) }
                            }
                        }
                    }
                    dl.facts {
                        div { dt { "target" } dd { (self.finished.place.shown) } }
                        div { dt { "specification" } dd { (self.finished.context.specification().line()) } }
                        div { dt { "profile" } dd { (self.profile()) } }
                        @if let Some(recorded) = &summary.recorded {
                            div { dt { "recorded exchanges" } dd { (recorded.exchanges) } }
                        } @else {
                            div { dt { "seed" } dd { (summary.seed) } }
                            div { dt { "requests" } dd { (summary.requests) } }
                            div { dt { "duration" } dd { (words::time(summary.took)) } }
                        }
                        div { dt { "rules" } dd { (counts.rules()) } }
                        div { dt { "exit code" } dd { (paymaster_settings::exit::code(conclusion)) } }
                        @if self.finished.strictness.strict { div { dt { "strict" } dd { "yes" } } }
                    }
                    @for warning in self.finished.warnings() {
                        p.note { b { "Warning: " } (warning) }
                    }
                    (self.contradictions())
                    @if let Some((about, line)) = words::missing_line(self.finished) {
                        div.note { p { b { "Missing: " } (about) ":" } pre { code { (line) } } }
                    }
                    @if let Some(cause) = &summary.cut_short {
                        p.note { b { "Cut short: " } (self.foreign(cause)) }
                    }
                    @for (reason, entries) in summary.recorded.iter().flat_map(|recorded| &recorded.skipped) {
                        p.note { b { "Left out: " } (words::count(*entries, "exchange")) ", " (self.foreign(reason)) }
                    }
                    @for (reason, groups) in &summary.unjudged {
                        p.note {
                            b { "Not judged: " }
                            (words::count(*groups as u128, "group")) " of requests: " (self.foreign(reason))
                        }
                    }
                }
            }
        }
    }

    /// Where profile and target contradict each other.
    fn contradictions(&self) -> Markup {
        let all = contradictions::shown(self.finished, &self.defects);
        html! {
            @if !all.is_empty() {
                div.note #contradictions {
                    p { b { "Profile and target contradict each other. " } "One of the two is wrong: correct the line of the profile, or the target." }
                    ul {
                        @for one in &all {
                            li {
                                p { code { (one.entry) } @if let Some(place) = &one.place { " (" (place) ")" } " states that " (one.states) "." }
                                p {
                                    b { "Cause: " } (one.cause) "."
                                    @if let Some(number) = one.defect { " " a href=(format!("#defect-{number}")) { "Defect " (number) } " shows it." }
                                }
                                @if let Some(answer) = &one.answer { pre tabindex="0" { code { (answer) } } }
                            }
                        }
                    }
                }
            }
        }
    }

    fn meaning(&self) -> &'static str {
        match self.finished.summary.conclusion {
            Conclusion::ListOutOfDate => {
                "Nothing new failed, but the list of known failures is out of date: update it, as described below."
            }
            Conclusion::Conforms if self.verdict.counts.get(RuleState::KnownFailing) > 0 => {
                "Everything that fails a run was judged, and held, but for what is known to fail."
            }
            Conclusion::Conforms => "Everything that fails a run was judged, and held.",
            Conclusion::NothingBroken => {
                "What was judged held. The other rules were left out, or could not be judged, which this run accepts."
            }
            Conclusion::Violations => {
                "Each defect is below, with the smallest request that shows it, the rules that it breaks and a line that repeats it."
            }
            Conclusion::Incomplete => "Nothing failed, but not everything could be judged: below is why.",
            Conclusion::CouldNotTest => {
                "Look at the cause below: whether the target is running, and whether host, port, path, headers and key are right; then run again."
            }
        }
    }

    fn profile(&self) -> String {
        let place = self.finished.place;
        match &place.profile {
            Some(profile) => self.foreign(&profile.shown),
            None if place.embedded => "of the embedded server".to_owned(),
            None => "none".to_owned(),
        }
    }
}

/// The date and time at which the page is written: `2026-03-01 12:30 UTC`.
fn now() -> String {
    let moment = moment(SystemTime::now());
    let minutes: String = moment.chars().take("2026-03-01T12:30".len()).collect();
    format!("{} UTC", minutes.replace('T', " "))
}
