//! Evidence from sitemaps: what they say about pages that we have, and how far it can be trusted.
//!
//! A sitemap with dates says about each page whether it has changed since our copy: a newer date means that
//! it has, an older one that it has not. A page that it no longer names may be gone. All this is evidence,
//! and visits show how often it was right. A stated change is checked by what the visit finds. Silence (no
//! stated change) is checked by the changes that visits find and that the next reading does not date either.
//! If a site's silence has proved right, reading its sitemap counts as a visit to each of the pages without a
//! stated change, at the cost of one.
//!
//! # Promises
//! - Silence is trusted only on a site whose sitemaps stated at least nine in ten of the recent changes found
//!   there, and at least a few, and that do not state changes that did not happen.
//! - A change that may have come after the sitemap was read is judged by its next reading.
//! - A sitemap that has lost most of its pages at once says nothing about those.
//! - The content of the last readings survives a restart, except for changes that were to be judged by the
//!   next readings.

use std::collections::{BTreeMap, HashMap, HashSet};

use freshet_protocol::ids::{PageNumber, SiteNumber};
use freshet_protocol::time::Timestamp;
use freshet_store::sites::SiteRecord;

use super::readings::{Head, ListReading, Word};

/// Fraction of the changes found that sitemaps must have stated for their silence to be trusted.
const TOLD_MIN: f32 = 0.9;
/// Minimum number of stated changes (a decayed count) for that.
const TOLD_SOME: f32 = 3.0;
/// Minimum number of dates that were right for further ones to be trusted.
const RIGHT_SOME: u32 = 3;
/// Factor by which the counts of changes decay with each change found: they cover some fifty changes.
const MEMORY: f32 = 0.98;
/// One in this many pages with untrusted evidence is visited all the same, so that trust can be regained.
const ASKED_AGAIN: u32 = 128;

/// Milliseconds of one hour.
const HOUR: i64 = 3_600_000;
/// Milliseconds from the first reading of a list to the second.
pub(super) const LIST_EVERY: i64 = 24 * HOUR;
/// Minimum and maximum interval between two readings of a list, in milliseconds.
const LIST_EVERY_LIMITS: (i64, i64) = (6 * HOUR, 7 * 24 * HOUR);

/// What the last readings said about pages that were not visited since.
#[derive(Debug, Default)]
pub(super) struct Dates {
    words: HashMap<PageNumber, Said>,
    /// Pages with a change that sitemaps had not stated when it was found, and the time of the visit before
    /// it.
    untold: HashMap<PageNumber, Timestamp>,
    lists: HashMap<Box<str>, List>,
    missing: HashMap<SiteNumber, Record>,
}

/// The last reading of a list.
#[derive(Debug)]
struct List {
    /// Milliseconds until the next reading.
    every: i64,
    /// The pages that it named.
    pages: HashSet<PageNumber>,
}

/// What a sitemap said about a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Said {
    /// It has changed since our copy.
    Changed,
    /// It has not changed.
    Unaltered,
    /// It is no longer named.
    Missing,
}

/// What a visit found, compared with our copy.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Found {
    Unaltered,
    Changed,
    /// It is gone, or redirects.
    Lost,
}

/// What a visit shows about the statement of a sitemap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// It stated the change that was found.
    Right,
    /// It stated a change that did not happen.
    Wrong,
    /// It did not state a change that happened.
    Untold,
}

/// How often a kind of evidence was right and wrong.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    right: u32,
    wrong: u32,
}

impl Record {
    /// Whether it was right three times in five, or may be (a few errors are allowed for). Less is no
    /// evidence: of pages that are visited when they may have changed, a third has.
    fn is_believed(self) -> bool {
        3 * u64::from(self.wrong) <= 2 * u64::from(self.right) + 5
    }

    /// Whether it was right nine times in ten, and at least a few times.
    fn is_trusted(self) -> bool {
        RIGHT_SOME <= self.right && 9 * u64::from(self.wrong) <= u64::from(self.right)
    }
}

impl Dates {
    /// Records what a sitemap said about a page.
    pub(super) fn say(&mut self, page: PageNumber, said: Said) {
        self.words.insert(page, said);
    }

