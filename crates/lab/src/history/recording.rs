//! Builds a history and writes it to files, with every column of a data directory.
//!
//! A recording is filled site by site, whatever the source of the history, and written at once.
//! `docs/histories.md` explains the columns.
//!
//! # Promises
//! - What is written can be read by [`super::tables::Tables::read`].
//! - Pages are sorted by site and path, changes by site, time and page, links by source and target.
//!   Identifiers are dense.
//! - A directory that already contains a history is not changed.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use arrow_array::{
    ArrayRef, BooleanArray, Int8Array, Int16Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

/// Kind of an event of a page. The numbers are those of the tables.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EventKind {
    /// Its content changed.
    Modified = 1,
    /// It was deleted.
    Deleted = 2,
    /// It came back after a deletion.
    Recreated = 3,
    /// It was deleted, and the same content appeared elsewhere.
    MovedAway = 4,
}

/// An event of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Time, in seconds since 1970.
    pub time: i64,
    /// Kind.
    pub kind: EventKind,
    /// Whether it was part of a sweep over the site.
    pub mass: bool,
}

/// A page and all its events.
#[derive(Clone, Debug)]
pub struct RecordedPage {
    /// The path of its URL.
    pub path: String,
    /// When it first existed.
    pub first_seen: i64,
    /// Whether it existed when the observation began, so that its age is unknown.
    pub initial: bool,
    /// Size of its final source in bytes. `None` if it was deleted.
    pub size: Option<u64>,
    /// The page of the same site whose content it had when it first appeared, if that page disappeared at the
    /// same time.
    pub moved_from: Option<usize>,
    /// Its events, sorted by time.
    pub events: Vec<Event>,
}

impl RecordedPage {
    /// When it disappeared for good. `None` while it exists.
    fn last_seen(&self) -> Option<i64> {
        let last = self.events.iter().rev().find(|event| event.kind != EventKind::Modified)?;
        (last.kind != EventKind::Recreated).then_some(last.time)
    }
}

/// A site, its pages and their events.
#[derive(Clone, Debug)]
pub struct RecordedSite {
    /// Its name.
    pub name: String,
    /// Source of its history.
    pub family: String,
    /// When the observation began, in seconds since 1970.
    pub start: i64,
    /// When it ended.
    pub end: i64,
    /// Number of commits that touched pages. 0 if there are none.
    pub commits: u32,
    /// The commit that the history was read from. Empty if there is none.
    pub head: String,
    /// Its pages, in any order.
    pub pages: Vec<RecordedPage>,
    /// Links between its pages, as indices into `pages`.
    pub links: Vec<(usize, usize)>,
}

/// A history under construction.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Its sites.
    pub sites: Vec<RecordedSite>,
}

/// Size of a recording.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Size {
    /// Number of sites.
    pub sites: usize,
    /// Number of pages ever seen.
    pub pages: usize,
    /// Number of rows of changes.
    pub changes: usize,
    /// Number of links.
    pub links: usize,
}

/// The files of a data directory.
const FILES: [&str; 4] = ["sites.parquet", "pages.parquet", "changes.parquet", "links.parquet"];

impl Recording {
    /// Refuses a directory that already contains a history. Call it before long work.
    pub fn check_target(directory: &Path) -> Result<()> {
        let name = directory.display();
        ensure!(!directory.is_file(), "{name} is a file: give a directory to write the history to");
        for file in FILES {
            ensure!(
                !directory.join(file).exists(),
                "{name} already holds a history ({file}): give another directory, or remove it first"
            );
        }
        Ok(())
    }

    /// Sorts the pages of each site by path.
    pub(super) fn sort_pages(&mut self) {
        self.sites.iter_mut().for_each(sort_pages);
    }

