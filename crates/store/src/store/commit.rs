//! A commit: appends exchanges to the Collection, then commits everything else as one step.

use std::collections::HashMap;

use freshet_protocol::codec::Record as _;
use freshet_protocol::ids::{PageNumber, Place, UrlId};
use freshet_protocol::time::Timestamp;

use super::opened::Store;
use super::reopening::UncertainCommit;
use crate::all_urls::{AllUrls, Standing, url_key};
use crate::changes::{Changes, Committed};
use crate::collection::exchange::{Exchange, ExchangeKind};
use crate::collection::index::{self, IndexLine, LINE_BYTES_MAX};
use crate::collection::segment::{self, SegmentRecord, Tail};
use crate::collection::warc::{Original, Written};
use crate::counters::Counters;
use crate::directory::room::check_room;
use crate::error::StoreError;
use crate::key_value::{Batch, Space};
use crate::records::read;
use crate::versions::{VersionKind, VersionRecord, Versions, place_key, version_key};

/// A commit in progress.
struct Step {
    batch: Batch,
    counters: Counters,
    committed: Committed,
}

impl Store {
    /// Commits all changes as one step. They survive a crash of the process when this returns, and a crash
    /// of the machine after [`Self::sync`]. After an error none of them is committed, and the numbers
    /// handed out since the last commit are revoked. After [`StoreError::Poisoned`], all of them may be
    /// committed instead.
    ///
    /// # Panics
    /// If a number was handed out and its record is not among the changes.
    pub fn commit(&mut self, mut changes: Changes) -> Result<Committed, StoreError> {
        let committed = self.try_commit(&mut changes);
        if committed.is_err() {
            self.doubt = None;
            self.take_numbers_back();
        }
        committed
    }

    /// The same, but after an error the numbers handed out remain valid: the changes can be retried, alone or
    /// with more. If the key-value store accepts no writes any more, it is reopened first.
    ///
    /// # Panics
    /// If a number was handed out and its record is not among the changes.
    pub fn try_commit(&mut self, changes: &mut Changes) -> Result<Committed, StoreError> {
        check_room(&self.shared.directory, changes.disk_bytes())?;
        let earlier = self.settle_doubt(changes)?;
        let lengths = changes.lengths();
        if !changes.exchanges.is_empty() {
            self.roll_if_large()?;
        }
        let mut step = Step {
            batch: Batch::new(),
            counters: self.counters.clone(),
            committed: Committed { first_visit: self.counters.visits, ..Committed::default() },
        };
        match self.prepare(changes, &mut step).and_then(|()| self.finish(changes, &mut step)) {
            Ok(()) => {}
            Err(error @ StoreError::Poisoned { .. }) => {
                let (commits, committed) = (self.counters.commits + 1, step.committed);
                self.doubt = Some(UncertainCommit { commits, lengths, committed });
                return Err(error);
            }
            Err(error) => {
                self.cut_tail_back()?;
                return Err(error);
            }
        }
        self.counters = step.counters;
        self.recent.committed();
        self.new_sites.clear();
        Ok(match earlier {
            Some(earlier) => earlier.and(step.committed),
            None => step.committed,
        })
    }

    /// Appends the exchanges to the Collection.
    fn prepare(&mut self, changes: &mut Changes, step: &mut Step) -> Result<(), StoreError> {
        if changes.exchanges.is_empty() {
            return self.mend_places(changes);
        }
        self.mend_places(changes)?;
        self.put_exchanges(changes, step)
    }

    /// Commits the step.
    fn finish(&mut self, changes: &Changes, step: &mut Step) -> Result<(), StoreError> {
        self.put_urls(changes, step)?;
        self.put_rest(changes, step);
        assert_eq!(step.counters.urls, self.next_url, "every URL that got a number has a record");
        assert_eq!(step.counters.pages, self.next_page, "every page that got a number has a record");
        assert_eq!(step.counters.sites, self.next_site, "every site that got a number has a record");
        changes.visits.iter().for_each(|visit| self.ledger.let_pass(visit.time));
        self.ledger.take(self.state.as_ref(), std::mem::take(&mut step.batch), &mut step.counters)
    }

