//! The four tables of a data directory: sites, pages, changes and links.
//!
//! - `sites.parquet`: `site_id`, `name`, `family` (`git` or `ota`), `start` and `end` of the observation.
//! - `pages.parquet`: `page_id`, `site_id`, `path`, `first_seen`.
//! - `changes.parquet`, sorted by site, time and page: `page_id`, `time`, `kind` (1 modified, 2 deleted, 3 re-created,
//!   4 moved away), `mass` (the change was one of a sweep over the site).
//! - `links.parquet`: `src`, `dst`. It may be missing.
//!
//! All times are seconds since 1970. Other columns may be there and are not read.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Result, bail, ensure};

use super::columns;

/// Where a history comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Family {
    /// The repository of a web site: a content file is a page, a commit that alters it a change.
    Git,
    /// Open Terms Archive: terms and policies, fetched several times a day.
    Ota,
}

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
    /// Where its history comes from.
    pub family: Family,
    /// When its observation began.
    pub start: i64,
    /// When its observation ended.
    pub end: i64,
}

/// A page.
#[derive(Clone, Debug)]
pub struct PageRow {
    /// Index of its site in [`Tables::sites`].
    pub site: usize,
    /// Its path.
    pub path: String,
    /// When it was first there.
    pub first_seen: i64,
}

/// A change of a page.
#[derive(Clone, Copy, Debug)]
pub struct ChangeRow {
    /// Index of the page in [`Tables::pages`].
    pub page: usize,
    /// When.
    pub time: i64,
    /// What happened.
    pub kind: ChangeKind,
    /// Whether it was part of a sweep over the site.
    pub mass: bool,
}

/// The tables in memory.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// All sites.
    pub sites: Vec<SiteRow>,
    /// All pages.
    pub pages: Vec<PageRow>,
    /// All changes, in the order of time within a site.
    pub changes: Vec<ChangeRow>,
    /// Links, from index to index in [`Tables::pages`].
    pub links: Vec<(usize, usize)>,
}

impl Tables {
    /// Reads a data directory. A missing file or column, a page of an unknown site, a change of an unknown page, or changes
    /// out of order are errors that name them.
    pub fn read(directory: &Path) -> Result<Self> {
        let mut tables = Self::default();
        let site_index = tables.read_sites(&directory.join("sites.parquet"))?;
        let page_index = tables.read_pages(&directory.join("pages.parquet"), &site_index)?;
        tables.read_changes(&directory.join("changes.parquet"), &page_index)?;
        let links = directory.join("links.parquet");
        if links.exists() {
            tables.read_links(&links, &page_index)?;
        }
        Ok(tables)
    }

    fn read_sites(&mut self, path: &Path) -> Result<HashMap<i64, usize>> {
        let mut index = HashMap::new();
        columns::read(path, |rows| {
            let ids = rows.integers("site_id")?;
            let (names, families) = (rows.texts("name")?, rows.texts("family")?);
            let (starts, ends) = (rows.integers("start")?, rows.integers("end")?);
            for row in 0..rows.len() {
                let family = match families[row].as_str() {
                    "git" => Family::Git,
                    "ota" => Family::Ota,
                    other => bail!("site {:?}: family {other:?} is neither `git` nor `ota`", names[row]),
                };
                ensure!(starts[row] <= ends[row], "site {:?} ends before it starts", names[row]);
                index.insert(ids[row], self.sites.len());
                let name = names[row].clone();
                self.sites.push(SiteRow { name, family, start: starts[row], end: ends[row] });
            }
            Ok(())
        })?;
        Ok(index)
    }

    fn read_pages(&mut self, path: &Path, site_index: &HashMap<i64, usize>) -> Result<HashMap<i64, usize>> {
        let mut index = HashMap::new();
        columns::read(path, |rows| {
            let (ids, sites) = (rows.integers("page_id")?, rows.integers("site_id")?);
            let (paths, first_seen) = (rows.texts("path")?, rows.integers("first_seen")?);
            for (row, path) in paths.into_iter().enumerate() {
                let Some(site) = site_index.get(&sites[row]) else {
                    bail!("page {} is of the unknown site {}", ids[row], sites[row]);
                };
                index.insert(ids[row], self.pages.len());
                self.pages.push(PageRow { site: *site, path, first_seen: first_seen[row] });
            }
            Ok(())
        })?;
        Ok(index)
    }

    fn read_changes(&mut self, path: &Path, page_index: &HashMap<i64, usize>) -> Result<()> {
        let mut latest: Vec<i64> = vec![i64::MIN; self.sites.len()];
        columns::read(path, |rows| {
            let (ids, times) = (rows.integers("page_id")?, rows.integers("time")?);
            let (kinds, masses) = (rows.integers("kind")?, rows.flags("mass")?);
            for row in 0..rows.len() {
                let (id, time) = (ids[row], times[row]);
                let Some(page) = page_index.get(&id).copied() else {
                    bail!("a change at {time} is of the unknown page {id}");
                };
                let kind = match kinds[row] {
                    1 => ChangeKind::Modified,
                    2 | 4 => ChangeKind::Deleted,
                    3 => ChangeKind::Recreated,
                    other => bail!("the change of page {id} at {time} has the unknown kind {other}"),
                };
                let site = self.pages[page].site;
                ensure!(
                    latest[site] <= time,
                    "the changes of site {:?} are not sorted by time: {time} comes after {}",
                    self.sites[site].name,
                    latest[site]
                );
                latest[site] = time;
                self.changes.push(ChangeRow { page, time, kind, mass: masses[row] });
            }
            Ok(())
        })
    }

    fn read_links(&mut self, path: &Path, page_index: &HashMap<i64, usize>) -> Result<()> {
        columns::read(path, |rows| {
            let (sources, targets) = (rows.integers("src")?, rows.integers("dst")?);
            for (source, target) in sources.iter().zip(&targets) {
                let (Some(from), Some(to)) = (page_index.get(source), page_index.get(target)) else {
                    bail!("the link from page {source} to page {target} names an unknown page");
                };
                self.links.push((*from, *to));
            }
            Ok(())
        })
    }
}
