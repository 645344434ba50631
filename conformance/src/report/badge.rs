//! A badge: an SVG of its own that says how a run ended.

use maud::{Markup, html};

use crate::report::{counts::Standing, recorded::Recorded};
use paymaster_judge::verdict::conclusion::Conclusion;

/// The left half.
const LABEL: &str = "paymaster conformance";

/// Width of a letter at this size, and the room on both sides of a text. Rough: `textLength` makes the text fit.
const LETTER: usize = 7;
const ROOM: usize = 12;

/// The badge as a file, or why there is none.
pub(crate) fn svg(run: &Recorded) -> Result<String, String> {
    Ok(markup(run)?.into_string() + "\n")
}

/// The badge as a part of a page. A run over a part of the rules gets none: a badge is read as a verdict on all of them.
pub(crate) fn markup(run: &Recorded) -> Result<Markup, String> {
    if run.left_out > 0 {
        return Err(format!(
            "{} judged, since --rule left out {}: a badge takes a run over all of them",
            run.verdict().share(),
            run.left_out
        ));
    }
    let (text, colour) = says(run);
    let width = |text: &str| text.chars().count() * LETTER;
    let (left, right) = (width(LABEL) + ROOM, width(&text) + ROOM);
    let title = format!("{LABEL}: {text}");
    Ok(html! {
        svg.badge xmlns="http://www.w3.org/2000/svg" role="img" aria-label=(title) width=(left + right) height="20" viewBox=(format!("0 0 {} 20", left + right)) {
            title { (title) }
            rect width=(left + right) height="20" rx="3" fill="#3d444d" {}
            path d=(format!("M{left} 0h{}a3 3 0 0 1 3 3v14a3 3 0 0 1 -3 3h-{}z", right - 3, right - 3)) fill=(colour) {}
            g fill="#ffffff" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle" {
                text x=(left / 2) y="14" textLength=(left - ROOM) { (LABEL) }
                text x=(left + right / 2) y="14" textLength=(right - ROOM) { (text) }
            }
        }
    })
}

/// The right half and its colour, dark enough for white letters.
fn says(run: &Recorded) -> (String, &'static str) {
    let verdict = run.verdict();
    let number = |standing| verdict.counts.get(standing);
    match run.conclusion {
        Conclusion::Conforms if number(Standing::KnownFailing) > 0 => (verdict.sentence(), "#8a5a00"),
        Conclusion::Conforms => (verdict.sentence(), "#17753a"),
        Conclusion::Violations => (format!("{} broken", number(Standing::Broken)), "#b3261e"),
        Conclusion::ListOutOfDate => ("known failures out of date".to_owned(), "#b3261e"),
        Conclusion::NothingBroken | Conclusion::Incomplete => {
            (format!("incomplete: {} judged", verdict.share()), "#6b3fb5")
        }
        Conclusion::CouldNotTest => ("not tested".to_owned(), "#5d6673"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{json, sample};
    use super::*;

    #[test]
    fn a_badge_says_how_the_run_ended() {
        let mut run = Recorded::of(json::report(&sample::violations().finished())).unwrap();
        run.unjudged.clear();
        insta::assert_snapshot!("badge", svg(&run).unwrap());
        for (conclusion, words) in [
            (Conclusion::Conforms, "conforms; 1 advisory rule not judged"),
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
        assert!(
            why.starts_with("4 of 81 rules judged, since --rule left out 76"),
            "{why}"
        );
    }
}
