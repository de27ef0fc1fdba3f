//! What becomes true in one step: nothing of it is seen before all of it is.

use freshet_protocol::ids::{PageNumber, Place, SiteNumber, UrlId};

use crate::all_urls::UrlRecord;
use crate::coll_urls::PageRecord;
use crate::collection::Exchange;
use crate::collection::folding::Folded;
use crate::history::VisitRow;
use crate::sites::SiteRecord;

/// All that becomes true in one step.
///
/// Records replace those of the same number. New numbers come from [`crate::store::Store::url_number`], `page_number` and
/// `site_number`, and all that were given out must be in the next changes. An exchange, a visit row and a page
/// record belong together by page and time.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// What is written to the Collection, in this order.
    pub exchanges: Vec<Exchange>,
    /// URLs, new or altered.
    pub urls: Vec<(UrlId, UrlRecord)>,
    /// Pages, new or altered. The place of a page whose whole response is among the exchanges is filled in.
    pub pages: Vec<(PageNumber, PageRecord)>,
    /// Sites, new or altered.
    pub sites: Vec<(SiteNumber, SiteRecord)>,
    /// The URLs that pages link to, in any order.
    pub links: Vec<(PageNumber, Vec<UrlId>)>,
    /// Visits. The place of one whose exchange is there is filled in.
    pub visits: Vec<VisitRow>,
    /// What others wish to have kept, by name; none takes it away.
    pub notes: Vec<(String, Option<Vec<u8>>)>,
    /// What users have told the crawl, by name (options, pins, pauses); none takes it back.
    pub commands: Vec<(String, Option<Vec<u8>>)>,
}

impl Changes {
    /// Whether there is nothing to do.
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

    /// How many there are of each kind, in the order of the fields.
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

    /// Takes the first ones of each kind away.
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

    /// The bytes that they take on the disk when they are committed, roughly.
    pub(crate) fn disk_bytes(&self) -> u64 {
        /// Bytes of a record of any kind, with its key, in the journal.
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

/// What a commit did.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Committed {
    /// Where each exchange was written, in their order.
    pub places: Vec<Place>,
    /// The number of the first visit; the others follow.
    pub first_visit: u64,
    /// Bytes appended to the Collection.
    pub bytes: u64,
}

impl Committed {
    /// What two commits did, one after the other.
    pub(crate) fn and(mut self, next: Self) -> Self {
        self.places.extend(next.places);
        Self { bytes: self.bytes + next.bytes, ..self }
    }
}
