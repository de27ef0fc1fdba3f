//! Worlds for replays: recorded histories, or models where there are none.
//!
//! The text **sample** had a month between visits to 252 sites with 353,000 pages. Its synthetic set (section
//! 4.8) had 300 sites of 1,000 pages. The models here have the same sizes.
//!
//! # Promises
//! - Without recorded histories a model takes their place, and its description says so.

use anyhow::Result;
use freshet_theory::units::SECONDS_PER_DAY;

use super::sources::{Need, Sources};
use crate::history::synthetic::{Model, Synthetic};
use crate::history::{Mass, Recording, Tables, Window, World};

/// Days per cycle of the models with a changed fraction: in each cycle each page changes with its
/// probability.
pub(super) const MODEL_CYCLE: f64 = 14.0;

/// A world with its description.
pub(super) struct Material {
    /// Short name for titles.
    pub(super) name: &'static str,
    /// Description, in a sentence.
    pub(super) about: String,
    /// The world.
    pub(super) world: World,
}

/// Recorded tables, or those of a model where nothing was recorded, with a sentence that says which.
pub(super) fn tables<'a>(
    sources: &'a Sources,
    made: &'a mut Option<Tables>,
) -> Result<(&'a Tables, &'static str)> {
    if sources.meet(Need::Histories) {
        return Ok((sources.histories()?, ""));
    }
    let model =
        Synthetic { model: Model::Gamma, sites: 60, pages_per_site: 200, days: 1500.0, seed: sources.seed() };
    let tables = made.insert(model.record().into());
    Ok((
        tables,
        "No recorded histories were given (--data): these are 60 sites of 200 pages from a model with \
         bursts. ",
    ))
}

/// Recorded sites, of the family `git` if there are any, with at most `pages_per_site_max` pages each.
pub(super) fn recorded(sources: &Sources, days: f64, pages_per_site_max: usize) -> Result<Material> {
    let mut made = None;
    let (tables, note) = tables(sources, &mut made)?;
    let family = tables.families().contains(&"git").then(|| "git".to_owned());
    let window = Window { family, days, mass: Mass::Keep, pages_per_site_max: Some(pages_per_site_max) };
    let world = World::cut(tables, &window)?;
    let about = format!(
        "{note}The histories: {} sites{}, at most {pages_per_site_max} pages of each, {} pages in all, over \
         the last {days:.0} days.",
        world.sites.len(),
        if window.family.is_some() { " of the family git" } else { "" },
        world.lives.len(),
    );
    Ok(Material { name: "histories", about, world })
}

/// The V-shaped set: 252 sites.
pub(super) fn v_shape(sources: &Sources, pages_per_site: usize, cycles: usize) -> Result<Material> {
    let recording = synthetic(sources, Model::VShape, 252, pages_per_site, cycles);
    model(
        "V-shaped",
        "sites with a V-shaped distribution of changed fractions, from a model",
        recording,
        cycles,
    )
}

/// The V-shaped set with its first cycles repeated, as the text repeats its own.
pub(super) fn v_shape_repeated(
    sources: &Sources,
    pages_per_site: usize,
    period: usize,
    cycles: usize,
) -> Result<Material> {
    let mut recording = synthetic(sources, Model::VShape, 252, pages_per_site, period);
    repeat(&mut recording, period, cycles);
    let about = "sites of the V-shaped model, whose first 5 cycles repeat as the text's own data do";
    model("V-shaped, repeated", about, recording, cycles)
}

/// The normal set: 300 sites.
pub(super) fn normal(sources: &Sources, pages_per_site: usize, cycles: usize) -> Result<Material> {
    let recording = synthetic(sources, Model::Normal, 300, pages_per_site, cycles);
    model("N(0.5, 0.3)", "sites whose changed fractions are N(0.5, 0.3), from a model", recording, cycles)
}

