//! The four tables of a data directory: sites, pages, changes and links.
//!
//! - `sites.parquet`: `site_id`, `name`, `family`, `start` and `end` of the observation.
//! - `pages.parquet`: `page_id`, `site_id`, `path`, `first_seen`.
//! - `changes.parquet`, sorted by time within each site: `page_id`, `time`, `kind` (1 modified, 2 deleted, 3
//!   re-created, 4 moved away), `mass` (the change was part of a sweep over the site).
//! - `links.parquet`: `src`, `dst`. The file may be missing.
//!
//! All times are seconds since 1970. Other columns may exist and are not read.
//!
//! # Promises
//! - The result is consistent: every change and link refers to a known page, every page to a known site, and
//!   the changes of a site are sorted by time. Anything else is an error that names the file and what is
//!   wrong in it.
//! - A change takes sixteen bytes. No single row causes an allocation.

use std::path::Path;

use anyhow::{Result, bail, ensure};
use arrow_array::Array as _;
use freshet_protocol::texts::Texts;

use super::columns::{self, Rows};

/// What happened to a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ChangeKind {
    /// Its content changed.
    Modified,
    /// It was deleted, or moved away.
    Deleted,
    /// It came back.
    Recreated,
}

/// A site.
#[derive(Clone, Debug)]
pub struct SiteRow {
    /// Its name.
    pub name: String,
    /// Source of its history, for example `git` or `ota`.
    pub family: String,
    /// When its observation began.
    pub start: i64,
    /// When its observation ended.
    pub end: i64,
}

/// A page; its path is in [`Tables::paths`].
#[derive(Clone, Copy, Debug)]
pub struct PageRow {
    /// Index of its site in [`Tables::sites`].
    pub site: u32,
    /// When it first existed.
    pub first_seen: i64,
}

/// A change of a page.
#[derive(Clone, Copy, Debug)]
pub struct ChangeRow {
    /// Time.
    pub time: i64,
    /// Index of the page in [`Tables::pages`].
    pub page: u32,
    /// What happened.
    pub kind: ChangeKind,
    /// Whether it was part of a sweep over the site.
    pub mass: bool,
}

/// A whole data directory.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// Sites.
    pub sites: Vec<SiteRow>,
    /// Pages.
    pub pages: Vec<PageRow>,
    /// The path of each page, by its index.
    pub paths: Texts,
    /// Changes, sorted by time within each site.
    pub changes: Vec<ChangeRow>,
    /// Links as pairs of page indices.
    pub links: Vec<(u32, u32)>,
}

impl Tables {
    /// Reads a data directory.
    pub fn read(directory: &Path) -> Result<Self> {
        ensure!(
            directory.is_dir(),
            "{} is not a directory: give the one that holds sites.parquet, pages.parquet and \
             changes.parquet, or a crawl",
            directory.display()
        );
        let mut tables = Self::default();
        let sites = tables.read_sites(&directory.join("sites.parquet"))?;
        let pages = tables.read_pages(&directory.join("pages.parquet"), &sites)?;
        tables.read_changes(&directory.join("changes.parquet"), &pages)?;
        let links = directory.join("links.parquet");
        if links.exists() {
            tables.read_links(&links, &pages)?;
        }
        Ok(tables)
    }

    /// The families that occur, sorted.
    pub fn families(&self) -> Vec<&str> {
        let mut families: Vec<_> = self.sites.iter().map(|site| site.family.as_str()).collect();
        families.sort_unstable();
        families.dedup();
        families
    }

    fn read_sites(&mut self, path: &Path) -> Result<Numbers> {
        let mut ids = Vec::new();
        columns::read(path, &["site_id", "name", "family", "start", "end"], |rows| {
            ids.extend(rows.integers("site_id")?);
            let (names, families) = (rows.texts("name")?, rows.texts("family")?);
            let (starts, ends) = (rows.integers("start")?, rows.integers("end")?);
            for row in 0..rows.len() {
                let (name, start, end) = (names.value(row).to_owned(), starts[row], ends[row]);
                ensure!(
                    start <= end,
                    "the site {name:?} ends before it starts: `end` {end} is less than `start` {start}"
                );
                self.sites.push(SiteRow { name, family: families.value(row).to_owned(), start, end });
            }
            Ok(())
        })?;
        ensure!(!ids.is_empty(), "{} has no rows: there is no site", path.display());
        Numbers::new("site_id", ids)
    }

