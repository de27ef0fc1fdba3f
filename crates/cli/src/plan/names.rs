//! Millions of names in little memory: each is stored once and identified by a number.
//!
//! While the names are gathered a map from hash to number finds them again; it is dropped when the table is
//! whole.

use std::collections::HashMap;
use std::collections::hash_map::{Entry, RandomState};
use std::hash::BuildHasher as _;

use freshet_protocol::texts::Texts;

/// Collects names and gives each a number.
#[derive(Default)]
pub(super) struct NameIndex {
    names: Texts,
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
                Entry::Occupied(place) if self.names[*place.get() as usize] == *name => {
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

    /// The names alone.
    pub(super) fn finish(self) -> Texts {
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
        assert_eq!((0..names.len()).map(|number| &names[number]).collect::<Vec<_>>(), ["a", "", "ab"]);
    }
}
