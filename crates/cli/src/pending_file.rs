//! Files that are written completely or not at all.
//!
//! A file is created under a temporary name in its destination folder, before the long work begins, and
//! renamed when everything is written. A run that fails leaves an existing file unchanged.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

/// A file being written under a temporary name.
pub(crate) struct PendingFile {
    file: File,
    temporary: PathBuf,
    destination: PathBuf,
}

impl PendingFile {
    /// Creates the temporary file, or says why it cannot be written.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("cannot write {}", path.display());
        // A symlink keeps its target: the file behind it is replaced.
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

    /// The final path of the file.
    pub(crate) fn destination(&self) -> &Path {
        &self.destination
    }

    /// Syncs the file to disk and gives it its final name.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.temporary, &self.destination)
    }

    /// Writes a text, then finishes the file.
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
        // After the rename there is nothing to remove, and a leftover of a failed run is harmless.
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
