//! The interface of the key-value store: get, atomic batch, ordered scan, snapshot.
//!
//! # Promises
//! - A batch becomes visible completely or not at all, to readers and across a crash.
//! - A scan returns the keys in byte order, and sees the store as it was when the scan began.
//! - A snapshot sees the store as it was when it was taken.
//! - A commit with [`Durability::Buffered`] survives a crash of the process; one with [`Durability::Synced`]
//!   survives a crash of the machine.

use std::io;
use std::path::PathBuf;

use freshet_protocol::codec::words;

use super::stamps::{Behind, is_hidden};

words! {
    /// The keyspaces: each a map of its own, ordered by key.
    pub enum Space {
        /// What the store knows of itself, by name.
        Meta = 0 "meta",
        /// What others wish to have kept, by name.
        Notes = 1 "notes",
        /// AllUrls, by UrlId.
        Urls = 2 "urls",
        /// UrlId of each URL, by the hash of its site and its own.
        UrlKeys = 3 "url-keys",
        /// CollUrls, by PageNumber.
        Pages = 4 "pages",
        /// Sites, by SiteNumber.
        Sites = 5 "sites",
        /// SiteNumber of each site, by its name.
        SiteNames = 6 "site-names",
        /// UrlIds each page links to, by PageNumber.
        Links = 7 "links",
        /// Versions of pages, by PageNumber and time.
        Versions = 8 "versions",
        /// Whose version each record of the Collection is, by segment and offset.
        Places = 9 "places",
        /// Lines of the index of the segment that is being written, by segment and line.
        Index = 10 "index",
        /// Segments of the Collection, by number.
        Segments = 11 "segments",
        /// Visits that are not in a file of the History yet, by their number.
        Visits = 12 "visits",
        /// Files of the History, by name.
        Files = 13 "files",
        /// What users have told the crawl, by name: options, pins, pauses.
        Commands = 14 "commands",
        /// Files of the URLs, by name.
        UrlFiles = 15 "url-files",
        /// Records of the log that may not be on the disk yet, by the number of their step.
        Steps = 16 "steps",
        /// Files that go when what replaces them is on the disk, by name.
        Removals = 17 "removals",
    }
}

impl Space {
    /// Its name on disk.
    pub const fn name(self) -> &'static str {
        self.word()
    }

    /// Description of the data that is lost with the keyspace.
    pub(crate) const fn holds(self) -> &'static str {
        match self {
            Self::Meta => "the store's identity and counters",
            Self::Notes => "what the crawler noted",
            Self::Urls => "the known URLs",
            Self::UrlKeys => "the numbers of URLs, which can be made again",
            Self::Pages => "what is known of each page",
            Self::Sites => "what is known of each site",
            Self::SiteNames => "the numbers of sites, which can be made again",
            Self::Links => "the links between pages",
            Self::Versions | Self::Places => "where the versions of pages stand, which can be made again",
            Self::Index => "lines of an index, which can be made again",
            Self::Segments => "the segments of the Collection, which can be made again",
            Self::Visits => "visits that are not in a file of the History yet",
            Self::Files => "the files of the History, which can be made again",
            Self::Commands => "what users have told the crawl",
            Self::UrlFiles => "the files of the URLs, which can be made again",
            Self::Steps | Self::Removals => "nothing that is not elsewhere",
        }
    }
}

/// Which crashes a commit survives.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Durability {
    /// A crash of the process.
    #[default]
    Buffered,
    /// A crash of the machine. The commit waits for the disk.
    Synced,
}

/// The order of a scan.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    /// From the smallest key to the largest.
    Forward,
    /// From the largest key to the smallest.
    Backward,
}

/// A range of keys: from `from` (included) to `to` (excluded; none for the end).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct KeyRange {
    /// The first key.
    pub from: Vec<u8>,
    /// The end of the range, excluded.
    pub to: Option<Vec<u8>>,
}

impl KeyRange {
    /// Every key.
    pub fn all() -> Self {
        Self::default()
    }

    /// The keys from this one on.
    pub fn from(key: impl Into<Vec<u8>>) -> Self {
        Self { from: key.into(), to: None }
    }

    /// The keys that begin with `prefix`.
    pub fn prefix(prefix: &[u8]) -> Self {
        let mut after = prefix.to_vec();
        while let Some(last) = after.last_mut() {
            if *last < u8::MAX {
                *last += 1;
                return Self { from: prefix.to_vec(), to: Some(after) };
            }
            after.pop();
        }
        Self { from: prefix.to_vec(), to: None }
    }

