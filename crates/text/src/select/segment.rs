//! Inverted index of some databases in a file: a query reads only the postings of its own words.
//!
//! ```text
//! postings    for each word, in the order of words: (database u32, frequency f32)…, then their hash
//! blocks      of 256 words each: (length u16, bytes, place of its postings u64, their number u32)…,
//!             then the hash of the block
//! directory   for each block: (length u16, bytes of its first word, place u64, length u32)…
//! databases   as JSON: name, version, when its folder was looked at, documents, sum of frequencies, wording
//! tail        places and lengths of directory and databases, their hashes, the form of the file: 56 bytes
//! ```
//!
//! Numbers are little-endian, hashes are xxh3-64, and places count from the start of the file. Only what is
//! read is checked.
//!
//! # Promises
//! - A look-up returns the databases that were written for a word, or reports that the segment is damaged.
//!   Any bytes can be opened or are refused.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::ranking::Posting;
use crate::summary::Summary;
use crate::words::Wording;

/// The last bytes of a segment: version of the file format.
const FORM: u64 = u64::from_le_bytes(*b"freshet1");

/// Size of the tail, in bytes.
const TAIL_BYTES: usize = 56;

/// Number of words of a block. A query reads one block per word.
const BLOCK_WORDS: usize = 256;

/// Maximum size of one read from a file that may be damaged, in bytes.
const READ_BYTES_MAX: u64 = 1 << 30;

/// A database whose summary is in a segment.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Held {
    pub(super) name: String,
    /// File name of the version.
    pub(super) version: String,
    /// When the database's folder was last altered, read before its version was: nanoseconds since 1970. Zero
    /// if unreliable.
    pub(super) folder_ns: u64,
    pub(super) documents: f64,
    pub(super) total: f64,
    pub(super) wording: Wording,
}

/// An open segment.
#[derive(Debug)]
pub(super) struct Segment {
    source: Source,
    pub(super) databases: Vec<Held>,
    directory: Vec<u8>,
    /// Offset of each block's entry in the directory.
    blocks: Vec<u32>,
}

#[derive(Debug)]
enum Source {
    /// With its length in bytes.
    File(File, u64),
    Memory(Vec<u8>),
}

/// A segment is damaged and must be rebuilt.
#[derive(Debug)]
pub(super) struct Damaged;

/// Serialises a segment of these databases.
pub(super) fn write(databases: &[Held], summaries: &[Summary]) -> Vec<u8> {
    let mut entries: Vec<(&str, Posting)> = Vec::with_capacity(summaries.iter().map(Summary::len).sum());
    for (number, summary) in (0..).zip(summaries) {
        entries.extend(summary.words().map(|(word, frequency)| (word, (number, frequency as f32))));
    }
    // Each summary is a sorted run, so a stable sort merges the runs and keeps the order of databases.
    entries.sort_by(|a, b| a.0.cmp(b.0));
    let mut file = Vec::new();
    let mut words: Vec<(&str, u64, u32)> = Vec::new();
    for same in entries.chunk_by(|a, b| a.0 == b.0) {
        words.push((same[0].0, file.len() as u64, same.len() as u32));
        hashed(&mut file, |file| {
            for (_, (database, frequency)) in same {
                file.extend(database.to_le_bytes());
                file.extend(frequency.to_le_bytes());
            }
        });
    }
    let mut directory = Vec::new();
    for block in words.chunks(BLOCK_WORDS) {
        let start = file.len() as u64;
        hashed(&mut file, |file| {
            for (word, place, count) in block {
                put_word(file, word);
                file.extend(place.to_le_bytes());
                file.extend(count.to_le_bytes());
            }
        });
        put_word(&mut directory, block[0].0);
        directory.extend(start.to_le_bytes());
        directory.extend((file.len() as u32).wrapping_sub(start as u32).to_le_bytes());
    }
    let databases = serde_json::to_vec(databases).expect("names and numbers can be written");
    let mut tail = Vec::new();
    for part in [directory, databases] {
        tail.extend((file.len() as u64).to_le_bytes());
        tail.extend((part.len() as u64).to_le_bytes());
        tail.extend(xxh3_64(&part).to_le_bytes());
        file.extend(part);
    }
    file.extend(tail);
    file.extend(FORM.to_le_bytes());
    file
}

