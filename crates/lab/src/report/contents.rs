//! All chapters, in the order of the report.

use super::chapter::Chapter;
use super::{neighbours, sample, summary, thesis_2, thesis_3, thesis_4, thesis_5, thesis_6, thesis_7};

/// All chapters.
pub const CHAPTERS: &[&Chapter] = &[
    &thesis_2::CHAPTER,
    &thesis_3::CHAPTER,
    &thesis_4::CHAPTER,
    &thesis_5::CHAPTER,
    &thesis_6::CHAPTER,
    &thesis_7::CHAPTER,
    &sample::CHAPTER,
    &neighbours::CHAPTER,
    &summary::CHAPTER,
];
