//! The cycle of samples and their neighbours.
//!
//! **neighbours**, section 3, Algorithms 1 and 2: until the downloads are used up, download a page at random;
//! with its download probability, download its neighbours within the granularity too.
//!
//! # Promises
//! - All neighbours of a changed sample under `status` are downloaded, as far as the downloads suffice,
//!   before the next sample.
//! - A sample that is no seed leads to no other download.
//!
//! # Departures
//! - The paper does not say which neighbours are downloaded when there are more of them than downloads left.
//!   Here some are drawn at random.
//! - A page that is gone is a changed sample, as the paper counts removals among updates.

use freshet_theory::neighbourhood::granularity::Granularity;
use freshet_theory::units::Days;
use rand::RngExt as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::clusters::Clusters;
use super::directories::Directories;
use super::download_probability::{DownloadProbability, Eager};
use super::links::Links;
use crate::policy::catalogue::{Catalogue, PageId};
use crate::policy::random_draw::RandomDraw;
use crate::policy::selective::{OpenPages, Selective};
use crate::policy::visit::{Observation, Policy};

/// What makes pages neighbours.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kinship {
    /// Links between them (LB).
    Link,
    /// Their directories (DB).
    Directory,
    /// The cluster that they belong to (CB).
    Cluster,
}

/// How the neighbours of a page are found.
#[derive(Debug)]
enum Neighbours {
    Link(Links),
    Directory(Directories),
    Cluster(Box<Clusters>),
}

/// Downloads samples, and the neighbours of some of them.
#[derive(Debug)]
pub(in crate::policy) struct Neighbourhood {
    neighbours: Neighbours,
    granularity: Granularity,
    eager: Eager,
    samples: RandomDraw,
    /// Samples whose visit is not known yet: a crawl asks for more while some are in progress.
    sampled: Vec<PageId>,
    /// Neighbours of the last seed (a sample whose neighbours are downloaded) that are still to be
    /// downloaded.
    waiting: Vec<PageId>,
    open: OpenPages,
    seed: u64,
    rng: ChaCha8Rng,
}

