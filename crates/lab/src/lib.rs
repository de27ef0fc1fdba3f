//! The lab: simulations and measurements of the crawler's own policies.
//!
//! A policy is the same code whether the pages are on the Web, in a recorded history or in a simulation. Only
//! web and clock differ. In reading order: [`history`] reads recorded webs, [`evolution`] studies how their
//! pages change, [`replay`] runs policies against them, [`report`] reproduces the figures and tables of the
//! texts, [`figure`] draws the results, and [`web`] simulates a web of changing sites for tests of the whole
//! crawler.

pub mod evolution;
pub mod figure;
pub mod history;
pub mod replay;
pub mod report;
pub mod web;
