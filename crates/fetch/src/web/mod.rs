//! HTTP, DNS, TLS, robots.txt and politeness: the only code that talks to sites.
//!
//! In reading order:
//! - [`client`]: the HTTP client `Web`: one exchange at a time, within limits;
//! - [`request`], [`answer`]: requests and their results;
//! - [`limits`]: limits of time, size and connections;
//! - [`address_ranges`]: which addresses are public, and which a crawler must not connect to;
//! - [`resolver`], [`name_cache`]: DNS lookup and its cache;
//! - `slots`, `connection`, `tls`, `tap`: the connection pool, one connection, TLS, and copies of the raw
//!   heads;
//! - `exchange`, `decoding`: one request and its response, and content decoding;
//! - [`dates`]: HTTP dates;
//! - [`robots`][]: robots.txt;
//! - [`politeness`]: when a host may be visited.

pub mod address_ranges;
pub mod answer;
pub mod client;
mod connection;
pub mod dates;
mod decoding;
mod exchange;
pub mod limits;
pub mod name_cache;
pub mod politeness;
pub mod request;
pub mod resolver;
pub mod robots;
mod slots;
mod tap;
mod tls;

pub use address_ranges::{AddressRange, Network, PrivateAddresses};
pub use answer::{
    Answer, ConnectFault, DnsFault, Failure, Fetch, Phase, Refusal, Response, TlsFault, Truncation,
};
pub use client::{PRODUCT_TOKEN, Web, WebError, WebSettings, roots_from_pem};
pub use decoding::decoded;
pub use limits::{ConnectionLimits, SizeLimits, TimeLimits};
pub use name_cache::CacheLimits;
pub use politeness::{Experience, Politeness, PolitenessSettings, SiteManners};
pub use request::{Accept, Request, Validators};
pub use resolver::{FixedNames, Names};
pub use robots::{Robots, RobotsPolicy, Verdict};
