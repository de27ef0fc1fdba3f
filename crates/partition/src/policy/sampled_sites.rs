//! Sites with the samples of a cycle: their pages, and what this cycle's visits to them showed.
//!
//! Shared by the policies of **sample**: sites as the groups, pages drawn from them at random, and the sample
//! size √(N r), with N the mean number of pages of a site and r the downloads per page of this cycle.
//!
//! # Promises
//! - A site's sample contains every visit of this cycle since counting began, whoever chose it.
//! - The room of a site is the number of its pages that may still be chosen, including those discovered in
//!   this cycle.

use freshet_theory::sample::sample_size::rule_of_thumb;
use freshet_theory::sample::site::{Sample, SampledSite};
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::catalogue::{Catalogue, PageId};
use super::random_draw::RandomDraw;
use super::selective::OpenPages;
use super::visit::Observation;

/// Sites with their pages and samples.
#[derive(Debug)]
pub(super) struct SampledSites {
    pub(super) open: OpenPages,
    seed: u64,
    rng: ChaCha8Rng,
    lots: Vec<RandomDraw>,
    sites: Vec<Counted>,
    /// Whether the visits of this cycle are counted yet.
    is_counting: bool,
}

/// The counts of a site in this cycle.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    /// Number of pages that may still be chosen.
    room: u64,
    sample: Sample,
}

impl SampledSites {
    /// No pages yet.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            open: OpenPages::default(),
            seed,
            rng: ChaCha8Rng::seed_from_u64(seed),
            lots: Vec::new(),
            sites: Vec::new(),
            is_counting: false,
        }
    }

    /// The pages from `first` on are new.
    pub(super) fn discover(&mut self, catalogue: &Catalogue, first: PageId) {
        self.open.grow(catalogue.pages());
        self.lots.resize_with(catalogue.sites(), RandomDraw::default);
        for page in (first.0..catalogue.pages() as u32).map(PageId) {
            self.lots[catalogue.site_of(page).index()].add(page);
        }
        if self.is_counting {
            // A crawl discovers pages in the middle of a cycle.
            self.sites.resize(catalogue.sites(), Counted::default());
            for page in (first.0..catalogue.pages() as u32).map(PageId) {
                self.sites[catalogue.site_of(page).index()].room += 1;
            }
        }
    }

    /// Opens all pages. Counting has not begun.
    pub(super) fn begin_cycle(&mut self) {
        self.open.begin_cycle();
        self.rng = self.open.chance(self.seed);
        self.is_counting = false;
    }

    /// Begins to count the visits of this cycle, unless it has begun: the pages that are open now are the
    /// sites' pages. Returns whether it began with this call.
    pub(super) fn begin_to_count(&mut self, catalogue: &Catalogue) -> bool {
        if std::mem::replace(&mut self.is_counting, true) {
            return false;
        }
        self.sites.clear();
        self.sites.resize(self.lots.len(), Counted::default());
        for page in self.open.iter() {
            self.sites[catalogue.site_of(page).index()].room += 1;
        }
        self.lots.iter_mut().for_each(|lots| lots.put_back(&self.open));
        true
    }

    /// Counts the visits.
    pub(super) fn learn(&mut self, catalogue: &Catalogue, observations: &[Observation]) {
        for observation in observations {
            // A page that was closed when counting began is none of the site's pages in this cycle.
            if self.is_counting && self.open.awaits_visit(observation.page) {
                let site = &mut self.sites[catalogue.site_of(observation.page).index()];
                site.room -= u64::from(!self.open.is_chosen(observation.page));
                if observation.outcome.is_known() {
                    let visit = Sample::new(1, u64::from(observation.outcome.is_change()));
                    site.sample = site.sample.join(visit);
                }
            }
            self.open.learn(std::slice::from_ref(observation));
        }
    }

    /// Number of sites.
    pub(super) fn len(&self) -> usize {
        self.sites.len()
    }

    /// The counts of a site. Panics before counting has begun.
    pub(super) fn site(&self, site: usize) -> SampledSite {
        let Counted { room, sample } = self.sites[site];
        SampledSite::new(room + sample.sampled(), sample)
    }

    /// The sites with pages to visit, in random order, which breaks ties.
    pub(super) fn shuffled(&mut self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.sites.len()).filter(|site| self.sites[*site].room > 0).collect();
        order.shuffle(&mut self.rng);
        order
    }

    /// The sample size √(N r) for a cycle with `budget` downloads, at least one page.
    pub(super) fn sample_size(&self, budget: usize) -> usize {
        let sites = self.sites.iter().filter(|site| site.room > 0).count();
        let pages: u64 = self.sites.iter().map(|site| site.room).sum();
        if sites == 0 {
            return 1;
        }
        let budget_ratio = (budget as f64 / pages as f64).min(1.0);
        (rule_of_thumb(pages as f64 / sites as f64, budget_ratio).round() as usize).max(1)
    }

    /// Draws up to `count` pages of a site.
    pub(super) fn draw(&mut self, site: usize, count: usize, chosen: &mut Vec<PageId>) {
        let before = chosen.len();
        self.lots[site].draw_many(count, &mut self.open, &mut self.rng, chosen);
        self.sites[site].room -= (chosen.len() - before) as u64;
    }

    /// Draws up to `count` pages of each of these sites, at most `room` in all.
    pub(super) fn draw_each(&mut self, sites: &[usize], count: usize, room: usize, chosen: &mut Vec<PageId>) {
        let full = chosen.len() + room;
        for site in sites {
            self.draw(*site, count.min(full - chosen.len()), chosen);
        }
    }
}
