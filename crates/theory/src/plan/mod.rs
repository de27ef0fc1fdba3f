//! A plan for a table of pages: what a budget buys, under each policy, and how sure that is.
//!
//! In reading order:
//! - [`planner`]: one question with its limits, asked for any budget;
//! - [`curve`]: freshness and age against budget, and the budget that a wanted freshness needs;
//! - [`uncertainty`]: the quality of a plan whose rates are estimates.

pub mod curve;
pub mod planner;
pub mod uncertainty;
