//! A request and its response, as the crawler passes them to the Collection.

use std::net::IpAddr;

use bytes::Bytes;
use freshet_protocol::ids::PageNumber;
use freshet_protocol::time::Timestamp;

use crate::collection::folding::Folded;
use crate::collection::http_head;
use crate::digest::Digest;

/// What is kept of an exchange.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ExchangeKind {
    /// The whole response.
    Full,
    /// A revisit record: the payload was that of the page's last full response.
    Identical,
    /// A revisit record: the server answered "not modified" since the page's last full response.
    NotModified,
}

/// Why a body is incomplete.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Truncation {
    /// It was longer than the limit.
    Length,
    /// It took longer than the limit.
    Time,
    /// The connection broke.
    Disconnect,
    /// Another reason.
    Unspecified,
}

impl Truncation {
    /// The word for it in a WARC record.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Time => "time",
            Self::Disconnect => "disconnect",
            Self::Unspecified => "unspecified",
        }
    }
}

/// One request and its response.
///
/// The exchange of a page becomes a version. A visit row of the same page and time in the same
/// [`crate::changes::Changes`] gets its place; so does the page record, if the response is kept whole.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The page; none for resources that are no page, such as robots.txt.
    pub page: Option<PageNumber>,
    /// The requested URL.
    pub url: String,
    /// When the request began.
    pub time: Timestamp,
    /// What is kept of it. A page without a full response gets one, whatever this says.
    pub kind: ExchangeKind,
    /// The address of the server.
    pub address: Option<IpAddr>,
    /// Request line and headers as they were sent; empty if no request is kept.
    pub request_head: Vec<u8>,
    /// Status line and headers as they were received.
    pub response_head: Vec<u8>,
    /// The status of the response.
    pub status: u16,
    /// The body after transfer decoding and before content decoding. Unused if `folded` is set.
    pub body: Bytes,
    /// Why the body is incomplete; none if it is complete.
    pub truncated: Option<Truncation>,
    /// Duration of the exchange in milliseconds.
    pub millis: u32,
    /// The charset with which the body was decoded.
    pub charset: Option<String>,
    /// The URL of the page that led here.
    pub via: Option<String>,
    /// The digest of the decoded bytes.
    pub raw_digest: Option<Digest>,
    /// The digest of the visible text.
    pub text_digest: Option<Digest>,
    /// The similarity hash of the visible text.
    pub simhash: Option<u64>,
    /// The WARC records of the whole response, if they were made in advance.
    pub folded: Option<Folded>,
}

impl Exchange {
    /// The value of a header of the response.
    pub fn header(&self, name: &str) -> Option<&str> {
        http_head::value(&self.response_head, name)
    }

    /// The body, or the body within the records made in advance.
    pub fn whole_body(&self) -> Option<Vec<u8>> {
        match &self.folded {
            Some(folded) => folded.body(),
            None => Some(self.body.to_vec()),
        }
    }
}
