//! One atomic step of changes to the store. Either all of it becomes visible or none.

use freshet_protocol::ids::{PageNumber, Place, SiteNumber, UrlId};

use crate::all_urls::UrlRecord;
use crate::coll_urls::PageRecord;
use crate::collection::Exchange;
use crate::collection::folding::Folded;
use crate::history::VisitRow;
use crate::sites::SiteRecord;

/// All changes of one step.
///
/// A record replaces that of the same number. New numbers come from [`crate::store::Store::url_number`],
/// `page_number` and `site_number`; every number handed out must be used in the next changes. An exchange, a
/// visit row and a page record belong together if page and time are the same.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Exchanges to append to the Collection, in this order.
    pub exchanges: Vec<Exchange>,
    /// New or changed URLs.
    pub urls: Vec<(UrlId, UrlRecord)>,
    /// New or changed pages. If the exchanges have a whole response of a page, its place is filled in.
    pub pages: Vec<(PageNumber, PageRecord)>,
    /// New or changed sites.
    pub sites: Vec<(SiteNumber, SiteRecord)>,
    /// The URLs that pages link to, in any order.
    pub links: Vec<(PageNumber, Vec<UrlId>)>,
    /// Visits. If the exchanges have that of a visit, its place is filled in.
    pub visits: Vec<VisitRow>,
    /// Values that other crates keep in the store, by name; none deletes the value.
    pub notes: Vec<(String, Option<Vec<u8>>)>,
    /// User commands, by name (options, pins, pauses); none deletes the command.
    pub commands: Vec<(String, Option<Vec<u8>>)>,
}

impl Changes {
    /// Whether there are no changes.
    pub fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
            && self.urls.is_empty()
            && self.pages.is_empty()
            && self.sites.is_empty()
            && self.links.is_empty()
            && self.visits.is_empty()
            && self.notes.is_empty()
            && self.commands.is_empty()
    }

    /// The number of changes of each kind, in the order of the fields.
    pub(crate) fn lengths(&self) -> [usize; 8] {
        [
            self.exchanges.len(),
            self.urls.len(),
            self.pages.len(),
            self.sites.len(),
            self.links.len(),
            self.visits.len(),
            self.notes.len(),
            self.commands.len(),
        ]
    }

    /// Removes the first changes of each kind.
    pub(crate) fn forget_first(&mut self, lengths: [usize; 8]) {
        let [exchanges, urls, pages, sites, links, visits, notes, commands] = lengths;
        self.exchanges.drain(..exchanges);
        self.urls.drain(..urls);
        self.pages.drain(..pages);
        self.sites.drain(..sites);
        self.links.drain(..links);
        self.visits.drain(..visits);
        self.notes.drain(..notes);
        self.commands.drain(..commands);
    }

    /// Approximate size of the changes on disk when they are committed, in bytes.
    pub(crate) fn disk_bytes(&self) -> u64 {
        /// Size of a record of any kind in the journal with its key, in bytes.
        const RECORD: usize = 300;
        let exchanges = self.exchanges.iter().map(|exchange| {
            let body = exchange.folded.as_ref().map_or(exchange.body.len(), Folded::length);
            body + exchange.response_head.len() + exchange.request_head.len() + 2 * RECORD
        });
        let links = self.links.iter().map(|(_, targets)| 4 * targets.len());
        let notes = self.notes.iter().map(|(_, note)| note.as_ref().map_or(0, Vec::len));
        let sites =
            self.sites.iter().map(|(_, site)| site.robots.as_ref().map_or(0, |robots| robots.body.0.len()));
        let bytes: usize = exchanges.chain(links).chain(notes).chain(sites).sum();
        let records: usize = self.lengths().iter().sum();
        (bytes + RECORD * records) as u64
    }
}

/// The result of a commit.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Committed {
    /// The place of each exchange, in their order.
    pub places: Vec<Place>,
    /// The number of the first visit; the others have the numbers after it.
    pub first_visit: u64,
    /// Bytes appended to the Collection.
    pub bytes: u64,
}

impl Committed {
    /// The combined result of two consecutive commits.
    pub(crate) fn and(mut self, next: Self) -> Self {
        self.places.extend(next.places);
        Self { bytes: self.bytes + next.bytes, ..self }
    }
}
