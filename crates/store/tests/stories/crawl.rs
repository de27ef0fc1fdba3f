//! A crawl of one site, used by the other stories.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use freshet_protocol::ids::{PageNumber, SiteNumber};
use freshet_protocol::time::Timestamp;
use freshet_store::all_urls::{Source, Standing, UrlRecord};
use freshet_store::changes::Changes;
use freshet_store::coll_urls::PageRecord;
use freshet_store::collection::{Exchange, ExchangeKind};
use freshet_store::error::StoreError;
use freshet_store::history::{VisitKind, VisitRow};
use freshet_store::sites::SiteRecord;
use freshet_store::store::{Numbered, Settings, Store};

/// The time this many seconds after the start of the crawl, on 2026-11-16.
pub(crate) fn moment(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_794_790_000_000 + seconds * 1000)
}

/// A store with the pages of one site.
pub(crate) struct Crawl {
    /// The store.
    pub(crate) store: Store,
    directory: PathBuf,
    settings: Settings,
}

impl Crawl {
    /// A new store in this directory with this many pages.
    pub(crate) fn begin(directory: &Path, settings: Settings, pages: u32) -> Self {
        let mut store = Store::open(directory, settings.clone()).expect("it opens");
        let site = "http://a.example".to_owned();
        let Numbered::New(number) = store.site_number(&site).expect("a number") else {
            panic!("the store is new");
        };
        let mut changes = Changes::default();
        changes.sites.push((number, SiteRecord { site, ..SiteRecord::default() }));
        for page in 0..pages {
            let id = store.url_number(&url(page)).expect("a number").number();
            let page = store.page_number().expect("a number");
            changes.pages.push((page, PageRecord::admitted(id, number, moment(0))));
            changes.urls.push((id, url_record(url(page.0), Standing::Kept(page))));
        }
        store.commit(changes).expect("it is committed");
        Self { store, directory: directory.to_path_buf(), settings }
    }

    /// The crawl of a reopened store.
    pub(crate) fn of(store: Store, directory: &Path, settings: Settings) -> Self {
        Self { store, directory: directory.to_path_buf(), settings }
    }

    /// Drops the store without closing it, and opens it again.
    pub(crate) fn restart(self) -> Self {
        let Self { store, directory, settings } = self;
        drop(store);
        let store = Store::open(&directory, settings.clone()).expect("it opens");
        Self { store, directory, settings }
    }

    /// Commits a visit with this body.
    pub(crate) fn visit(&mut self, page: PageNumber, seconds: i64, body: &str) {
        self.try_visit(page, seconds, ExchangeKind::Full, body.as_bytes()).expect("it is committed");
    }

    /// Commits a visit that found the same body as before.
    pub(crate) fn visit_identical(&mut self, page: PageNumber, seconds: i64, body: &str) {
        self.try_visit(page, seconds, ExchangeKind::Identical, body.as_bytes()).expect("it is committed");
    }

    /// Commits a visit, together with a URL that it discovered.
    pub(crate) fn try_visit(
        &mut self,
        page: PageNumber,
        seconds: i64,
        kind: ExchangeKind,
        body: &[u8],
    ) -> Result<(), StoreError> {
        let changes = self.changes_of_visit(page, seconds, kind, body)?;
        self.store.commit(changes).map(|_| ())
    }

    /// The changes of a visit.
    pub(crate) fn changes_of_visit(
        &self,
        page: PageNumber,
        seconds: i64,
        kind: ExchangeKind,
        body: &[u8],
    ) -> Result<Changes, StoreError> {
        let record = self.store.reader().page(page)?.expect("it is kept");
        let mut changes = Changes::default();
        changes.pages.push((page, PageRecord { visits: record.visits + 1, site: SiteNumber(0), ..record }));
        let time = moment(seconds);
        changes
            .visits
            .push(VisitRow { page: Some(page), ..VisitRow::new(time, &url(page.0), VisitKind::Changed) });
        changes.exchanges.push(Exchange {
            page: Some(page),
            url: url(page.0),
            time,
            kind,
            address: None,
            request_head: b"GET / HTTP/1.1\r\n\r\n".to_vec(),
            response_head: b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n".to_vec(),
            status: 200,
            body: Bytes::copy_from_slice(body),
            truncated: None,
            millis: 1,
            charset: None,
            via: None,
            raw_digest: None,
            text_digest: None,
            simhash: None,
            folded: None,
        });
        Ok(changes)
    }
}

fn url_record(url: String, standing: Standing) -> UrlRecord {
    UrlRecord {
        url,
        site: SiteNumber(0),
        discovered: moment(0),
        found_on: None,
        depth: 0,
        anchor: String::new(),
        source: Source::Seed,
        listed_modified: None,
        standing,
        detail: String::new(),
    }
}

fn url(page: u32) -> String {
    format!("http://a.example/{page}")
}
