//! What a page is called and what its bytes mean.
//!
//! In reading order:
//! - [`address`]: a URL in canonical form.
//! - [`canonical`]: how a URL, or a reference found on a page, becomes one.

pub mod address;
pub mod canonical;

pub use address::PageUrl;
pub use canonical::{Canonical, UrlRefused};