impl Neighbourhood {
    /// A policy without pages.
    pub(in crate::policy) fn new(
        kinship: Kinship,
        granularity: Granularity,
        download_probability: DownloadProbability,
        seed: u64,
    ) -> Self {
        let neighbours = match kinship {
            Kinship::Link => Neighbours::Link(Links::default()),
            Kinship::Directory => Neighbours::Directory(Directories::default()),
            Kinship::Cluster => Neighbours::Cluster(Box::new(Clusters::new(seed))),
        };
        Self {
            neighbours,
            granularity,
            eager: Eager::new(download_probability),
            samples: RandomDraw::default(),
            sampled: Vec::new(),
            waiting: Vec::new(),
            open: OpenPages::default(),
            seed,
            rng: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// Queues the open neighbours of a seed for download, in random order.
    fn download_neighbours(&mut self, catalogue: &Catalogue, seed: PageId) {
        let (granularity, waiting) = (self.granularity, &mut self.waiting);
        match &mut self.neighbours {
            Neighbours::Link(links) => links.neighbours(catalogue, seed, granularity, waiting),
            Neighbours::Directory(directories) => {
                directories.neighbours(catalogue, seed, granularity, waiting);
            }
            Neighbours::Cluster(clusters) => clusters.neighbours(seed, granularity, waiting),
        }
        waiting.retain(|page| self.open.is_open(*page));
        waiting.shuffle(&mut self.rng);
    }
}

impl Policy for Neighbourhood {
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, _now: Days) {
        (first.0..catalogue.pages() as u32).for_each(|page| self.samples.add(PageId(page)));
        self.open.grow(catalogue.pages());
        match &mut self.neighbours {
            Neighbours::Link(_) => {}
            Neighbours::Directory(directories) => directories.discover(catalogue, first),
            Neighbours::Cluster(clusters) => clusters.discover(catalogue, first),
        }
    }

    fn begin_cycle(&mut self, catalogue: &Catalogue, _now: Days, _budget: usize) {
        self.open.begin_cycle();
        self.rng = self.open.chance(self.seed);
        self.samples.put_back(&self.open);
        self.eager.begin_cycle(catalogue);
        self.sampled.clear();
        self.waiting.clear();
    }

    fn choose(&mut self, _catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>) {
        let full = chosen.len() + room;
        let before = chosen.len();
        while chosen.len() < full {
            let Some(page) = self.waiting.pop() else { break };
            if self.open.is_open(page) {
                self.open.choose(page);
                chosen.push(page);
            }
        }
        if chosen.len() == before && room > 0 {
            let sample = self.samples.draw(&mut self.open, &mut self.rng);
            self.sampled.extend(sample);
            chosen.extend(sample);
        }
    }

    fn learn(&mut self, catalogue: &Catalogue, observations: &[Observation]) {
        self.open.learn(observations);
        let cycle = self.open.rounds() + 1;
        self.eager.learn(observations, cycle);
        for observation in observations {
            let (seed, changed) = (observation.page, observation.outcome.is_change());
            let Some(place) = self.sampled.iter().position(|page| *page == seed) else { continue };
            self.sampled.swap_remove(place);
            if !observation.outcome.is_known() {
                continue;
            }
            let probability = self.eager.probability(catalogue, seed, changed, cycle);
            if self.rng.random_bool(probability) {
                self.download_neighbours(catalogue, seed);
            }
        }
    }

    fn end_cycle(&mut self, _catalogue: &Catalogue) {}
}

impl Selective for Neighbourhood {
    fn restrict(&mut self, allowed: &dyn Fn(PageId) -> bool) {
        self.open.restrict(allowed);
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::small_worlds::{SmallWorld, drive, life, policy};
    use crate::policy::visit::{Observation, Outcome};

    /// Twenty pages that change in one directory, eighty that do not in four others; all in a chain of links.
    fn world() -> SmallWorld {
        let page = |page: usize| life(0, &format!("d{}/{page}", page % 5), u32::from(page.is_multiple_of(5)));
        let links = (0..100u32).filter(|page| page + 5 < 100).map(|page| (page, page + 5)).collect();
        SmallWorld { pages: (0..100).map(page).collect(), links }
    }

    fn first_cycle(name: &str, budget: usize) -> Vec<Observation> {
        drive(&world(), &mut *policy(name, 0.5, 1), 1, budget).remove(0)
    }

    fn changed(visits: &[Observation]) -> usize {
        visits.iter().filter(|visit| visit.outcome == Outcome::Changed).count()
    }

    #[test]
    fn a_changed_sample_has_the_pages_of_its_directory_downloaded_at_once() {
        let visits = first_cycle("directory:0:status", 60);
        let first = visits.iter().position(|visit| visit.outcome == Outcome::Changed).expect("a change");
        assert_eq!(changed(&visits[first..first + 20]), 20);
        assert_eq!(changed(&visits), 20);
    }

    #[test]
    fn a_changed_sample_has_the_pages_that_it_links_to_downloaded_at_once() {
        let visits = first_cycle("link:2:status", 60);
        let first = visits.iter().position(|visit| visit.outcome == Outcome::Changed).expect("a change");
        let (page, links) = (visits[first].page.0, &visits[first + 1..]);
        for (visit, steps) in links.iter().zip(1..=2).filter(|(_, steps)| page + 5 * steps < 100) {
            assert!([page + 5, page + 10].contains(&visit.page.0), "{page} {steps} {visit:?}");
        }
    }

    #[test]
    fn an_unchanged_sample_leads_nowhere() {
        let mut quiet = world();
        quiet.pages.iter_mut().for_each(|page| page.changes_every = 0);
        let visits = |name: &str| {
            let visits = drive(&quiet, &mut *policy(name, 0.5, 1), 1, 30).remove(0);
            visits.iter().map(|visit| visit.page).collect::<Vec<_>>()
        };
        assert_eq!(visits("directory:8:status"), visits("directory:-1:ha"));
    }

    #[test]
    fn history_leads_to_neighbours_of_pages_that_used_to_change() {
        // After nine cycles the first directory is known to change; a sample of it is a seed three times of
        // five.
        let visits = drive(&world(), &mut *policy("directory:0:ha", 0.3, 1), 30, 30);
        let found: usize = visits[9..].iter().map(|visits| changed(visits)).sum();
        let random = drive(&world(), &mut *policy("random", 0.3, 1), 30, 30);
        let at_random: usize = random[9..].iter().map(|visits| changed(visits)).sum();
        assert!(found > at_random * 3 / 2, "{found} {at_random}");
    }

    #[test]
    fn clusters_find_changes_that_go_with_the_words_of_the_address() {
        let page = |page: usize| {
            life(0, &format!("{}/{page}", ["news/today", "manual"][page % 2]), page.is_multiple_of(2).into())
        };
        let world = SmallWorld { pages: (0..400).map(page).collect(), links: Vec::new() };
        let visits = drive(&world, &mut *policy("cluster:0:status", 0.25, 1), 1, 100);
        assert!(changed(&visits[0]) > 75, "{}", changed(&visits[0]));
    }
}