impl Segment {
    /// Opens a segment file.
    pub(super) fn open(path: &Path) -> Result<Self, Damaged> {
        let file = File::open(path).map_err(|_| Damaged)?;
        let bytes = file.metadata().map_err(|_| Damaged)?.len();
        Self::of(Source::File(file, bytes), bytes)
    }

    /// Opens a segment in memory.
    pub(super) fn in_memory(bytes: Vec<u8>) -> Result<Self, Damaged> {
        let length = bytes.len() as u64;
        Self::of(Source::Memory(bytes), length)
    }

    fn of(source: Source, bytes: u64) -> Result<Self, Damaged> {
        let start = bytes.checked_sub(TAIL_BYTES as u64).ok_or(Damaged)?;
        let tail = source.read(start, TAIL_BYTES as u64)?;
        let mut numbers = tail.chunks_exact(8).map(|bytes| bytes.try_into().map_or(0, u64::from_le_bytes));
        let mut part = || {
            let [place, length, hash] = [(); 3].map(|()| numbers.next().unwrap_or(0));
            let bytes = source.read(place, length)?;
            if xxh3_64(&bytes) == hash { Ok(bytes) } else { Err(Damaged) }
        };
        let (directory, databases) = (part()?, part()?);
        if numbers.next() != Some(FORM) {
            return Err(Damaged);
        }
        let databases = serde_json::from_slice(&databases).map_err(|_| Damaged)?;
        let mut blocks = Vec::new();
        let mut at = 0;
        while at < directory.len() {
            blocks.push(at as u32);
            at += Entry::at(&directory, at).ok_or(Damaged)?.bytes;
        }
        Ok(Self { source, databases, directory, blocks })
    }

    /// The databases that contain a word, by their index in this segment.
    pub(super) fn who_has(&self, word: &str) -> Result<Vec<Posting>, Damaged> {
        let entry = |block: u32| Entry::at(&self.directory, block as usize);
        let after = self
            .blocks
            .partition_point(|block| entry(*block).is_some_and(|entry| entry.word <= word.as_bytes()));
        let Some(block) = after.checked_sub(1).and_then(|before| entry(self.blocks[before])) else {
            return Ok(Vec::new());
        };
        let block = self.read_hashed(block.place, u64::from(block.number))?;
        let mut at = 0;
        while let Some(entry) = Entry::at(&block, at) {
            if entry.word == word.as_bytes() {
                return self.postings(entry.place, entry.number);
            }
            at += entry.bytes;
        }
        Ok(Vec::new())
    }

    fn postings(&self, place: u64, count: u32) -> Result<Vec<Posting>, Damaged> {
        let bytes = self.read_hashed(place, u64::from(count) * 8 + 8)?;
        let posting = |pair: &[u8]| {
            let (database, frequency) = pair.split_at(4);
            (
                database.try_into().map_or(u32::MAX, u32::from_le_bytes),
                frequency.try_into().map_or(0.0, f32::from_le_bytes),
            )
        };
        let postings: Vec<Posting> = bytes.chunks_exact(8).map(posting).collect();
        let is_sound = postings.iter().all(|(database, _)| (*database as usize) < self.databases.len());
        if is_sound { Ok(postings) } else { Err(Damaged) }
    }

    /// Reads bytes that are followed by their hash, checks the hash and strips it.
    fn read_hashed(&self, place: u64, length: u64) -> Result<Vec<u8>, Damaged> {
        let mut bytes = self.source.read(place, length)?;
        let hash = bytes.split_off(bytes.len().checked_sub(8).ok_or(Damaged)?);
        if xxh3_64(&bytes).to_le_bytes() == *hash { Ok(bytes) } else { Err(Damaged) }
    }
}

impl Source {
    fn read(&self, place: u64, length: u64) -> Result<Vec<u8>, Damaged> {
        if READ_BYTES_MAX < length {
            return Err(Damaged);
        }
        match self {
            Self::File(file, bytes) => {
                if *bytes < place.checked_add(length).ok_or(Damaged)? {
                    return Err(Damaged);
                }
                let mut part = vec![0; length as usize];
                file.read_exact_at(&mut part, place).map_err(|_| Damaged)?;
                Ok(part)
            }
            Self::Memory(bytes) => {
                let end = place.checked_add(length).ok_or(Damaged)?;
                Ok(bytes.get(place as usize..end as usize).ok_or(Damaged)?.to_vec())
            }
        }
    }
}