    /// Truncates the current segment to its committed length.
    pub(crate) fn cut_tail_back(&mut self) -> Result<(), StoreError> {
        let key = self.tail_number.to_be_bytes();
        self.tail_record = read(self.state.as_ref(), Space::Segments, &key)?.unwrap_or_default();
        self.tail.cut_back(self.tail_record.bytes)
    }

    /// Revokes the numbers handed out since the last commit.
    fn take_numbers_back(&mut self) {
        let Counters { urls, pages, sites, .. } = self.counters;
        (self.next_url, self.next_page, self.next_site) = (urls, pages, sites);
        self.recent.forget_new();
        self.new_sites.clear();
    }

    /// If the current segment is large enough, closes it and begins the next one.
    pub(crate) fn roll_if_large(&mut self) -> Result<(), StoreError> {
        if self.tail.length() < self.settings.segment_bytes {
            return Ok(());
        }
        self.tail.sync()?;
        let next = Tail::create(&self.shared.collection(), self.tail_number + 1)?;
        let closed = SegmentRecord { closed: true, ..self.tail_record.clone() };
        let mut batch = Batch::new();
        batch.put(Space::Segments, self.tail_number.to_be_bytes(), closed.encode());
        self.ledger.take(self.state.as_ref(), batch, &mut self.counters)?;
        self.unindexed.insert(self.tail_number);
        self.tail = next;
        self.tail_number += 1;
        self.tail_record = SegmentRecord::default();
        Ok(())
    }

    /// If the segment is empty, adds the `warcinfo` record that every segment begins with.
    pub(crate) fn begin_segment(&mut self, time: Timestamp, buffer: &mut Vec<u8>) {
        if self.tail.length() == 0 {
            self.writer.append_warcinfo(&segment::file_name(self.tail_number), time, buffer);
        }
    }

    /// Corrects the places in page records whose segment has been rewritten: their writer may not know of it.
    fn mend_places(&self, changes: &mut Changes) -> Result<(), StoreError> {
        if self.sweep.gone.is_empty() {
            return Ok(());
        }
        let gone = |place: Place| self.sweep.gone.contains(&place.segment);
        for (page, record) in &mut changes.pages {
            if record.place.is_some_and(gone) {
                let newest =
                    Versions(self.state.as_ref()).full_at(*page, Timestamp::from_millis(i64::MAX))?;
                record.place = newest.map(|version| version.record.place);
            }
        }
        Ok(())
    }

    /// Appends the exchanges to the Collection, and fills in the places of visits and pages.
    fn put_exchanges(&mut self, changes: &mut Changes, step: &mut Step) -> Result<(), StoreError> {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        self.begin_segment(changes.exchanges[0].time, &mut buffer);
        let mut full: HashMap<PageNumber, Original> = HashMap::new();
        let mut places: HashMap<(PageNumber, Timestamp), Place> = HashMap::new();
        let mut full_places: HashMap<PageNumber, Place> = HashMap::new();
        for exchange in &changes.exchanges {
            let original = match (exchange.kind, exchange.page) {
                (ExchangeKind::Identical | ExchangeKind::NotModified, Some(page)) => match full.get(&page) {
                    Some(original) => Some(original.clone()),
                    None => self.original(page, exchange.time)?,
                },
                _ => None,
            };
            let written = match (&exchange.folded, &original) {
                (Some(folded), None) => folded.append_to(&mut buffer),
                _ => self.writer.append_exchange(exchange, original.as_ref(), &mut buffer),
            };
            let offset = self.tail.length() + written.start as u64;
            let place = Place { segment: self.tail_number, offset, length: written.length };
            self.note_exchange(exchange, &written, place, step);
            if let Some(page) = exchange.page {
                places.insert((page, exchange.time), place);
                if written.kind == VersionKind::Full {
                    let original = Original { time: exchange.time, payload_digest: written.payload_digest };
                    full.insert(page, original);
                    full_places.insert(page, place);
                }
            }
            step.committed.places.push(place);
        }
        for visit in &mut changes.visits {
            if let Some(page) = visit.page {
                visit.place = places.get(&(page, visit.time)).copied().or(visit.place);
            }
        }
        for (page, record) in &mut changes.pages {
            record.place = full_places.get(page).copied().or(record.place);
        }
        let appended = self.tail.append(&buffer);
        step.committed.bytes = buffer.len() as u64;
        self.buffer = buffer;
        appended?;
        let grown = self.tail.length() - self.tail_record.bytes;
        self.tail_record.bytes = self.tail.length();
        step.counters.collection_bytes += grown;
        step.batch.put(Space::Segments, self.tail_number.to_be_bytes(), self.tail_record.encode());
        Ok(())
    }