    /// Judges the last statement about a page by what a visit found since the visit at `before`.
    pub(super) fn judge(
        &mut self,
        (site, page): (SiteNumber, PageNumber),
        before: Timestamp,
        found: Found,
    ) -> Option<Verdict> {
        match (self.words.remove(&page)?, found) {
            (Said::Changed, Found::Unaltered) => Some(Verdict::Wrong),
            (Said::Changed, Found::Changed | Found::Lost) => Some(Verdict::Right),
            (Said::Unaltered, Found::Changed) => {
                self.untold.insert(page, before);
                None
            }
            (Said::Unaltered, _) => None,
            (Said::Missing, found) => {
                let record = self.missing.entry(site).or_default();
                record.right += u32::from(found == Found::Lost);
                record.wrong += u32::from(found != Found::Lost);
                None
            }
        }
    }

    /// Judges a sitemap that dates a page for which a change was found before the sitemap was read.
    pub(super) fn judge_late(&mut self, page: PageNumber, modified: Timestamp) -> Option<Verdict> {
        let before = self.untold.remove(&page)?;
        Some(if before < modified { Verdict::Right } else { Verdict::Untold })
    }

    /// Whether the last reading of a list is known.
    pub(super) fn has_read(&self, list: &str) -> bool {
        self.lists.contains_key(list)
    }

    /// Records the pages that a sitemap of a site names now. Returns those that it no longer names and that
    /// are worth a visit.
    pub(super) fn missing(
        &mut self,
        site: SiteNumber,
        list: &str,
        pages: HashSet<PageNumber>,
    ) -> Vec<PageNumber> {
        let is_believed = self.missing.get(&site).copied().unwrap_or_default().is_believed();
        let before = std::mem::replace(&mut self.list(list).pages, pages);
        let now = &self.lists[list].pages;
        let mut missing: Vec<PageNumber> = before.difference(now).copied().collect();
        if before.len() < 2 * missing.len() {
            return Vec::new();
        }
        missing.retain(|page| is_believed || page.0.is_multiple_of(ASKED_AGAIN));
        missing.sort_unstable();
        missing.iter().for_each(|page| self.say(*page, Said::Missing));
        missing
    }

    /// Returns the milliseconds until the next reading of a list, from the number of new facts in the last
    /// one: unknown pages and changes.
    pub(super) fn next_reading(&mut self, list: &str, new_entries: usize) -> i64 {
        let every = &mut self.list(list).every;
        *every = interval_after(*every, new_entries);
        *every
    }

    /// The reading of a list to store: what it said about pages of its site, whose record is given.
    pub(super) fn reading(
        &self,
        (site, record): (SiteNumber, &SiteRecord),
        list: &str,
        words: &BTreeMap<PageNumber, Word>,
        time: Timestamp,
    ) -> ListReading {
        let missing = self.missing.get(&site).copied().unwrap_or_default();
        let head = Head {
            site,
            time,
            every: self.lists.get(list).map_or(LIST_EVERY, |list| list.every).unsigned_abs(),
            missing: (missing.right, missing.wrong),
            is_trusted: are_trusted(record),
            is_silence_believed: is_silence_believed(record),
        };
        ListReading::new(head, words)
    }

    /// Replays a stored reading of a list. Readings and visits are replayed in order of time.
    pub(super) fn recall(&mut self, list: &str, reading: &ListReading) {
        let mut named = HashSet::new();
        for (page, word) in reading.words() {
            match word {
                Word::Named => {}
                Word::Unaltered => self.say(page, Said::Unaltered),
                Word::Changed => self.say(page, Said::Changed),
                Word::Missing => self.say(page, Said::Missing),
            }
            if word != Word::Missing {
                named.insert(page);
            }
        }
        let Head { site, every, missing: (right, wrong), .. } = reading.head;
        self.lists.insert(list.into(), List { every: interval_of(every), pages: named });
        self.missing.insert(site, Record { right, wrong });
    }

    /// Replays a visit to a page: what was said about the page before was judged then.
    pub(super) fn forget(&mut self, page: PageNumber) {
        self.words.remove(&page);
    }

    /// Pages that a list says have changed, or no longer names, and that were not visited since, each with
    /// what was said.
    pub(super) fn waiting(&self) -> Vec<(PageNumber, Said)> {
        let waits = |(_, said): &(&PageNumber, &Said)| **said != Said::Unaltered;
        let mut waiting: Vec<_> =
            self.words.iter().filter(waits).map(|(page, said)| (*page, *said)).collect();
        waiting.sort_unstable_by_key(|(page, _)| *page);
        waiting
    }

    fn list(&mut self, url: &str) -> &mut List {
        self.lists.entry(url.into()).or_insert_with(|| List { every: LIST_EVERY, pages: HashSet::new() })
    }
}

