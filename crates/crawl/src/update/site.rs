//! A site: its rules, its overrides, its queue of orders, and the conversion of its politeness state for the
//! stores.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;

use freshet_fetch::web::politeness::SiteManners;
use freshet_fetch::web::robots::RobotsPolicy;
use freshet_protocol::time::Timestamp;
use freshet_store::sites::PolitenessState;

use super::overrides::SiteOverrides;
use crate::visit::{Order, Reason};

/// Maximum number of orders in the queue of a site that needs no delay.
const QUEUE_MAX: usize = 64;
/// Maximum number of orders in the queue of a site with a delay. More would only be outdated when they are
/// carried out.
pub(super) const QUEUE_SLOW: usize = 4;

/// A site.
#[derive(Debug)]
pub(super) struct Site {
    /// Scheme, host and port.
    pub(super) name: Box<str>,
    pub(super) host: Arc<str>,
    pub(super) address: Address,
    pub(super) queue: VecDeque<Order>,
    pub(super) rules: Option<Arc<RobotsPolicy>>,
    /// Until when the rules are valid.
    pub(super) rules_until: Timestamp,
    /// Whether the rules are being requested.
    pub(super) rules_asked: bool,
    pub(super) overrides: SiteOverrides,
    /// Whether there is a delay after a visit.
    pub(super) has_pauses: bool,
}

/// The state of resolving the address of a site.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Address {
    Unknown,
    Asked,
    /// None if it cannot be resolved: then the visit will fail.
    Known(Option<IpAddr>),
}

impl Site {
    pub(super) fn new(name: &str, overrides: SiteOverrides, has_pauses: bool) -> Self {
        let host = host_of(name);
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
        Self {
            name: name.into(),
            host: host.into(),
            address: literal.map_or(Address::Unknown, |address| Address::Known(Some(address))),
            queue: VecDeque::new(),
            rules: None,
            rules_until: Timestamp::default(),
            rules_asked: false,
            overrides,
            has_pauses,
        }
    }

    /// Whether it has an order that can be carried out.
    pub(super) fn has_work(&self) -> bool {
        !self.overrides.paused
            && !self.queue.is_empty()
            && !self.rules_asked
            && matches!(self.address, Address::Known(_))
    }

    /// Whether nothing can be done until its user or its server changes something.
    pub(super) fn is_blocked(&self) -> bool {
        let cannot_ask = self.rules.is_none() && !self.rules_asked;
        (self.overrides.paused || cannot_ask) && self.rules_until > Timestamp::default()
    }

    /// Number of orders that it can still take.
    pub(super) fn room(&mut self, now: Timestamp) -> usize {
        let most = if self.has_pauses { QUEUE_SLOW } else { QUEUE_MAX };
        most.saturating_sub(self.queue.len()).min(self.overrides.room(most, now))
    }

    /// Adds an order to the queue. A second look goes first: the sooner it comes the more it shows.
    pub(super) fn put(&mut self, order: Order) {
        match order {
            Order::Page { reason: Reason::Look, .. } => self.queue.push_front(order),
            order => self.queue.push_back(order),
        }
        self.overrides.spend();
    }
}

/// The host of `scheme://host[:port]`.
fn host_of(site: &str) -> &str {
    let authority = site.split_once("://").map_or(site, |(_, authority)| authority);
    match authority.rfind(']') {
        Some(bracket) => &authority[..=bracket],
        None => authority.split(':').next().unwrap_or(authority),
    }
}

/// Converts the politeness state of a host for the stores, which keep it with its sites.
pub(super) fn kept(manners: SiteManners) -> PolitenessState {
    PolitenessState {
        next_visit: Some(manners.not_before),
        delay_millis: manners.crawl_delay_millis.map_or(0, u64::from),
        setbacks: manners.overloads.max(manners.failures),
        closed_until: None,
        answer_millis: manners.response_millis,
    }
}

/// Converts the stored politeness state of one of a host's sites back.
pub(super) fn manners(state: &PolitenessState) -> SiteManners {
    SiteManners {
        not_before: state.next_visit.unwrap_or_default(),
        overloads: state.setbacks,
        failures: state.setbacks,
        response_millis: state.answer_millis,
        crawl_delay_millis: Some(u32::try_from(state.delay_millis).unwrap_or(u32::MAX))
            .filter(|delay| *delay > 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_a_site_is_without_its_port() {
        for (site, host) in [
            ("http://a.example", "a.example"),
            ("https://a.example:8443", "a.example"),
            ("http://[::1]:80", "[::1]"),
            ("http://127.0.0.1:80", "127.0.0.1"),
        ] {
            assert_eq!(host_of(site), host);
        }
        assert_eq!(
            Site::new("http://[::1]:80", SiteOverrides::default(), true).address,
            Address::Known("::1".parse().ok())
        );
        assert_eq!(Site::new("http://a.example", SiteOverrides::default(), true).address, Address::Unknown);
    }

    #[test]
    fn what_is_kept_of_a_host_comes_back() {
        let known = SiteManners {
            not_before: Timestamp::from_millis(5000),
            overloads: 3,
            failures: 3,
            response_millis: 70,
            crawl_delay_millis: Some(20_000),
        };
        assert_eq!(manners(&kept(known)), known);
    }
}