/// A word with a place and a number, as stored in blocks and in the directory.
struct Entry<'a> {
    word: &'a [u8],
    place: u64,
    number: u32,
    /// Its size in bytes.
    bytes: usize,
}

impl<'a> Entry<'a> {
    fn at(bytes: &'a [u8], at: usize) -> Option<Self> {
        let (length, rest) = bytes.get(at..)?.split_first_chunk::<2>()?;
        let length = usize::from(u16::from_le_bytes(*length));
        let (word, rest) = rest.split_at_checked(length)?;
        let (place, rest) = rest.split_first_chunk::<8>()?;
        let number = rest.first_chunk::<4>()?;
        Some(Self {
            word,
            place: u64::from_le_bytes(*place),
            number: u32::from_le_bytes(*number),
            bytes: length + 14,
        })
    }
}

/// Writes something, followed by its hash.
fn hashed(file: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = file.len();
    write(file);
    file.extend(xxh3_64(&file[start..]).to_le_bytes());
}

/// Writes a word. A word longer than 65,535 bytes is cut and then never found; no query contains such a word.
fn put_word(file: &mut Vec<u8>, word: &str) {
    let bytes = &word.as_bytes()[..word.len().min(usize::from(u16::MAX))];
    file.extend((bytes.len() as u16).to_le_bytes());
    file.extend(bytes);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn held(name: &str) -> Held {
        Held {
            name: name.to_owned(),
            version: "summary-1-00.parquet".to_owned(),
            folder_ns: 7,
            documents: 10.0,
            total: 20.0,
            wording: Wording::default(),
        }
    }

    fn made(summaries: &[BTreeMap<String, u8>]) -> Vec<u8> {
        let databases: Vec<Held> = (0..summaries.len()).map(|n| held(&n.to_string())).collect();
        let of = |map: &BTreeMap<String, u8>| {
            Summary::from_words(10.0, map.iter().map(|(word, f)| (word.clone(), f64::from(*f))).collect())
        };
        write(&databases, &summaries.iter().map(of).collect::<Vec<_>>())
    }

    #[test]
    fn words_of_many_blocks_are_found_and_others_are_not() {
        let words: BTreeMap<String, u8> =
            (0..3_000).map(|n| (format!("w{n:05}"), (n % 200 + 1) as u8)).collect();
        let segment = Segment::in_memory(made(std::slice::from_ref(&words))).expect("it opens");
        for (word, frequency) in &words {
            assert_eq!(segment.who_has(word).expect("it reads"), [(0, f32::from(*frequency))], "{word}");
        }
        for word in ["", "a", "w", "w00000x", "w03000", "z"] {
            assert_eq!(segment.who_has(word).expect("it reads"), [], "{word}");
        }
    }

    #[test]
    fn a_damaged_byte_never_gives_a_wrong_answer() {
        let words: BTreeMap<String, u8> =
            [("saturn", 3), ("cassini", 5)].map(|(word, f)| (word.to_owned(), f)).into();
        let whole = made(&[words.clone(), words]);
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            if let Ok(segment) = Segment::in_memory(bytes)
                && let Ok(found) = segment.who_has("saturn")
            {
                assert_eq!(found, [(0, 3.0), (1, 3.0)], "byte {at}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_segment_says_what_was_written(
            summaries in prop::collection::vec(
                prop::collection::btree_map("[a-c]{1,2}", 1u8..9, 0..6),
                0..4,
            ),
        ) {
            let segment = Segment::in_memory(made(&summaries)).expect("it opens");
            for word in ["a", "b", "aa", "ab", "cc", "zz"] {
                let expected: Vec<Posting> =
                    (0..)
                        .zip(&summaries)
                        .filter_map(|(n, summary)| Some((n, f32::from(*summary.get(word)?))))
                        .collect();
                prop_assert_eq!(segment.who_has(word).expect("it reads"), expected);
            }
        }

        #[test]
        fn any_bytes_are_a_segment_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(segment) = Segment::in_memory(bytes) {
                let _ = segment.who_has("a");
            }
        }
    }
}
