//! The living web as one value: a function of its settings and its hosts.
//!
//! # Promises
//! - Two webs with the same settings and hosts are the same, whatever each was asked.
//! - Memory grows with directories and births, not with changes or requests.

use anyhow::Result;
use freshet_protocol::time::Timestamp;

use super::atlas::{Atlas, PageNumber, Place};
use super::clock::START;
use super::hosts::Hosts;
use super::settings::WebSettings;

/// Number of older pages with which the lists of newest pages begin at the start.
const NEWEST_AT_START: usize = 30;

/// A simulated web whose pages change, are born, move and die.
///
/// # Examples
///
/// ```
/// use freshet_lab::web::clock::days_after_start;
/// use freshet_lab::web::hosts::Hosts;
/// use freshet_lab::web::living_web::LivingWeb;
/// use freshet_lab::web::settings::WebSettings;
/// use freshet_lab::web::truth::Scope;
///
/// let settings = WebSettings { sites: 3, pages: 60, seed: 1, ..WebSettings::default() };
/// let web = LivingWeb::new(settings, Hosts::Names { port: 8080 })?;
///
/// // A copy of every page is taken on the first day, and grows old.
/// let (first, last) = (days_after_start(0.0), days_after_start(30.0));
/// let copies: Vec<_> = web.live_pages(first).map(|page| (web.url(page, false), first)).collect();
/// assert_eq!(web.quality_of(&copies, first, Scope::Text).freshness, 1.0);
/// assert!(web.quality_of(&copies, last, Scope::Text).freshness < 0.9);
/// # Ok::<(), anyhow::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LivingWeb {
    pub(super) settings: WebSettings,
    /// Its sites, directories and addresses.
    pub atlas: Atlas,
    /// For each site its newest articles at the start and all that are born later, in order of birth.
    births: Vec<Vec<(Timestamp, PageNumber)>>,
}

impl LivingWeb {
    /// Creates a web, or returns what is wrong with the settings.
    pub fn new(settings: WebSettings, hosts: Hosts) -> Result<Self> {
        settings.check()?;
        let atlas = Atlas::new(&settings, hosts);
        let mut web = Self { settings, atlas, births: Vec::new() };
        web.births = (0..web.atlas.site_count()).map(|site| web.births_of(site)).collect();
        Ok(web)
    }

    /// URL of the root of each site, largest site first.
    pub fn seeds(&self) -> Vec<String> {
        (0..self.atlas.site_count()).map(|site| format!("{}/", self.atlas.hosts().origin(site))).collect()
    }

    /// URL of a page. For an article that moves: before (`false`) or after (`true`) it moved.
    pub fn url(&self, page: PageNumber, moved: bool) -> String {
        let site = self.atlas.site_of(page);
        format!("{}{}", self.atlas.hosts().origin(site), self.atlas.path(page, moved))
    }

    /// Whether robots.txt allows a page.
    pub fn is_allowed(&self, page: PageNumber) -> bool {
        match self.atlas.place(page) {
            Place::Root => true,
            Place::Listing { directory, .. } | Place::Article { directory, .. } => {
                self.atlas.directories[directory as usize].allowed
            }
        }
    }

    /// Articles of a site born until `at`, in order of birth: its newest at the start, and all later ones.
    pub(super) fn born_until(&self, site: u32, at: Timestamp) -> &[(Timestamp, PageNumber)] {
        let births = &self.births[site as usize];
        &births[..births.partition_point(|(born, _)| *born <= at)]
    }

    fn births_of(&self, site: u32) -> Vec<(Timestamp, PageNumber)> {
        let range = self.atlas.sites[site as usize].directories.clone();
        let mut births: Vec<_> = range
            .filter(|directory| self.atlas.directories[*directory as usize].allowed)
            .flat_map(|directory| {
                let articles = self.atlas.directories[directory as usize].articles;
                (0..articles).map(move |number| self.atlas.article(directory, number))
            })
            .map(|page| (self.life(page).born, page))
            .collect();
        births.sort_unstable();
        let later = births.partition_point(|(born, _)| *born <= START);
        births.drain(..later.saturating_sub(NEWEST_AT_START));
        births.shrink_to_fit();
        births
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A small web.
    pub(in super::super) fn small() -> LivingWeb {
        of(WebSettings { sites: 12, pages: 1_200, ..WebSettings::default() })
    }

    /// A web of these settings.
    pub(in super::super) fn of(settings: WebSettings) -> LivingWeb {
        LivingWeb::new(settings, Hosts::Addresses { port: 8080 }).expect("the settings are right")
    }

    #[test]
    fn births_come_in_order_and_are_those_of_the_lives() {
        let web = small();
        let births = web.born_until(0, Timestamp::from_millis(i64::MAX));
        assert!(births.is_sorted());
        assert!(births.iter().all(|(born, page)| web.life(*page).born == *born));
        assert_eq!(web.born_until(0, START).len(), NEWEST_AT_START);
    }
}
