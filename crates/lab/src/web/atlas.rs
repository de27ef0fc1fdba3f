//! Atlas: all sites, directories and pages of the living web, and their addresses.
//!
//! A site consists of a root, directories, and articles in them. A directory is shown by listings of at most
//! [`LISTED`] articles each (`/river/`, `/river/?page=2`), and may contain further directories. Pages are
//! numbered across the whole web: root, then for each directory its listings and its articles. Nothing is
//! stored per page: its directory and number determine everything.
//!
//! Sizes of sites and of directories follow power laws.
//!
//! # Promises
//! - Every page number has one place, and every address leads back to its page.
//! - Every directory is reachable from the root of its site over other directories that robots.txt allows.
//!   Only a disallowed directory itself is not allowed.

use std::collections::HashSet;
use std::ops::Range;

use super::chance::{Chance, Subject};
use super::character::Character;
use super::hosts::Hosts;
use super::settings::WebSettings;
use super::words;

/// Maximum number of articles on one listing.
pub const LISTED: u32 = 40;

/// Exponent of the sizes of sites: the k-th largest has k^-0.8 of the pages of the largest.
const SITE_EXPONENT: f64 = 0.8;
/// Number of pages of the smallest directory and of the largest.
const DIRECTORY_PAGES: (f64, f64) = (8.0, 400.0);
/// Exponent of the sizes of directories.
const DIRECTORY_EXPONENT: f64 = 0.7;
/// Maximum number of directories directly under the root.
const TOP_DIRECTORIES: usize = 12;
/// Maximum depth of a directory, counted from those under the root.
const DEPTH_MAX: u8 = 4;
/// Fraction of sites with a disallowed directory, among those with at least three directories.
const DISALLOWING: f64 = 0.3;

/// A page of the web, by its number.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PageNumber(pub u32);

/// Position of a page within its site.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Place {
    /// The root of the site.
    Root,
    /// The `number`-th listing of a directory, from zero.
    Listing {
        /// Index of the directory, across the whole web.
        directory: u32,
        /// Number of the listing.
        number: u32,
    },
    /// The `number`-th article of a directory, from zero.
    Article {
        /// Index of the directory, across the whole web.
        directory: u32,
        /// Number of the article.
        number: u32,
    },
}

/// Format of an article.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// An HTML page.
    Html,
    /// Plain text.
    Text,
    /// A binary document: the header of a PDF and bytes.
    Pdf,
}

/// A site.
#[derive(Clone, Debug)]
pub struct Site {
    /// Its properties.
    pub character: Character,
    /// Its name, as its pages show it.
    pub name: String,
    /// Its pages. The first is the root.
    pub pages: Range<u32>,
    /// Its directories, by index across the whole web.
    pub directories: Range<u32>,
    /// The same in the order of their paths.
    by_path: Vec<u32>,
}

/// A directory.
#[derive(Clone, Debug)]
pub struct Directory {
    /// Its path, with leading and trailing slash.
    pub path: String,
    /// Its parent directory, unless it is in the root.
    pub parent: Option<u32>,
    /// Its subdirectories.
    pub children: Vec<u32>,
    /// Number of its first listing. Its articles follow the listings.
    pub first_page: u32,
    /// Number of its listings.
    pub listings: u32,
    /// Number of its articles.
    pub articles: u32,
    /// Whether robots.txt allows it.
    pub allowed: bool,
    depth: u8,
}

/// All sites with their directories.
#[derive(Clone, Debug)]
pub struct Atlas {
    seed: u64,
    hosts: Hosts,
    /// The sites, largest first.
    pub sites: Vec<Site>,
    /// The directories of all sites.
    pub directories: Vec<Directory>,
}

impl Atlas {
    /// Creates the sites that the settings ask for, at these hosts.
    pub(super) fn new(settings: &WebSettings, hosts: Hosts) -> Self {
        let mut atlas = Self { seed: settings.seed, hosts, sites: Vec::new(), directories: Vec::new() };
        let mut first_page = 0;
        for (number, pages) in site_sizes(settings).into_iter().enumerate() {
            atlas.add_site(settings, number as u32, first_page..first_page + pages);
            first_page += pages;
        }
        atlas
    }

