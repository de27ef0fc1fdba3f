//! Groups: which directories have a clock of their own.
//!
//! A directory of a few pages gives no useful sample; it costs memory and over-fits. So a directory with
//! fewer pages than a minimum belongs to the group of its parent directory. The root of a site is always a
//! group.

use crate::policy::catalogue::{Catalogue, PageId};

/// Stands for "no group yet".
const NONE: u32 = u32::MAX;

/// The groups, and the group of each directory.
#[derive(Debug, Default)]
pub(super) struct Groups {
    of_directory: Vec<u32>,
    site_of: Vec<u32>,
}

impl Groups {
    /// Assigns groups to the new directories, counting the pages from `first` on.
    pub(super) fn grow(&mut self, catalogue: &Catalogue, first: PageId, pages_min: usize) {
        let directories = catalogue.directories();
        let known = self.of_directory.len();
        // Known directories keep their groups and are not counted again.
        let mut pages = vec![0usize; directories.len() - known];
        for page in first.index()..catalogue.pages() {
            let directory = catalogue.directory_of(PageId(page as u32)).index();
            directory.checked_sub(known).into_iter().for_each(|place| pages[place] += 1);
        }
        // Children come after their parents, so in reverse order every count is complete when it is used.
        for directory in (known..directories.len()).rev() {
            let count = pages[directory - known];
            if let Some(parent) = directories[directory].parent.filter(|_| count < pages_min) {
                pages[directory - known] = 0;
                parent.index().checked_sub(known).into_iter().for_each(|place| pages[place] += count);
            }
        }
        self.of_directory.resize(directories.len(), NONE);
        for (directory, facts) in directories.iter().enumerate().skip(known) {
            self.of_directory[directory] = match facts.parent {
                Some(parent) if pages[directory - known] == 0 => self.of_directory[parent.index()],
                _ => {
                    self.site_of.push(facts.site.0);
                    self.site_of.len() as u32 - 1
                }
            };
        }
    }

    /// The group of a page.
    pub(super) fn of_page(&self, catalogue: &Catalogue, page: PageId) -> u32 {
        self.of_directory[catalogue.directory_of(page).index()]
    }

    /// The site of each group.
    pub(super) fn site_of(&self) -> &[u32] {
        &self.site_of
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::catalogue::SiteId;

    #[test]
    fn a_small_directory_joins_the_one_above() {
        let mut catalogue = Catalogue::new();
        for page in 0..10 {
            catalogue.add_page(SiteId(0), &format!("big/{page}"));
        }
        let small = catalogue.add_page(SiteId(0), "big/small/page");
        let top = catalogue.add_page(SiteId(0), "tiny/page");
        let root = catalogue.add_page(SiteId(0), "page");
        let mut groups = Groups::default();
        groups.grow(&catalogue, PageId(0), 8);
        let of = |page| groups.of_page(&catalogue, page);
        assert_eq!(of(small), of(PageId(0)));
        assert_eq!(of(top), of(root));
        assert_ne!(of(top), of(small));
        assert_eq!(groups.site_of(), [0, 0]);
    }

    #[test]
    fn directories_found_later_join_what_is_there_or_found_a_group() {
        let mut catalogue = Catalogue::new();
        let old = catalogue.add_page(SiteId(0), "a/page");
        let mut groups = Groups::default();
        groups.grow(&catalogue, PageId(0), 1);
        let late = catalogue.add_page(SiteId(0), "a/b/page");
        let elsewhere = catalogue.add_page(SiteId(1), "page");
        groups.grow(&catalogue, late, 2);
        assert_eq!(groups.of_page(&catalogue, late), groups.of_page(&catalogue, old));
        assert_ne!(groups.of_page(&catalogue, elsewhere), groups.of_page(&catalogue, old));
        assert_eq!(groups.site_of().last(), Some(&1));
    }
}
