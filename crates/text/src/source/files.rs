//! Documents from files under a directory: text, HTML, and whatever else the crawler can read.
//!
//! # Promises
//! - Symbolic links are not followed: no file is read twice, and none outside of the directory.
//! - Files are read in the order of their names, so the same directory gives the same notes.

use std::fs;
use std::path::{Path, PathBuf};

use freshet_fetch::page::PageUrl;

use super::complete::Documents;
use crate::error::TextError;

/// Maximum size of a file, in bytes.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Reads all files under a directory.
pub(super) fn read_all(directory: &Path, documents: &mut Documents) -> Result<(), TextError> {
    let mut waiting = vec![directory.to_owned()];
    // The directory itself must exist. Unreadable entries within it are no error.
    fs::read_dir(directory).map_err(TextError::file("read", directory))?;
    while let Some(directory) = waiting.pop() {
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) => {
                documents.pass_over(&directory.display().to_string(), error);
                continue;
            }
        };
        let mut paths: Vec<PathBuf> =
            entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
        paths.sort();
        let mut below = Vec::new();
        for path in paths {
            match fs::symlink_metadata(&path) {
                Ok(metadata) if metadata.is_dir() => below.push(path),
                Ok(metadata) if metadata.is_file() => read_one(&path, metadata.len(), documents),
                Ok(_) => {}
                Err(error) => documents.pass_over(&path.display().to_string(), error),
            }
        }
        waiting.extend(below.into_iter().rev());
    }
    Ok(())
}

fn read_one(path: &Path, bytes: u64, documents: &mut Documents) {
    if FILE_BYTES_MAX < bytes {
        return documents
            .pass_over(&path.display().to_string(), format!("it is larger than {FILE_BYTES_MAX} bytes"));
    }
    match fs::read(path) {
        Ok(body) => {
            // Only the file extension determines the type of the document.
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            let ending: String = ending.chars().filter(char::is_ascii_alphanumeric).collect();
            let url = PageUrl::stored(&format!("http://localhost/file.{ending}"))
                .or_else(|| PageUrl::stored("http://localhost/file"));
            if let Some(url) = url {
                documents.take(&url, None, &body);
            }
        }
        Err(error) => documents.pass_over(&path.display().to_string(), error),
    }
}
