//! How polite we are.

use std::time::Duration;

/// How polite we are. Times are of the crawl's own clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolitenessSettings {
    /// Between the end of a visit to a host and the beginning of the next. Zero also turns the adaptation to slow hosts off.
    pub delay: Duration,
    /// The same for an address, which may serve many hosts.
    pub address_delay: Duration,
    /// Visits to a host at once.
    pub visits_per_host: u32,
    /// Visits to an address at once.
    pub visits_per_address: u32,
    /// A host is left alone for so many times what its answers took, if that is more than the delay.
    pub slowness_factor: f64,
    /// But not longer than this.
    pub slowness_delay_max: Duration,
    /// A crawl-delay is kept up to this;
    /// [`Politeness::crawl_delay_is_cut`](super::turns::Politeness::crawl_delay_is_cut) tells where it was longer.
    pub crawl_delay_max: Duration,
    /// A `Retry-After` is obeyed up to this.
    pub retry_after_max: Duration,
    /// The first pause after 429 or 503 without `Retry-After`; doubled each time in a row.
    pub overload_pause: Duration,
    /// The first pause after a host could not be reached; doubled each time in a row.
    pub failure_pause: Duration,
    /// No doubled pause is longer than this.
    pub pause_max: Duration,
    /// Visits to one host per second at most.
    pub host_rate: Option<f64>,
    /// Visits in all per second at most.
    pub global_rate: Option<f64>,
    /// From which the jitter of pauses is drawn.
    pub seed: u64,
}

impl Default for PolitenessSettings {
    fn default() -> Self {
        Self {
            delay: Duration::from_secs(1),
            address_delay: Duration::from_secs(1),
            visits_per_host: 1,
            visits_per_address: 1,
            slowness_factor: 2.0,
            slowness_delay_max: Duration::from_secs(30),
            crawl_delay_max: Duration::from_secs(300),
            retry_after_max: Duration::from_secs(86_400),
            overload_pause: Duration::from_secs(30),
            failure_pause: Duration::from_secs(10),
            pause_max: Duration::from_secs(6 * 3600),
            host_rate: None,
            global_rate: None,
            seed: 0,
        }
    }
}

impl PolitenessSettings {
    /// Milliseconds that must lie between the beginnings of two visits to a host by the rate.
    pub(super) fn host_interval(&self) -> i64 {
        match self.host_rate {
            // A rate of zero or less is no rate that could be meant: the slowest instead.
            Some(rate) => (1000.0 / rate.max(1e-6)).ceil() as i64,
            None => 0,
        }
    }
}

/// A span in milliseconds, or as many as there are.
pub(super) fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}
