//! The politeness state of a host that is kept across restarts.

use freshet_protocol::time::Timestamp;

/// The politeness state of a host, in plain numbers for the store.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SiteManners {
    /// Earliest time of the next visit.
    pub not_before: Timestamp,
    /// Number of consecutive responses that asked for fewer requests.
    pub overloads: u16,
    /// Number of consecutive times that it could not be reached.
    pub failures: u16,
    /// Smoothed response time, in milliseconds.
    pub response_millis: u32,
    /// Its crawl-delay in milliseconds, not cut at the limit.
    pub crawl_delay_millis: Option<u32>,
}
