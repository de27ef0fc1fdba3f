//! Runs the whole study, over all sites and by family.
//!
//! # Promises
//! - The same history and seed give the same study.
//! - A family whose histories are all shorter than the window is listed as left out. If no family remains,
//!   that is an error.

use anyhow::Result;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::change_interval::ChangeIntervals;
use super::daily::DailyPage;
use super::estimator_bias::EstimatorBias;
use super::lifespan::Lifespans;
use super::poisson_fit::{PoissonFit, twins};
use super::unchanged::Unchanged;
use crate::history::{Tables, Window, World};

/// Seed of the Poisson twins.
const SEED: u64 = 1;

/// Steps of the study of one group, for progress reports.
pub const STEPS: usize = 3;

/// Results for a group of sites.
#[derive(Clone, Debug)]
pub struct Group {
    /// The family, or `all`.
    pub name: String,
    /// Number of sites observed for as long as the window.
    pub sites: usize,
    /// Number of pages seen.
    pub pages: usize,
    /// Number of changes seen by daily visits.
    pub changes: usize,
    /// How often pages change.
    pub change_intervals: ChangeIntervals,
    /// How long pages exist.
    pub lifespans: Lifespans,
    /// How long until half of them changed.
    pub unchanged: Unchanged,
    /// Whether changes are a Poisson process.
    pub poisson_fit: PoissonFit,
    /// Bias of the estimators.
    pub estimator_bias: EstimatorBias,
}

/// Results for a history.
#[derive(Clone, Debug)]
pub struct Study {
    /// All sites, then each family if there are several.
    pub groups: Vec<Group>,
    /// Families left out because their histories are shorter than the window.
    pub left_out: Vec<String>,
}

impl Study {
    /// Maximum number of groups studied, for progress reports. Each takes [`STEPS`] steps.
    pub fn groups_max(tables: &Tables, window: &Window) -> usize {
        if window.family.is_none() && tables.families().len() > 1 { 1 + tables.families().len() } else { 1 }
    }

    /// Studies the sites of a window, and each family if all are wanted. Calls `done` after every step.
    pub fn of(tables: &Tables, window: &Window, done: &dyn Fn()) -> Result<Self> {
        let name = window.family.clone().unwrap_or_else(|| "all".to_owned());
        let mut study =
            Self { groups: vec![Group::of(name, &World::cut(tables, window)?, done)], left_out: Vec::new() };
        if Self::groups_max(tables, window) == 1 {
            return Ok(study);
        }
        for family in tables.families() {
            let window = Window { family: Some(family.to_owned()), ..window.clone() };
            match World::cut(tables, &window) {
                Ok(world) => study.groups.push(Group::of(family.to_owned(), &world, done)),
                Err(_) => study.left_out.push(family.to_owned()),
            }
        }
        Ok(study)
    }
}

impl Group {
    /// Studies a world.
    pub fn of(name: String, world: &World, done: &dyn Fn()) -> Self {
        let pages: Vec<DailyPage> = (0..world.lives.len()).map(|page| DailyPage::of(world, page)).collect();
        done();
        let twins = twins(&pages, &mut ChaCha8Rng::seed_from_u64(SEED));
        let poisson_fit = PoissonFit::of(&pages, &twins);
        done();
        let estimator_bias = EstimatorBias::of(&pages, &twins, world.days);
        done();
        Self {
            name,
            sites: world.sites.len(),
            pages: pages.len(),
            changes: pages.iter().map(|page| page.changes.len()).sum(),
            change_intervals: ChangeIntervals::of(&pages),
            lifespans: Lifespans::of(&pages, world.days),
            unchanged: Unchanged::of(&pages, world.days),
            poisson_fit,
            estimator_bias,
        }
    }
}
