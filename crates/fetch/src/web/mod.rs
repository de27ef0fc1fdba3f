//! The only code that talks to sites.
//!
//! In reading order:
//! - [`client`]: the Web: one exchange at a time, within limits;
//! - [`request`], [`answer`]: what we ask, and what comes of it;
//! - [`limits`]: how much of our time and memory an exchange may take;
//! - [`address_ranges`]: which addresses are public, and which a crawler must not be led to;
//! - [`resolver`], [`name_cache`]: from a host to its addresses;
//! - `slots`, `connection`, `tls`, `tap`: connections at rest, one connection, whom we trust, the bytes as they pass;
//! - `exchange`, `decoding`: one request and its response, and the encodings of its body undone;
//! - [`dates`]: dates of HTTP;
//! - [`robots`]: what sites ask of robots;
//! - [`politeness`]: when a site may be visited.

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
