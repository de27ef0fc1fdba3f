//! How much of our time and memory one exchange may take, whatever the other side does.
//!
//! Every phase of an exchange has its time, every part of an answer its size. What exceeds a time is a fact of the
//! visit; what exceeds a size is cut, and that is a fact too.

use std::time::Duration;

/// Times of the phases of an exchange, on the clock of the wall.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TimeLimits {
    /// To learn the addresses of a host.
    pub dns: Duration,
    /// To wait for a free connection slot of ours.
    pub slot: Duration,
    /// To connect to one address.
    pub connect: Duration,
    /// For the TLS handshake.
    pub tls: Duration,
    /// From the request until the whole head of the answer is here.
    pub head: Duration,
    /// Between two pieces of a body.
    pub body_idle: Duration,
    /// For the whole body.
    pub body_total: Duration,
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self {
            dns: Duration::from_secs(10),
            slot: Duration::from_secs(30),
            connect: Duration::from_secs(10),
            tls: Duration::from_secs(10),
            head: Duration::from_secs(30),
            body_idle: Duration::from_secs(15),
            body_total: Duration::from_secs(120),
        }
    }
}

/// Sizes of the parts of an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SizeLimits {
    /// Bytes of the status line and the headers. A longer head fails the exchange. At least 8192, which HTTP software
    /// takes for granted.
    pub head_bytes: usize,
    /// Header lines of a head. More of them fail the exchange.
    pub headers: usize,
    /// Bytes of a body, as received and again as decoded. The rest is not read.
    pub body_bytes: usize,
    /// How many times larger than received a decoded body may be, beyond [`RATIO_FREE_BYTES`]. The rest is not decoded.
    pub decoding_ratio: usize,
}

/// Bytes that a body may decode to, however small it was: below this no bomb is worth the name.
pub const RATIO_FREE_BYTES: usize = 1 << 20;

impl Default for SizeLimits {
    fn default() -> Self {
        Self { head_bytes: 64 << 10, headers: 256, body_bytes: 10 << 20, decoding_ratio: 200 }
    }
}

/// How many connections may be open at once.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ConnectionLimits {
    /// In all, in use and idle. One more waits until one ends; an idle one ends for it at once.
    pub total: usize,
    /// To one scheme, host and port, in use and idle.
    pub per_host: usize,
    /// How long a connection is kept open without use.
    pub idle: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { total: 512, per_host: 2, idle: Duration::from_secs(15) }
    }
}
