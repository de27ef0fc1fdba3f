//! An entry of a sitemap or a feed: a page, and when it says it changed.
//!
//! Both are *evidence* and no more: sites list pages that do not exist and dates that never were.

use freshet_protocol::time::Timestamp;

use super::address::PageUrl;

/// One entry of a sitemap or a feed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Listed {
    /// The page.
    pub url: PageUrl,
    /// When it last changed (or was published), if the entry has a valid date.
    pub modified: Option<Timestamp>,
}
