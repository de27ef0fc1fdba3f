//! What others collected becomes records: URLs that a user brings, and visits that another program made.

use freshet_fetch::page::PageUrl;
use freshet_protocol::ids::PageNumber;
use freshet_protocol::time::Timestamp;
use freshet_store::all_urls::Source;
use freshet_store::coll_urls::PageRecord;
use freshet_store::error::StoreError;
use freshet_store::history::{VisitKind, VisitRow};

use super::writer_thread::{Discovery, Writer};

/// A visit of which the content is not there: an index tells of it.
#[derive(Clone, Debug)]
pub struct ImportedVisit<'a> {
    /// The page.
    pub page: PageNumber,
    /// Its URL.
    pub url: &'a PageUrl,
    /// When.
    pub time: Timestamp,
    /// What came of it.
    pub kind: VisitKind,
    /// The status of the answer.
    pub status: u16,
}

impl Writer {
    /// Makes a URL known that a user brings, and its site one that is crawled. Gives the page and its record, if it is one.
    pub fn bring(
        &mut self,
        url: &PageUrl,
        listed_modified: Option<Timestamp>,
        time: Timestamp,
    ) -> Result<Option<(PageNumber, PageRecord)>, StoreError> {
        // A URL to begin with names its site as one to crawl at every start; a second of the same site needs not.
        let source = if self.memory.admission.is_seeded(url) { Source::Sitemap } else { Source::Seed };
        self.memory.admission.add_seed(url);
        let found = Discovery { url, anchor: "", found_on: None, depth: 0, source, listed_modified };
        self.discover(&found, time)?;
        let Some(page) = self.memory.page_of(url)? else { return Ok(None) };
        let Some(record) = self.memory.page(page)? else { return Ok(None) };
        if self.memory.sites[record.site.index()].first_seen > time {
            self.site_mut(record.site).first_seen = time;
        }
        Ok(Some((page, record)))
    }

    /// Records a visit of which the content is not there.
    pub fn take_imported(&mut self, told: &ImportedVisit<'_>) -> Result<(), StoreError> {
        let Some(mut record) = self.memory.page(told.page)? else { return Ok(()) };
        self.site_mut(record.site).visits += 1;
        record.visits += 1;
        record.changes += u32::from(told.kind == VisitKind::Changed);
        record.first_visit = record.first_visit.or(Some(told.time));
        record.last_visit = Some(told.time);
        record.outcome = Some(told.kind);
        record.status = told.status;
        record.admitted = record.admitted.min(told.time);
        if told.kind == VisitKind::Changed {
            record.last_change = Some(told.time);
        }
        let row = VisitRow {
            page: Some(told.page),
            status: told.status,
            ..VisitRow::new(told.time, told.url.as_str(), told.kind)
        };
        self.put_row(row);
        self.put_page(told.page, record);
        Ok(())
    }
}