    /// Writes the tables of a data directory. Creates the directory if it does not exist.
    pub fn write(mut self, directory: &Path) -> Result<Size> {
        Self::check_target(directory)?;
        let most = usize::try_from(i16::MAX).expect("it is positive");
        ensure!(self.sites.len() <= most, "there are {} sites; a history holds {most}", self.sites.len());
        ensure!(
            i32::try_from(self.page_count()).is_ok(),
            "there are {} pages; a history holds {}",
            self.page_count(),
            i32::MAX
        );
        self.sort_pages();
        fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
        let tables = [self.sites_table(), self.pages_table(), self.changes_table(), self.links_table()];
        let [_, _, changes, links] = tables.each_ref().map(RecordBatch::num_rows);
        for (file, table) in FILES.iter().zip(&tables) {
            let path = directory.join(file);
            write_table(&path, table).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(Size { sites: self.sites.len(), pages: self.page_count(), changes, links })
    }

    fn page_count(&self) -> usize {
        self.sites.iter().map(|site| site.pages.len()).sum()
    }

    /// Each site with the identifier of its first page.
    fn numbered(&self) -> impl Iterator<Item = (usize, &RecordedSite)> {
        self.sites.iter().scan(0, |next, site| {
            let first = *next;
            *next += site.pages.len();
            Some((first, site))
        })
    }

    fn sites_table(&self) -> RecordBatch {
        let sites = &self.sites;
        let count = |what: fn(&Event) -> bool| -> ArrayRef {
            let of_site = |site: &RecordedSite| {
                site.pages.iter().flat_map(|page| &page.events).filter(|event| what(event)).count() as i32
            };
            Arc::new(Int32Array::from_iter_values(sites.iter().map(of_site)))
        };
        let modified = |event: &&Event| event.kind == EventKind::Modified;
        let last_change = |site: &RecordedSite| {
            let changes = site.pages.iter().flat_map(|page| &page.events).filter(modified);
            changes.map(|event| event.time).max().unwrap_or(0)
        };
        let alive =
            |site: &RecordedSite| site.pages.iter().filter(|page| page.last_seen().is_none()).count() as i32;
        table([
            ("site_id", Arc::new(Int16Array::from_iter_values(0..sites.len() as i16))),
            ("name", texts(sites.iter().map(|site| site.name.as_str()))),
            ("family", texts(sites.iter().map(|site| site.family.as_str()))),
            ("start", Arc::new(Int64Array::from_iter_values(sites.iter().map(|site| site.start)))),
            ("end", Arc::new(Int64Array::from_iter_values(sites.iter().map(|site| site.end)))),
            (
                "pages",
                Arc::new(Int32Array::from_iter_values(sites.iter().map(|site| site.pages.len() as i32))),
            ),
            ("alive", Arc::new(Int32Array::from_iter_values(sites.iter().map(alive)))),
            ("changes", count(|event| event.kind == EventKind::Modified)),
            ("mass_changes", count(|event| event.kind == EventKind::Modified && event.mass)),
            ("commits", Arc::new(Int32Array::from_iter_values(sites.iter().map(|site| site.commits as i32)))),
            ("head", texts(sites.iter().map(|site| site.head.as_str()))),
            ("last_change", Arc::new(Int64Array::from_iter_values(sites.iter().map(last_change)))),
        ])
    }

    fn pages_table(&self) -> RecordBatch {
        let pages = || self.sites.iter().flat_map(|site| &site.pages);
        let site_ids = (0..).zip(&self.sites).flat_map(|(id, site)| site.pages.iter().map(move |_| id));
        let moved = self.numbered().flat_map(|(first, site)| {
            site.pages.iter().map(move |page| page.moved_from.map(|from| (first + from) as i32))
        });
        table([
            ("page_id", Arc::new(Int32Array::from_iter_values(0..self.page_count() as i32))),
            ("site_id", Arc::new(Int16Array::from_iter_values(site_ids))),
            ("path", texts(pages().map(|page| page.path.as_str()))),
            ("first_seen", Arc::new(Int64Array::from_iter_values(pages().map(|page| page.first_seen)))),
            ("last_seen", Arc::new(pages().map(RecordedPage::last_seen).collect::<Int64Array>())),
            (
                "size",
                Arc::new(
                    pages()
                        .map(|page| page.size.map(|size| size.min(i32::MAX as u64) as i32))
                        .collect::<Int32Array>(),
                ),
            ),
            ("initial", Arc::new(BooleanArray::from_iter(pages().map(|page| Some(page.initial))))),
            ("moved_from", Arc::new(moved.collect::<Int32Array>())),
        ])
    }

    fn changes_table(&self) -> RecordBatch {
        let mut rows: Vec<(i32, Event)> = Vec::new();
        for (first, site) in self.numbered() {
            let of_site = rows.len();
            for (page, recorded) in site.pages.iter().enumerate() {
                rows.extend(recorded.events.iter().map(|event| ((first + page) as i32, *event)));
            }
            rows[of_site..].sort_by_key(|(page, event)| (event.time, *page));
        }
        table([
            ("page_id", Arc::new(Int32Array::from_iter_values(rows.iter().map(|(page, _)| *page)))),
            ("time", Arc::new(Int64Array::from_iter_values(rows.iter().map(|(_, event)| event.time)))),
            ("kind", Arc::new(Int8Array::from_iter_values(rows.iter().map(|(_, event)| event.kind as i8)))),
            ("mass", Arc::new(BooleanArray::from_iter(rows.iter().map(|(_, event)| Some(event.mass))))),
        ])
    }

    fn links_table(&self) -> RecordBatch {
        let of_site = |(first, site): (usize, &RecordedSite)| {
            let links: Vec<_> =
                site.links.iter().map(|(from, to)| ((first + from) as i32, (first + to) as i32)).collect();
            links
        };
        let mut links: Vec<(i32, i32)> = self.numbered().flat_map(of_site).collect();
        links.sort_unstable();
        links.dedup();
        table([
            ("src", Arc::new(Int32Array::from_iter_values(links.iter().map(|(from, _)| *from)))),
            ("dst", Arc::new(Int32Array::from_iter_values(links.iter().map(|(_, to)| *to)))),
        ])
    }
}

/// Sorts the pages of a site by path, and updates all indices of pages.
fn sort_pages(site: &mut RecordedSite) {
    let mut order: Vec<usize> = (0..site.pages.len()).collect();
    order.sort_by(|a, b| site.pages[*a].path.cmp(&site.pages[*b].path));
    let mut place = vec![0; order.len()];
    for (new, old) in order.iter().enumerate() {
        place[*old] = new;
    }
    let mut pages: Vec<_> = std::mem::take(&mut site.pages).into_iter().zip(&place).collect();
    pages.sort_by_key(|(_, place)| **place);
    site.pages = pages.into_iter().map(|(page, _)| page).collect();
    for page in &mut site.pages {
        page.moved_from = page.moved_from.map(|from| place[from]);
    }
    for (from, to) in &mut site.links {
        (*from, *to) = (place[*from], place[*to]);
    }
}

fn texts<'a>(values: impl Iterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from(values.collect::<Vec<_>>()))
}

