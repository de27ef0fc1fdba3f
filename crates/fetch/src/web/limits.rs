//! Limits of time, size and connections for an exchange, whatever the other side does.
//!
//! Every phase of an exchange has a time limit, every part of a response a size limit. Exceeding a time limit
//! is a result of the visit. What exceeds a size limit is cut, which is recorded too.

use std::time::Duration;

/// Time limits of the phases of an exchange, in wall time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TimeLimits {
    /// For the DNS lookup of a host.
    pub dns: Duration,
    /// For waiting for one of our connection slots.
    pub slot: Duration,
    /// For connecting to one address.
    pub connect: Duration,
    /// For the TLS handshake.
    pub tls: Duration,
    /// From the request until the whole head of the response has arrived.
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

/// Size limits of the parts of a response.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SizeLimits {
    /// Bytes of the status line and the headers. A longer head fails the exchange. At least 8192, which HTTP
    /// software takes for granted.
    pub head_bytes: usize,
    /// Header lines of a head. More of them fail the exchange.
    pub headers: usize,
    /// Bytes of a body, as received and again as decoded. The rest is not read.
    pub body_bytes: usize,
    /// Ratio of a decoded body to its received size, beyond [`RATIO_FREE_BYTES`]. The rest is not decoded.
    pub decoding_ratio: usize,
}

/// Bytes that a body may always decode to, however small it was: less than this is harmless.
pub const RATIO_FREE_BYTES: usize = 1 << 20;

impl Default for SizeLimits {
    fn default() -> Self {
        Self { head_bytes: 64 << 10, headers: 256, body_bytes: 10 << 20, decoding_ratio: 200 }
    }
}

/// Limits of open connections.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ConnectionLimits {
    /// In all, in use and idle. A further one waits until one ends; an idle one is closed for it at once.
    pub total: usize,
    /// To one scheme, host and port, in use and idle.
    pub per_host: usize,
    /// How long an idle connection is kept open.
    pub idle: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { total: 512, per_host: 2, idle: Duration::from_secs(15) }
    }
}
