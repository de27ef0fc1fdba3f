//! Sorts pages by host, so that the pages of a host are adjacent.
//!
//! A plan with limits evaluates the pages of each host again and again. When these are scattered through the
//! columns, every access waits for memory. So the columns are sorted by host once, and the results are
//! brought back into the original order at the end. Pages that are in this order already, as those of a crawl
//! usually are, stay where they are.
//!
//! # Promises
//! - Pages of one host keep their order.
//! - Beyond the sorted columns it holds four bytes per page while they are sorted, and
//!   none while the plan is made.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

/// The order of pages by host.
pub(super) struct HostOrder<'a> {
    host_of: &'a [u32],
    part_size: usize,
    /// For each part of the pages, where the pages of each host go.
    places: Vec<Vec<u32>>,
}

impl<'a> HostOrder<'a> {
    /// Prepares the order for pages of `hosts` hosts.
    pub(super) fn new(host_of: &'a [u32], hosts: usize) -> Self {
        // Each part counts for itself. All counts together never take more memory than one column of the
        // pages.
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

    /// Brings a column from the order of hosts back into the order of pages.
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

/// Number of parts of the pages that are counted in parallel.
const PARTS_MAX: usize = 4;

/// Number of pages of each host.
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
