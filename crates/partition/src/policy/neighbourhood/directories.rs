//! Neighbours by directory.
//!
//! **neighbours**, section 4.2: a page in the same directory is at distance 0. A page in another directory of
//! the site is at the number of steps through the tree between the two directories, positive in upper
//! directories and negative in lower ones.
//!
//! # Promises
//! - The distance is that of [`freshet_theory::neighbourhood`], except for the departures below.
//!
//! # Departures
//! - The paper's formula puts every page of the same level at 0, in whatever directory; its prose says that
//!   at granularity 0 the pages of the same directory are downloaded. The prose is followed: other
//!   directories of the level are out of reach.
//! - The paper prints the opposite sign.
//! - Two pages of different sites are never neighbours.

use freshet_theory::neighbourhood::granularity::Granularity;

use crate::policy::catalogue::{Catalogue, Directory, DirectoryId, PageId};

/// The pages and child directories of every directory.
#[derive(Debug, Default)]
pub(super) struct Directories {
    pages: Vec<Vec<PageId>>,
    children: Vec<Vec<DirectoryId>>,
}

impl Directories {
    /// The pages from `first` on are new.
    pub(super) fn discover(&mut self, catalogue: &Catalogue, first: PageId) {
        let known = self.children.len();
        let directories = catalogue.directories();
        self.pages.resize_with(directories.len(), Vec::new);
        self.children.resize_with(directories.len(), Vec::new);
        for (directory, Directory { parent, .. }) in directories.iter().enumerate().skip(known) {
            if let Some(parent) = parent {
                self.children[parent.index()].push(DirectoryId(directory as u32));
            }
        }
        for page in (first.0..catalogue.pages() as u32).map(PageId) {
            self.pages[catalogue.directory_of(page).index()].push(page);
        }
    }

    /// Appends the neighbours of a page to `neighbours`, without the page itself.
    pub(super) fn neighbours(
        &self,
        catalogue: &Catalogue,
        page: PageId,
        granularity: Granularity,
        neighbours: &mut Vec<PageId>,
    ) {
        let Granularity(limit) = granularity;
        let directories = catalogue.directories();
        let home = catalogue.directory_of(page);
        let home_depth = i64::from(directories[home.index()].depth);
        // A stack of directories to visit: the directory, its distance in steps, and the directory it was
        // entered from.
        let mut front = vec![(home, 0, home)];
        while let Some((directory, steps, from)) = front.pop() {
            let Directory { parent, depth, .. } = directories[directory.index()];
            let levels_up = home_depth - i64::from(depth);
            let is_reached =
                (directory == home || levels_up != 0) && granularity.reaches(steps * levels_up.signum());
            if is_reached {
                let others = self.pages[directory.index()].iter().filter(|other| **other != page);
                neighbours.extend(others);
            }
            if steps < limit.saturating_abs() {
                let next = parent.iter().chain(&self.children[directory.index()]);
                front.extend(next.filter(|next| **next != from).map(|next| (*next, steps + 1, directory)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use freshet_theory::neighbourhood::directory::{Convention, UrlParts, distance};

    use super::*;
    use crate::policy::catalogue::SiteId;

    const PATHS: [&str; 10] =
        ["a", "b", "x/c", "x/d", "y/e", "x/z/f", "x/z/g", "x/w/h", "x/z/v/i", "y/u/t/s/j"];

    fn catalogue() -> (Catalogue, Directories) {
        let mut catalogue = Catalogue::new();
        for path in PATHS {
            catalogue.add_page(SiteId(0), path);
        }
        catalogue.add_page(SiteId(1), "x/c");
        let mut directories = Directories::default();
        directories.discover(&catalogue, PageId(0));
        (catalogue, directories)
    }

    #[track_caller]
    fn check(path: &str, granularity: i64, expected: &[&str]) {
        let (catalogue, directories) = catalogue();
        let page = PageId(PATHS.iter().position(|other| *other == path).expect("a path") as u32);
        let mut found = Vec::new();
        directories.neighbours(&catalogue, page, Granularity(granularity), &mut found);
        let mut found: Vec<&str> = found.into_iter().map(|page| catalogue.path(page)).collect();
        found.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn upper_directories_are_reached_above_zero_and_lower_ones_below() {
        check("x/z/f", 0, &["x/z/g"]);
        check("x/z/f", 1, &["x/c", "x/d", "x/z/g"]);
        check("x/z/f", 2, &["a", "b", "x/c", "x/d", "x/z/g"]);
        check("x/z/f", 3, &["a", "b", "x/c", "x/d", "x/z/g", "y/e"]);
        check("x/c", -1, &["x/w/h", "x/z/f", "x/z/g"]);
        check("x/c", -2, &["x/w/h", "x/z/f", "x/z/g", "x/z/v/i"]);
    }

    #[test]
    fn the_neighbours_are_those_of_the_theory_without_the_rest_of_the_level() {
        let (catalogue, directories) = catalogue();
        let url = |page: usize| format!("http://h/{}", PATHS[page]);
        for (page, granularity) in (0..PATHS.len()).flat_map(|page| (-4..=4).map(move |d| (page, d))) {
            let mut found = Vec::new();
            directories.neighbours(&catalogue, PageId(page as u32), Granularity(granularity), &mut found);
            for other in (0..PATHS.len()).filter(|other| *other != page) {
                let (from, to) = (url(page), url(other));
                let parts = |url| UrlParts::of(url).expect("a scheme");
                let steps = distance(parts(&from), parts(&to), Convention::UpperPositive);
                let depth = |page| catalogue.directories()[catalogue.directory_of(page).index()].depth;
                let [here, there] = [PageId(page as u32), PageId(other as u32)];
                let is_elsewhere = depth(here) == depth(there)
                    && catalogue.directory_of(here) != catalogue.directory_of(there);
                let expected = Granularity(granularity).reaches(steps) && !is_elsewhere;
                assert_eq!(found.contains(&there), expected, "{from} {to} {granularity}");
            }
        }
    }
}
