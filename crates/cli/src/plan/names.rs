//! Millions of names in little memory: each is stored once and identified by a number.
//!
//! The names lie end to end in one string. While they are collected, a map from hash to number finds known
//! names. The map is dropped at the end, so ten million URLs cost their text and eight bytes each.

use std::collections::HashMap;
use std::collections::hash_map::{Entry, RandomState};
use std::hash::BuildHasher as _;

/// Names by number, in the order in which they were first added.
#[derive(Debug, Default)]
pub(super) struct Names {
    text: String,
    /// Where each name ends in the text, as a byte offset.
    ends: Vec<usize>,
}

impl Names {
    /// How many names there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The name of this number. Panics when there is none.
    pub(super) fn get(&self, number: usize) -> &str {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[start..self.ends[number]]
    }

    fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len());
    }
}

/// Collects names and gives each a number.
#[derive(Default)]
pub(super) struct NameIndex {
    names: Names,
    number_by_hash: HashMap<u64, u32>,
    hasher: RandomState,
}

/// Whether a name was added before.
#[derive(Debug, PartialEq)]
pub(super) enum Seen {
    /// It was not; this is its new number.
    First(u32),
    /// It was; this is its number.
    Again(u32),
}

impl NameIndex {
    /// Returns the number of this name and assigns one if it is new. Panics beyond 2^32 names.
    pub(super) fn add(&mut self, name: &str) -> Seen {
        let mut hash = self.hasher.hash_one(name);
        loop {
            match self.number_by_hash.entry(hash) {
                Entry::Vacant(place) => {
                    let number = u32::try_from(self.names.len()).expect("fewer than 2^32 names");
                    place.insert(number);
                    self.names.push(name);
                    return Seen::First(number);
                }
                Entry::Occupied(place) if self.names.get(*place.get() as usize) == name => {
                    return Seen::Again(*place.get());
                }
                // Another name has this hash: probe the next value, as in a table with open addressing.
                Entry::Occupied(_) => hash = hash.wrapping_add(1),
            }
        }
    }

    /// How many names there are.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Drops the map and returns the names.
    pub(super) fn finish(self) -> Names {
        self.names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_number() {
        let mut index = NameIndex::default();
        assert_eq!(index.add("a"), Seen::First(0));
        assert_eq!(index.add(""), Seen::First(1));
        assert_eq!(index.add("a"), Seen::Again(0));
        assert_eq!(index.add("ab"), Seen::First(2));
        assert_eq!(index.len(), 3);
        let names = index.finish();
        assert_eq!((0..names.len()).map(|number| names.get(number)).collect::<Vec<_>>(), ["a", "", "ab"]);
    }
}
