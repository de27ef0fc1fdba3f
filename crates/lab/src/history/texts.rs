//! Many short texts in one buffer, addressed by number.

/// Texts, numbered from zero in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    text: String,
    /// Where each text ends. It begins where the previous one ends.
    ends: Vec<usize>,
}

impl Texts {
    /// Adds a text. Its number is the count of the texts before it.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    /// The text with this number. Panics if there is none.
    pub fn get(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[number]]
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
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
        assert_eq!((texts.get(0), texts.get(1), texts.get(2), texts.get(3)), ("/", "", "/größe", "/a"));
    }
}