fn synthetic(
    sources: &Sources,
    model: Model,
    sites: usize,
    pages_per_site: usize,
    cycles: usize,
) -> Recording {
    Synthetic { model, sites, pages_per_site, days: MODEL_CYCLE * cycles as f64, seed: sources.seed() }
        .record()
}

fn model(name: &'static str, about: &str, recording: Recording, cycles: usize) -> Result<Material> {
    let days = MODEL_CYCLE * cycles as f64;
    let window = Window { family: None, days, mass: Mass::Keep, pages_per_site_max: None };
    let world = World::cut(&recording.into(), &window)?;
    let about = format!("{} {about}, {} pages in all.", world.sites.len(), world.lives.len());
    Ok(Material { name, about, world })
}

/// Repeats the events of the first cycles.
fn repeat(recording: &mut Recording, period: usize, cycles: usize) {
    let seconds = |cycles: usize| (MODEL_CYCLE * SECONDS_PER_DAY * cycles as f64) as i64;
    for site in &mut recording.sites {
        site.end = site.start + seconds(cycles);
        for page in &mut site.pages {
            let first = page.events.clone();
            for turn in 1..cycles.div_ceil(period) {
                let later = |event: &crate::history::recording::Event| {
                    let mut event = *event;
                    event.time += seconds(period * turn);
                    event
                };
                page.events.extend(first.iter().map(later));
            }
            page.events.retain(|event| event.time <= site.end);
        }
    }
}

/// ρ of **sample** for each site: the fraction of its pages, of those alive at both ends, that changes in a
/// cycle, averaged over the cycles.
pub(super) fn changed_fractions(world: &World, cycle_days: f64) -> Vec<f64> {
    let cycles = (world.days / cycle_days + 1e-9).floor() as usize;
    let mut changed = vec![0.0; world.sites.len()];
    let mut alive = vec![0.0; world.sites.len()];
    for (page, life) in world.lives.iter().enumerate() {
        let site = life.site as usize;
        let of_cycle = |time: f64| (time / cycle_days) as usize;
        let (first, end) =
            ((life.born / cycle_days).ceil() as usize, of_cycle(life.died.min(world.days) + 1e-6));
        let mut last = None;
        for cycle in world.changes(page).iter().map(|time| of_cycle(*time)) {
            if (first..end.min(cycles)).contains(&cycle) && last != Some(cycle) {
                changed[site] += 1.0;
                last = Some(cycle);
            }
        }
        alive[site] += end.min(cycles).saturating_sub(first) as f64;
    }
    changed
        .iter()
        .zip(&alive)
        .filter(|(_, alive)| **alive > 0.0)
        .map(|(changed, alive)| changed / alive)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources() -> Sources {
        Sources::new(None, 5).expect("no data")
    }

    #[test]
    fn without_data_there_is_a_model_that_says_so() {
        let material = recorded(&sources(), 700.0, 50).expect("a model");
        assert!(material.about.contains("No recorded histories were given"), "{}", material.about);
        assert_eq!(material.world.sites.len(), 60);
    }

    #[test]
    fn a_repeated_history_repeats() {
        let world = v_shape_repeated(&sources(), 10, 5, 20).expect("a model").world;
        let page = (0..world.lives.len()).max_by_key(|page| world.changes(*page).len()).expect("pages");
        let changes = world.changes(page);
        assert_eq!(changes.len() % 4, 0);
        let shift = changes[changes.len() / 4] - changes[0];
        assert!((shift - 5.0 * MODEL_CYCLE).abs() < 1e-6, "{shift}");
    }

    #[test]
    fn changed_fractions_are_those_of_the_model() {
        let fractions = changed_fractions(&normal(&sources(), 40, 10).expect("a model").world, MODEL_CYCLE);
        let mean = fractions.iter().sum::<f64>() / fractions.len() as f64;
        assert_eq!(fractions.len(), 300);
        assert!((mean - 0.5).abs() < 0.04, "{mean}");
    }
}
