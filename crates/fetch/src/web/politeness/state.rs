//! What is kept of a site across restarts.

use freshet_protocol::time::Timestamp;

/// What politeness knows of a host, in plain numbers for the store.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SiteManners {
    /// No visit before this.
    pub not_before: Timestamp,
    /// How often in a row it asked for less.
    pub overloads: u16,
    /// How often in a row it could not be reached.
    pub failures: u16,
    /// Milliseconds that its answers take, smoothed.
    pub response_millis: u32,
    /// Milliseconds of its crawl-delay, uncut.
    pub crawl_delay_millis: Option<u32>,
}
