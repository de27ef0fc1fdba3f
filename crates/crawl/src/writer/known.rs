//! Which URLs are known, without asking the disk: the number of every URL by a hash of its text.
//!
//! A page has dozens of links and nearly all of them are known; asking the store for each would cost more than fetching the
//! page. Two URLs with the same 64-bit hash are taken for one: among ten million URLs that happens with a probability of three in a
//! million.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::thread;

use freshet_fetch::page::PageUrl;
use freshet_protocol::ids::UrlId;
use xxhash_rust::xxh3::xxh3_64;

/// Tables that the URLs are divided among by their hash, so that one of them fits into the cache of a processor while it is filled, and growing is never
/// the work of a long moment.
const TABLES: usize = 1024;
/// Threads that fill tables at most.
const THREADS_MAX: usize = 8;

type Table = HashMap<u64, u32, BuildHasherDefault<AsItIs>>;

/// The number of every known URL.
#[derive(Debug)]
pub struct Known {
    tables: Vec<Table>,
}

impl Default for Known {
    fn default() -> Self {
        Self { tables: (0..TABLES).map(|_| Table::default()).collect() }
    }
}

/// What a URL is known by.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UrlHash(pub(super) u64);

impl Known {
    /// What a URL is known by.
    pub fn hash(url: &str) -> UrlHash {
        UrlHash(PageUrl::hash_of(url))
    }

    /// The number of a URL, if it is known.
    pub fn get(&self, url: &str) -> Option<UrlId> {
        self.get_by_hash(Self::hash(url))
    }

    /// The number of the URL of this hash, if it is known.
    pub fn get_by_hash(&self, UrlHash(hash): UrlHash) -> Option<UrlId> {
        self.tables[table(hash)].get(&hash).copied().map(UrlId)
    }

    /// The URL of this hash is known from now on, by this number.
    pub fn insert(&mut self, UrlHash(hash): UrlHash, id: UrlId) {
        self.tables[table(hash)].insert(hash, id.0);
    }

    /// URLs that are known.
    pub fn len(&self) -> usize {
        self.tables.iter().map(HashMap::len).sum()
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The table that a hash belongs to. A table itself looks at the lowest bits of the hash and at the highest.
fn table(hash: u64) -> usize {
    (hash >> 40) as usize % TABLES
}

/// URLs that will be known, gathered table by table: ten million of them put into one large table one by one wait for memory most of the time.
#[derive(Debug)]
pub struct Gathered {
    tables: Vec<Vec<(u64, u32)>>,
}

impl Gathered {
    /// None yet, and room for so many.
    pub fn with_room_for(urls: usize) -> Self {
        // Tables do not get equally many: a little more room spares most of them another.
        let each = urls / TABLES + urls / TABLES / 16;
        Self { tables: (0..TABLES).map(|_| Vec::with_capacity(each)).collect() }
    }

    /// The URL of this hash has this number.
    pub fn add(&mut self, UrlHash(hash): UrlHash, id: UrlId) {
        self.tables[table(hash)].push((hash, id.0));
    }

    /// All of them known, by the work of all processors. Of two URLs with one hash the later counts.
    pub fn known(mut self) -> Known {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        let tables = thread::scope(|scope| {
            let parts: Vec<_> = self
                .tables
                .chunks_mut(TABLES.div_ceil(threads))
                .map(|part| {
                    scope.spawn(|| part.iter_mut().map(std::mem::take).map(filled).collect::<Vec<_>>())
                })
                .collect();
            let parts = parts.into_iter().map(thread::ScopedJoinHandle::join);
            parts.flat_map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        });
        Known { tables }
    }
}

fn filled(urls: Vec<(u64, u32)>) -> Table {
    let mut table = Table::with_capacity_and_hasher(urls.len(), BuildHasherDefault::default());
    table.extend(urls);
    table
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

    #[test]
    fn urls_that_were_gathered_are_known_as_if_one_by_one() {
        let url = |number: u32| format!("http://example.org/{number}");
        let mut gathered = Gathered::with_room_for(5_000);
        (0..5_000).for_each(|number| gathered.add(Known::hash(&url(number)), UrlId(number)));
        let mut known = gathered.known();
        known.insert(Known::hash(&url(5_000)), UrlId(5_000));
        assert_eq!(known.len(), 5_001);
        assert!((0..=5_000).all(|number| known.get(&url(number)) == Some(UrlId(number))));
        assert_eq!(known.get(&url(5_001)), None);
    }
}
