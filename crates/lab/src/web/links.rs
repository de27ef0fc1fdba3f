//! Links in the text of an article.
//!
//! Within the site and across sites, a few pages are linked often and most rarely: the popularity of targets
//! is a power law of their rank. A link leads to a page that existed when the link was written. The target
//! may move or die later.
//!
//! # Promises
//! - The links of a revision are the same whenever they are asked for.
//! - No link leads to a page that was not born when the link was written.

use freshet_protocol::time::Timestamp;

use super::atlas::PageNumber;
use super::chance::{Chance, Subject};
use super::living_web::LivingWeb;
use super::words;

/// A link as written in the text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct TextLink {
    /// A path of the same site, or an absolute URL.
    pub(super) reference: String,
    pub(super) anchor: String,
}

/// Minimum and maximum number of links, and the exponent of the power law between.
const LINKS: (f64, f64, f64) = (2.0, 40.0, 0.6);
/// Fraction of links to other sites, and fraction of those that lead to the root of the other site.
const ACROSS: (f64, f64) = (0.25, 0.4);
/// Fraction of links that use the site's own redirect.
const REDIRECTED: f64 = 0.04;
/// Steepness of the popularity of sites and of pages: a uniform random number to this power gives the rank.
const STEEPNESS: (f64, f64) = (2.0, 3.0);
/// A prime larger than any number of pages. Multiplication by it scatters ranks over a site.
const SCATTER: u64 = 2_147_483_647;

impl LivingWeb {
    /// The links of an article as written at some moment, which is that of the revision.
    pub(super) fn text_links(&self, page: PageNumber, revision: u32, written: Timestamp) -> Vec<TextLink> {
        let mut chance = Chance::of(self.settings.seed, Subject::Links, page.0.into(), revision.into());
        let (fewest, most, exponent) = LINKS;
        let count = (fewest * (1.0 - chance.unit()).powf(-exponent)).min(most) as usize;
        let site = self.atlas.site_of(page);
        (0..count).filter_map(|_| self.text_link(site, written, &mut chance)).collect()
    }

    fn text_link(&self, site: u32, written: Timestamp, chance: &mut Chance) -> Option<TextLink> {
        let (across, to_root) = ACROSS;
        let target_site = if chance.happens(across) { self.popular_site(chance) } else { site };
        let range = self.atlas.sites[target_site as usize].pages.clone();
        let target = if target_site != site && chance.happens(to_root) {
            PageNumber(range.start)
        } else {
            self.popular_page(target_site, chance)
        };
        let mut anchor = String::new();
        words::push_title(&mut anchor, 2, chance);
        let redirected = chance.happens(REDIRECTED);
        let life = self.life(target);
        if !life.is_live_at(written) {
            return None;
        }
        let path = if redirected {
            format!("/go/{}", target.0 - range.start)
        } else {
            self.atlas.path(target, life.moved <= written)
        };
        let origin = if target_site == site { String::new() } else { self.atlas.hosts().origin(target_site) };
        Some(TextLink { reference: origin + &path, anchor })
    }

    /// A random page of a site, with popular ones more likely.
    pub(super) fn popular_page(&self, site: u32, chance: &mut Chance) -> PageNumber {
        let pages = &self.atlas.sites[site as usize].pages;
        let count = u64::from(pages.end - pages.start);
        let rank = (chance.unit().powf(STEEPNESS.1) * count as f64) as u64;
        PageNumber(pages.start + ((rank * SCATTER + u64::from(site)) % count) as u32)
    }

    fn popular_site(&self, chance: &mut Chance) -> u32 {
        (chance.unit().powf(STEEPNESS.0) * f64::from(self.atlas.site_count())) as u32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::clock::START;
    use super::super::living_web::tests::small;
    use super::*;

    #[test]
    fn a_few_pages_are_pointed_at_often_and_none_that_was_not_there() {
        let web = small();
        let mut backlinks = HashMap::<String, u32>::new();
        let mut across = 0;
        for page in (0..web.atlas.pages()).map(PageNumber) {
            let links = web.text_links(page, 0, START);
            assert_eq!(links, web.text_links(page, 0, START));
            let site = web.atlas.site_of(page);
            for link in links.iter().filter(|link| !link.reference.contains("/go/")) {
                let url = match link.reference.starts_with('/') {
                    true => format!("{}{}", web.atlas.hosts().origin(site), link.reference),
                    false => link.reference.clone(),
                };
                let (target_site, path) = web.atlas.hosts().split(&url, 12).expect("a URL of the web");
                across += u32::from(target_site != site);
                let (target, moved) = web.atlas.find(target_site, path).expect("a page of the site");
                assert!(!moved && web.life(target).born <= START);
                *backlinks.entry(url).or_default() += 1;
            }
        }
        let mut counts: Vec<u32> = backlinks.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let all: u32 = counts.iter().sum();
        let top: u32 = counts.iter().take(counts.len() / 20).sum();
        assert!(f64::from(top) > 0.2 * f64::from(all), "{top} of {all}");
        assert!((0.1..0.3).contains(&(f64::from(across) / f64::from(all))), "{across} of {all}");
    }
}
