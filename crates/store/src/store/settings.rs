//! How a store is kept: sizes, limits, and what is noted of them.

use crate::collection::retention::Keep;

/// How a store is kept.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bytes after which a segment of the Collection is closed.
    pub segment_bytes: u64,
    /// Effort of the Collection's compression, from 0 to 12.
    pub gzip_level: u32,
    /// Bytes of memory for what was read last of the key-value store.
    pub cache_bytes: u64,
    /// URLs whose numbers are remembered in memory, at some 32 bytes each.
    pub recent_urls: usize,
    /// Visits waiting in the key-value store that make [`Store::tidy`] move them into a file before their
    /// day is over.
    pub waiting_visits: u64,
    /// URLs waiting in the key-value store that make [`Store::tidy`] write them into a file.
    pub waiting_urls: u64,
    /// Bytes of a file of the log after which another is begun.
    pub log_bytes: u64,
    /// Days, in the crawl's own time, for which the log is kept when all that it says is elsewhere.
    pub log_days: u32,
    /// What wrote the Collection, as its files state it.
    pub software: String,
    /// How much of the past is kept.
    pub keep: Keep,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            segment_bytes: 1_000_000_000,
            gzip_level: 1,
            cache_bytes: 64 << 20,
            recent_urls: 1 << 18,
            waiting_visits: 100_000,
            waiting_urls: 100_000,
            log_bytes: 32 << 20,
            log_days: 7,
            software: concat!("freshet/", env!("CARGO_PKG_VERSION")).to_owned(),
            keep: Keep::default(),
        }
    }
}
