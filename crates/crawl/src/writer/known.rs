//! Known URLs: an in-memory map from the hash of a URL to its number.
//!
//! A page has dozens of links, and nearly all of them are known. Asking the store for each would cost more
//! than fetching the page. Two URLs with the same 64-bit hash are treated as one. Among ten million URLs that
//! happens with a probability of three in a million.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::thread;

use freshet_fetch::page::PageUrl;
use freshet_protocol::ids::UrlId;
use xxhash_rust::xxh3::xxh3_64;

/// Number of tables that the URLs are divided among by their hash. One of them fits into a processor cache
/// while it is filled, and growing one never takes long.
const TABLES: usize = 1024;
/// Maximum number of threads that fill tables.
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

/// The hash of a URL.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UrlHash(pub(super) u64);

impl Known {
    /// Hashes a URL.
    pub fn hash(url: &str) -> UrlHash {
        UrlHash(PageUrl::hash_of(url))
    }

    /// The number of a URL, if it is known.
    pub fn get(&self, url: &str) -> Option<UrlId> {
        self.get_by_hash(Self::hash(url))
    }

    /// The number of the URL with this hash, if it is known.
    pub fn get_by_hash(&self, UrlHash(hash): UrlHash) -> Option<UrlId> {
        self.tables[table(hash)].get(&hash).copied().map(UrlId)
    }

    /// Adds a URL by its hash and its number.
    pub fn insert(&mut self, UrlHash(hash): UrlHash, id: UrlId) {
        self.tables[table(hash)].insert(hash, id.0);
    }

    /// Number of known URLs.
    pub fn len(&self) -> usize {
        self.tables.iter().map(HashMap::len).sum()
    }

    /// Whether no URL is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The table of a hash. The hash map of a table uses the lowest and the highest bits of the hash.
fn table(hash: u64) -> usize {
    (hash >> 40) as usize % TABLES
}

/// URLs collected table by table, to build a [`Known`] at once. Inserting ten million of them into one large
/// table one by one would mostly wait for memory.
#[derive(Debug)]
pub struct Gathered {
    tables: Vec<Vec<(u64, u32)>>,
}

impl Gathered {
    /// Creates an empty collection with room for this many URLs.
    pub fn with_room_for(urls: usize) -> Self {
        // Tables are not equally full: some extra room saves most of them from growing.
        let each = urls / TABLES + urls / TABLES / 16;
        Self { tables: (0..TABLES).map(|_| Vec::with_capacity(each)).collect() }
    }

    /// Adds a URL by its hash and its number.
    pub fn add(&mut self, UrlHash(hash): UrlHash, id: UrlId) {
        self.tables[table(hash)].push((hash, id.0));
    }

    /// Builds the map, on all processors. Of two URLs with the same hash the later one counts.
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

/// A hasher for keys that are hashes already: returns them unchanged.
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
