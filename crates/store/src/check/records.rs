//! Checks the records of URLs, pages, sites, links and versions: each can be decoded, their numbers agree
//! with the counters, and what they refer to exists.

use freshet_protocol::codec::Record as _;
use freshet_protocol::ids::{PageNumber, SiteNumber, UrlId};

use super::course::Check;
use crate::all_urls::{Standing, UrlRecord, url_key};
use crate::coll_urls::PageRecord;
use crate::counters::Counters;
use crate::error::{StoreError, hexadecimal};
use crate::key_value::{Direction, KeyRange, Space};
use crate::records::numbered;
use crate::versions::{VersionRecord, parse_version_key, place_key};

impl Check<'_> {
    pub(super) fn urls(&mut self, counters: &Counters) {
        let mut found = Counters::default();
        for entry in numbered::<UrlId, UrlRecord>(self.view, Space::Urls, Vec::new(), UrlId::from_key) {
            let (id, record) = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.findings.add_error("urls", &error);
                    continue;
                }
            };
            *found.standing(record.standing) += 1;
            found.urls += 1;
            let key = url_key(self.shared.seed, &record.url);
            match self.view.get(Space::UrlKeys, &key) {
                Ok(Some(value)) if value == id.key() => {}
                Ok(_) => self.findings.add("url-keys", format!("{} is not found by its hash", record.url)),
                Err(error) => self.findings.add_error("url-keys", &error.into()),
            }
        }
        self.findings.urls = found.urls;
        self.compare("urls", "URLs", found.urls, counters.urls);
        self.compare("urls", "URLs waiting", found.waiting, counters.waiting);
        self.compare("urls", "URLs kept", found.kept, counters.kept);
        self.compare("urls", "URLs refused", found.refused, counters.refused);
        self.compare("urls", "URLs discarded", found.discarded, counters.discarded);
        let keys = self.view.scan(Space::UrlKeys, KeyRange::all(), Direction::Forward).count() as u64;
        self.compare("url-keys", "hashes of URLs", keys, counters.urls);
    }

    pub(super) fn pages(&mut self, counters: &Counters) {
        let mut count = 0;
        for entry in
            numbered::<PageNumber, PageRecord>(self.view, Space::Pages, Vec::new(), PageNumber::from_key)
        {
            match entry {
                Ok((page, record)) => self.page(page, &record),
                Err(error) => self.findings.add_error("pages", &error),
            }
            count += 1;
        }
        self.findings.pages = count;
        self.compare("pages", "pages", count, counters.pages);
    }

    fn page(&mut self, page: PageNumber, record: &PageRecord) {
        let number = page.0;
        match crate::records::read::<UrlRecord>(self.view, Space::Urls, &record.url.key()) {
            Ok(None) => self.findings.add("pages", format!("page {number} has a URL that is not known")),
            Ok(Some(url)) => {
                if let Standing::Kept(kept) = url.standing
                    && kept != page
                {
                    self.findings.add("pages", format!("page {number}: its URL is kept as page {}", kept.0));
                }
            }
            Err(error) => self.findings.add_error("urls", &error),
        }
        let Some(place) = record.place else { return };
        match self.view.get(Space::Places, &place_key(place)) {
            Ok(Some(key)) if parse_version_key(&key).is_some_and(|(found, _)| found == page) => {}
            Ok(_) => {
                self.findings.add("pages", format!("page {number}: its response is not among its versions"));
            }
            Err(error) => self.findings.add_error("places", &error.into()),
        }
    }

    pub(super) fn sites(&mut self, counters: &Counters) {
        let mut count = 0;
        for entry in crate::sites::Sites(self.view).from(SiteNumber(0)) {
            match entry {
                Ok((number, record)) => match crate::sites::Sites(self.view).find(&record.site) {
                    Ok(Some(found)) if found == number => {}
                    Ok(_) => {
                        self.findings.add("site-names", format!("{} is not found by its name", record.site));
                    }
                    Err(error) => self.findings.add_error("site-names", &error),
                },
                Err(error) => self.findings.add_error("sites", &error),
            }
            count += 1;
        }
        self.compare("sites", "sites", count, counters.sites);
    }

    pub(super) fn links(&mut self, counters: &Counters) {
        for entry in crate::links::Links(self.view).from(PageNumber(0)) {
            match entry {
                Ok((page, targets)) => {
                    if targets.last().is_some_and(|last| u64::from(last.0) >= counters.urls) {
                        self.findings
                            .add("links", format!("page {} links to a URL that is not known", page.0));
                    }
                }
                Err(error) => self.findings.add_error("links", &error),
            }
        }
    }

    pub(super) fn versions(&mut self, counters: &Counters) {
        let mut count = 0;
        for entry in self.view.scan(Space::Versions, KeyRange::all(), Direction::Forward) {
            count += 1;
            if let Err(error) =
                entry.map_err(StoreError::from).and_then(|(key, value)| self.version(&key, &value))
            {
                self.findings.add_error("versions", &error);
            }
        }
        self.compare("versions", "versions", count, counters.versions);
        let places = self.view.scan(Space::Places, KeyRange::all(), Direction::Forward).count() as u64;
        self.compare("places", "places", places, counters.versions);
    }

    fn version(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let record = VersionRecord::decode(value).map_err(StoreError::corrupt(Space::Versions, key))?;
        if self.view.get(Space::Places, &place_key(record.place))?.as_deref() != Some(key) {
            let problem = format!("the version {} stands where none is known", hexadecimal(key));
            self.findings.add("versions", problem);
        }
        Ok(())
    }
}
