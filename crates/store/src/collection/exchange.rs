//! A request and its response, as the crawler hands them over to be kept.

use std::net::IpAddr;

use bytes::Bytes;
use freshet_protocol::ids::PageNumber;
use freshet_protocol::time::Timestamp;

use crate::collection::folding::Folded;
use crate::collection::http_head;
use crate::digest::Digest;

/// What is to be kept of an exchange.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ExchangeKind {
    /// The whole response.
    Full,
    /// That the payload was the same as that of the page's last full response.
    Identical,
    /// That the server said "not modified" since the page's last full response.
    NotModified,
}

/// Why a body is not whole.
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
/// Of a page it becomes a version: a visit row of the same page and time in the same [`crate::changes::Changes`] is told its place, and so is
/// the page record, if the response is kept whole.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The page; none for what is no page, such as robots.txt.
    pub page: Option<PageNumber>,
    /// The URL that was asked for.
    pub url: String,
    /// When the request began.
    pub time: Timestamp,
    /// What is to be kept of it. A page that has no full response yet gets one, whatever this says.
    pub kind: ExchangeKind,
    /// The address of the server.
    pub address: Option<IpAddr>,
    /// Request line and headers as they were sent; empty to keep no request.
    pub request_head: Vec<u8>,
    /// Status line and headers as they were received.
    pub response_head: Vec<u8>,
    /// The status of the answer.
    pub status: u16,
    /// The body after transfer decoding and before content decoding; of no use where the records were made before.
    pub body: Bytes,
    /// Why the body is not whole; none if it is.
    pub truncated: Option<Truncation>,
    /// Milliseconds that the exchange took.
    pub millis: u32,
    /// The charset by which the body was read.
    pub charset: Option<String>,
    /// The URL of the page that led here.
    pub via: Option<String>,
    /// The digest of the decoded bytes.
    pub raw_digest: Option<Digest>,
    /// The digest of the visible text.
    pub text_digest: Option<Digest>,
    /// The similarity hash of the visible text.
    pub simhash: Option<u64>,
    /// The records of the whole response, if they were made before.
    pub folded: Option<Folded>,
}

impl Exchange {
    /// The value of a header of the response.
    pub fn header(&self, name: &str) -> Option<&str> {
        http_head::value(&self.response_head, name)
    }

    /// The body, at hand or in the records that were made of it.
    pub fn whole_body(&self) -> Option<Vec<u8>> {
        match &self.folded {
            Some(folded) => folded.body(),
            None => Some(self.body.to_vec()),
        }
    }
}
