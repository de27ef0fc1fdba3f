//! What becomes true in one step: nothing of it is seen before all of it is.

use crate::all_urls::UrlRecord;
use crate::coll_urls::PageRecord;
use crate::collection::Exchange;
use crate::history::VisitRow;
use crate::ids::{PageNumber, Place, SiteNumber, UrlId};
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
