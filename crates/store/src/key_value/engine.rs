//! What the key-value store promises: get, atomic batch, ordered scan, snapshot.
//!
//! # Promises
//! - A batch becomes visible whole or not at all, to readers and across a crash.
//! - A scan gives the keys in the order of their bytes, and sees the store as it was when the scan began.
//! - A snapshot sees the store as it was when it was taken.
//! - What was committed with [`Durability::Buffered`] survives the death of the process, with
//!   [`Durability::Synced`] that of the machine.

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

    /// What is lost with it, in words.
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

/// What a commit survives.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Durability {
    /// The death of the process.
    #[default]
    Buffered,
    /// The death of the machine, at the cost of waiting for the disk.
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

/// Keys from `from` (included) to `to` (not included; none: to the end).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct KeyRange {
    /// The first key.
    pub from: Vec<u8>,
    /// The key after the last.
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

    /// Whether no key can lie in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.to.as_ref().is_some_and(|to| *to <= self.from)
    }
}

/// A key and its value.
pub type Entry = (Vec<u8>, Vec<u8>);

/// Entries in order.
pub type Scan<'a> = Box<dyn Iterator<Item = Result<Entry, KeyValueError>> + Send + 'a>;

/// Puts and removals that take effect together; of two on one key the later counts.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub(crate) items: Vec<(Space, Vec<u8>, Option<Vec<u8>>)>,
    /// The step that this is; 0 if it is none.
    pub(crate) step: u64,
}

impl Batch {
    /// Nothing to do.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the value of a key.
    ///
    /// # Panics
    /// If the key is one of those by which the store notices that a keyspace fell back.
    pub fn put(&mut self, space: Space, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) {
        let key = key.into();
        assert!(!is_hidden(space, &key));
        self.items.push((space, key, Some(value.into())));
    }

    /// Takes a key away.
    ///
    /// # Panics
    /// If the key is one of those by which the store notices that a keyspace fell back.
    pub fn remove(&mut self, space: Space, key: impl Into<Vec<u8>>) {
        let key = key.into();
        assert!(!is_hidden(space, &key));
        self.items.push((space, key, None));
    }

    /// Says which step this is: every keyspace that it touches is stamped with the number. Steps are numbered
    /// from 1; 0 is none.
    pub fn at_step(&mut self, step: u64) {
        self.step = step;
    }

    /// Puts and removals in it.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// Something that can be read.
pub trait View: Send + Sync {
    /// The value of a key.
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, KeyValueError>;

    /// The entries of a range in order.
    fn scan(&self, space: Space, range: KeyRange, direction: Direction) -> Scan<'_>;
}

/// A key-value store that is open to be read, by any number of threads.
pub trait Readable: View {
    /// The store as it is now, whatever is committed later. Not to be held for long: what is replaced
    /// meanwhile stays on disk.
    fn snapshot(&self) -> Box<dyn View + '_>;
}

/// An ordered key-value store with atomic batches. One thread writes at a time; any number read.
pub trait KeyValue: Readable {
    /// Makes everything in the batch true in one step.
    fn commit(&self, batch: Batch, durability: Durability) -> Result<(), KeyValueError>;

    /// Waits until everything that was committed is on the disk.
    fn sync(&self) -> Result<(), KeyValueError>;

    /// Bytes on disk, roughly.
    fn disk_bytes(&self) -> u64;

    /// The keyspaces that are older than the steps and tables they had: something took them back. To be asked
    /// after opening.
    fn behind(&self) -> Result<Vec<Behind>, KeyValueError>;

    /// The last step that was committed; 0 if none was.
    fn last_step(&self) -> u64;

    /// Whether it takes no writes any more until it was opened again.
    fn is_poisoned(&self) -> bool;

    /// Closes the engine and opens it again, waiting a while for those who read. What was committed is there;
    /// a batch that failed with [`KeyValueError::Poisoned`] is there whole or not at all, and
    /// [`Self::last_step`] tells. After an error it can be tried again.
    fn reopen(&self) -> Result<(), KeyValueError>;
}

/// Why the key-value store failed.
#[derive(Debug, thiserror::Error)]
pub enum KeyValueError {
    /// The system refused to read or write.
    #[error("the state in {} cannot be read or written", .path.display())]
    Io {
        /// The directory of the store.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The engine takes no writes until it was opened again, for one of its own failed: now, if there is a
    /// source, or in the background.
    #[error("the state in {} takes no writes, for one failed: it has to be opened again", .path.display())]
    Poisoned {
        /// The directory of the store.
        path: PathBuf,
        /// What the system said.
        source: Option<io::Error>,
    },
    /// The engine failed in another way.
    #[error("the state in {} failed: {reason}", .path.display())]
    Engine {
        /// The directory of the store.
        path: PathBuf,
        /// What it said.
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
