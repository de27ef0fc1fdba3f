//! The lab: the crawler's own policies, measured.
//!
//! A policy is the same code whether the pages are on the Web, in a recorded history or in a simulation; web and clock are
//! what differ. In reading order: [`history`] is the recorded web, [`evolution`] says how its pages change, [`replay`] runs
//! policies against it, [`report`] makes the figures and tables of the texts again, [`figure`] draws what came out; [`web`] is
//! a web of sites that lives by itself, for the whole crawler.

pub mod evolution;
pub mod figure;
pub mod history;
pub mod replay;
pub mod report;
pub mod web;
