//! Topic of a crawl: records how much copies are about it, and raises the priority of URLs near hot pages.
//!
//! # Promises
//! - The likeness of a page is that of its newest copy.
//! - A page that waits for its first visit is raised when it turns out to be near a hot page. Visited pages
//!   are not.

use std::collections::VecDeque;

use freshet_partition::topic::{DISTANCE_MAX, HOT};
use freshet_protocol::ids::UrlId;
use freshet_store::all_urls::Standing;
use freshet_store::coll_urls::PageRecord;
use freshet_store::error::StoreError;

use super::memory::Memory;
use super::writer_thread::Writer;
use crate::event::Event;
use crate::visit::{Finding, PageVisit};

impl Writer {
    /// Records how much a copy is about the topic. This comes before its links are followed, so that they are
    /// known to be links of a hot page.
    pub(super) fn note_likeness(
        &mut self,
        visit: &PageVisit,
        record: &mut PageRecord,
    ) -> Result<(), StoreError> {
        let (Some(topic), Some(reading)) = (self.memory.admission.topic(), &visit.reading) else {
            return Ok(());
        };
        if !matches!(visit.finding, Finding::New | Finding::Back | Finding::Changed(_) | Finding::Unchanged) {
            return Ok(());
        }
        let likeness = topic.likeness(reading.title.as_deref().unwrap_or_default(), &reading.text);
        record.likeness = Some(likeness);
        if HOT <= likeness { self.memory.come_nearer(record.url, 0) } else { Ok(()) }
    }
}

impl Memory {
    /// Restores a page that was hot when the crawl ended. Its events are dropped: waiting pages are reported
    /// with their priority later.
    pub(super) fn store_likeness(&mut self, url: UrlId) -> Result<(), StoreError> {
        if self.admission.topic().is_some() {
            self.come_nearer(url, 0)?;
            self.event.clear();
        }
        Ok(())
    }

    /// Whether a page is hot, and kept.
    pub(super) fn is_hot(record: &PageRecord) -> bool {
        record.likeness.is_some_and(|likeness| HOT <= likeness) && record.discarded.is_none()
    }

    /// Records that the targets of a page's links are one link further from a hot page than the page.
    pub(super) fn warm(&mut self, from: UrlId, targets: &[UrlId]) -> Result<(), StoreError> {
        let distance = self.admission.topic().and_then(|topic| topic.distance(from));
        let Some(distance) = distance.filter(|distance| *distance < DISTANCE_MAX) else { return Ok(()) };
        targets.iter().try_for_each(|target| self.come_nearer(*target, distance + 1))
    }

    /// Records the distance of a URL from a hot page, in links, and those of the URLs behind it.
    pub(super) fn come_nearer(&mut self, url: UrlId, distance: u8) -> Result<(), StoreError> {
        let mut nearer = VecDeque::from([(url, distance)]);
        while let Some((url, distance)) = nearer.pop_front() {
            if !self.admission.topic().is_some_and(|topic| topic.would_come_nearer(url, distance)) {
                continue;
            }
            let Some(record) = self.url(url)? else { continue };
            let before = self.admission.priority(url, &record);
            if let Some(topic) = self.admission.topic_mut() {
                topic.come_nearer(url, distance);
            }
            let Standing::Kept(page) = record.standing else { continue };
            let priority = self.admission.priority(url, &record);
            if self.page(page)?.is_some_and(|page| page.visits > 0) {
                if distance < DISTANCE_MAX {
                    let links = self.reader.links(page)?;
                    nearer.extend(links.into_iter().map(|target| (target, distance + 1)));
                }
            } else if before < priority {
                self.event.push(Event::Raised { page, site: record.site, priority });
            }
        }
        Ok(())
    }
}
