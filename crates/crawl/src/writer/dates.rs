//! What sitemaps say of pages that we have, and how far it can be believed.
//!
//! A sitemap that dates its pages says of each whether it has changed since our copy: a newer date that it has, an older one that it has not.
//! A page that it no longer names may be gone. All this is evidence, and visits show how often it was right: what was told by what the visit
//! finds, silence by the changes that visits find and no date tells of at the next reading either. Where silence has proved right, reading the
//! sitemap is a visit to each of its pages that it does not tell of, at the cost of one.
//!
//! # Promises
//! - Silence is believed only of a site whose sitemaps told nine in ten of the last changes that were found there, and some, and do not tell of changes that there are not.
//! - A change that may have come after the sitemap was read is judged by its next reading.
//! - A sitemap that has lost most of its pages at once says nothing of those.
//! - What the last readings said outlives a restart, but for changes that their next readings were to judge.

use std::collections::{BTreeMap, HashMap, HashSet};

use freshet_protocol::ids::{PageNumber, SiteNumber};
use freshet_protocol::time::Timestamp;
use freshet_store::sites::SiteRecord;

use super::readings::{Head, ListReading, Word};

/// Part of the changes found that sitemaps must have told for their silence to be believed.
const TOLD_MIN: f32 = 0.9;
/// Changes told from which it is believed.
const TOLD_SOME: f32 = 3.0;
/// Dates that were right from which on others are taken for right.
const RIGHT_SOME: u32 = 3;
/// What each change found leaves of the count of those before: some fifty are remembered.
const MEMORY: f32 = 0.98;
/// Of what is not believed, one page in so many is visited all the same: trust can be won back.
const ASKED_AGAIN: u32 = 128;

/// Milliseconds of one hour.
const HOUR: i64 = 3_600_000;
/// Milliseconds from the first reading of a list to the second.
pub(super) const LIST_EVERY: i64 = 24 * HOUR;
/// Milliseconds between two readings of a list at least, and at most.
const LIST_EVERY_LIMITS: (i64, i64) = (6 * HOUR, 7 * 24 * HOUR);

/// What the last readings said of pages that were not visited since.
#[derive(Debug, Default)]
pub(super) struct Dates {
    words: HashMap<PageNumber, Said>,
    /// Changes that were found before a sitemap could tell of them: the visit before.
    untold: HashMap<PageNumber, Timestamp>,
    lists: HashMap<Box<str>, List>,
    missing: HashMap<SiteNumber, Record>,
}

/// A list as it was last read.
#[derive(Debug)]
struct List {
    /// Milliseconds until it is read again.
    every: i64,
    /// The pages that it named.
    pages: HashSet<PageNumber>,
}

/// What a sitemap said of a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Said {
    /// It has changed since our copy.
    Changed,
    /// It has not.
    Unaltered,
    /// Nothing any more.
    Missing,
}

/// What a visit found beside our copy.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Found {
    Unaltered,
    Changed,
    /// It is gone, or elsewhere.
    Lost,
}

/// What a visit shows of the word of a sitemap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// It told of the change that was found.
    Right,
    /// It told of a change, and there was none.
    Wrong,
    /// There was a change, and it does not tell of it.
    Untold,
}

/// How often something was right.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    right: u32,
    wrong: u32,
}

impl Record {
    /// It was right three times in five, or may be. Less is no evidence: of pages that are visited when they may have changed, a third has.
    fn is_believed(self) -> bool {
        3 * u64::from(self.wrong) <= 2 * u64::from(self.right) + 5
    }

    /// It was right nine times in ten, and some.
    fn is_trusted(self) -> bool {
        RIGHT_SOME <= self.right && 9 * u64::from(self.wrong) <= u64::from(self.right)
    }
}

impl Dates {
    /// A sitemap said something of a page.
    pub(super) fn say(&mut self, page: PageNumber, said: Said) {
        self.words.insert(page, said);
    }

    /// Judges the last word on a page by what a visit found since the one at `before`.
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

    /// Judges a sitemap that dates a page by the change that was found before it was read.
    pub(super) fn judge_late(&mut self, page: PageNumber, modified: Timestamp) -> Option<Verdict> {
        let before = self.untold.remove(&page)?;
        Some(if before < modified { Verdict::Right } else { Verdict::Untold })
    }

