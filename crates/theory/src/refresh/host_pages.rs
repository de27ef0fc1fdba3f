//! The pages of each host, host by host.
//!
//! Ten million pages in the order of their hosts are ten million writes to far places of memory. So they are sorted twice: first into
//! buckets of some hundred hosts, each of which grows at its end, then within each bucket, which the cache holds.
//!
//! # Promises
//! - The pages of a host are all its wanted pages, in rising order.

use rayon::prelude::*;

/// Buckets of hosts. More would not all fit into the cache with the places where they grow.
const BUCKETS: usize = 256;

/// Pages that are put into buckets at once.
const CHUNK: usize = 1 << 18;

/// The wanted pages.
pub(super) struct HostPages {
    buckets: Vec<Bucket>,
    hosts_per_bucket: usize,
}

/// The pages of some neighbouring hosts.
struct Bucket {
    pages: Vec<u32>,
    /// Where the pages of each host begin, and at the end where the last ones end.
    starts: Vec<u32>,
}

impl HostPages {
    /// Of pages with these hosts, numbered from 0 to `hosts`; `is_wanted` is asked for each page and its host.
    pub(super) fn of(host_of: &[u32], hosts: usize, is_wanted: impl Fn(usize, usize) -> bool + Sync) -> Self {
        let hosts_per_bucket = hosts.div_ceil(BUCKETS).max(1);
        let buckets = hosts.div_ceil(hosts_per_bucket);
        let into_buckets = |(chunk, host_of): (usize, &[u32])| {
            let mut parts = vec![Vec::new(); buckets];
            for (page, host) in ((chunk * CHUNK) as u32..).zip(host_of) {
                if is_wanted(page as usize, *host as usize) {
                    parts[*host as usize / hosts_per_bucket].push((*host, page));
                }
            }
            parts
        };
        let parts: Vec<_> = host_of.par_chunks(CHUNK).enumerate().map(into_buckets).collect();
        let bucket = |bucket: usize| {
            let first = bucket * hosts_per_bucket;
            let pages = || parts.iter().flat_map(|part| &part[bucket]).copied();
            Bucket::of(pages, first, hosts_per_bucket)
        };
        let buckets = (0..buckets).into_par_iter().map(bucket).collect();
        Self { buckets, hosts_per_bucket }
    }

    /// The pages of one host.
    pub(super) fn of_host(&self, host: usize) -> &[u32] {
        let Bucket { pages, starts } = &self.buckets[host / self.hosts_per_bucket];
        let place = host % self.hosts_per_bucket;
        &pages[starts[place] as usize..starts[place + 1] as usize]
    }
}

impl Bucket {
    /// Of pairs of host and page; the hosts are numbered from `first`.
    fn of<I: Iterator<Item = (u32, u32)>>(pages: impl Fn() -> I, first: usize, hosts: usize) -> Self {
        let mut starts = vec![0; hosts + 1];
        for (host, _) in pages() {
            starts[host as usize - first + 1] += 1;
        }
        for host in 0..hosts {
            starts[host + 1] += starts[host];
        }
        let mut next = starts.clone();
        let mut ordered = vec![0; starts[hosts] as usize];
        for (host, page) in pages() {
            let next = &mut next[host as usize - first];
            ordered[*next as usize] = page;
            *next += 1;
        }
        Self { pages: ordered, starts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(host_of: &[u32], hosts: usize) {
        let is_wanted = |page: usize, host: usize| host % 3 != 1 && page % 5 != 4;
        let pages = HostPages::of(host_of, hosts, is_wanted);
        for host in 0..hosts {
            let is_of_host =
                |page: &u32| host_of[*page as usize] as usize == host && is_wanted(*page as usize, host);
            let expected: Vec<u32> = (0..host_of.len() as u32).filter(is_of_host).collect();
            assert_eq!(pages.of_host(host), expected, "host {host} of {hosts}");
        }
    }

    #[test]
    fn a_host_has_its_pages_in_rising_order() {
        check(&[], 0);
        check(&[0], 1);
        check(&[2, 0, 2, 3, 0], 4);
    }

    #[test]
    fn pages_of_many_hosts_and_chunks_find_their_host() {
        let host_of: Vec<u32> =
            (0..2 * CHUNK as u32 + 7).map(|page| page.wrapping_mul(2_654_435_761) >> 21).collect();
        let pages = HostPages::of(&host_of, 2048, |_, _| true);
        let all: usize = (0..2048).map(|host| pages.of_host(host).len()).sum();
        assert_eq!(all, host_of.len());
        for host in 0..2048 {
            assert!(pages.of_host(host).iter().all(|page| host_of[*page as usize] as usize == host));
            assert!(pages.of_host(host).is_sorted());
        }
    }
}
