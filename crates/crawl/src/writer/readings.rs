//! Stored readings: what each list said about pages when it was last read. One note per list, committed with
//! its reading.
//!
//! A list of many pages may be read every few hours, and it says the same about most of them. So an entry is
//! the distance to the page before it and two bits for the word, which takes a byte or two.
//!
//! # Promises
//! - What is encoded decodes to the same. Invalid bytes decode to none, never to a panic.
//! - A stored reading takes no more memory than its note until it is replayed.

use std::collections::BTreeMap;

use freshet_protocol::codec::{Field, Input, Malformed, put_number, take_number};
use freshet_protocol::ids::{PageNumber, SiteNumber};
use freshet_protocol::time::Timestamp;
use freshet_store::error::StoreError;
use freshet_store::reader::Reader;

use super::dates::{self, Said};
use super::memory::Memory;
use super::recall::Copies;
use crate::event::Event;
use crate::last_run::Note;

/// Prefix of the keys of these notes. The URL of the list follows.
const NOTES: &str = "list ";
/// Version of the encoding: the first byte of a note.
const VERSION: u8 = 1;
/// Number of low bits of an entry that hold its word.
const WORD_BITS: u32 = 2;

/// What a list says about a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Word {
    /// The page exists.
    Named = 0,
    /// It has not changed since our copy.
    Unaltered = 1,
    /// It has changed since our copy.
    Changed = 2,
    /// It is no longer named, and is worth a visit.
    Missing = 3,
}

impl Word {
    /// In the order of their numbers in a note.
    const ALL: [Self; 4] = [Self::Named, Self::Unaltered, Self::Changed, Self::Missing];
}

/// The last successful reading of a list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ListReading {
    pub(super) head: Head,
    /// The pages and their words, as encoded in the note. Invariant: they can be decoded.
    words: Box<[u8]>,
}

/// Readings with the URLs of their lists, oldest first.
pub type ListReadings = Vec<(Box<str>, ListReading)>;

/// Properties of a reading.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Head {
    pub(super) site: SiteNumber,
    /// Time of the reading.
    pub(super) time: Timestamp,
    /// Milliseconds until the next reading was due.
    pub(super) every: u64,
    /// Number of pages of the site that lists no longer named: those that were gone, and those that were not.
    pub(super) missing: (u32, u32),
    /// Whether pages that it dated as changed were assumed changed.
    pub(super) is_trusted: bool,
    /// Whether pages that it dated as unaltered were assumed unchanged.
    pub(super) is_silence_believed: bool,
}

impl ListReading {
    pub(super) fn new(head: Head, words: &BTreeMap<PageNumber, Word>) -> Self {
        let (mut bytes, mut before) = (Vec::with_capacity(2 * words.len()), 0);
        for (page, word) in words {
            put_number(u64::from(page.0 - before) << WORD_BITS | *word as u64, &mut bytes);
            before = page.0;
        }
        Self { head, words: bytes.into() }
    }

    /// Time of the reading.
    pub fn time(&self) -> Timestamp {
        self.head.time
    }

    /// The pages and what it said about them, in order of page.
    pub(super) fn words(&self) -> impl Iterator<Item = (PageNumber, Word)> {
        let (mut input, mut before) = (Input::new(&self.words), 0);
        std::iter::from_fn(move || {
            let (page, word) = take_word(before, &mut input).ok().flatten()?;
            before = page.0;
            Some((page, word))
        })
    }

    /// The note of a list: its key and its bytes.
    pub(super) fn note(&self, list: &str) -> Note {
        let mut bytes = vec![VERSION];
        let Head { site, time, every, missing: (lost, found), is_trusted, is_silence_believed } = self.head;
        put_number(u64::from(site.0), &mut bytes);
        time.put(&mut bytes);
        every.put(&mut bytes);
        lost.put(&mut bytes);
        found.put(&mut bytes);
        is_trusted.put(&mut bytes);
        is_silence_believed.put(&mut bytes);
        bytes.extend_from_slice(&self.words);
        (format!("{NOTES}{list}"), Some(bytes))
    }

    /// Decodes a note. None if it is invalid.
    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut input = Input::new(bytes);
        (input.take_byte().ok()? == VERSION).then_some(())?;
        let head = take_head(&mut input).ok()?;
        let words = input.take_bytes(input.left()).ok()?;
        let (mut input, mut before) = (Input::new(words), 0);
        while let Some((page, _)) = take_word(before, &mut input).ok()? {
            before = page.0;
        }
        Some(Self { head, words: words.into() })
    }
}

fn take_head(input: &mut Input<'_>) -> Result<Head, Malformed> {
    Ok(Head {
        site: SiteNumber(u32::take(input)?),
        time: Timestamp::take(input)?,
        every: u64::take(input)?,
        missing: (u32::take(input)?, u32::take(input)?),
        is_trusted: bool::take(input)?,
        is_silence_believed: bool::take(input)?,
    })
}

