//! The catalogue: everything known of pages without visiting them (site, directory, importance, links).
//!
//! Pages are numbered densely in the order of discovery, and so are sites and directories. A policy keeps its
//! own columns, indexed by these numbers. A directory is the part of a path before its last slash; the
//! directories of a site form a tree.
//!
//! # Promises
//! - The parent of a directory has a smaller number than the directory.
//! - A page never changes its site or directory.

use std::collections::HashMap;
use std::ops::Range;

/// A page, numbered in the order of discovery.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct PageId(pub u32);

/// A site: scheme and authority.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct SiteId(pub u32);

/// A directory of a site.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct DirectoryId(pub u32);

impl PageId {
    /// The index into a column.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl SiteId {
    /// The index into a column.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl DirectoryId {
    /// The index into a column.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A directory: its site, parent and depth.
#[derive(Clone, Copy, Debug)]
pub struct Directory {
    /// The site it belongs to.
    pub site: SiteId,
    /// The parent directory; none for the root of a site.
    pub parent: Option<DirectoryId>,
    /// Slashes between it and the root: 0 for the root.
    pub depth: u32,
}

/// All discovered pages, column by column.
#[derive(Debug, Default)]
pub struct Catalogue {
    directory_of: Vec<DirectoryId>,
    importance: Vec<f32>,
    /// Expected cost of a visit. Pages beyond the end cost 1.
    cost: Vec<f32>,
    /// Number of visits that each site has room for now. Sites beyond the end have no limit.
    room: Vec<u32>,
    directories: Vec<Directory>,
    sites: u32,
    directory_by_name: HashMap<(SiteId, Box<str>), DirectoryId>,
    paths: Paths,
    links: Links,
}

impl Catalogue {
    /// An empty catalogue.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a page of `site` at `path`, with the importance 1. Panics when there are 2^32 pages.
    pub fn add_page(&mut self, site: SiteId, path: &str) -> PageId {
        let directory = self.directory_named(site, directory_of_path(path));
        let page = self.add_page_in(directory);
        self.paths.add(page, path);
        page
    }

    /// Adds a page without a path of its own to a directory.
    pub fn add_page_in(&mut self, directory: DirectoryId) -> PageId {
        let page = PageId(u32::try_from(self.directory_of.len()).expect("fewer than 2^32 pages"));
        self.directory_of.push(directory);
        self.importance.push(1.0);
        page
    }

    /// The directory with this name. If it is new, it is created with all its parents. The name of the root
    /// is empty.
    pub fn directory_named(&mut self, site: SiteId, name: &str) -> DirectoryId {
        if let Some(known) = self.directory_by_name.get(&(site, name.into())) {
            return *known;
        }
        self.sites = self.sites.max(site.0 + 1);
        let parent = (!name.is_empty()).then(|| self.directory_named(site, directory_of_path(name)));
        let depth = parent.map_or(0, |parent| self.directories[parent.index()].depth + 1);
        let id = DirectoryId(u32::try_from(self.directories.len()).expect("fewer than 2^32 directories"));
        self.directories.push(Directory { site, parent, depth });
        self.directory_by_name.insert((site, name.into()), id);
        id
    }

    /// Sets the importance of a page. Panics unless it is finite and not negative.
    pub fn set_importance(&mut self, page: PageId, importance: f32) {
        assert!(importance.is_finite());
        assert!(0.0 <= importance);
        self.importance[page.index()] = importance;
    }

    /// Sets the expected cost of a visit to a page, relative to other pages. Panics unless it is finite and
    /// above zero.
    pub fn set_cost(&mut self, page: PageId, cost: f32) {
        assert!(cost.is_finite());
        assert!(0.0 < cost);
        if self.cost.len() <= page.index() {
            self.cost.resize(page.index() + 1, 1.0);
        }
        self.cost[page.index()] = cost;
    }

    /// Sets how many visits a site has room for at a time, until the next call: 0 while it must be left
    /// alone.
    pub fn set_room(&mut self, site: SiteId, visits: u32) {
        if self.room.len() <= site.index() {
            self.room.resize(site.index() + 1, u32::MAX);
        }
        self.room[site.index()] = visits;
    }

    /// Removes the limits of all sites.
    pub fn clear_rooms(&mut self) {
        self.room.clear();
    }

    /// Sets the links: each pair is a page and the page it links to. Links of unknown pages may be given.
    pub fn set_links(&mut self, links: &[(PageId, PageId)]) {
        self.links = Links::new(links);
    }

    /// Number of pages.
    pub fn pages(&self) -> usize {
        self.directory_of.len()
    }

    /// Number of sites.
    pub fn sites(&self) -> usize {
        self.sites as usize
    }

    /// All directories, parents before children.
    pub fn directories(&self) -> &[Directory] {
        &self.directories
    }

    /// The directory of a page.
    pub fn directory_of(&self, page: PageId) -> DirectoryId {
        self.directory_of[page.index()]
    }

