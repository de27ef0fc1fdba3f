//! World: a window of a history, aligned and ready for replay.
//!
//! The last days of each site, up to the end of its own observation, are aligned, so that all sites run
//! through the window together. A page that was deleted and came back is two pages: a crawler discovers it
//! again.
//!
//! # Promises
//! - Times are days since the window began. Those of a page are sorted and within its life.
//! - Pages are ordered by birth.

use std::ops::Range;

use anyhow::{Result, bail, ensure};
use freshet_protocol::texts::Texts;
use freshet_theory::units::SECONDS_PER_DAY;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::tables::{ChangeKind, ChangeRow, SiteRow, Tables};

/// How to treat changes that were part of a sweep over a site.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mass {
    /// Count them: a crawler does see them.
    Keep,
    /// Leave them out, so that they do not dominate the rates of pages.
    Drop,
}

/// Selects a part of a history.
#[derive(Clone, Debug)]
pub struct Window {
    /// Use only sites of this family. `None` means all.
    pub family: Option<String>,
    /// Length in days.
    pub days: f64,
    /// How to treat sweeps.
    pub mass: Mass,
    /// Maximum number of a site's pages when the window opens. Of a larger site, as many are sampled at
    /// random (fixed seed), and the same fraction of pages that are born later.
    pub pages_per_site_max: Option<usize>,
}

/// One life of a page: from its birth to its death. A page that comes back has several.
#[derive(Clone, Debug)]
pub struct Life {
    /// Index in [`World::sites`].
    pub site: u32,
    /// Time of birth. 0 if it existed when the window opened.
    pub born: f64,
    /// Time of death. Infinite if it existed at the end.
    pub died: f64,
    /// Row of the page in the tables.
    row: u32,
    changes: Range<u32>,
}

/// Aligned histories of pages.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Length in days.
    pub days: f64,
    /// Names of the sites.
    pub sites: Vec<String>,
    /// Lives of pages.
    pub lives: Vec<Life>,
    /// Links between pages, by index.
    pub links: Vec<(u32, u32)>,
    paths: Texts,
    change_times: Vec<f64>,
}

impl World {
    /// Cuts a window out of a history. Fails if no page is left.
    pub fn cut(tables: &Tables, window: &Window) -> Result<Self> {
        ensure!(
            window.days.is_finite() && window.days > 0.0,
            "the window of {} days is empty: give it a length, for instance 3y",
            window.days
        );
        let site_wanted = wanted_sites(tables, window)?;
        let mut world = Self { days: window.days, ..Self::default() };
        world.add_lives(tables, window, &site_wanted);
        world.thin_out(tables, window);
        if !world.lives.iter().any(|life| life.born <= 0.0) {
            bail!(
                "no page is there when the window of {} days opens: choose a shorter window or another \
                 family",
                window.days
            );
        }
        world.lives.sort_by(|a, b| a.born.total_cmp(&b.born));
        world.number_anew(tables);
        Ok(world)
    }

    /// Times at which the content of a page changed.
    pub fn changes(&self, page: usize) -> &[f64] {
        let Range { start, end } = self.lives[page].changes;
        &self.change_times[start as usize..end as usize]
    }

    /// The path of a page.
    pub fn path(&self, page: usize) -> &str {
        &self.paths[page]
    }

    /// Adds every life that overlaps the window, of all pages of the wanted sites. At this point a site is
    /// identified by its row.
    fn add_lives(&mut self, tables: &Tables, window: &Window, site_wanted: &[bool]) {
        let by_page = ChangesByPage::new(tables);
        for (row, page) in tables.pages.iter().enumerate().filter(|(_, page)| site_wanted[page.site as usize])
        {
            let site = &tables.sites[page.site as usize];
            let day = |time: i64| (time as f64 - site.end as f64) / SECONDS_PER_DAY + window.days;
            let mut life = self.begin_life(page.site, row, day(page.first_seen));
            for change in by_page.of(tables, row) {
                let time = day(change.time);
                let dead = life.died <= time;
                match change.kind {
                    ChangeKind::Modified if change.mass && window.mass == Mass::Drop => {}
                    ChangeKind::Modified => self.add_change(&life, time),
                    ChangeKind::Deleted => life.died = life.died.min(time),
                    ChangeKind::Recreated if dead => {
                        self.end_life(life);
                        life = self.begin_life(page.site, row, time);
                    }
                    ChangeKind::Recreated => {}
                }
            }
            self.end_life(life);
        }
    }

    fn begin_life(&self, site: u32, row: usize, born: f64) -> Life {
        let next = self.change_times.len() as u32;
        Life { site, row: row as u32, born: born.max(0.0), died: f64::INFINITY, changes: next..next }
    }

    fn add_change(&mut self, life: &Life, time: f64) {
        if life.born < time && time < life.died.min(self.days) {
            self.change_times.push(time);
        }
    }