    /// The full response that a revisit at this time refers to.
    fn original(&self, page: PageNumber, time: Timestamp) -> Result<Option<Original>, StoreError> {
        let version = Versions(self.state.as_ref()).full_at(page, time)?;
        Ok(version
            .map(|version| Original { time: version.time, payload_digest: version.record.payload_digest }))
    }

    /// Adds the entries of an exchange to the batch: its index line, its version and its place.
    fn note_exchange(&mut self, exchange: &Exchange, written: &Written, place: Place, step: &mut Step) {
        self.tail_record.count(exchange.time);
        let line = IndexLine {
            url: &exchange.url,
            time: exchange.time,
            mime: written.mime.clone(),
            status: exchange.status,
            digest: &written.payload_digest,
            place,
        }
        .text();
        if line.len() <= LINE_BYTES_MAX {
            step.batch.put(Space::Index, index::line_key(place.segment, &line), []);
        }
        let Some(page) = exchange.page else { return };
        let version = VersionRecord {
            place,
            extent: written.extent,
            kind: written.kind,
            status: exchange.status,
            payload_digest: written.payload_digest,
            raw_digest: exchange.raw_digest,
            text_digest: exchange.text_digest,
            simhash: exchange.simhash,
        };
        let key = version_key(page, exchange.time);
        step.batch.put(Space::Versions, key, version.encode());
        step.batch.put(Space::Places, place_key(place), key);
        step.counters.versions += 1;
    }

    fn put_urls(&self, changes: &Changes, step: &mut Step) -> Result<(), StoreError> {
        let all_urls = AllUrls::new(self.state.as_ref(), self.shared.seed);
        let mut standings: HashMap<UrlId, Standing> = HashMap::new();
        for (id, record) in &changes.urls {
            let before = if let Some(standing) = standings.get(id) {
                Some(*standing)
            } else if u64::from(id.0) < self.counters.urls {
                all_urls.get(*id)?.map(|before| before.standing)
            } else {
                None
            };
            match before {
                Some(standing) => {
                    let counter = step.counters.standing(standing);
                    *counter = counter.saturating_sub(1);
                }
                None => {
                    step.counters.urls += 1;
                    step.batch.put(Space::UrlKeys, url_key(self.shared.seed, &record.url), id.key());
                }
            }
            *step.counters.standing(record.standing) += 1;
            standings.insert(*id, record.standing);
            step.batch.put(Space::Urls, id.key(), record.encode());
        }
        Ok(())
    }

    fn put_rest(&self, changes: &Changes, step: &mut Step) {
        for (page, record) in &changes.pages {
            step.counters.pages = step.counters.pages.max(u64::from(page.0) + 1);
            step.batch.put(Space::Pages, page.key(), record.encode());
        }
        for (site, record) in &changes.sites {
            if u64::from(site.0) >= step.counters.sites {
                step.counters.sites = u64::from(site.0) + 1;
                step.batch.put(Space::SiteNames, record.site.as_bytes(), site.key());
            }
            step.batch.put(Space::Sites, site.key(), record.encode());
        }
        for (page, targets) in &changes.links {
            step.batch.put(Space::Links, page.key(), crate::links::encode(targets.clone()));
        }
        for visit in &changes.visits {
            step.batch.put(Space::Visits, step.counters.visits.to_be_bytes(), visit.encode());
            step.counters.count_visit(visit.kind, visit.bytes);
        }
        for (name, value) in &changes.notes {
            match value {
                Some(value) => step.batch.put(Space::Notes, name.as_bytes(), value.as_slice()),
                None => step.batch.remove(Space::Notes, name.as_bytes()),
            }
        }
        for (name, value) in &changes.commands {
            match value {
                Some(value) => step.batch.put(Space::Commands, name.as_bytes(), value.as_slice()),
                None => step.batch.remove(Space::Commands, name.as_bytes()),
            }
        }
    }
}
