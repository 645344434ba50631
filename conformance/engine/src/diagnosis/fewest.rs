//! Delta debugging: the fewest of several changes that are enough.

/// Searches a set of changes for a smallest subset that is enough. The whole set must be. It proposes subsets; the caller says
/// whether each is enough, until [`Fewest::next_trial`] has none left. This is the algorithm `ddmin` of Zeller and Hildebrandt.
#[derive(Clone, Debug)]
pub struct Fewest<T> {
    kept: Vec<T>,
    /// Into how many parts the set is split.
    parts: usize,
    /// The next subset: a part, or with `complements` everything but a part.
    next: usize,
    complements: bool,
}

impl<T: Clone> Fewest<T> {
    /// A search that starts with all changes.
    pub fn new(all: Vec<T>) -> Self {
        Self { kept: all, parts: 2, next: 0, complements: false }
    }

    /// The next subset to try; none at the end.
    pub fn next_trial(&mut self) -> Option<Vec<T>> {
        loop {
            if self.kept.len() < 2 {
                return None;
            }
            if self.next == self.parts {
                self.next = 0;
                // With two parts, each is the complement of the other.
                if !self.complements && self.parts > 2 {
                    self.complements = true;
                    continue;
                }
                if self.parts >= self.kept.len() {
                    return None;
                }
                self.parts = (self.parts * 2).min(self.kept.len());
                self.complements = false;
            }
            let part = self.part(self.next);
            self.next += 1;
            let chosen = self
                .kept
                .iter()
                .enumerate()
                .filter(|(index, _)| part.contains(index) != self.complements)
                .map(|(_, change)| change.clone());
            return Some(chosen.collect());
        }
    }

    /// The last trial was enough.
    pub fn was_enough(&mut self, trial: Vec<T>) {
        self.parts = if self.complements { (self.parts - 1).max(2) } else { 2 };
        self.kept = trial;
        self.parts = self.parts.min(self.kept.len()).max(2);
        self.next = 0;
        self.complements = false;
    }

    /// The smallest set found so far.
    pub fn finish(self) -> Vec<T> {
        self.kept
    }

    fn part(&self, index: usize) -> std::ops::Range<usize> {
        let (all, parts) = (self.kept.len(), self.parts);
        index * all / parts..(index + 1) * all / parts
    }
}
