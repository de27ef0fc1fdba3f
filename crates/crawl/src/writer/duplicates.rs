//! Detection of near-duplicate pages: mirrors, print views, the same page under two URLs.
//!
//! Candidates are found by the simhash of the main text. Two simhashes that differ in at most three bits
//! agree in at least one of their four quarters, so one table per quarter finds them (Manku, Jain, Das Sarma,
//! "Detecting near-duplicates for web crawling"). Whether a candidate is a duplicate is decided by the texts.
//!
//! # Promises
//! - Every page within [`BITS`] bits of a simhash is among its candidates, however many pages there are, up
//!   to [`CANDIDATES_MAX`].

use freshet_fetch::page::simhash::distance;
use freshet_protocol::ids::PageNumber;

/// Maximum number of bits in which the simhashes of duplicates differ.
pub const BITS: u32 = 3;
/// Maximum number of candidates.
pub const CANDIDATES_MAX: usize = 4;
/// Maximum number of pages of a table entry that are looked at. More pages share a quarter by chance, not by
/// their text.
const LOOKED_AT_MAX: usize = 256;
/// Stands for no simhash.
const NONE: u64 = 0;

/// An index of the simhashes of pages.
#[derive(Debug)]
pub struct Duplicates {
    /// The simhash of each page.
    simhashes: Vec<u64>,
    /// The pages of each value of each quarter.
    quarters: Vec<Vec<PageNumber>>,
}

impl Default for Duplicates {
    fn default() -> Self {
        Self { simhashes: Vec::new(), quarters: vec![Vec::new(); 4 << 16] }
    }
}

impl Duplicates {
    /// Sets the simhash of a page.
    pub fn insert(&mut self, page: PageNumber, simhash: u64) {
        self.remove(page);
        if self.simhashes.len() <= page.index() {
            self.simhashes.resize(page.index() + 1, NONE);
        }
        self.simhashes[page.index()] = simhash;
        if simhash != NONE {
            entries(simhash).for_each(|entry| self.quarters[entry].push(page));
        }
    }

    /// Removes a page that is no longer kept.
    pub fn remove(&mut self, page: PageNumber) {
        let Some(simhash) = self.simhashes.get_mut(page.index()) else { return };
        let simhash = std::mem::replace(simhash, NONE);
        if simhash != NONE {
            entries(simhash).for_each(|entry| self.quarters[entry].retain(|other| *other != page));
        }
    }

    /// Pages with a simhash near this one, lowest number first.
    pub fn near(&self, simhash: u64) -> Vec<PageNumber> {
        let mut near: Vec<PageNumber> = entries(simhash)
            .flat_map(|entry| self.quarters[entry].iter().take(LOOKED_AT_MAX))
            .filter(|page| distance(self.simhashes[page.index()], simhash) <= BITS)
            .copied()
            .collect();
        near.sort_unstable();
        near.dedup();
        near.truncate(CANDIDATES_MAX);
        near
    }
}

/// The four table entries of a simhash.
fn entries(simhash: u64) -> impl Iterator<Item = usize> {
    (0..4).map(move |quarter| quarter << 16 | (simhash >> (16 * quarter) & 0xFFFF) as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        // The tables are large: few cases, since each creates new ones.
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn what_is_near_is_found_and_what_is_far_is_not(
            simhash in 1u64..,
            flips in prop::collection::vec(0u32..64, 0..8),
        ) {
            let mut duplicates = Duplicates::default();
            duplicates.insert(PageNumber(7), simhash);
            let other = flips.iter().fold(simhash, |other, bit| other ^ 1 << bit);
            let is_near = distance(simhash, other) <= BITS;
            prop_assert_eq!(duplicates.near(other), if is_near { vec![PageNumber(7)] } else { vec![] });
            duplicates.remove(PageNumber(7));
            prop_assert_eq!(duplicates.near(simhash), vec![]);
        }
    }
}
