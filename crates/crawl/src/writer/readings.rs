//! What lists said of pages when they were last read, as the stores keep it: a note a list, written with the reading that it tells of.
//!
//! A list of many pages is read as often as every few hours, and most of what it says is the same of all: so a page takes the distance to the page before it and two bits,
//! which is a byte or two.
//!
//! # Promises
//! - What is written is read back; bytes that are no reading are none, never a panic.
//! - A reading takes no more memory than its note until its turn comes.

use std::collections::BTreeMap;

use freshet_protocol::codec::{Field, Input, Malformed, put_number, take_number};
use freshet_protocol::ids::{PageNumber, SiteNumber};
use freshet_protocol::time::Timestamp;
use freshet_store::error::StoreError;
use freshet_store::reader::Reader;

use super::dates::{self, Said};
use super::event::Event;
use super::memory::Memory;
use super::recall::Copies;
use crate::last_run::Note;

/// The notes of lists begin with this; the URL of the list follows.
const NOTES: &str = "list ";
/// The form of a note, its first byte.
const VERSION: u8 = 1;
/// Bits of a page's number that hold its word.
const WORD_BITS: u32 = 2;

/// What a list says of a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Word {
    /// That there is such a page.
    Named = 0,
    /// That it has not changed since our copy.
    Unaltered = 1,
    /// That it has.
    Changed = 2,
    /// Nothing any more, and that is worth a look.
    Missing = 3,
}

impl Word {
    /// In the order of their numbers in a note.
    const ALL: [Self; 4] = [Self::Named, Self::Unaltered, Self::Changed, Self::Missing];
}

/// The last reading of a list that succeeded.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ListReading {
    pub(super) head: Head,
    /// The pages and their words, as the note has them. Invariant: they can be read.
    words: Box<[u8]>,
}

/// Readings with the URLs of their lists, the oldest first.
pub type ListReadings = Vec<(Box<str>, ListReading)>;

/// What a reading says of its list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Head {
    pub(super) site: SiteNumber,
    /// When it was read.
    pub(super) time: Timestamp,
    /// Milliseconds until it was to be read again.
    pub(super) every: u64,
    /// Pages of the site that lists had named no longer: those that were lost, and those that were not.
    pub(super) missing: (u32, u32),
    /// Whether pages that it dated as changed were taken for changed.
    pub(super) is_trusted: bool,
    /// Whether pages that it dated as unaltered were taken for unaltered.
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

    /// When the list was read.
    pub fn time(&self) -> Timestamp {
        self.head.time
    }

    /// What it said of pages, in their order.
    pub(super) fn words(&self) -> impl Iterator<Item = (PageNumber, Word)> {
        let (mut input, mut before) = (Input::new(&self.words), 0);
        std::iter::from_fn(move || {
            let (page, word) = take_word(before, &mut input).ok().flatten()?;
            before = page.0;
            Some((page, word))
        })
    }

    /// The note of a list: its name and its bytes.
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

    /// The reading that a note tells of; none if it cannot be read.
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

/// The next page and its word, after a page; none at the end.
fn take_word(before: u32, input: &mut Input<'_>) -> Result<Option<(PageNumber, Word)>, Malformed> {
    if input.left() == 0 {
        return Ok(None);
    }
    let number = take_number(input)?;
    let page = u32::try_from(u64::from(before) + (number >> WORD_BITS)).map_err(|_| Malformed::Large)?;
    let word = Word::ALL[(number & ((1 << WORD_BITS) - 1)) as usize];
    Ok(Some((PageNumber(page), word)))
}

/// The readings that the stores keep. What cannot be read is left out.
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
    /// A list was read in the past, after all that was told before. What the UpdateModule heard of it then.
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

    /// A page was visited in the past, after all that was told before: what lists had said of it was judged then.
    pub fn recall_judgement(&mut self, page: PageNumber) {
        self.dates.forget(page);
    }

    /// Pages that wait for a visit because of what lists said of them before, when all of the past is told.
    pub fn recall_signals(&self, copies: &Copies) -> Vec<Event> {
        let mut signals = Vec::new();
        for (page, said) in self.dates.waiting() {
            let Some(site) = copies.site(page) else { continue };
            let is_heeded = said == Said::Missing || dates::is_heeded(&self.sites[site.index()], page);
            signals.extend(is_heeded.then_some(Event::Signal { page, site }));
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
        fn any_bytes_are_no_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..60), known in any::<bool>()) {
            if let Some(first) = bytes.first_mut().filter(|_| known) {
                *first = VERSION;
            }
            if let Some(reading) = ListReading::decode(&bytes) {
                prop_assert!(reading.words().count() <= bytes.len());
            }
        }
    }
}
