//! The settings of a store: sizes and limits.

use crate::collection::retention::Keep;

/// The settings of a store.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Size of a segment of the Collection in bytes at which it is closed.
    pub segment_bytes: u64,
    /// Compression level of the Collection, from 0 to 12.
    pub gzip_level: u32,
    /// Size of the read cache of the key-value store in bytes.
    pub cache_bytes: u64,
    /// Number of URLs whose numbers are cached in memory, at some 32 bytes each.
    pub recent_urls: usize,
    /// Number of visits in the key-value store above which [`Store::tidy`](super::Store::tidy) moves them to
    /// a file before their day is over.
    pub waiting_visits: u64,
    /// Number of URLs not yet in a URL file above which [`Store::tidy`](super::Store::tidy) writes them to
    /// one.
    pub waiting_urls: u64,
    /// Size of a log file in bytes at which the next one is begun.
    pub log_bytes: u64,
    /// Days, in the crawl's own time, for which the log is kept after everything in it is stored elsewhere.
    pub log_days: u32,
    /// The name of the software that writes the Collection, as stated in its files.
    pub software: String,
    /// Limits on the versions kept.
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