/// Decodes the next page and its word. None at the end.
fn take_word(before: u32, input: &mut Input<'_>) -> Result<Option<(PageNumber, Word)>, Malformed> {
    if input.left() == 0 {
        return Ok(None);
    }
    let number = take_number(input)?;
    let page = u32::try_from(u64::from(before) + (number >> WORD_BITS)).map_err(|_| Malformed::Large)?;
    let word = Word::ALL[(number & ((1 << WORD_BITS) - 1)) as usize];
    Ok(Some((PageNumber(page), word)))
}

/// Reads the stored readings. Those that cannot be decoded are left out.
pub(super) fn recall_readings(reader: &Reader) -> Result<ListReadings, StoreError> {
    let notes = reader.notes(NOTES)?.into_iter();
    let reading = |(name, note): (String, Vec<u8>)| {
        Some((name.strip_prefix(NOTES)?.into(), ListReading::decode(&note)?))
    };
    let mut readings: ListReadings = notes.filter_map(reading).collect();
    readings.sort_by_key(|(_, reading)| reading.time());
    Ok(readings)
}

impl Memory {
    /// Replays a reading of a list. Returns the events that the UpdateModule received then.
    pub fn recall_reading(&mut self, list: &str, reading: &ListReading) -> [Event; 2] {
        self.dates.recall(list, reading);
        let pages = |is_heard: bool, wanted: Word| {
            let words = reading.words().filter(|(_, word)| is_heard && *word == wanted);
            words.map(|(page, _)| page).collect()
        };
        let (time, head) = (reading.time(), &reading.head);
        [
            Event::Altered { pages: pages(head.is_trusted, Word::Changed) },
            Event::Unaltered { pages: pages(head.is_silence_believed, Word::Unaltered), time },
        ]
    }

    /// Replays a visit to a page: what lists had said about the page was judged then.
    pub fn recall_judgement(&mut self, page: PageNumber) {
        self.dates.forget(page);
    }

    /// Signals of pages that still wait for a visit because of what lists said, after the replay.
    pub fn recall_signals(&self, copies: &Copies) -> Vec<Event> {
        let mut signals = Vec::new();
        for (page, said) in self.dates.waiting() {
            let Some(site) = copies.site(page) else { continue };
            let is_used = said == Said::Missing || dates::is_used(&self.sites[site.index()], page);
            signals.extend(is_used.then_some(Event::Signal { page, site }));
        }
        signals
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEAD: Head = Head {
        site: SiteNumber(3),
        time: Timestamp::from_millis(1_790_000_000_000),
        every: freshet_protocol::time::MILLIS_PER_DAY.unsigned_abs(),
        missing: (2, 300),
        is_trusted: true,
        is_silence_believed: false,
    };

    fn bytes_of(reading: &ListReading) -> Vec<u8> {
        reading.note("").1.expect("a reading is kept")
    }

    #[test]
    fn a_list_of_pages_that_follow_each_other_takes_a_byte_a_page() {
        let words = (1000..51_000).map(|page| (PageNumber(page), Word::Unaltered)).collect();
        let bytes = bytes_of(&ListReading::new(HEAD, &words)).len();
        assert!((50_000..50_030).contains(&bytes), "{bytes}");
    }

    #[test]
    fn a_form_that_is_not_known_is_no_reading() {
        let mut bytes = bytes_of(&ListReading::new(HEAD, &BTreeMap::new()));
        assert!(ListReading::decode(&bytes).is_some());
        bytes[0] += 1;
        assert_eq!(ListReading::decode(&bytes), None);
        assert_eq!(ListReading::decode(&[]), None);
    }

    proptest! {
        #[test]
        fn a_reading_comes_back(said in prop::collection::btree_map(any::<u32>(), 0..4_usize, 0..50)) {
            let words: BTreeMap<_, _> =
                said.into_iter().map(|(page, word)| (PageNumber(page), Word::ALL[word])).collect();
            let reading = ListReading::new(HEAD, &words);
            let read = ListReading::decode(&bytes_of(&reading)).expect("it can be read");
            prop_assert_eq!(&read, &reading);
            prop_assert_eq!(read.words().collect::<BTreeMap<_, _>>(), words);
        }

        #[test]
        fn any_bytes_are_no_panic(
            mut bytes in prop::collection::vec(any::<u8>(), 0..60),
            known in any::<bool>(),
        ) {
            if let Some(first) = bytes.first_mut().filter(|_| known) {
                *first = VERSION;
            }
            if let Some(reading) = ListReading::decode(&bytes) {
                prop_assert!(reading.words().count() <= bytes.len());
            }
        }
    }
}