    fn end_life(&mut self, mut life: Life) {
        life.changes.end = self.change_times.len() as u32;
        if life.born < life.died.min(self.days) {
            self.lives.push(life);
        }
    }

    /// Removes pages of sites that have too many.
    fn thin_out(&mut self, tables: &Tables, window: &Window) {
        let Some(most) = window.pages_per_site_max else { return };
        let mut there: Vec<Vec<u32>> = vec![Vec::new(); tables.sites.len()];
        let mut later: Vec<Vec<u32>> = there.clone();
        for life in &self.lives {
            let rows = if life.born <= 0.0 { &mut there } else { &mut later };
            rows[life.site as usize].push(life.row);
        }
        let mut wanted = vec![true; tables.pages.len()];
        for (site, (there, later)) in there.iter_mut().zip(&mut later).enumerate() {
            if there.len() <= most {
                continue;
            }
            let later_most = later.len() * most / there.len();
            let mut chance = ChaCha8Rng::seed_from_u64(site as u64);
            for (rows, most) in [(later, later_most), (there, most)] {
                rows.shuffle(&mut chance);
                rows.iter().skip(most).for_each(|row| wanted[*row as usize] = false);
            }
        }
        self.lives.retain(|life| wanted[life.row as usize]);
    }

    /// Renumbers sites and pages by the remaining lives, and updates paths and links.
    fn number_anew(&mut self, tables: &Tables) {
        let mut site_numbers = vec![u32::MAX; tables.sites.len()];
        let mut first_life = vec![u32::MAX; tables.pages.len()];
        for (page, life) in self.lives.iter_mut().enumerate() {
            let number = &mut site_numbers[life.site as usize];
            if *number == u32::MAX {
                *number = self.sites.len() as u32;
                self.sites.push(tables.sites[life.site as usize].name.clone());
            }
            life.site = *number;
            self.paths.push(&tables.paths[life.row as usize]);
            let first = &mut first_life[life.row as usize];
            *first = (*first).min(page as u32);
        }
        let link = |(from, to): &(u32, u32)| (first_life[*from as usize], first_life[*to as usize]);
        self.links =
            tables.links.iter().map(link).filter(|(from, to)| *from != u32::MAX && *to != u32::MAX).collect();
    }
}

/// Selects the sites of the family that were observed for as long as the window. Fails if there are none.
fn wanted_sites(tables: &Tables, window: &Window) -> Result<Vec<bool>> {
    let of_family: Vec<bool> = tables
        .sites
        .iter()
        .map(|site| window.family.as_ref().is_none_or(|family| *family == site.family))
        .collect();
    if !of_family.contains(&true) {
        let family = window.family.as_deref().unwrap_or("all");
        bail!("there is no site of the family `{family}`; there are: {}", tables.families().join(", "));
    }
    let days = |site: &SiteRow| (site.end as f64 - site.start as f64) / SECONDS_PER_DAY;
    let wanted: Vec<bool> =
        tables.sites.iter().zip(&of_family).map(|(site, of)| *of && window.days <= days(site)).collect();
    if !wanted.contains(&true) {
        let longest = tables.sites.iter().zip(&of_family).filter(|(_, of)| **of).map(|(site, _)| days(site));
        bail!(
            "the window of {:.1} days is longer than every history; the longest has {:.1} days: \
             choose a shorter window",
            window.days,
            longest.fold(0.0, f64::max)
        );
    }
    Ok(wanted)
}

/// The changes of each page, in time order.
struct ChangesByPage {
    starts: Vec<u32>,
    /// Indices in [`Tables::changes`].
    changes: Vec<u32>,
}

impl ChangesByPage {
    fn new(tables: &Tables) -> Self {
        let mut starts = vec![0u32; tables.pages.len() + 1];
        for change in &tables.changes {
            starts[change.page as usize + 1] += 1;
        }
        for page in 0..tables.pages.len() {
            starts[page + 1] += starts[page];
        }
        let mut next = starts.clone();
        let mut changes = vec![0; tables.changes.len()];
        for (number, change) in (0..).zip(&tables.changes) {
            let place = &mut next[change.page as usize];
            changes[*place as usize] = number;
            *place += 1;
        }
        Self { starts, changes }
    }

