//! The sections of a specification that clauses, readings and schema documents cite, with a title and a summary in our own
//! words. The page of a specification in `docs/` is generated from them.

/// One section of a specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// The number, as `2.6`.
    pub number: &'static str,
    /// A short title.
    pub title: &'static str,
    /// What the section is about, as Markdown.
    pub summary: &'static str,
}

impl Section {
    /// The heading of the section in the page of its specification.
    pub fn heading(&self) -> String {
        format!("Section {}: {}", self.number, self.title)
    }

    /// The anchor of that heading, as `section-26-sponsored-result`.
    pub fn anchor(&self) -> String {
        anchor(&self.heading())
    }

    /// The numbers of the section, to sort by: 2.10 comes after 2.9.
    pub fn order(number: &str) -> Vec<u32> {
        number.split('.').map(|part| part.parse().unwrap_or(u32::MAX)).collect()
    }
}

/// The anchor of a Markdown heading, by the rule of GitHub: lower case, `-` for a space, no punctuation.
pub fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        c if c.is_alphanumeric() => Some(c.to_ascii_lowercase()),
        _ => None,
    });
    kept.collect()
}

/// A table of sections: number, title and summary of each.
macro_rules! sections {
    ($($number:literal $title:literal $summary:literal;)*) => {
        &[$($crate::Section { number: $number, title: $title, summary: $summary }),*]
    };
}

pub(crate) use sections;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FEE_QUOTE;

    #[test]
    fn an_anchor_is_the_one_that_github_gives_the_heading() {
        let anchor = |number| FEE_QUOTE.find_section(number).map(Section::anchor);
        assert_eq!(anchor("2.6").as_deref(), Some("section-26-sponsored-result"));
        assert_eq!(anchor("2.7").as_deref(), Some("section-27-token-mode-quote"));
        assert_eq!(anchor("2.10").as_deref(), Some("section-210-answer-envelope"));
    }
}
