//! The result of one exchange: a response, a failure of the other side, or a refusal on our side.
//!
//! None of these is an error of the program. A visit learns from each, and each is reported to the user in
//! one line: `Display` of [`Failure`], [`Refusal`] and [`Truncation`] is that line.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use freshet_protocol::time::Timestamp;
use http::HeaderMap;

use super::address_ranges::AddressRange;

/// One exchange with a server and its result.
#[derive(Clone, Debug)]
pub struct Fetch {
    /// When it began, by the caller's clock.
    pub started: Timestamp,
    /// The address that was connected to or tried last.
    pub address: Option<IpAddr>,
    /// Request line and headers as sent; empty when nothing was sent. Those of HTTP/2 are written in the form
    /// of HTTP/1.
    pub request_head: Vec<u8>,
    /// Bytes received over the connection, after TLS and before any decoding, including the heads of 1xx
    /// responses.
    pub bytes_received: u64,
    /// Its duration in wall time.
    pub elapsed: Duration,
    /// Its result.
    pub answer: Answer,
}

impl Fetch {
    /// An exchange that was ended by a bug in this program.
    pub fn defect(started: Timestamp, said: String) -> Self {
        Self {
            started,
            address: None,
            request_head: Vec::new(),
            bytes_received: 0,
            elapsed: Duration::ZERO,
            answer: Answer::Failed(Failure::Defect(said)),
        }
    }
}

/// The result of an exchange.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A head was received, and its body as far as it came.
    Response(Response),
    /// No response was received.
    Failed(Failure),
    /// No request was sent.
    Refused(Refusal),
}

/// A response, whatever its status.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status, 200 to 999.
    pub status: u16,
    /// Status line and headers as received, with the empty line. Those of HTTP/2 are written in the form of
    /// HTTP/1.
    pub head: Vec<u8>,
    /// The parsed headers.
    pub headers: HeaderMap,
    /// The body after transfer decoding and before content decoding, cut at the limit.
    pub raw_body: Bytes,
    /// The body after content decoding, cut at the limit.
    pub body: Bytes,
    /// Why the body is incomplete; none if it is complete.
    pub truncated: Option<Truncation>,
}

/// Why a body is incomplete.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Truncation {
    /// It is longer than our limit, and was cut there.
    Size,
    /// The decoded body is longer than our limit, and was cut there.
    DecodedSize,
    /// The decoded body is out of proportion to what was received (a decompression bomb), and was cut.
    Bomb,
    /// No piece arrived for too long.
    Idle,
    /// The whole body took too long.
    Slow,
    /// The connection ended before the body did.
    Closed,
    /// The framing of the body is broken: bad chunks, a stream that was reset.
    Framing,
    /// The content encoding is broken. What could be decoded is kept.
    Undecodable,
    /// An unknown content encoding, or too many. The body is kept as received.
    UnknownEncoding,
}

impl Truncation {
    /// Whether the same page would be cut at the same place again, so that two copies can be compared.
    pub fn is_steady(self) -> bool {
        matches!(self, Self::Size | Self::DecodedSize | Self::Bomb | Self::UnknownEncoding)
    }
}

/// Why there is no response.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Failure {
    /// A bug in this program, with its message.
    Defect(String),
    /// The host has no address, or the name servers failed.
    Dns(DnsFault),
    /// No address of the host accepted a connection.
    Connect(ConnectFault),
    /// The TLS handshake failed; no request was sent.
    Tls(TlsFault),
    /// A phase exceeded its time limit.
    Timeout(Phase),
    /// The connection ended before the head was complete.
    Closed,
    /// The head is longer than our limit.
    HeadTooLarge,
    /// The response is not valid HTTP.
    Protocol(String),
}

/// Why a name gave no address.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DnsFault {
    /// There is no such name, or it has no address.
    NoSuchHost,
    /// The name servers could not be reached or failed.
    ServerFailure,
}

/// Why a connection could not be made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ConnectFault {
    /// The connection was refused.
    Refused,
    /// There is no route to the address.
    Unreachable,
    /// The connection was reset while it was set up.
    Reset,
    /// This machine has no sockets left.
    OutOfSockets,
    /// Any other error.
    Other,
}

