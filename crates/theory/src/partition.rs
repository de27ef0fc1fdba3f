//! Partitioning functions: which crawl process owns a URL.
//!
//! Implements the thesis, section 3.3, the three partitioning functions of static assignment:
//!
//! > URL-hash based, site-hash based, hierarchical
//!
//! Use site hash: pages of a site stay together, so only links between sites can lead to another process. URL
//! hash spreads a site over all processes. Hierarchical gives whole domains to a process ("the pages in the
//! .com domain, the .net domain and all other pages").
//!
//! # Promises
//! - The owner is below the number of processes and depends only on the URL. It is the same in every process,
//!   run and release, because the hash (FNV-1a of 64 bits, with a final mix) is part of the contract.
//! - By site hash, all pages of a host have one owner, whatever their scheme, port and path.
//! - With a power of two of processes, doubling it splits each part in two.
//!
//! # Departures
//! None.

/// How the Web is divided among processes.
#[derive(Clone, Debug, PartialEq)]
pub enum Partition {
    /// By the hash of the whole URL.
    UrlHash {
        /// Number of processes; at least one.
        processes: u32,
    },
    /// By the hash of the host name.
    SiteHash {
        /// Number of processes; at least one.
        processes: u32,
    },
    /// By the suffix of the host name: one process for each list of suffixes, such as `.com`,
    /// and one more for the rest.
    Hierarchical {
        /// The suffixes that each process owns, in lower case. The first match decides.
        endings: Vec<Vec<String>>,
    },
}

impl Partition {
    /// Number of processes that the Web is divided among.
    pub fn processes(&self) -> u32 {
        match self {
            Self::UrlHash { processes } | Self::SiteHash { processes } => *processes,
            Self::Hierarchical { endings } => endings.len() as u32 + 1,
        }
    }

    /// The process that owns `url`. Panics if there is no process.
    pub fn owner(&self, url: &str) -> u32 {
        assert!(self.processes() > 0);
        match self {
            Self::UrlHash { processes } => below(hash(url.bytes()), *processes),
            Self::SiteHash { processes } => {
                below(hash(host(url).bytes().map(|byte| byte.to_ascii_lowercase())), *processes)
            }
            Self::Hierarchical { endings } => owner_of_ending(&host(url).to_ascii_lowercase(), endings),
        }
    }
}

/// The host name of a URL: the part between `scheme://`, or the user name if there is one,
/// and the port or the path.
pub fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host_and_port = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host_and_port.rsplit_once(':') {
        // The colons of an IPv6 address are inside its brackets.
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => host_and_port,
    }
}

fn owner_of_ending(host: &str, endings: &[Vec<String>]) -> u32 {
    let owns = |endings: &Vec<String>| endings.iter().any(|ending| host.ends_with(ending.as_str()));
    endings.iter().position(owns).unwrap_or(endings.len()) as u32
}

/// FNV-1a of 64 bits, then the mix of SplitMix64, without which the low bits of short names are uneven.
fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    let fnv = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mixed = (fnv ^ (fnv >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn below(hash: u64, processes: u32) -> u32 {
    (hash % u64::from(processes)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_host(url: &str, expected: &str) {
        assert_eq!(host(url), expected);
    }

    #[test]
    fn the_host_is_found_in_any_url() {
        check_host("http://cnn.com/index.html", "cnn.com");
        check_host("https://me:secret@cnn.com:8080?q=http://other/", "cnn.com");
        check_host("http://[::1]:80/", "[::1]");
        check_host("http://[::1]/", "[::1]");
        check_host("cnn.com/a", "cnn.com");
        check_host("", "");
    }

    #[test]
    fn the_owner_is_the_same_in_every_release() {
        let owners = |partition: Partition| {
            ["http://cnn.com/a", "http://cnn.com/b", "http://stanford.edu/"].map(|url| partition.owner(url))
        };
        assert_eq!(owners(Partition::SiteHash { processes: 256 }), [143, 143, 245]);
        assert_eq!(owners(Partition::UrlHash { processes: 256 }), [203, 13, 227]);
    }

    #[test]
    fn a_site_stays_together_by_site_hash() {
        let partition = Partition::SiteHash { processes: 64 };
        let owner = partition.owner("http://cnn.com/");
        for url in ["https://CNN.com/a/b", "http://cnn.com:80/x?y", "cnn.com"] {
            assert_eq!(partition.owner(url), owner);
        }
    }

    #[test]
    fn doubling_the_processes_splits_each_part_in_two() {
        for site in 0..1_000 {
            let url = format!("http://site{site}.com/");
            let owner = |processes| Partition::SiteHash { processes }.owner(&url);
            assert_eq!(owner(128) % 64, owner(64));
        }
    }

    #[test]
    fn sites_spread_evenly() {
        let mut counts = [0; 8];
        for site in 0..8_000 {
            counts[Partition::SiteHash { processes: 8 }.owner(&format!("http://www{site}.org/")) as usize] +=
                1;
        }
        assert!(counts.iter().all(|count| (900..1_100).contains(count)), "{counts:?}");
    }

    #[test]
    fn domains_are_owned_whole_and_the_last_process_has_the_rest() {
        let endings = vec![vec![".com".to_owned()], vec![".net".to_owned(), ".org".to_owned()]];
        let partition = Partition::Hierarchical { endings };
        let owners =
            ["http://A.COM/", "http://a.org/x.com", "http://stanford.edu/"].map(|url| partition.owner(url));
        assert_eq!(owners, [0, 1, 2]);
        assert_eq!(partition.processes(), 3);
    }
}