    /// Whether the range contains no key.
    pub(crate) fn is_empty(&self) -> bool {
        self.to.as_ref().is_some_and(|to| *to <= self.from)
    }
}

/// A key and its value.
pub type Entry = (Vec<u8>, Vec<u8>);

/// An iterator over entries in key order.
pub type Scan<'a> = Box<dyn Iterator<Item = Result<Entry, KeyValueError>> + Send + 'a>;

/// A batch of puts and removals that take effect together. Of several for one key, the last one counts.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub(crate) items: Vec<(Space, Vec<u8>, Option<Vec<u8>>)>,
    /// The number of the step; 0 if the batch is no step.
    pub(crate) step: u64,
}

impl Batch {
    /// An empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the value of a key.
    ///
    /// # Panics
    /// If the key is reserved for stamps ([`super::stamps`]).
    pub fn put(&mut self, space: Space, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) {
        let key = key.into();
        assert!(!is_hidden(space, &key));
        self.items.push((space, key, Some(value.into())));
    }

    /// Removes a key.
    ///
    /// # Panics
    /// If the key is reserved for stamps ([`super::stamps`]).
    pub fn remove(&mut self, space: Space, key: impl Into<Vec<u8>>) {
        let key = key.into();
        assert!(!is_hidden(space, &key));
        self.items.push((space, key, None));
    }

    /// Sets the number of this step: every keyspace in the batch is stamped with it. Steps are numbered from
    /// 1; 0 is no step.
    pub fn at_step(&mut self, step: u64) {
        self.step = step;
    }

    /// The number of puts and removals.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// A readable view of a store.
pub trait View: Send + Sync {
    /// The value of a key.
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, KeyValueError>;

    /// The entries of a range, in key order.
    fn scan(&self, space: Space, range: KeyRange, direction: Direction) -> Scan<'_>;
}

/// A key-value store that is open for reading, by any number of threads.
pub trait Readable: View {
    /// A snapshot of the store. Hold it only briefly: data replaced meanwhile stays on disk.
    fn snapshot(&self) -> Box<dyn View + '_>;
}

/// An ordered key-value store with atomic batches. One thread writes at a time; any number read.
pub trait KeyValue: Readable {
    /// Commits the batch atomically.
    fn commit(&self, batch: Batch, durability: Durability) -> Result<(), KeyValueError>;

    /// Waits until all commits are on disk.
    fn sync(&self) -> Result<(), KeyValueError>;

    /// Approximate size on disk in bytes.
    fn disk_bytes(&self) -> u64;

    /// The keyspaces that are older than their recorded steps and tables, because their files were replaced
    /// or emptied. Call it after opening.
    fn behind(&self) -> Result<Vec<Behind>, KeyValueError>;

    /// The number of the last committed step; 0 if there is none.
    fn last_step(&self) -> u64;

    /// Whether the store accepts no writes until it is reopened.
    fn is_poisoned(&self) -> bool;

    /// Closes and reopens the engine, after waiting a while for readers. All commits are kept. A batch that
    /// failed with [`KeyValueError::Poisoned`] is there completely or not at all; [`Self::last_step`] tells
    /// which. After an error, the call can be repeated.
    fn reopen(&self) -> Result<(), KeyValueError>;
}

/// Why the key-value store failed.
#[derive(Debug, thiserror::Error)]
pub enum KeyValueError {
    /// The system could not read or write.
    #[error("the state in {} cannot be read or written", .path.display())]
    Io {
        /// The directory of the store.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The engine accepts no writes until it is reopened, because one of its own failed: this one if there is
    /// a source, otherwise one in the background.
    #[error("the state in {} takes no writes, for one failed: it has to be opened again", .path.display())]
    Poisoned {
        /// The directory of the store.
        path: PathBuf,
        /// The error of the system.
        source: Option<io::Error>,
    },
    /// The engine failed in another way.
    #[error("the state in {} failed: {reason}", .path.display())]
    Engine {
        /// The directory of the store.
        path: PathBuf,
        /// Its error message.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_where_its_last_byte_can_grow() {
        assert_eq!(KeyRange::prefix(&[1, 2]).to, Some(vec![1, 3]));
        assert_eq!(KeyRange::prefix(&[1, 255]).to, Some(vec![2]));
        assert_eq!(KeyRange::prefix(&[255, 255]).to, None);
        assert_eq!(KeyRange::prefix(&[]).to, None);
    }
}
