//! Politeness settings: delays, rates and limits.

use std::time::Duration;

use freshet_protocol::time::SECONDS_PER_DAY;

/// Politeness settings. Times are by the crawl's own clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolitenessSettings {
    /// Delay between the end of a visit to a host and the beginning of the next. Zero also disables the
    /// adaptation to slow hosts.
    pub delay: Duration,
    /// The same for an address, which may serve many hosts.
    pub address_delay: Duration,
    /// Maximum number of concurrent visits to a host.
    pub visits_per_host: u32,
    /// Maximum number of concurrent visits to an address.
    pub visits_per_address: u32,
    /// The pause of a host is at least its response time multiplied by this.
    pub slowness_factor: f64,
    /// Maximum pause because of slow responses.
    pub slowness_delay_max: Duration,
    /// Maximum crawl-delay that is obeyed.
    /// [`Politeness::crawl_delay_is_cut`](super::turns::Politeness::crawl_delay_is_cut) tells where a longer
    /// one was asked for.
    pub crawl_delay_max: Duration,
    /// Maximum `Retry-After` that is obeyed.
    pub retry_after_max: Duration,
    /// The first pause after 429 or 503 without `Retry-After`; doubled each time in a row.
    pub overload_pause: Duration,
    /// The first pause after a host could not be reached; doubled each time in a row.
    pub failure_pause: Duration,
    /// Maximum of the doubled pauses.
    pub pause_max: Duration,
    /// Maximum number of visits to one host per second.
    pub host_rate: Option<f64>,
    /// Maximum number of visits per second in all.
    pub global_rate: Option<f64>,
    /// Seed for the jitter of pauses.
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
            retry_after_max: Duration::from_secs(SECONDS_PER_DAY as u64),
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
    /// Minimum milliseconds between the beginnings of two visits to a host, by the rate.
    pub(super) fn host_interval(&self) -> i64 {
        match self.host_rate {
            // A rate of zero or less makes no sense; the slowest rate is used instead.
            Some(rate) => (1000.0 / rate.max(1e-6)).ceil() as i64,
            None => 0,
        }
    }
}

/// A duration in milliseconds, at most `i64::MAX`.
pub(super) fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}
