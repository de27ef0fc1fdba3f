//! Weights of changes by their kinds, for users to whom some count less than others.
//!
//! The weight of a change is the largest among its kinds: new words together with a new number weigh as much
//! as words.
//!
//! # Promises
//! - By default every change weighs one.

use super::difference::Kinds;

/// The weight of each kind of change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KindWeights {
    /// Weight of a changed title.
    pub title: f32,
    /// Weight of changed words.
    pub text: f32,
    /// Weight of changed links.
    pub links: f32,
    /// Weight of changed numbers, if none of the words around them changed.
    pub numbers: f32,
}

impl Default for KindWeights {
    fn default() -> Self {
        Self { title: 1.0, text: 1.0, links: 1.0, numbers: 1.0 }
    }
}

impl KindWeights {
    /// The weight of a change of these kinds; one if it has no known kind.
    pub fn worth(&self, kinds: Kinds) -> f32 {
        let weights = [
            (Kinds::TITLE, self.title),
            (Kinds::TEXT, self.text),
            (Kinds::LINKS, self.links),
            (Kinds::NUMBERS, self.numbers),
        ];
        let of_kinds = weights.into_iter().filter(|(kind, _)| kinds.has(*kind)).map(|(_, weight)| weight);
        of_kinds.reduce(f32::max).unwrap_or(1.0)
    }

    /// Whether all kinds have weight one.
    pub fn are_alike(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kinds: &str, worth: f32) {
        let weights = KindWeights { links: 0.2, numbers: 0.1, ..KindWeights::default() };
        assert_eq!(weights.worth(Kinds::of_words(kinds)), worth, "{kinds}");
    }

    #[test]
    fn a_change_is_worth_what_its_best_kind_is() {
        check("numbers", 0.1);
        check("links numbers", 0.2);
        check("text links", 1.0);
        check("title", 1.0);
        check("", 1.0);
        check("colour", 1.0);
        assert!(KindWeights::default().are_alike());
    }
}