    fn of<'a>(&'a self, tables: &'a Tables, page: usize) -> impl Iterator<Item = &'a ChangeRow> {
        let range = self.starts[page] as usize..self.starts[page + 1] as usize;
        self.changes[range].iter().map(|change| &tables.changes[*change as usize])
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::tables::PageRow;
    use super::*;

    /// A world whose pages are on one site, from paths, births, deaths and changes.
    pub(crate) fn world_of(days: f64, pages: &[(&str, f64, f64, &[f64])]) -> World {
        let mut world = World { days, sites: vec!["site".to_owned()], ..World::default() };
        for (path, born, died, changes) in pages {
            let mut life = world.begin_life(0, world.lives.len(), *born);
            life.died = *died;
            changes.iter().for_each(|time| world.add_change(&life, *time));
            world.paths.push(path);
            world.end_life(life);
        }
        assert!(world.lives.is_sorted_by_key(|life| life.born));
        world
    }

    /// One site observed from day 0 to day 100, with pages first seen on these days and changes on these
    /// days.
    fn tables(first_seen: &[i64], changes: &[(u32, i64, ChangeKind, bool)]) -> Tables {
        let seconds = |day: i64| day * freshet_protocol::time::SECONDS_PER_DAY;
        let site = SiteRow { name: "a".to_owned(), family: "git".to_owned(), start: 0, end: seconds(100) };
        let mut tables = Tables { sites: vec![site], ..Tables::default() };
        for (page, day) in first_seen.iter().enumerate() {
            tables.pages.push(PageRow { site: 0, first_seen: seconds(*day) });
            tables.paths.push(&format!("/{page}"));
        }
        let change = |(page, day, kind, mass): &(u32, i64, ChangeKind, bool)| ChangeRow {
            time: seconds(*day),
            page: *page,
            kind: *kind,
            mass: *mass,
        };
        tables.changes = changes.iter().map(change).collect();
        tables
    }

    fn window(days: f64) -> Window {
        Window { family: None, days, mass: Mass::Keep, pages_per_site_max: None }
    }

    use ChangeKind::{Deleted, Modified, Recreated};

    #[test]
    fn times_count_from_the_opening_of_the_window() {
        let changes = [(0, 30, Modified, false), (0, 60, Modified, false), (1, 70, Modified, false)];
        let world = World::cut(&tables(&[0, 65], &changes), &window(50.0)).expect("two pages");
        assert_eq!(world.changes(0), [10.0]);
        assert_eq!((world.lives[1].born, world.changes(1)), (15.0, [20.0].as_slice()));
        assert_eq!(world.path(1), "/1");
    }

    #[test]
    fn a_page_that_came_back_is_two_pages() {
        let changes = [
            (0, 60, Deleted, false),
            (0, 65, Modified, false),
            (0, 70, Recreated, false),
            (0, 80, Modified, false),
        ];
        let world = World::cut(&tables(&[0], &changes), &window(50.0)).expect("two lives");
        assert_eq!((world.lives[0].born, world.lives[0].died), (0.0, 10.0));
        assert_eq!((world.lives[1].born, world.lives[1].died), (20.0, f64::INFINITY));
        assert!(world.changes(0).is_empty());
        assert_eq!(world.changes(1), [30.0]);
    }

    #[test]
    fn sweeps_are_left_out_when_asked() {
        let tables = tables(&[0], &[(0, 60, Modified, true), (0, 70, Modified, false)]);
        let world = World::cut(&tables, &Window { mass: Mass::Drop, ..window(50.0) }).expect("a page");
        assert_eq!(world.changes(0), [20.0]);
        let world = World::cut(&tables, &window(50.0)).expect("a page");
        assert_eq!(world.changes(0), [10.0, 20.0]);
    }

    #[test]
    fn what_ended_before_the_window_is_not_in_it() {
        let tables = tables(&[0, 0, 0], &[(0, 40, Deleted, false), (1, 50, Deleted, false)]);
        let world = World::cut(&tables, &window(50.0)).expect("a page");
        assert_eq!(world.lives.len(), 1);
        assert_eq!(world.path(0), "/2");
    }

    #[test]
    fn a_large_site_is_thinned_out_in_proportion() {
        let first_seen: Vec<i64> = (0..100).map(|page| if page < 60 { 0 } else { 70 }).collect();
        let tables = tables(&first_seen, &[]);
        let thin = Window { pages_per_site_max: Some(15), ..window(50.0) };
        let world = World::cut(&tables, &thin).expect("pages");
        assert_eq!(world.lives.iter().filter(|life| life.born <= 0.0).count(), 15);
        assert_eq!(world.lives.len(), 25);
    }

    #[test]
    fn links_lead_to_the_first_life_of_a_page() {
        let mut tables = tables(&[0, 0], &[(1, 60, Deleted, false), (1, 70, Recreated, false)]);
        tables.links = vec![(0, 1), (1, 0)];
        let world = World::cut(&tables, &window(50.0)).expect("pages");
        assert_eq!(world.links, [(0, 1), (1, 0)]);
    }

    #[track_caller]
    fn check_error(window: &Window, word: &str) {
        let error = World::cut(&tables(&[90], &[]), window).expect_err("no page is left").to_string();
        assert!(error.contains(word), "{error}");
    }

    #[test]
    fn a_window_without_pages_says_why() {
        check_error(&window(0.0), "is empty");
        check_error(&window(200.0), "the longest has 100.0 days");
        check_error(&window(50.0), "no page is there when the window");
        check_error(&Window { family: Some("ota".to_owned()), ..window(50.0) }, "there are: git");
    }
}
