//! Files that appear whole or not at all.
//!
//! A file is created under another name in the folder where it belongs, before the long work begins, and takes its own
//! name when everything is written. A run that fails leaves an older file as it was.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

/// A file being written that has not taken its name yet.
pub(crate) struct PendingFile {
    file: File,
    temporary: PathBuf,
    destination: PathBuf,
}

impl PendingFile {
    /// Creates the file, or says why it cannot be written.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("cannot write {}", path.display());
        // A link keeps pointing where it points: the file behind it is replaced.
        let destination = match fs::canonicalize(path) {
            Ok(existing) if !existing.is_file() => bail!("{}: it exists and is no ordinary file", cannot()),
            Ok(existing) => existing,
            Err(_) => path.to_owned(),
        };
        let name = destination.file_name().with_context(cannot)?.to_string_lossy();
        let temporary = destination.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        let file = OpenOptions::new().write(true).create_new(true).open(&temporary).with_context(cannot)?;
        Ok(Self { file, temporary, destination })
    }

    /// Where to write.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// The name that the file will take.
    pub(crate) fn destination(&self) -> &Path {
        &self.destination
    }

    /// Lets the file take its name, once all is on the disk.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.temporary, &self.destination)
    }

    /// Writes a text and lets the file take its name.
    pub(crate) fn write_text(mut self, text: &str) -> anyhow::Result<()> {
        let written = self.file.write_all(text.as_bytes());
        let destination = self.destination.clone();
        written
            .and_then(|()| self.finish())
            .with_context(|| format!("cannot write {}", destination.display()))
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        // After the renaming there is nothing left to remove, and a leftover of a failed run harms nobody.
        let _ = fs::remove_file(&self.temporary);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("plan.csv");
        fs::write(&path, "old").expect("an old file");
        drop(PendingFile::create(&path).expect("a new file"));
        assert_eq!(fs::read_to_string(&path).expect("the old file"), "old");
        PendingFile::create(&path).expect("a new file").write_text("new").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("the new file"), "new");
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1);
    }

    #[test]
    fn what_is_no_file_is_not_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(PendingFile::create(folder.path()).is_err());
        assert!(PendingFile::create(Path::new("/dev/null")).is_err());
        assert!(PendingFile::create(&folder.path().join("missing/plan.csv")).is_err());
    }
}
