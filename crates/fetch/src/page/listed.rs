//! A page that a sitemap or a feed names, with what it says of the page's age.
//!
//! Both are *evidence* and no more: sites list pages that do not exist and dates that never were.

use freshet_protocol::time::Timestamp;

use super::address::PageUrl;

/// One entry of a sitemap or a feed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Listed {
    /// The page.
    pub url: PageUrl,
    /// When it last changed (or was published), if the entry says so in a way that can be understood.
    pub modified: Option<Timestamp>,
}
