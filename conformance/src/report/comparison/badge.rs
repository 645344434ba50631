//! A badge: an SVG image with the conclusion of a run.

use maud::{Markup, html};

use crate::report::{counts::RuleState, model::Report};
use paymaster_engine::verdict::conclusion::Conclusion;
use paymaster_settings::EMBEDDED_WARNING;

/// The text of the left half.
const LABEL: &str = "paymaster conformance";

/// The approximate width of a letter, in pixels; `textLength` makes the text fit.
const LETTER: usize = 7;
/// The padding left and right of a text together, in pixels.
const PADDING: usize = 12;

/// The badge as an SVG file.
pub(crate) fn svg(run: &Report) -> Result<String, String> {
    Ok(markup(run)?.into_string() + "\n")
}

/// The badge as an element of a page.
pub(crate) fn markup(run: &Report) -> Result<Markup, String> {
    if run.embedded {
        // A badge is a verdict on a service of the user, and has no room for a warning.
        return Err(EMBEDDED_WARNING.to_owned());
    }
    if run.left_out > 0 {
        let judged = format!("{} judged, since --rule left out {}", run.verdict_line().share(), run.left_out);
        return Err(format!("{judged}: a badge needs a run over all of them"));
    }
    let (text, colour) = message(run);
    let width = |text: &str| text.chars().count() * LETTER;
    let (left, right) = (width(LABEL) + PADDING, width(&text) + PADDING);
    let title = format!("{LABEL}: {text}");
    Ok(html! {
        svg.badge xmlns="http://www.w3.org/2000/svg" role="img" aria-label=(title) width=(left + right) height="20" viewBox=(format!("0 0 {} 20", left + right)) {
            title { (title) }
            rect width=(left + right) height="20" rx="3" fill="#3d444d" {}
            path d=(format!("M{left} 0h{}a3 3 0 0 1 3 3v14a3 3 0 0 1 -3 3h-{}z", right - 3, right - 3)) fill=(colour) {}
            g fill="#ffffff" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle" {
                text x=(left / 2) y="14" textLength=(left - PADDING) { (LABEL) }
                text x=(left + right / 2) y="14" textLength=(right - PADDING) { (text) }
            }
        }
    })
}

/// The text of the right half and its colour, dark enough for white letters.
fn message(run: &Report) -> (String, &'static str) {
    let verdict = run.verdict_line();
    let number = |state| verdict.counts.get(state);
    match run.conclusion {
        Conclusion::Conforms if number(RuleState::KnownFailing) > 0 => (verdict.sentence(), "#8a5a00"),
        Conclusion::Conforms => (verdict.sentence(), "#17753a"),
        Conclusion::Violations => (format!("{} broken", number(RuleState::Broken)), "#b3261e"),
        Conclusion::ListOutOfDate => ("known failures out of date".to_owned(), "#b3261e"),
        Conclusion::NothingBroken | Conclusion::Incomplete => {
            (format!("incomplete: {} judged", verdict.share()), "#6b3fb5")
        }
        Conclusion::CouldNotTest => ("not tested".to_owned(), "#5d6673"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn a_badge_shows_how_the_run_ended() {
        let mut run = sample::violations().report();
        run.unjudged.clear();
        insta::assert_snapshot!("badge", svg(&run).unwrap());
        for (conclusion, words) in [
            (Conclusion::Conforms, "conforms; 1 rule warns; 1 advisory rule not judged"),
            (Conclusion::NothingBroken, "incomplete: 4 of 5 rules judged"),
            (Conclusion::ListOutOfDate, "known failures out of date"),
            (Conclusion::Incomplete, "incomplete: 4 of 5 rules judged"),
            (Conclusion::CouldNotTest, "not tested"),
        ] {
            run.conclusion = conclusion;
            let badge = svg(&run).unwrap();
            assert!(badge.contains(&format!(">{words}</text>")), "{badge}");
        }
        run.left_out = 76;
        let why = svg(&run).unwrap_err();
        assert!(why.starts_with("4 of 81 rules judged, since --rule left out 76"), "{why}");
    }
}
