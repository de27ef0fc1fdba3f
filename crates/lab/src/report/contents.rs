//! The chapters of the lab, in the order of the report. The chapter of **summary** is not here: it needs code
//! of text databases that the lab does not have.

use super::chapter::Chapter;
use super::{neighbours, sample, thesis_2, thesis_3, thesis_4, thesis_5, thesis_6, thesis_7};

/// The chapters of the lab.
pub const CHAPTERS: &[&Chapter] = &[
    &thesis_2::CHAPTER,
    &thesis_3::CHAPTER,
    &thesis_4::CHAPTER,
    &thesis_5::CHAPTER,
    &thesis_6::CHAPTER,
    &thesis_7::CHAPTER,
    &sample::CHAPTER,
    &neighbours::CHAPTER,
];
