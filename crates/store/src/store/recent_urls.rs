//! A cache of the numbers of recently requested URLs, so that links shared by most pages are not looked
//! up repeatedly.
//!
//! # Promises
//! - Holds at most as many entries as its capacity, plus uncommitted ones, which are never evicted.

use std::collections::HashMap;

use freshet_protocol::ids::UrlId;

use crate::all_urls::UrlKey;

/// A cache with two generations: when the young one is full it replaces the old one, whose entries not used
/// since are evicted. Uncommitted numbers are never evicted.
#[derive(Debug)]
pub(crate) struct RecentUrls {
    capacity: usize,
    young: HashMap<UrlKey, UrlId>,
    old: HashMap<UrlKey, UrlId>,
    new: HashMap<UrlKey, UrlId>,
}

impl RecentUrls {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, young: HashMap::new(), old: HashMap::new(), new: HashMap::new() }
    }

    pub(crate) fn get(&mut self, key: &UrlKey) -> Option<UrlId> {
        if let Some(id) = self.young.get(key).or_else(|| self.new.get(key)) {
            return Some(*id);
        }
        let id = *self.old.get(key)?;
        self.put(*key, id);
        Some(id)
    }

    pub(crate) fn put(&mut self, key: UrlKey, id: UrlId) {
        if self.young.len() >= self.capacity / 2 {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, id);
    }

    pub(crate) fn put_new(&mut self, key: UrlKey, id: UrlId) {
        self.new.insert(key, id);
    }

    pub(crate) fn forget_new(&mut self) {
        self.new.clear();
    }

    pub(crate) fn committed(&mut self) {
        for (key, id) in std::mem::take(&mut self.new) {
            self.put(key, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_stays_and_the_rest_is_forgotten() {
        let mut recent = RecentUrls::new(4);
        for number in 0..100_u8 {
            recent.put([number; 16], UrlId(u32::from(number)));
            assert_eq!(recent.get(&[0; 16]), Some(UrlId(0)), "{number}");
        }
        assert_eq!(recent.get(&[50; 16]), None);
        assert!(recent.young.len() + recent.old.len() <= 4);
    }

    #[test]
    fn what_no_commit_knows_of_is_not_forgotten() {
        let mut recent = RecentUrls::new(2);
        (0..100_u8).for_each(|number| recent.put_new([number; 16], UrlId(u32::from(number))));
        assert_eq!(recent.get(&[0; 16]), Some(UrlId(0)));
        recent.committed();
        recent.put_new([200; 16], UrlId(200));
        recent.forget_new();
        assert_eq!(recent.get(&[200; 16]), None);
        assert!(recent.young.len() + recent.old.len() <= 2);
    }
}
