//! Files in the making: they take their name when they are whole, and go when they do not come about.

use std::fs;
use std::path::{Path, PathBuf};

/// A file in the making, which is removed when this is dropped, unless it was renamed.
#[derive(Debug)]
pub struct Unfinished(PathBuf);

impl Unfinished {
    /// The file that will be called `output`.
    pub fn of(output: &Path) -> Self {
        let mut name = output.as_os_str().to_owned();
        name.push(".unfinished");
        Self(PathBuf::from(name))
    }

    /// Its name until then.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After a rename there is nothing to remove.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_not_renamed_is_removed() {
        let place = tempfile::tempdir().expect("a directory");
        for is_finished in [false, true] {
            let output = place.path().join("a.warc.gz");
            let unfinished = Unfinished::of(&output);
            fs::write(unfinished.path(), "half").expect("it is written");
            if is_finished {
                fs::rename(unfinished.path(), &output).expect("it is renamed");
            }
            drop(unfinished);
            assert_eq!(output.exists(), is_finished);
            assert_eq!(fs::read_dir(place.path()).expect("it is listed").count(), usize::from(is_finished));
        }
    }
}
