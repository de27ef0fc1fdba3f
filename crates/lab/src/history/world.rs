//! A window of a history, aligned and ready to be replayed.
//!
//! The last years of each site, up to the end of its own observation, are laid over each other, so that all sites run
//! through the window together. A page that was deleted and came back is two pages: a crawler discovers it anew.
//!
//! # Promises
//! - Times are days since the window began; those of a page are sorted and lie within its life.

use anyhow::{Result, ensure};
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::tables::{ChangeKind, Family, Tables};

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// What becomes of changes that were part of a sweep over a site.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mass {
    /// They count: a crawler does see them.
    Keep,
    /// They are left out, so that they do not swamp the rates of pages.
    Drop,
}

/// Which part of a history is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Sites of one family, or of all.
    pub family: Option<Family>,
    /// Length in days.
    pub days: f64,
    /// What becomes of sweeps.
    pub mass: Mass,
    /// At most so many pages of a site, chosen by chance from a fixed seed.
    pub pages_per_site_max: Option<usize>,
    /// Sites with fewer pages alive when the window opens are left out.
    pub pages_per_site_min: usize,
}

/// One life of a page.
#[derive(Clone, Debug)]
pub struct Page {
    /// Index in [`World::sites`].
    pub site: u32,
    /// Its path.
    pub path: String,
    /// When it came; 0 if it was there when the window opened.
    pub born: f64,
    /// When it went; infinite if it was there at the end.
    pub died: f64,
    /// When its content changed.
    pub changes: Vec<f64>,
}

/// The aligned histories.
#[derive(Clone, Debug)]
pub struct World {
    /// Length in days.
    pub days: f64,
    /// Names of the sites.
    pub sites: Vec<String>,
    /// Lives of pages, in the order of birth.
    pub pages: Vec<Page>,
    /// Links between pages, by index.
    pub links: Vec<(u32, u32)>,
}

impl World {
    /// Cuts a window out of a history. It is an error when no page is left.
    pub fn cut(tables: &Tables, window: &Window) -> Result<Self> {
        ensure!(window.days > 0.0, "the window is empty");
        let wanted = wanted_pages(tables, window);
        let mut lives: Vec<Vec<Page>> = vec![Vec::new(); tables.pages.len()];
        for (page, row) in tables.pages.iter().enumerate().filter(|(page, _)| wanted[*page]) {
            lives[page].push(Page {
                site: row.site as u32,
                path: row.path.clone(),
                born: day(tables, window, row.site, row.first_seen),
                died: f64::INFINITY,
                changes: Vec::new(),
            });
        }
        for change in &tables.changes {
            let time = day(tables, window, tables.pages[change.page].site, change.time);
            let Some(life) = lives[change.page].last_mut() else { continue };
            match change.kind {
                ChangeKind::Modified if !change.mass || window.mass == Mass::Keep => life.changes.push(time),
                ChangeKind::Modified => {}
                ChangeKind::Deleted => life.died = life.died.min(time),
                ChangeKind::Recreated => {
                    let again = Page { born: time, died: f64::INFINITY, changes: Vec::new(), ..life.clone() };
                    lives[change.page].push(again);
                }
            }
        }
        let world = Self::assemble(tables, window, lives);
        ensure!(
            !world.pages.is_empty(),
            "no site has {} days of history with at least {} pages: choose a shorter window or another family",
            window.days,
            window.pages_per_site_min
        );
        Ok(world)
    }

    /// Keeps what lies within the window, numbers sites and pages anew, and takes the links along.
    fn assemble(tables: &Tables, window: &Window, lives: Vec<Vec<Page>>) -> Self {
        let mut pages: Vec<(usize, Page)> = Vec::new();
        for (row, lives) in lives.into_iter().enumerate() {
            for mut life in lives {
                if life.died <= 0.0 || window.days <= life.born {
                    continue;
                }
                life.changes.retain(|time| life.born.max(0.0) < *time && *time < life.died.min(window.days));
                life.born = life.born.max(0.0);
                pages.push((row, life));
            }
        }
        pages.sort_by(|(_, a), (_, b)| a.born.total_cmp(&b.born));
        let mut sites = Vec::new();
        let mut site_numbers = vec![u32::MAX; tables.sites.len()];
        for (_, page) in &mut pages {
            let number = &mut site_numbers[page.site as usize];
            if *number == u32::MAX {
                *number = sites.len() as u32;
                sites.push(tables.sites[page.site as usize].name.clone());
            }
            page.site = *number;
        }
        let mut lives_of_row: Vec<Option<u32>> = vec![None; tables.pages.len()];
        for (page, (row, _)) in pages.iter().enumerate() {
            lives_of_row[*row].get_or_insert(page as u32);
        }
        let links =
            tables.links.iter().filter_map(|(from, to)| Some((lives_of_row[*from]?, lives_of_row[*to]?)));
        let links = links.collect();
        Self { days: window.days, sites, pages: pages.into_iter().map(|(_, page)| page).collect(), links }
    }

    /// Changes of content and deaths within the window: what there was to find.
    pub fn changes(&self) -> usize {
        let deaths = self.pages.iter().filter(|page| page.died < self.days).count();
        deaths + self.pages.iter().map(|page| page.changes.len()).sum::<usize>()
    }
}

/// Days since the window of a site began.
fn day(tables: &Tables, window: &Window, site: usize, time: i64) -> f64 {
    (time - tables.sites[site].end) as f64 / DAY + window.days
}

/// Which pages belong to sites that the window wants, thinned out by chance where a site has too many.
fn wanted_pages(tables: &Tables, window: &Window) -> Vec<bool> {
    let site_wanted: Vec<bool> = tables
        .sites
        .iter()
        .map(|site| {
            let long_enough = (site.end - site.start) as f64 / DAY >= window.days;
            long_enough && window.family.is_none_or(|family| family == site.family)
        })
        .collect();
    let alive = alive_at_start(tables, window);
    let mut pages_of_site: Vec<Vec<usize>> = vec![Vec::new(); tables.sites.len()];
    for (page, row) in tables.pages.iter().enumerate().filter(|(_, row)| site_wanted[row.site]) {
        pages_of_site[row.site].push(page);
    }
    let mut wanted = vec![false; tables.pages.len()];
    for (site, pages) in pages_of_site.iter_mut().enumerate() {
        let there = pages.iter().filter(|page| alive[**page]).count();
        if there < window.pages_per_site_min {
            continue;
        }
        if let Some(most) = window.pages_per_site_max.filter(|most| *most < there) {
            // The same part of the pages that come later is kept as of those that are there.
            let keep = pages.len() * most / there;
            pages.shuffle(&mut ChaCha8Rng::seed_from_u64(site as u64));
            pages.truncate(keep);
        }
        for page in pages {
            wanted[*page] = true;
        }
    }
    wanted
}

/// Which pages are there when the window opens.
fn alive_at_start(tables: &Tables, window: &Window) -> Vec<bool> {
    let is_before = |page: usize, time| day(tables, window, tables.pages[page].site, time) <= 0.0;
    let mut alive: Vec<bool> =
        tables.pages.iter().enumerate().map(|(page, row)| is_before(page, row.first_seen)).collect();
    for change in tables.changes.iter().filter(|change| is_before(change.page, change.time)) {
        match change.kind {
            ChangeKind::Modified => {}
            ChangeKind::Deleted => alive[change.page] = false,
            ChangeKind::Recreated => alive[change.page] = true,
        }
    }
    alive
}
