//! When a site may be visited: pure, with the time given.
//!
//! In reading order:
//! - [`settings`]: how polite we are;
//! - [`experience`]: what a visit taught us of a host, and how long to leave it alone after trouble;
//! - [`turns`]: one visit at a time per host and per address, with a pause after each, and the queue of hosts that are ready;
//! - [`state`]: what is kept of a site across restarts;
//! - `rate`: how many visits in all per second.

pub mod experience;
mod rate;
pub mod settings;
pub mod state;
pub mod turns;

pub use experience::Experience;
pub use settings::PolitenessSettings;
pub use state::SiteManners;
pub use turns::{Politeness, Turn, Wait, Why};
