//! A badge: an SVG of its own that says how a run ended.

use maud::{Markup, html};

use super::{counts::Standing, recorded::Recorded};
use crate::verdict::Conclusion;

/// The left half.
const LABEL: &str = "paymaster conformance";

/// Width of a letter at this size, and the room on both sides of a text. Rough: `textLength` makes the text fit.
const LETTER: usize = 7;
const ROOM: usize = 12;

/// The badge as a file.
pub fn svg(run: &Recorded) -> String {
    markup(run).into_string() + "\n"
}

/// The badge as a part of a page.
pub(crate) fn markup(run: &Recorded) -> Markup {
    let (text, colour) = says(run);
    let width = |text: &str| text.chars().count() * LETTER;
    let (left, right) = (width(LABEL) + ROOM, width(&text) + ROOM);
    let title = format!("{LABEL}: {text}");
    html! {
        svg.badge xmlns="http://www.w3.org/2000/svg" role="img" aria-label=(title) width=(left + right) height="20" viewBox=(format!("0 0 {} 20", left + right)) {
            title { (title) }
            rect width=(left + right) height="20" rx="3" fill="#3d444d" {}
            path d=(format!("M{left} 0h{}a3 3 0 0 1 3 3v14a3 3 0 0 1 -3 3h-{}z", right - 3, right - 3)) fill=(colour) {}
            g fill="#ffffff" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle" {
                text x=(left / 2) y="14" textLength=(left - ROOM) { (LABEL) }
                text x=(left + right / 2) y="14" textLength=(right - ROOM) { (text) }
            }
        }
    }
}

/// The right half and its colour, dark enough for white letters.
fn says(run: &Recorded) -> (String, &'static str) {
    let counts = run.counts();
    match run.conclusion {
        Conclusion::Conforms => ("conforms".to_owned(), "#17753a"),
        Conclusion::Violations => (format!("{} broken", counts.get(Standing::Broken)), "#b3261e"),
        Conclusion::Incomplete => ("incomplete".to_owned(), "#6b3fb5"),
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
        insta::assert_snapshot!("badge", svg(&run));
        for (conclusion, words) in [
            (Conclusion::Conforms, "conforms"),
            (Conclusion::Incomplete, "incomplete"),
            (Conclusion::CouldNotTest, "not tested"),
        ] {
            run.conclusion = conclusion;
            assert!(svg(&run).contains(&format!(">{words}</text>")));
        }
    }
}
