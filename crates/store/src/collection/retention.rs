//! How much of the past is kept.

/// Limits on what is kept; none is no limit. The newest full response of a page is always kept.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Keep {
    /// Full responses of a page.
    pub versions: Option<u32>,
    /// Days since a response was superseded.
    pub days: Option<u32>,
    /// Bytes of the Collection.
    pub bytes: Option<u64>,
}