fn table<const N: usize>(columns: [(&str, ArrayRef); N]) -> RecordBatch {
    RecordBatch::try_from_iter(columns).expect("the columns of a table have one length")
}

fn write_table(path: &Path, table: &RecordBatch) -> Result<()> {
    let compression = Compression::ZSTD(ZstdLevel::try_new(9)?);
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut writer = ArrowWriter::try_new(File::create(path)?, table.schema(), Some(properties))?;
    writer.write(table)?;
    writer.close()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tables::{ChangeKind, Tables};
    use super::*;

    fn page(path: &str, events: Vec<Event>) -> RecordedPage {
        RecordedPage {
            path: path.to_owned(),
            first_seen: 10,
            initial: true,
            size: None,
            moved_from: None,
            events,
        }
    }

    fn site() -> RecordedSite {
        let event = |time, kind| Event { time, kind, mass: false };
        let pages = vec![
            page("/b", vec![event(30, EventKind::Modified), event(40, EventKind::MovedAway)]),
            page("/a", vec![event(20, EventKind::Modified), event(50, EventKind::Modified)]),
        ];
        RecordedSite {
            name: "s".to_owned(),
            family: "git".to_owned(),
            start: 10,
            end: 60,
            commits: 3,
            head: String::new(),
            pages,
            links: vec![(0, 1), (0, 1)],
        }
    }

    #[test]
    fn what_is_written_is_read_back_sorted() {
        let place = tempfile::tempdir().expect("a directory");
        let recording = Recording { sites: vec![site(), site()] };
        let size = recording.write(place.path()).expect("it is written");
        assert_eq!(size, Size { sites: 2, pages: 4, changes: 8, links: 2 });
        let tables = Tables::read(place.path()).expect("it is read");
        assert_eq!((&tables.paths[0], &tables.paths[1]), ("/a", "/b"));
        assert_eq!(tables.links, [(1, 0), (3, 2)]);
        let times: Vec<_> = tables.changes.iter().map(|change| (change.page, change.time)).collect();
        assert_eq!(times[..4], [(0, 20), (1, 30), (1, 40), (0, 50)]);
        assert_eq!(tables.changes[2].kind, ChangeKind::Deleted);
    }

    #[test]
    fn a_history_is_not_overwritten() {
        let place = tempfile::tempdir().expect("a directory");
        Recording { sites: vec![site()] }.write(place.path()).expect("it is written");
        let error =
            Recording { sites: vec![site()] }.write(place.path()).expect_err("one is there").to_string();
        assert!(error.contains("already holds a history"), "{error}");
    }

    #[test]
    fn a_page_that_came_back_was_not_last_seen() {
        let event = |time, kind| Event { time, kind, mass: false };
        let gone = page("/a", vec![event(20, EventKind::Deleted)]);
        assert_eq!(gone.last_seen(), Some(20));
        let back = page("/a", vec![event(20, EventKind::Deleted), event(90, EventKind::Recreated)]);
        assert_eq!(back.last_seen(), None);
        assert_eq!(page("/a", Vec::new()).last_seen(), None);
    }
}
