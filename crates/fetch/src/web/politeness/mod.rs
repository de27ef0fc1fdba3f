//! Politeness: when a host may be visited. Pure code; the caller passes the time.
//!
//! In reading order:
//! - [`settings`]: delays, rates and limits;
//! - [`experience`]: how a host responded, and how long to pause after trouble;
//! - [`turns`]: one visit at a time per host and per address, with a pause after each, and the queue of hosts
//!   that are ready;
//! - [`state`]: the state of a host that is kept across restarts;
//! - `rate`: the limit of all visits per second.

pub mod experience;
mod rate;
pub mod settings;
pub mod state;
pub mod turns;

pub use experience::Experience;
pub use settings::PolitenessSettings;
pub use state::SiteManners;
pub use turns::{Politeness, Turn, Wait, Why};
