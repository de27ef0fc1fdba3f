//! The file `FORMAT`: whether a directory is that of a crawl, and the number of its format.

use std::fs;
use std::path::Path;

use crate::error::StoreError;
use crate::synced;

/// The format number that this program reads and writes.
pub const FORMAT: u32 = 2;

/// The name of the format file.
pub(crate) const FORMAT_FILE: &str = "FORMAT";

/// The contents of the format file.
pub(crate) fn format_text() -> String {
    format!("freshet store {FORMAT}\n")
}

/// The format of a directory.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Format {
    /// The format of this program.
    Ours,
    /// Format 1, which has no log.
    First,
}

/// Reads the format of the directory; in a new directory, writes the format file.
pub(crate) fn check_format(directory: &Path) -> Result<Format, StoreError> {
    if let Some(format) = known_format(directory)? {
        return Ok(format);
    }
    let path = directory.join(FORMAT_FILE);
    let unfinished = directory.join("FORMAT.unfinished");
    fs::write(&unfinished, format_text()).map_err(StoreError::file("write", &unfinished))?;
    fs::rename(&unfinished, &path).map_err(StoreError::file("write", &path))?;
    Ok(Format::Ours)
}

/// The format of the directory; none if there is no format file and no crawl.
pub(crate) fn known_format(directory: &Path) -> Result<Option<Format>, StoreError> {
    let path = directory.join(FORMAT_FILE);
    match fs::read(&path) {
        Ok(found) if found == format_text().as_bytes() => Ok(Some(Format::Ours)),
        Ok(found) if found == b"freshet store 1\n" => Ok(Some(Format::First)),
        Ok(found) => {
            let text = String::from_utf8_lossy(&found).into_owned();
            match text.trim().strip_prefix("freshet store ").and_then(|rest| rest.parse::<u32>().ok()) {
                Some(number) if number > FORMAT => {
                    let (directory, found) = (directory.to_path_buf(), number.to_string());
                    Err(StoreError::Format { directory, found, known: FORMAT })
                }
                _ => Err(StoreError::behind(
                    &path,
                    &format!("it does not say which format this is, but {text:?}"),
                )),
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if directory.join("state").exists() || directory.join(synced::FILE_NAME).exists() {
                return Err(StoreError::behind(&path, "it is missing beside the files of a crawl"));
            }
            Ok(None)
        }
        Err(error) => Err(StoreError::file("read", &path)(error)),
    }
}

/// Returns an error for a directory that holds no crawl.
pub(crate) fn refuse_what_is_none(directory: &Path) -> Result<(), StoreError> {
    for name in [FORMAT_FILE, "state", "collection"] {
        let path = directory.join(name);
        if path.try_exists().map_err(StoreError::file("look for", &path))? {
            return Ok(());
        }
    }
    let reason = "it has none of `FORMAT`, `state` and `collection`".to_owned();
    Err(StoreError::NotAStore { directory: directory.to_path_buf(), reason })
}