    fn read_pages(&mut self, path: &Path, sites: &Numbers) -> Result<Numbers> {
        let mut ids = Vec::new();
        columns::read(path, &["page_id", "site_id", "path", "first_seen"], |rows| {
            let site_ids = rows.integers("site_id")?;
            let (paths, first_seen) = (rows.texts("path")?, rows.integers("first_seen")?);
            for row in 0..rows.len() {
                let Some(site) = sites.get(site_ids[row]) else {
                    bail!("row {} is a page of the unknown site {}", rows.number(row), site_ids[row]);
                };
                self.pages.push(PageRow { site, first_seen: first_seen[row] });
                self.paths.push(if paths.is_null(row) { "" } else { paths.value(row) });
            }
            ids.extend(rows.integers("page_id")?);
            Ok(())
        })?;
        ensure!(!ids.is_empty(), "{} has no rows: there is no page", path.display());
        Numbers::new("page_id", ids)
    }

    fn read_changes(&mut self, path: &Path, pages: &Numbers) -> Result<()> {
        let mut latest: Vec<i64> = vec![i64::MIN; self.sites.len()];
        columns::read(path, &["page_id", "time", "kind", "mass"], |rows| {
            let (ids, times) = (rows.integers("page_id")?, rows.integers("time")?);
            let (kinds, masses) = (rows.integers("kind")?, rows.flags("mass")?);
            self.changes.reserve(rows.len());
            for row in 0..rows.len() {
                let time = times[row];
                let page = known(pages, rows, row, "a change", ids[row])?;
                let site = self.pages[page as usize].site as usize;
                ensure!(
                    latest[site] <= time,
                    "the changes are not sorted by time: row {} of the site {:?} has `time` {time} after {}; \
                     sort them by site, time and page",
                    rows.number(row),
                    self.sites[site].name,
                    latest[site]
                );
                latest[site] = time;
                let kind = change_kind(kinds[row], rows.number(row))?;
                self.changes.push(ChangeRow { time, page, kind, mass: masses[row] });
            }
            Ok(())
        })
    }

    fn read_links(&mut self, path: &Path, pages: &Numbers) -> Result<()> {
        columns::read(path, &["src", "dst"], |rows| {
            let (sources, targets) = (rows.integers("src")?, rows.integers("dst")?);
            for row in 0..rows.len() {
                let from = known(pages, rows, row, "a link", sources[row])?;
                self.links.push((from, known(pages, rows, row, "a link", targets[row])?));
            }
            Ok(())
        })
    }
}

fn known(pages: &Numbers, rows: &Rows, row: usize, what: &str, id: i64) -> Result<u32> {
    match pages.get(id) {
        Some(page) => Ok(page),
        None => bail!("row {} is {what} of the unknown page {id}", rows.number(row)),
    }
}

fn change_kind(kind: i64, row: usize) -> Result<ChangeKind> {
    Ok(match kind {
        1 => ChangeKind::Modified,
        2 | 4 => ChangeKind::Deleted,
        3 => ChangeKind::Recreated,
        other => bail!(
            "row {row} has the unknown `kind` {other}: 1 is modified, 2 deleted, 3 re-created, 4 moved away"
        ),
    })
}

/// Maps the identifiers of a table to its row numbers.
struct Numbers {
    /// The number of identifiers if they equal the row numbers, as in every table that we write.
    same: Option<usize>,
    /// Otherwise the identifiers, sorted, with their row numbers.
    sorted: Vec<(i64, u32)>,
}

impl Numbers {
    fn new(column: &str, ids: Vec<i64>) -> Result<Self> {
        ensure!(u32::try_from(ids.len()).is_ok(), "there are more than 2^32 rows with a `{column}`");
        if ids.iter().enumerate().all(|(number, id)| number as i64 == *id) {
            return Ok(Self { same: Some(ids.len()), sorted: Vec::new() });
        }
        let mut sorted: Vec<_> = ids.into_iter().zip(0..).collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            bail!(
                "`{column}` {} occurs twice: in row {} and row {}",
                pair[0].0,
                pair[0].1 + 1,
                pair[1].1 + 1
            );
        }
        Ok(Self { same: None, sorted })
    }

    fn get(&self, id: i64) -> Option<u32> {
        match self.same {
            Some(count) => u32::try_from(id).ok().filter(|number| (*number as usize) < count),
            None => {
                let place = self.sorted.binary_search_by_key(&id, |(id, _)| *id).ok()?;
                Some(self.sorted[place].1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_need_not_be_dense() {
        let numbers = Numbers::new("page_id", vec![70, -3, 12]).expect("they are different");
        assert_eq!([70, -3, 12, 0].map(|id| numbers.get(id)), [Some(0), Some(1), Some(2), None]);
        let dense = Numbers::new("page_id", vec![0, 1]).expect("they are different");
        assert_eq!([0, 1, 2, -1].map(|id| dense.get(id)), [Some(0), Some(1), None, None]);
    }

    #[test]
    fn an_identifier_that_occurs_twice_is_named() {
        let error = Numbers::new("page_id", vec![5, 9, 5]).err().expect("5 occurs twice").to_string();
        assert!(error.contains("`page_id` 5") && error.contains("row 1 and row 3"), "{error}");
    }
}