    /// Number of pages of all sites, including those not born yet.
    pub fn pages(&self) -> u32 {
        self.sites.last().map_or(0, |site| site.pages.end)
    }

    /// Number of sites.
    pub fn site_count(&self) -> u32 {
        self.sites.len() as u32
    }

    /// How sites are addressed.
    pub fn hosts(&self) -> Hosts {
        self.hosts
    }

    /// The site of a page.
    pub fn site_of(&self, page: PageNumber) -> u32 {
        self.sites.partition_point(|site| site.pages.end <= page.0) as u32
    }

    /// The position of a page in its site.
    pub fn place(&self, page: PageNumber) -> Place {
        let site = &self.sites[self.site_of(page) as usize];
        if page.0 == site.pages.start {
            return Place::Root;
        }
        let directory = self.directories.partition_point(|directory| directory.first_page <= page.0) - 1;
        let number = page.0 - self.directories[directory].first_page;
        let listings = self.directories[directory].listings;
        let directory = directory as u32;
        match number.checked_sub(listings) {
            None => Place::Listing { directory, number },
            Some(number) => Place::Article { directory, number },
        }
    }

    /// The `number`-th article of a directory.
    pub fn article(&self, directory: u32, number: u32) -> PageNumber {
        let directory = &self.directories[directory as usize];
        PageNumber(directory.first_page + directory.listings + number)
    }

    /// The articles on a listing.
    pub fn listed(&self, directory: u32, listing: u32) -> impl Iterator<Item = PageNumber> + use<> {
        let articles = self.directories[directory as usize].articles;
        let first = self.article(directory, 0).0;
        ((listing * LISTED).min(articles)..((listing + 1) * LISTED).min(articles))
            .map(move |number| PageNumber(first + number))
    }

    /// Directories directly under the root of a site.
    pub fn top_directories(&self, site: u32) -> impl Iterator<Item = &Directory> {
        let range = self.sites[site as usize].directories.clone();
        self.directories[range.start as usize..range.end as usize]
            .iter()
            .filter(|directory| directory.parent.is_none())
    }

    /// Format of an article.
    pub fn form(&self, page: PageNumber) -> Form {
        match Chance::of(self.seed, Subject::Form, page.0.into(), 0).unit() {
            part if part < 0.03 => Form::Text,
            part if part < 0.04 => Form::Pdf,
            _ => Form::Html,
        }
    }

    /// Path and query of a page. For an article that moves: before (`false`) or after (`true`) it moved.
    pub fn path(&self, page: PageNumber, moved: bool) -> String {
        match self.place(page) {
            Place::Root => "/".to_owned(),
            Place::Listing { directory, number: 0 } => self.directories[directory as usize].path.clone(),
            Place::Listing { directory, number } => {
                format!("{}?page={}", self.directories[directory as usize].path, number + 1)
            }
            Place::Article { directory, number } => {
                let mut chance = Chance::of(self.seed, Subject::Slug, page.0.into(), 0);
                let end = match (self.form(page), moved) {
                    (Form::Html, false) => ".html",
                    (Form::Html, true) => "/",
                    (Form::Text, _) => ".txt",
                    (Form::Pdf, _) => ".pdf",
                };
                let words = (words::thing(&mut chance), words::thing(&mut chance));
                format!("{}{}-{}-{number}{end}", self.directories[directory as usize].path, words.0, words.1)
            }
        }
    }

    /// The page at a path of a site, and whether the path is the address that it moves to.
    pub fn find(&self, site: u32, path_and_query: &str) -> Option<(PageNumber, bool)> {
        let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
        if path == "/" {
            return Some((PageNumber(self.sites.get(site as usize)?.pages.start), false));
        }
        if let Some(directory) = self.directory(site, path) {
            let number = listing_number(query)?;
            let directory = &self.directories[directory as usize];
            return (number < directory.listings)
                .then_some((PageNumber(directory.first_page + number), false));
        }
        self.find_article(site, path)
    }

