//! Synthetic histories from a model: for tests, and for the simulations of the texts.
//!
//! In reading order:
//! - `change_fraction`: sites by the fraction of their pages that changes in a cycle, as in **sample**;
//! - `gamma_rates`: sites, directories and pages with individual rates, bursts, sweeps, births and deaths.
//!
//! # Promises
//! - The same settings and seed give the same history.

mod change_fraction;
mod gamma_rates;

use freshet_theory::units::SECONDS_PER_DAY;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::recording::{RecordedPage, RecordedSite, Recording};

/// Start of a model's observation, in seconds since 1970: the first day of 2020.
const START: i64 = 1_577_836_800;

/// How a model's pages change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Model {
    /// Most sites change hardly at all or nearly everywhere: the V-shaped distribution of **sample**, section
    /// 4.1.
    VShape,
    /// The fractions of sites that change are distributed as N(0.5, 0.3): **sample**, section 4.8.
    Normal,
    /// Every page has its own rate from a gamma distribution around its directory's, and changes in bursts.
    Gamma,
}

/// Settings of a synthetic history.
#[derive(Clone, Copy, Debug)]
pub struct Synthetic {
    /// How pages change.
    pub model: Model,
    /// Number of sites.
    pub sites: usize,
    /// Pages of each site.
    pub pages_per_site: usize,
    /// Days of observation.
    pub days: f64,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Synthetic {
    /// Generates the history. Panics unless there are sites and pages, and `days` is finite and above zero.
    pub fn record(&self) -> Recording {
        assert!(self.sites > 0);
        assert!(self.pages_per_site > 0);
        assert!(self.days.is_finite());
        assert!(self.days > 0.0);
        Recording { sites: (0..self.sites).map(|site| self.record_site(site)).collect() }
    }

    fn record_site(&self, site: usize) -> RecordedSite {
        // Every site has its own random stream: adding sites leaves the first ones unchanged.
        let mut chance = ChaCha8Rng::seed_from_u64(self.seed);
        chance.set_stream(site as u64);
        let pages = match self.model {
            Model::VShape => change_fraction::v_shape(self, &mut chance),
            Model::Normal => change_fraction::normal(self, &mut chance),
            Model::Gamma => gamma_rates::pages(self, &mut chance),
        };
        RecordedSite {
            name: format!("synthetic/{site}"),
            family: "synthetic".to_owned(),
            start: START,
            end: time(self.days),
            commits: 0,
            head: String::new(),
            links: links(&pages, &mut chance),
            pages,
        }
    }

    /// The path of a page: directories of ten pages, five of them in each directory above.
    fn path(page: usize) -> String {
        format!("/{}/{}/{page}", page / 50, page / 10)
    }
}

/// Converts a day of the observation to seconds since 1970.
fn time(day: f64) -> i64 {
    START + (day * SECONDS_PER_DAY) as i64
}

/// Links every page to a neighbour and to one of the first pages, with earlier ones more likely.
fn links(pages: &[RecordedPage], chance: &mut ChaCha8Rng) -> Vec<(usize, usize)> {
    use rand::RngExt as _;
    let mut links = Vec::new();
    for page in 0..pages.len() {
        let popular = (pages.len() as f64 * chance.random::<f64>().powi(3)) as usize;
        for target in [(page + 1) % pages.len(), popular] {
            if target != page {
                links.push((page, target));
            }
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    fn synthetic(model: Model) -> Synthetic {
        Synthetic { model, sites: 6, pages_per_site: 40, days: 400.0, seed: 7 }
    }

    #[test]
    fn the_same_seed_gives_the_same_history() {
        for model in [Model::VShape, Model::Normal, Model::Gamma] {
            let events = |synthetic: Synthetic| -> Vec<_> {
                let recording = synthetic.record();
                recording
                    .sites
                    .iter()
                    .flat_map(|site| &site.pages)
                    .flat_map(|page| page.events.clone())
                    .collect()
            };
            assert_eq!(events(synthetic(model)), events(synthetic(model)));
            assert_ne!(events(synthetic(model)), events(Synthetic { seed: 8, ..synthetic(model) }));
        }
    }

    #[test]
    fn events_lie_within_the_observation_and_are_sorted() {
        for model in [Model::VShape, Model::Normal, Model::Gamma] {
            for site in synthetic(model).record().sites {
                for page in site.pages {
                    assert!(page.events.is_sorted_by_key(|event| event.time));
                    assert!(page.events.iter().all(|event| page.first_seen <= event.time));
                    assert!(page.events.iter().all(|event| event.time <= site.end));
                }
            }
        }
    }
}
