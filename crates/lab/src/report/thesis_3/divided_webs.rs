//! Webs with sites, and their division among processes.
//!
//! The **thesis**, section 3.3: by the hash of the URL, by the hash of the site, and by hierarchy. Pages
//! without URLs get some that name their site and number. A hierarchy keeps neighbours together: pages in the
//! order of their URLs are cut into parts of whole sites that are as equal as sites allow.
//!
//! # Promises
//! - Site hash and hierarchy never split a site.

use anyhow::Result;
use freshet_theory::partition::Partition;
use freshet_theory::rank::Graph;
use rand::{Rng, RngExt as _};

use super::super::thesis_2::webs;
use crate::report::sources::{Need, Sources};

/// A web whose pages belong to sites. The pages of a site are consecutive.
pub(super) struct DividedWeb {
    /// Description for readers.
    pub(super) name: String,
    pub(super) graph: Graph,
    pub(super) site_of: Vec<u32>,
    urls: Vec<String>,
}

/// How pages are assigned to processes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Division {
    SiteHash,
    UrlHash,
    Hierarchy,
}

impl Division {
    pub(super) const ALL: [Self; 3] = [Self::SiteHash, Self::UrlHash, Self::Hierarchy];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::SiteHash => "site hash",
            Self::UrlHash => "URL hash",
            Self::Hierarchy => "hierarchy",
        }
    }
}

/// Approximate number of pages per site of the web graph: half as many to twice as many.
const RANGE: usize = 2_000;
/// Longer links say nothing about where a site ends.
const SHORT_LINK: usize = 10 * RANGE;
/// Pages per site of the generated web, used if there is no web graph.
const GENERATED_SITE: u32 = 60;

/// The web graph of the data directory, or a generated one.
pub(super) fn web_graph(sources: &Sources) -> Result<DividedWeb> {
    let (name, graph) = webs::whole(sources)?;
    let (site_of, about) = if sources.meet(Need::WebGraph) {
        (sites_between_borders(&graph), RANGE)
    } else {
        ((0..graph.pages() as u32).map(|page| page / GENERATED_SITE).collect(), GENERATED_SITE as usize)
    };
    let url = |(page, site): (usize, &u32)| format!("http://site{site}.example/{page}");
    let urls = site_of.iter().enumerate().map(url).collect();
    Ok(DividedWeb::new(&format!("{name}, sites of about {about} pages"), graph, site_of, urls))
}

/// The site of each page if sites are ranges of pages: each ends where the fewest links cross its border.
fn sites_between_borders(graph: &Graph) -> Vec<u32> {
    let pages = graph.pages();
    // First the number of short links that begin to cross, minus those that cease to, at each page; then the
    // number that cross before it.
    let mut crossing = vec![0_i64; pages + 1];
    for page in 0..pages {
        for target in graph.links_from(page as u32) {
            let (low, high) = (page.min(*target as usize), page.max(*target as usize));
            if high - low < SHORT_LINK {
                crossing[low + 1] += 1;
                crossing[high + 1] -= 1;
            }
        }
    }
    let mut sum = 0;
    crossing.iter_mut().for_each(|count| {
        sum += *count;
        *count = sum;
    });
    let (mut site_of, mut site, mut first) = (Vec::with_capacity(pages), 0, 0);
    while first < pages {
        let most = (first + 2 * RANGE).min(pages);
        let border = (first + RANGE / 2..most).min_by_key(|page| crossing[*page]);
        let end = border.filter(|_| most < pages).unwrap_or(pages);
        site_of.resize(end, site);
        (site, first) = (site + 1, end);
    }
    site_of
}

/// The links of the histories, if there are any, between the pages that have a link.
pub(super) fn histories(sources: &Sources) -> Result<Option<DividedWeb>> {
    if !sources.meet(Need::Histories) {
        return Ok(None);
    }
    let tables = sources.histories()?;
    let mut has_link = vec![false; tables.pages.len()];
    for (source, target) in &tables.links {
        has_link[*source as usize] = true;
        has_link[*target as usize] = true;
    }
    let mut pages: Vec<u32> =
        (0..tables.pages.len() as u32).filter(|page| has_link[*page as usize]).collect();
    if pages.is_empty() {
        return Ok(None);
    }
    pages.sort_by_key(|page| tables.pages[*page as usize].site);
    let mut number = vec![0; tables.pages.len()];
    for (place, page) in pages.iter().enumerate() {
        number[*page as usize] = place as u32;
    }
    let links: Vec<(u32, u32)> = tables
        .links
        .iter()
        .map(|(source, target)| (number[*source as usize], number[*target as usize]))
        .collect();
    let site_of: Vec<u32> = pages.iter().map(|page| tables.pages[*page as usize].site).collect();
    let url = |(page, site): (&u32, &u32)| {
        let host = tables.sites[*site as usize].name.replace('/', ".");
        format!("http://{host}.example/{}", &tables.paths[*page as usize])
    };
    let urls = pages.iter().zip(&site_of).map(url).collect();
    let graph = Graph::from_links(pages.len(), &links);
    Ok(Some(DividedWeb::new("links of the histories", graph, site_of, urls)))
}