    /// The directory at a path of a site. The path has a leading and a trailing slash.
    pub fn directory(&self, site: u32, path: &str) -> Option<u32> {
        let site = self.sites.get(site as usize)?;
        let found = site
            .by_path
            .binary_search_by(|directory| self.directories[*directory as usize].path.as_str().cmp(path));
        found.ok().map(|position| site.by_path[position])
    }

    fn find_article(&self, site: u32, path: &str) -> Option<(PageNumber, bool)> {
        let trimmed = path.strip_suffix('/').unwrap_or(path);
        let name_start = trimmed.rfind('/')? + 1;
        let directory = self.directory(site, &trimmed[..name_start])?;
        let digits = trimmed[name_start..].rsplit('-').next()?.split('.').next()?;
        let number: u32 = digits.parse().ok()?;
        if number >= self.directories[directory as usize].articles {
            return None;
        }
        let page = self.article(directory, number);
        [false, true].into_iter().find(|moved| self.path(page, *moved) == path).map(|moved| (page, moved))
    }

    fn add_site(&mut self, settings: &WebSettings, number: u32, pages: Range<u32>) {
        let mut chance = Chance::of(self.seed, Subject::Directories, number.into(), 0);
        let mut name = String::new();
        words::push_title(&mut name, 2, &mut chance);
        let first_directory = self.directories.len() as u32;
        let mut taken = HashSet::from(["/go/".to_owned(), "/calendar/".to_owned()]);
        let mut next_page = pages.start + 1;
        while next_page < pages.end {
            let size = directory_size(&mut chance).min(pages.end - next_page);
            let directory = self.new_directory(first_directory, next_page..next_page + size, &mut chance);
            self.add_directory(directory, &mut taken);
            next_page += size;
        }
        let directories = first_directory..self.directories.len() as u32;
        self.disallow_one(directories.clone(), &mut chance);
        let mut by_path: Vec<u32> = directories.clone().collect();
        by_path.sort_unstable_by(|a, b| {
            self.directories[*a as usize].path.cmp(&self.directories[*b as usize].path)
        });
        let character = Character::of(settings, number);
        self.sites.push(Site { character, name, pages, directories, by_path });
    }

    /// A directory of these pages: about one listing for each [`LISTED`] articles, and the articles.
    fn new_directory(&self, first: u32, pages: Range<u32>, chance: &mut Chance) -> Directory {
        let size = pages.end - pages.start;
        let listings = size.div_ceil(LISTED + 1);
        let parent = self.choose_parent(first, chance);
        let above = parent.map(|parent| &self.directories[parent as usize]);
        let inside = above.map_or("/", |above| above.path.as_str());
        Directory {
            path: format!("{inside}{}/", words::thing(chance)),
            parent,
            children: Vec::new(),
            first_page: pages.start,
            listings,
            articles: size - listings,
            allowed: true,
            depth: above.map_or(0, |above| above.depth + 1),
        }
    }

    /// The first few directories are in the root. Each later one is in an earlier one, with early ones more
    /// likely.
    fn choose_parent(&self, first: u32, chance: &mut Chance) -> Option<u32> {
        let siblings = &self.directories[first as usize..];
        let top =
            siblings.iter().filter(|directory| directory.parent.is_none()).take(TOP_DIRECTORIES).count();
        if top < 4 || (top < TOP_DIRECTORIES && chance.happens(0.3)) {
            return None;
        }
        let unit = chance.unit();
        let mut chosen = first + (unit * unit * siblings.len() as f64) as u32;
        while self.directories[chosen as usize].depth >= DEPTH_MAX {
            chosen = self.directories[chosen as usize].parent?;
        }
        Some(chosen)
    }

    fn add_directory(&mut self, mut directory: Directory, taken: &mut HashSet<String>) {
        let plain = directory.path.trim_end_matches('/').to_owned();
        for number in 2.. {
            if taken.insert(directory.path.clone()) {
                break;
            }
            directory.path = format!("{plain}-{number}/");
        }
        let number = self.directories.len() as u32;
        if let Some(parent) = directory.parent {
            self.directories[parent as usize].children.push(number);
        }
        self.directories.push(directory);
    }

