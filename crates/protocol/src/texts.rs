//! Many short texts in one piece of memory, by number: millions of names or paths cost their bytes and eight
//! more each.

use std::ops::Index;

/// Texts, numbered from zero in the order in which they were added.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Texts {
    text: String,
    /// Where each text ends; it begins where the one before it ends.
    ends: Vec<usize>,
}

impl Texts {
    /// Adds a text; its number is the count of those before it.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    /// Adds all texts of another collection behind its own.
    pub fn append(&mut self, more: &Self) {
        let before = self.text.len();
        self.text.push_str(&more.text);
        self.ends.extend(more.ends.iter().map(|end| before + end));
    }

    /// The text of this number, if there is one; `texts[number]` panics if there is none.
    pub fn get(&self, number: usize) -> Option<&str> {
        let end = *self.ends.get(number)?;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.text[start..end])
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

impl Index<usize> for Texts {
    type Output = str;

    fn index(&self, number: usize) -> &str {
        self.get(number).expect("there is a text of this number")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_by_number() {
        let mut texts = Texts::default();
        assert!(texts.is_empty());
        for text in ["/", "", "/größe", "/a"] {
            texts.push(text);
        }
        assert_eq!(texts.len(), 4);
        assert_eq!((&texts[0], &texts[1], &texts[2], &texts[3]), ("/", "", "/größe", "/a"));
    }

    #[test]
    fn texts_of_another_collection_follow() {
        let (mut texts, mut more) = (Texts::default(), Texts::default());
        texts.push("/a");
        more.push("");
        more.push("/bc");
        texts.append(&more);
        assert_eq!([0, 1, 2, 3].map(|number| texts.get(number)), [Some("/a"), Some(""), Some("/bc"), None]);
    }
}