/// Counts whether sitemaps had stated a change that was found.
pub(super) fn count(record: &mut SiteRecord, verdict: Verdict) {
    let (told, untold) = match verdict {
        Verdict::Right => (1.0, 0.0),
        Verdict::Wrong => return,
        Verdict::Untold => (0.0, 1.0),
    };
    record.changes_told = MEMORY * record.changes_told + told;
    record.changes_untold = MEMORY * record.changes_untold + untold;
}

/// The pages, among those that sitemaps of a site say have changed, that are worth a visit for it, and
/// whether the dates are believed.
pub(super) fn used(record: &SiteRecord, mut told: Vec<PageNumber>) -> (Vec<PageNumber>, bool) {
    told.retain(|page| is_used(record, *page));
    (told, record_of(record).is_believed())
}

/// Whether a page is worth a visit because sitemaps of its site say that it has changed.
pub(super) fn is_used(record: &SiteRecord, page: PageNumber) -> bool {
    record_of(record).is_believed() || page.0.is_multiple_of(ASKED_AGAIN)
}

/// Whether pages can be assumed changed because sitemaps of their site say so.
pub(super) fn are_trusted(record: &SiteRecord) -> bool {
    record_of(record).is_trusted()
}

/// How often the dates of a site's sitemaps were right.
fn record_of(record: &SiteRecord) -> Record {
    let right = record.lists.iter().map(|list| list.dates_right).sum();
    let wrong = record.lists.iter().map(|list| list.dates_wrong).sum();
    Record { right, wrong }
}

/// Whether a page can be assumed unchanged because sitemaps of its site state no change.
pub(super) fn is_silence_believed(record: &SiteRecord) -> bool {
    let (told, untold) = (record.changes_told, record.changes_untold);
    // A sitemap that states changes that did not happen could thus state all those that did, and its silence
    // would mean nothing.
    record_of(record).is_believed() && TOLD_SOME <= told && TOLD_MIN * (told + untold) <= told
}

fn interval_after(interval: i64, new_entries: usize) -> i64 {
    let next = match new_entries {
        0 => interval + interval / 2,
        1..=3 => interval,
        _ => interval - interval / 4,
    };
    next.clamp(LIST_EVERY_LIMITS.0, LIST_EVERY_LIMITS.1)
}

/// Clamps the interval in a note to the limits, in milliseconds.
pub(super) fn interval_of(told: u64) -> i64 {
    i64::try_from(told).unwrap_or(i64::MAX).clamp(LIST_EVERY_LIMITS.0, LIST_EVERY_LIMITS.1)
}

#[cfg(test)]
mod tests {
    use freshet_store::sites::ListCopy;

    use super::*;

    const SITE: SiteNumber = SiteNumber(1);
    const LIST: &str = "https://a.example/sitemap.xml";

    fn at(hours: i64) -> Timestamp {
        Timestamp::from_millis(hours * HOUR)
    }

    fn pages(numbers: std::ops::Range<u32>) -> HashSet<PageNumber> {
        numbers.map(PageNumber).collect()
    }

    #[test]
    fn a_visit_judges_the_last_word_once() {
        let (page, mut dates) = (PageNumber(3), Dates::default());
        for (said, found, verdict) in [
            (Said::Changed, Found::Changed, Some(Verdict::Right)),
            (Said::Changed, Found::Lost, Some(Verdict::Right)),
            (Said::Changed, Found::Unaltered, Some(Verdict::Wrong)),
            (Said::Unaltered, Found::Lost, None),
            (Said::Unaltered, Found::Unaltered, None),
            (Said::Missing, Found::Lost, None),
        ] {
            dates.say(page, Said::Changed);
            dates.say(page, said);
            assert_eq!(dates.judge((SITE, page), at(1), found), verdict);
            assert_eq!(dates.judge((SITE, page), at(1), found), None);
            assert_eq!(dates.judge_late(page, at(5)), None);
        }
    }

    #[test]
    fn a_change_that_no_date_told_is_judged_by_the_next_reading() {
        let (page, mut dates) = (PageNumber(3), Dates::default());
        for (modified, verdict) in
            [(at(5), Verdict::Right), (at(4), Verdict::Untold), (at(1), Verdict::Untold)]
        {
            dates.say(page, Said::Unaltered);
            assert_eq!(dates.judge((SITE, page), at(4), Found::Changed), None);
            assert_eq!(dates.judge_late(page, modified), Some(verdict));
            assert_eq!(dates.judge_late(page, modified), None);
        }
    }

