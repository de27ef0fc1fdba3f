//! Maps by numbers that are hashes already.
//!
//! The standard library's hash keeps its promise for keys of any sort, and costs as much as all else that is done for a link. A number is mixed well
//! enough by one multiplication; a seed that nobody outside can know keeps a page from choosing numbers that meet in one place.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A map by a number.
pub(super) type NumberMap<K, V> = HashMap<K, V, Seed>;

/// Two random numbers for each map.
#[derive(Clone, Debug)]
pub(super) struct Seed([u64; 2]);

impl Default for Seed {
    fn default() -> Self {
        let random = RandomState::new();
        Self([random.hash_one(0), random.hash_one(1)])
    }
}

impl BuildHasher for Seed {
    type Hasher = Mixed;

    fn build_hasher(&self) -> Mixed {
        Mixed { seed: self.0[1] | 1, state: self.0[0] }
    }
}

/// The numbers of a key, mixed.
#[derive(Debug)]
pub(super) struct Mixed {
    seed: u64,
    state: u64,
}

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.state ^ number) * u128::from(self.seed);
        self.state = product as u64 ^ (product >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.state
    }
}
