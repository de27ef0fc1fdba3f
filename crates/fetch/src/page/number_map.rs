//! Hash maps with a fast hasher, for keys that are hashes already.
//!
//! The standard library's hash resists collisions for keys of any kind, but costs as much as everything else
//! that is done for a link. One multiplication mixes a number well enough. A random seed keeps a page from
//! choosing numbers that collide.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A hash map with a number as key.
pub(super) type NumberMap<K, V> = HashMap<K, V, Seed>;

/// Two random numbers per map.
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

/// The hasher: mixes the numbers of a key.
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