    #[test]
    fn who_tells_of_changes_that_there_are_not_is_not_believed() {
        let site = |right, wrong| SiteRecord {
            lists: vec![ListCopy { dates_right: right, dates_wrong: wrong, ..ListCopy::default() }],
            changes_told: 20.0,
            ..SiteRecord::default()
        };
        for (right, wrong, is_trusted, is_silence_trusted) in [
            (20, 0, true, true),
            (18, 2, true, true),
            (2, 0, false, true),
            (17, 3, false, true),
            (20, 40, false, false),
        ] {
            let site = site(right, wrong);
            assert_eq!(
                (are_trusted(&site), is_silence_believed(&site)),
                (is_trusted, is_silence_trusted),
                "{right} {wrong}"
            );
        }
    }

    #[test]
    fn silence_is_believed_after_some_changes_and_no_longer_when_they_come_untold() {
        let mut site = SiteRecord::default();
        let told = std::iter::repeat_with(|| {
            count(&mut site, Verdict::Right);
            is_silence_believed(&site)
        });
        assert_eq!(told.take(100).position(|believed| believed), Some(3));
        count(&mut site, Verdict::Wrong);
        for _ in 0..100 {
            count(&mut site, Verdict::Right);
        }
        assert!(is_silence_believed(&site));
        let untold = std::iter::repeat_with(|| {
            count(&mut site, Verdict::Untold);
            is_silence_believed(&site)
        });
        assert_eq!(untold.take(100).position(|believed| !believed), Some(4));
    }

    #[test]
    fn pages_that_a_sitemap_names_no_longer_are_looked_for_until_they_are_found() {
        let mut dates = Dates::default();
        assert_eq!(dates.missing(SITE, LIST, pages(0..100)), []);
        assert_eq!(dates.missing(SITE, LIST, pages(2..100)), [PageNumber(0), PageNumber(1)]);
        for page in [0, 1].map(PageNumber) {
            dates.judge((SITE, page), at(0), Found::Unaltered);
        }
        // Both were still there: from now on only one in many is looked for.
        assert_eq!(dates.missing(SITE, LIST, pages(20..300)), []);
        assert_eq!(dates.missing(SITE, LIST, pages(129..300)), [PageNumber(128)]);
        dates.judge((SITE, PageNumber(128)), at(0), Found::Lost);
        assert_eq!(dates.missing(SITE, LIST, pages(130..300)), [PageNumber(129)]);
        assert_eq!(dates.missing(SITE, LIST, pages(290..300)), [], "most at once");
    }

    #[test]
    fn what_a_list_said_is_known_again_but_for_pages_that_were_visited_since() {
        let said = [Word::Named, Word::Unaltered, Word::Changed, Word::Changed, Word::Missing];
        let words: BTreeMap<_, _> = (10..).map(PageNumber).zip(said).collect();
        let mut before = Dates::default();
        before.missing.insert(SITE, Record { right: 0, wrong: 9 });
        before.next_reading(LIST, 9);
        let reading = before.reading((SITE, &SiteRecord::default()), LIST, &words, at(1));
        let mut dates = Dates::default();
        dates.recall(LIST, &reading);
        dates.forget(PageNumber(12));
        assert_eq!(dates.waiting(), [(PageNumber(13), Said::Changed), (PageNumber(14), Said::Missing)]);
        let judged = (10..15).map(|page| dates.judge((SITE, PageNumber(page)), at(0), Found::Unaltered));
        assert_eq!(judged.collect::<Vec<_>>(), [None, None, None, Some(Verdict::Wrong), None]);
        assert!(dates.has_read(LIST));
        assert_eq!(dates.next_reading(LIST, 2), 18 * HOUR);
        // The pages that lists of the site no longer named were not gone: one in many is looked for. Every
        // named page can go missing.
        assert_eq!(dates.missing(SITE, LIST, pages(11..14)), []);
        dates.missing.clear();
        assert_eq!(dates.missing(SITE, LIST, pages(12..14)), [PageNumber(11)]);
    }

    #[test]
    fn a_list_is_read_as_often_as_it_has_news() {
        let after = |readings: usize, new_entries: usize| {
            let mut dates = Dates::default();
            (0..readings).map(|_| dates.next_reading(LIST, new_entries) / HOUR).last()
        };
        assert_eq!((after(1, 0), after(50, 0)), (Some(36), Some(7 * 24)));
        assert_eq!(after(50, 2), Some(24));
        assert_eq!((after(1, 4), after(50, 4)), (Some(18), Some(6)));
    }
}