    /// The site of a page.
    pub fn site_of(&self, page: PageId) -> SiteId {
        self.directories[self.directory_of(page).index()].site
    }

    /// The importance of a page; 1 by default.
    pub fn importance(&self, page: PageId) -> f32 {
        self.importance[page.index()]
    }

    /// The expected cost of a visit to a page; 1 by default.
    pub fn cost(&self, page: PageId) -> f32 {
        self.cost.get(page.index()).copied().unwrap_or(1.0)
    }

    /// How many visits a site has room for now; no limit by default.
    pub fn room(&self, site: SiteId) -> u32 {
        self.room.get(site.index()).copied().unwrap_or(u32::MAX)
    }

    /// Whether no site has a limit.
    pub fn is_roomy(&self) -> bool {
        self.room.is_empty()
    }

    /// The path of a page, empty if it has none.
    pub fn path(&self, page: PageId) -> &str {
        self.paths.get(page)
    }

    /// The pages that `page` links to.
    pub fn links_from(&self, page: PageId) -> &[PageId] {
        self.links.from(page)
    }

    /// The pages that link to `page`.
    pub fn links_to(&self, page: PageId) -> &[PageId] {
        self.links.to(page)
    }
}

/// The part before the last slash: `a/b` of `a/b/c`, empty for `c` and `/c`.
fn directory_of_path(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// Paths, concatenated in one string.
#[derive(Debug, Default)]
struct Paths {
    text: String,
    span_of: HashMap<PageId, Range<usize>>,
}

impl Paths {
    fn add(&mut self, page: PageId, path: &str) {
        let start = self.text.len();
        self.text.push_str(path);
        self.span_of.insert(page, start..self.text.len());
    }

    fn get(&self, page: PageId) -> &str {
        self.span_of.get(&page).map_or("", |span| &self.text[span.clone()])
    }
}

/// Links in both directions, as adjacency lists.
#[derive(Debug, Default)]
struct Links {
    forward: Adjacency,
    backward: Adjacency,
}

#[derive(Debug, Default)]
struct Adjacency {
    start: Vec<u32>,
    targets: Vec<PageId>,
}

impl Links {
    fn new(links: &[(PageId, PageId)]) -> Self {
        let backward: Vec<_> = links.iter().map(|(from, to)| (*to, *from)).collect();
        Self { forward: Adjacency::new(links.to_vec()), backward: Adjacency::new(backward) }
    }

    fn from(&self, page: PageId) -> &[PageId] {
        self.forward.of(page)
    }

    fn to(&self, page: PageId) -> &[PageId] {
        self.backward.of(page)
    }
}

impl Adjacency {
    fn new(mut links: Vec<(PageId, PageId)>) -> Self {
        links.sort_unstable();
        links.dedup();
        let pages = links.last().map_or(0, |(from, _)| from.index() + 1);
        let mut start = vec![0u32; pages + 1];
        for (from, _) in &links {
            start[from.index() + 1] += 1;
        }
        for page in 0..pages {
            start[page + 1] += start[page];
        }
        Self { start, targets: links.into_iter().map(|(_, to)| to).collect() }
    }

    fn of(&self, page: PageId) -> &[PageId] {
        match self.start.get(page.index()..=page.index() + 1) {
            Some([start, end]) => &self.targets[*start as usize..*end as usize],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_form_a_tree_with_parents_first() {
        let mut catalogue = Catalogue::new();
        let deep = catalogue.add_page(SiteId(0), "docs/guide/start");
        let root = catalogue.add_page(SiteId(0), "about");
        let other = catalogue.add_page(SiteId(1), "docs/guide/start");
        let directory = catalogue.directories()[catalogue.directory_of(deep).index()];
        assert_eq!(directory.depth, 2);
        assert_eq!(catalogue.directories()[catalogue.directory_of(root).index()].depth, 0);
        assert_ne!(catalogue.directory_of(deep), catalogue.directory_of(other));
        assert_eq!(catalogue.sites(), 2);
        for (id, directory) in catalogue.directories().iter().enumerate() {
            assert!(directory.parent.is_none_or(|parent| parent.index() < id));
        }
    }

    #[test]
    fn links_are_found_from_both_ends() {
        let mut catalogue = Catalogue::new();
        let pages: Vec<_> = (0..4).map(|page| catalogue.add_page(SiteId(0), &format!("{page}"))).collect();
        catalogue.set_links(&[
            (pages[2], pages[0]),
            (pages[0], pages[1]),
            (pages[2], pages[1]),
            (pages[2], pages[1]),
        ]);
        assert_eq!(catalogue.links_from(pages[2]), [pages[0], pages[1]]);
        assert_eq!(catalogue.links_to(pages[1]), [pages[0], pages[2]]);
        assert!(catalogue.links_from(pages[3]).is_empty());
        assert!(catalogue.links_to(pages[3]).is_empty());
    }
}
