//! All chapters, in the order of the report.

use super::chapter::Chapter;
use super::thesis_5;

/// All chapters.
pub const CHAPTERS: &[&Chapter] = &[&thesis_5::CHAPTER];
