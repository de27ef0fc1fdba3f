//! Addresses and host names of sites.
//!
//! Either every site has its own address in 127/8 (on Linux all of it is this machine), and its host is that
//! address. Or all sites share 127.0.0.1 and are distinguished by the Host header: `site-0007.test`.
//!
//! # Promises
//! - A site's URL leads back to the site. Any other URL leads nowhere.

use std::net::Ipv4Addr;

/// How sites are addressed, and the port that all of them listen on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Hosts {
    /// Each site has its own address.
    Addresses {
        /// The port at each address.
        port: u16,
    },
    /// All sites share one address and have host names.
    Names {
        /// The port at 127.0.0.1.
        port: u16,
    },
}

/// Number of values used of the third and of the fourth number of an address.
const BLOCK: u32 = 250;

impl Hosts {
    /// The port of all sites.
    pub fn port(self) -> u16 {
        match self {
            Self::Addresses { port } | Self::Names { port } => port,
        }
    }

    /// The address a site listens on.
    pub fn address(self, site: u32) -> Ipv4Addr {
        match self {
            Self::Names { .. } => Ipv4Addr::LOCALHOST,
            Self::Addresses { .. } => {
                let block = site / BLOCK;
                Ipv4Addr::new(127, (1 + block / BLOCK) as u8, (block % BLOCK) as u8, (site % BLOCK + 1) as u8)
            }
        }
    }

    /// The host in a site's URLs, without the port.
    pub fn host(self, site: u32) -> String {
        match self {
            Self::Addresses { .. } => self.address(site).to_string(),
            Self::Names { .. } => format!("site-{site:04}.test"),
        }
    }

    /// Scheme and authority of a site's URLs.
    pub fn origin(self, site: u32) -> String {
        let host = self.host(site);
        match self.port() {
            80 => format!("http://{host}"),
            port => format!("http://{host}:{port}"),
        }
    }

    /// The site of an authority (`host` or `host:port`), if its number is below `sites`.
    pub fn site(self, authority: &str, sites: u32) -> Option<u32> {
        let (host, port) = match authority.split_once(':') {
            Some((host, port)) => (host, port.parse().ok()?),
            None => (authority, 80),
        };
        let site = match self {
            Self::Names { .. } => host.strip_prefix("site-")?.strip_suffix(".test")?.parse().ok()?,
            Self::Addresses { .. } => {
                let [_, second, third, fourth] = host.parse::<Ipv4Addr>().ok()?.octets().map(u32::from);
                let block = second.checked_sub(1)? * BLOCK + third;
                (block * BLOCK + fourth).checked_sub(1)?
            }
        };
        (site < sites && port == self.port() && self.host(site) == host).then_some(site)
    }

    /// The site of a URL, and its path and query with a leading slash.
    pub fn split(self, url: &str, sites: u32) -> Option<(u32, &str)> {
        let rest = url.strip_prefix("http://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let path = path.split('#').next().unwrap_or_default();
        match path {
            "" => Some((self.site(authority, sites)?, "/")),
            _ if path.starts_with('/') => Some((self.site(authority, sites)?, path)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sites_url_leads_back_to_it() {
        for hosts in [Hosts::Addresses { port: 8080 }, Hosts::Names { port: 80 }] {
            for site in [0, 7, 249, 250, 59_999] {
                let url = format!("{}/a/?b#c", hosts.origin(site));
                assert_eq!(hosts.split(&url, 60_000), Some((site, "/a/?b")), "{url}");
            }
        }
        assert_eq!(Hosts::Addresses { port: 1 }.origin(250), "http://127.1.1.1:1");
        assert_eq!(Hosts::Names { port: 80 }.origin(7), "http://site-0007.test");
    }

    #[test]
    fn what_is_no_url_of_a_site_leads_nowhere() {
        let hosts = Hosts::Addresses { port: 8080 };
        for url in [
            "",
            "http://127.1.0.0:8080/",
            "http://127.1.0.1/",
            "http://127.0.0.1:8080/",
            "https://127.1.0.1:8080/",
        ] {
            assert_eq!(hosts.split(url, 200), None, "{url}");
        }
        assert_eq!(hosts.split("http://127.1.0.201:8080/", 200), None);
        assert_eq!(Hosts::Names { port: 80 }.split("http://site-7.test/", 200), None);
    }
}