impl DividedWeb {
    fn new(what: &str, graph: Graph, site_of: Vec<u32>, urls: Vec<String>) -> Self {
        let inside = |page: u32| {
            let site = site_of[page as usize];
            graph.links_from(page).iter().filter(|target| site_of[**target as usize] == site).count()
        };
        let stay: usize = (0..graph.pages() as u32).map(inside).sum();
        let (pages, links) = (graph.pages(), graph.links());
        let share = 100.0 * stay as f64 / links.max(1) as f64;
        let name = format!("{what}; {pages} pages, {links} links, {share:.0}% of them within sites");
        Self { name, graph, site_of, urls }
    }

    pub(super) fn pages(&self) -> usize {
        self.graph.pages()
    }

    /// The process that owns each page.
    pub(super) fn owners(&self, division: Division, processes: u32) -> Vec<u32> {
        let by = |partition: Partition| self.urls.iter().map(|url| partition.owner(url)).collect();
        match division {
            Division::SiteHash => by(Partition::SiteHash { processes }),
            Division::UrlHash => by(Partition::UrlHash { processes }),
            Division::Hierarchy => self.cut(processes),
        }
    }

    fn cut(&self, processes: u32) -> Vec<u32> {
        let mut owners = Vec::with_capacity(self.pages());
        for site in self.site_of.chunk_by(|a, b| a == b) {
            // The middle of the site decides.
            let middle = owners.len() + site.len() / 2;
            let owner = (middle * processes as usize / self.pages()) as u32;
            owners.extend(std::iter::repeat_n(owner, site.len()));
        }
        owners
    }

    /// The web of a random half of the sites.
    pub(super) fn half_of_sites(&self, chance: &mut impl Rng) -> Self {
        let sites = self.site_of.iter().max().map_or(0, |site| *site as usize + 1);
        let is_chosen: Vec<bool> = (0..sites).map(|_| chance.random_bool(0.5)).collect();
        let is_chosen = |page: &u32| is_chosen[self.site_of[*page as usize] as usize];
        let pages: Vec<u32> = (0..self.pages() as u32).filter(is_chosen).collect();
        let site_of = pages.iter().map(|page| self.site_of[*page as usize]).collect();
        let urls = pages.iter().map(|page| self.urls[*page as usize].clone()).collect();
        Self::new("half of the sites", webs::part(&self.graph, &pages), site_of, urls)
    }
}

/// Seeds for each process: `each` random pages of its own, fewer if it has fewer.
pub(super) fn seeds(owners: &[u32], processes: u32, each: usize, chance: &mut impl Rng) -> Vec<Vec<u32>> {
    let mut own: Vec<Vec<u32>> = vec![Vec::new(); processes as usize];
    for (page, owner) in owners.iter().enumerate() {
        own[*owner as usize].push(page as u32);
    }
    for pages in &mut own {
        for place in 0..each.min(pages.len()) {
            let other = chance.random_range(place..pages.len());
            pages.swap(place, other);
        }
        pages.truncate(each);
    }
    own
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng as _;

    use super::*;

    #[test]
    fn sites_end_where_the_fewest_links_cross() {
        // Two sites of 1,500 and one of 2,600 pages. Every page links to the first of its site and, except at
        // a border, to the next page.
        let first_of = |page: u32| {
            if page < 1500 {
                0
            } else if page < 3000 {
                1500
            } else {
                3000
            }
        };
        let to_first = (0..5600).map(|page| (page, first_of(page)));
        let to_next =
            (0..5599).filter(|page| first_of(*page) == first_of(page + 1)).map(|page| (page, page + 1));
        let graph = Graph::from_links(5600, &to_first.chain(to_next).collect::<Vec<_>>());
        let site_of = sites_between_borders(&graph);
        assert_eq!(site_of.len(), 5600);
        assert!(
            site_of.iter().enumerate().all(|(page, site)| *site == first_of(page as u32) / 1500),
            "{site_of:?}"
        );
    }

    #[test]
    fn sites_stay_together_and_seeds_are_own_pages() {
        let web = web_graph(&Sources::new(None, 1).expect("no data is no error")).expect("a generated web");
        for division in Division::ALL {
            let owners = web.owners(division, 8);
            assert!(owners.iter().all(|owner| *owner < 8));
            let together = web.site_of.iter().zip(&owners).collect::<std::collections::HashSet<_>>().len();
            let sites = *web.site_of.last().expect("a page") as usize + 1;
            assert_eq!(together == sites, division != Division::UrlHash, "{division:?}");
            let seeds = seeds(&owners, 8, 5, &mut ChaCha8Rng::seed_from_u64(1));
            for (process, seeds) in seeds.iter().enumerate() {
                assert!(
                    seeds.len() == 5 && seeds.iter().all(|seed| owners[*seed as usize] as usize == process)
                );
            }
        }
    }
}
