//! What a change is worth by its kinds, where a user says that some count less than others.
//!
//! A change is worth as much as the kind of it that counts most: new words beside a new number are worth what words are.
//!
//! # Promises
//! - Unless a user says otherwise every change is worth one.

use super::difference::Kinds;

/// What a change of each kind is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KindWeights {
    /// Of the title.
    pub title: f32,
    /// Of words.
    pub text: f32,
    /// Of links.
    pub links: f32,
    /// Of numbers, and of none of the words around them.
    pub numbers: f32,
}

impl Default for KindWeights {
    fn default() -> Self {
        Self { title: 1.0, text: 1.0, links: 1.0, numbers: 1.0 }
    }
}

impl KindWeights {
    /// What a change of these kinds is worth; one if none is known.
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

    /// Whether all kinds are worth the same, one.
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
