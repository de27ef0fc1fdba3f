//! Which URLs are known, without asking the disk: the number of every URL by a hash of its text.
//!
//! A page has dozens of links and nearly all of them are known; asking the store for each would cost more than fetching the
//! page. Two URLs with the same 64-bit hash are taken for one: among ten million URLs that happens with a probability of three in a
//! million.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use freshet_store::ids::UrlId;
use xxhash_rust::xxh3::xxh3_64;

/// The number of every known URL.
#[derive(Debug, Default)]
pub struct Known {
    ids: HashMap<u64, u32, BuildHasherDefault<AsItIs>>,
}

/// What a URL is known by.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UrlHash(u64);

impl Known {
    /// What a URL is known by.
    pub fn hash(url: &str) -> UrlHash {
        UrlHash(xxh3_64(url.as_bytes()))
    }

    /// The number of a URL, if it is known.
    pub fn get(&self, url: &str) -> Option<UrlId> {
        self.ids.get(&Self::hash(url).0).copied().map(UrlId)
    }

    /// The URL of this hash is known from now on, by this number.
    pub fn insert(&mut self, UrlHash(hash): UrlHash, id: UrlId) {
        self.ids.insert(hash, id.0);
    }

    /// So many more URLs will be known soon.
    pub fn reserve(&mut self, more: usize) {
        self.ids.reserve(more);
    }

    /// URLs that are known.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

/// A hasher for keys that are hashes already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64(bytes);
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_found_by_its_text() {
        let mut known = Known::default();
        known.insert(Known::hash("http://example.org/a"), UrlId(7));
        assert_eq!(known.get("http://example.org/a"), Some(UrlId(7)));
        assert_eq!(known.get("http://example.org/b"), None);
        assert_eq!(known.len(), 1);
    }
}
