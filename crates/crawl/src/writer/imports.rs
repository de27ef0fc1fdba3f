//! Writing imported data: URLs from a user's lists, and visits that another program made.

use freshet_fetch::page::PageUrl;
use freshet_protocol::ids::PageNumber;
use freshet_protocol::time::Timestamp;
use freshet_store::all_urls::Source;
use freshet_store::coll_urls::PageRecord;
use freshet_store::error::StoreError;
use freshet_store::history::{VisitKind, VisitRow};

use super::writer_thread::{Discovery, Writer};

/// A visit without content, from the index of a web archive.
#[derive(Clone, Debug)]
pub struct ImportedVisit<'a> {
    /// The page.
    pub page: PageNumber,
    /// Its URL.
    pub url: &'a PageUrl,
    /// Time of the visit.
    pub time: Timestamp,
    /// Kind of the visit in the History.
    pub kind: VisitKind,
    /// Status of the response.
    pub status: u16,
}

impl Writer {
    /// Adds a URL that a user brings, and its site to those that are crawled. Returns the page and its
    /// record, if the URL is a page.
    pub fn bring(
        &mut self,
        url: &PageUrl,
        listed_modified: Option<Timestamp>,
        time: Timestamp,
    ) -> Result<Option<(PageNumber, PageRecord)>, StoreError> {
        // Every start adds the sites of seeds to those that are crawled. One seed per site is enough for
        // that.
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

    /// Records a visit without content.
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
