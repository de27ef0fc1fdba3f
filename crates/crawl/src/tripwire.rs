//! Where a test puts a panic into this crate: at pages and directories whose names ask for it.

use std::path::Path;

/// Panics at a page whose URL names this place.
pub(crate) fn trip(place: &str, url: &str) {
    assert!(!url.contains(place), "a defect at {place}");
}

/// Panics at a directory that names this place.
pub(crate) fn trip_at(place: &str, directory: &Path) {
    trip(place, &directory.to_string_lossy());
}
