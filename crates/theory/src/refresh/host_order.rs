//! Pages brought into the order of their hosts, so that the pages of a host lie side by side.
//!
//! A plan with limits asks the pages of each host again and again. When these are scattered through the columns every question waits
//! for memory, so the columns are sorted by host first, once, and the answers are brought back at the end. Pages that are in this
//! order already, as those of a crawl usually are, stay where they are.
//!
//! # Promises
//! - Pages of one host keep their order.
//! - Beyond the sorted columns it holds four bytes a page while they are sorted, and none while the plan is made.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

/// The order of pages by host.
pub(super) struct HostOrder<'a> {
    host_of: &'a [u32],
    part_size: usize,
    /// Where the pages of each host go that are in one part of the pages.
    places: Vec<Vec<u32>>,
}

impl<'a> HostOrder<'a> {
    /// For pages of `hosts` hosts.
    pub(super) fn new(host_of: &'a [u32], hosts: usize) -> Self {
        // Each part counts for itself; all counts together never take more memory than one column of the pages.
        let parts = (host_of.len() / (2 * hosts.max(1))).clamp(1, PARTS_MAX);
        let part_size = host_of.len().div_ceil(parts).max(1);
        let mut places: Vec<_> = host_of.par_chunks(part_size).map(|part| counts(part, hosts)).collect();
        let mut next = 0;
        for host in 0..hosts {
            for part in &mut places {
                next += std::mem::replace(&mut part[host], next);
            }
        }
        Self { host_of, part_size, places }
    }

    /// The numbers of the pages, host by host.
    pub(super) fn pages(&self) -> Vec<u32> {
        let pages: Vec<_> = self.host_of.par_iter().map(|_| AtomicU32::new(0)).collect();
        let parts = self.host_of.par_chunks(self.part_size).zip(&self.places).enumerate();
        parts.for_each(|(part, (host_of, places))| {
            let mut places = places.clone();
            for (page, host) in (part * self.part_size..).zip(host_of) {
                pages[take_place(&mut places, *host)].store(page as u32, Ordering::Relaxed);
            }
        });
        pages.into_iter().map(AtomicU32::into_inner).collect()
    }

    /// A column that is in the order of hosts, in the order of pages.
    pub(super) fn undo<T: Copy + Send + Sync>(&self, by_host: &[T]) -> Vec<T> {
        let mut column = by_host.to_vec();
        let parts = column.par_chunks_mut(self.part_size).zip(self.host_of.par_chunks(self.part_size));
        parts.zip(&self.places).for_each(|((column, host_of), places)| {
            let mut places = places.clone();
            for (slot, host) in column.iter_mut().zip(host_of) {
                *slot = by_host[take_place(&mut places, *host)];
            }
        });
        column
    }
}

/// Parts of the pages that are counted side by side.
const PARTS_MAX: usize = 4;

/// Pages of each host.
pub(super) fn counts(host_of: &[u32], hosts: usize) -> Vec<u32> {
    let mut counts = vec![0; hosts];
    host_of.iter().for_each(|host| counts[*host as usize] += 1);
    counts
}

fn take_place(places: &mut [u32], host: u32) -> usize {
    let place = &mut places[host as usize];
    *place += 1;
    *place as usize - 1
}

/// A column in the order of these pages.
pub(super) fn sorted<T: Copy + Send + Sync>(column: &[T], pages: &[u32]) -> Vec<T> {
    pages.par_iter().map(|page| column[*page as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_sorted_by_host_and_brought_back() {
        let host_of: Vec<u32> = (0..1000u32).map(|page| page.wrapping_mul(2_654_435_761) % 7).collect();
        let order = HostOrder::new(&host_of, 9);
        let pages = order.pages();
        let mut expected: Vec<u32> = (0..1000).collect();
        expected.sort_by_key(|page| host_of[*page as usize]);
        assert_eq!(pages, expected);
        assert_eq!(order.undo(&sorted(&host_of, &pages)), host_of);
    }
}
