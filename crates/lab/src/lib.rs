//! The lab: the crawler's own policies, measured.
//!
//! A policy is the same code whether the pages are on the Web, in a recorded history or in a simulation; web and clock are
//! what differ. In reading order: [`history`] is the recorded web, [`replay`] runs policies against it, [`figure`] draws
//! what came out.

pub mod figure;
pub mod history;
pub mod replay;