    /// Whether it is known what a list said last.
    pub(super) fn has_read(&self, list: &str) -> bool {
        self.lists.contains_key(list)
    }

    /// A sitemap of a site names these pages now. Those that it named before and that are worth a look.
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

    /// Milliseconds until a list is read again, by the news that its last reading brought: pages not known before, and changes.
    pub(super) fn next_reading(&mut self, list: &str, event: usize) -> i64 {
        let every = &mut self.list(list).every;
        *every = interval_after(*every, event);
        *every
    }

    /// A list was read and said this of pages of its site, whose record is given: what is kept of that.
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

    /// A list was read in the past, after all that were told before, and was kept.
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

    /// A page was visited in the past, after all that was told before: what was said of it has been judged.
    pub(super) fn forget(&mut self, page: PageNumber) {
        self.words.remove(&page);
    }

    /// Pages that were not visited since a list said that they have changed, or named them no longer; which of both is told beside each.
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

/// A change was found that sitemaps had told, or that they had not.
pub(super) fn count(record: &mut SiteRecord, verdict: Verdict) {
    let (told, untold) = match verdict {
        Verdict::Right => (1.0, 0.0),
        Verdict::Wrong => return,
        Verdict::Untold => (0.0, 1.0),
    };
    record.changes_told = MEMORY * record.changes_told + told;
    record.changes_untold = MEMORY * record.changes_untold + untold;
}

/// Those of the pages that the sitemaps of a site date as changed which are worth a visit for that, and whether the dates are believed.
pub(super) fn heeded(record: &SiteRecord, mut told: Vec<PageNumber>) -> (Vec<PageNumber>, bool) {
    told.retain(|page| is_heeded(record, *page));
    (told, record_of(record).is_believed())
}

/// Whether a page that the sitemaps of a site date as changed is worth a visit for that.
pub(super) fn is_heeded(record: &SiteRecord, page: PageNumber) -> bool {
    record_of(record).is_believed() || page.0.is_multiple_of(ASKED_AGAIN)
}

/// Whether pages that the sitemaps of a site date as changed can be taken for changed.
pub(super) fn are_trusted(record: &SiteRecord) -> bool {
    record_of(record).is_trusted()
}

/// How often the dates of a site's sitemaps were right.
fn record_of(record: &SiteRecord) -> Record {
    let right = record.lists.iter().map(|list| list.dates_right).sum();
    let wrong = record.lists.iter().map(|list| list.dates_wrong).sum();
    Record { right, wrong }
}

/// Whether a page of which the sitemaps of its site tell nothing can be taken for unchanged.
pub(super) fn is_silence_believed(record: &SiteRecord) -> bool {
    let (told, untold) = (record.changes_told, record.changes_untold);
    // Who tells of changes that there are not has told of all those that there are, and says nothing of the others.
    record_of(record).is_believed() && TOLD_SOME <= told && TOLD_MIN * (told + untold) <= told
}

fn interval_after(interval: i64, event: usize) -> i64 {
    let next = match event {
        0 => interval + interval / 2,
        1..=3 => interval,
        _ => interval - interval / 4,
    };
    next.clamp(LIST_EVERY_LIMITS.0, LIST_EVERY_LIMITS.1)
}

/// The interval that a note tells, in milliseconds, within what intervals may be.
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
        // Both were there all the same: from now on one in many is looked for.
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
        // Nothing was lost that lists of the site had named no longer: one in many is looked for, and all that are named can be missed.
        assert_eq!(dates.missing(SITE, LIST, pages(11..14)), []);
        dates.missing.clear();
        assert_eq!(dates.missing(SITE, LIST, pages(12..14)), [PageNumber(11)]);
    }

    #[test]
    fn a_list_is_read_as_often_as_it_has_news() {
        let after = |readings: usize, event: usize| {
            let mut dates = Dates::default();
            (0..readings).map(|_| dates.next_reading(LIST, event) / HOUR).last()
        };
        assert_eq!((after(1, 0), after(50, 0)), (Some(36), Some(7 * 24)));
        assert_eq!(after(50, 2), Some(24));
        assert_eq!((after(1, 4), after(50, 4)), (Some(18), Some(6)));
    }
}
