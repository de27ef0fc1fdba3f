//! Assigns numbers to URLs, pages and sites, or finds the numbers they have.

use freshet_protocol::ids::{PageNumber, SiteNumber, UrlId};

use super::opened::Store;
use crate::all_urls::{AllUrls, url_key};
use crate::error::StoreError;
use crate::sites::Sites;

/// A number, and whether it was just assigned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Numbered<N> {
    /// The number existed before.
    Known(N),
    /// The number is new: its record must be in the next changes.
    New(N),
}

impl<N: Copy> Numbered<N> {
    /// The number.
    pub fn number(self) -> N {
        match self {
            Self::Known(number) | Self::New(number) => number,
        }
    }
}

impl Store {
    /// The number of a URL. An unknown URL is assigned one, and its record must be in the next changes.
    pub fn url_number(&mut self, url: &str) -> Result<Numbered<UrlId>, StoreError> {
        let key = url_key(self.shared.seed, url);
        if let Some(id) = self.recent.get(&key) {
            return Ok(Numbered::Known(id));
        }
        let all_urls = AllUrls::new(self.state.as_ref(), self.shared.seed);
        if let Some(id) = all_urls.find_key(&key)? {
            self.recent.put(key, id);
            return Ok(Numbered::Known(id));
        }
        let id = UrlId(take_number(&mut self.next_url, "URLs")?);
        self.recent.put_new(key, id);
        Ok(Numbered::New(id))
    }

    /// Assigns a number to a page that was never kept before; its record must be in the next changes.
    pub fn page_number(&mut self) -> Result<PageNumber, StoreError> {
        Ok(PageNumber(take_number(&mut self.next_page, "pages")?))
    }

    /// The number of a site. An unknown site is assigned one, and its record must be in the next changes.
    pub fn site_number(&mut self, site: &str) -> Result<Numbered<SiteNumber>, StoreError> {
        if let Some(number) = self.new_sites.get(site) {
            return Ok(Numbered::Known(*number));
        }
        if let Some(number) = Sites(self.state.as_ref()).find(site)? {
            return Ok(Numbered::Known(number));
        }
        let number = SiteNumber(take_number(&mut self.next_site, "sites")?);
        self.new_sites.insert(site.to_owned(), number);
        Ok(Numbered::New(number))
    }
}

fn take_number(next: &mut u64, what: &'static str) -> Result<u32, StoreError> {
    let number = u32::try_from(*next).map_err(|_| StoreError::TooMany { what })?;
    *next += 1;
    Ok(number)
}