/// Why a TLS handshake failed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TlsFault {
    /// The certificate has expired.
    Expired,
    /// The certificate is not valid yet.
    NotYetValid,
    /// The certificate was signed by an authority that is not trusted.
    UnknownIssuer,
    /// The certificate is for other names.
    WrongName,
    /// The certificate was revoked.
    Revoked,
    /// The certificate has another fault.
    BadCertificate(String),
    /// The two sides have no version or cipher in common.
    NothingInCommon,
    /// The other side does not speak TLS.
    NotTls,
    /// The other side sent an alert.
    Alert(String),
    /// The connection ended during the handshake.
    Closed,
    /// Any other error.
    Other(String),
}

/// A phase of an exchange.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Phase {
    /// DNS lookup.
    Dns,
    /// Waiting for one of our connection slots.
    Slot,
    /// Connecting.
    Connect,
    /// The TLS handshake.
    Tls,
    /// Waiting for the head of the response.
    Head,
}

/// Why no request was sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Refusal {
    /// The host's address is not public, and private addresses are not allowed.
    PrivateAddress {
        /// The address.
        address: IpAddr,
        /// Its range.
        range: AddressRange,
    },
    /// The host is on the public Internet, but no contact is set.
    NoContact,
    /// The host, path or validators cannot be written in a request.
    Malformed,
}

impl fmt::Display for Truncation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Size => "body longer than the limit",
            Self::DecodedSize => "decoded body longer than the limit",
            Self::Bomb => "body decodes to a bomb",
            Self::Idle => "body stalled",
            Self::Slow => "body too slow",
            Self::Closed => "connection closed within the body",
            Self::Framing => "broken framing of the body",
            Self::Undecodable => "broken content encoding",
            Self::UnknownEncoding => "unknown content encoding",
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Defect(said) => f.write_str(said),
            Self::Dns(DnsFault::NoSuchHost) => f.write_str("no such host"),
            Self::Dns(DnsFault::ServerFailure) => f.write_str("name servers failed"),
            Self::Connect(fault) => f.write_str(match fault {
                ConnectFault::Refused => "connection refused",
                ConnectFault::Unreachable => "host unreachable",
                ConnectFault::Reset => "connection reset",
                ConnectFault::OutOfSockets => "no sockets left on this machine",
                ConnectFault::Other => "cannot connect",
            }),
            Self::Tls(fault) => fault.fmt(f),
            Self::Timeout(phase) => f.write_str(match phase {
                Phase::Dns => "time-out of DNS",
                Phase::Slot => "time-out waiting for a connection slot",
                Phase::Connect => "time-out of the connection",
                Phase::Tls => "time-out of the TLS handshake",
                Phase::Head => "time-out of the response head",
            }),
            Self::Closed => f.write_str("connection closed before a response"),
            Self::HeadTooLarge => f.write_str("response head longer than the limit"),
            Self::Protocol(what) => write!(f, "not HTTP: {what}"),
        }
    }
}

impl fmt::Display for TlsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired => f.write_str("certificate expired"),
            Self::NotYetValid => f.write_str("certificate not valid yet"),
            Self::UnknownIssuer => f.write_str("certificate of unknown issuer"),
            Self::WrongName => f.write_str("certificate for other names"),
            Self::Revoked => f.write_str("certificate revoked"),
            Self::BadCertificate(what) => write!(f, "bad certificate: {what}"),
            Self::NothingInCommon => f.write_str("no TLS version or cipher in common"),
            Self::NotTls => f.write_str("not TLS"),
            Self::Alert(what) => write!(f, "TLS alert: {what}"),
            Self::Closed => f.write_str("connection closed in the TLS handshake"),
            Self::Other(what) => write!(f, "TLS: {what}"),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PrivateAddress { address, range } => write!(f, "{address} is {range}"),
            Self::NoContact => f.write_str("no contact is set for hosts of the public Internet"),
            Self::Malformed => f.write_str("the address cannot be written in a request"),
        }
    }
}

impl Response {
    /// The first value of a header, if it exists and is text.
    pub fn header(&self, name: &http::HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}