    /// Disallows one directory without subdirectories, in some of the sites that have several.
    fn disallow_one(&mut self, directories: Range<u32>, chance: &mut Chance) {
        if directories.len() < 3 || !chance.happens(DISALLOWING) {
            return;
        }
        let range = directories.start as usize..directories.end as usize;
        if let Some(leaf) = self.directories[range].iter_mut().rev().find(|leaf| leaf.children.is_empty()) {
            leaf.allowed = false;
        }
    }
}

/// Number of the listing that a query requests, from zero.
fn listing_number(query: &str) -> Option<u32> {
    match query.strip_prefix("page=") {
        Some(number) => number.parse::<u32>().ok().filter(|number| *number >= 2).map(|number| number - 1),
        None => Some(0),
    }
}

/// Number of pages of each site by a power law, including those born later. Every site has at least one.
fn site_sizes(settings: &WebSettings) -> Vec<u32> {
    let total = (f64::from(settings.pages) * (1.0 + settings.turnover.births)).round();
    let spare = total - f64::from(settings.sites);
    let weight = |number: u32| f64::from(number + 1).powf(-SITE_EXPONENT);
    let sum: f64 = (0..settings.sites).map(weight).sum();
    let mut cumulative = 0.0;
    let mut given = 0.0;
    (0..settings.sites)
        .map(|number| {
            cumulative += weight(number) / sum;
            let until = (cumulative * spare).round().min(spare);
            let size = 1.0 + until - given;
            given = until;
            size as u32
        })
        .collect()
}

/// Number of pages of a directory, by a power law.
fn directory_size(chance: &mut Chance) -> u32 {
    let (smallest, largest) = DIRECTORY_PAGES;
    (smallest * (1.0 - chance.unit()).powf(-DIRECTORY_EXPONENT)).min(largest) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atlas(sites: u32, pages: u32) -> Atlas {
        Atlas::new(&WebSettings { sites, pages, ..WebSettings::default() }, Hosts::Addresses { port: 8080 })
    }

    #[test]
    fn every_address_leads_back_to_its_page() {
        let atlas = atlas(10, 2_000);
        assert_eq!(atlas.pages(), 2_500);
        let mut seen = HashSet::new();
        for number in 0..atlas.pages() {
            let page = PageNumber(number);
            let site = atlas.site_of(page);
            for moved in [false, true] {
                let path = atlas.path(page, moved);
                let (found, _) = atlas.find(site, &path).expect("it is found");
                assert_eq!(found, page, "{path}");
            }
            assert!(seen.insert((site, atlas.path(page, false))));
        }
    }

    #[test]
    fn what_is_no_address_leads_nowhere() {
        let atlas = atlas(3, 500);
        for path in ["", "x", "/nowhere/", "/nowhere/a-b-1.html", "/a-b-1.html", "//", "/?"] {
            let found = atlas.find(0, path);
            assert!(found.is_none() || path == "/?", "{path}");
        }
        let listing = atlas.directories[0].path.clone();
        for query in ["?page=1", "?page=0", "?page=9999", "?page=x"] {
            assert_eq!(atlas.find(0, &format!("{listing}{query}")), None, "{query}");
        }
        assert_eq!(atlas.find(99, "/"), None);
    }

    #[test]
    fn every_allowed_directory_is_reached_over_allowed_ones() {
        let atlas = atlas(20, 20_000);
        assert!(atlas.directories.iter().any(|directory| !directory.allowed));
        for directory in &atlas.directories {
            let mut above = directory;
            while let Some(parent) = above.parent {
                above = &atlas.directories[parent as usize];
                assert!(above.allowed);
            }
            assert!(directory.articles <= directory.listings * LISTED);
        }
    }

    #[test]
    fn sizes_follow_a_power_law_and_add_up() {
        let tiny = atlas(5, 5);
        assert_eq!(tiny.pages(), 6);
        let atlas = atlas(200, 50_000);
        let sizes: Vec<u32> = atlas.sites.iter().map(|site| site.pages.end - site.pages.start).collect();
        assert_eq!(sizes.iter().sum::<u32>(), 62_500);
        assert!(sizes[0] > 30 * sizes[199], "{} {}", sizes[0], sizes[199]);
        assert!(atlas.directories.iter().any(|directory| directory.articles > 200));
    }
}
