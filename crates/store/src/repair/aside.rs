//! What must go is put aside, in `damaged/` and a folder of the moment of the repair: nothing is removed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::time::Timestamp;

/// A folder for what must go, made when it is needed.
#[derive(Debug)]
pub(super) struct Aside {
    directory: PathBuf,
    folder: PathBuf,
    is_used: bool,
}

impl Aside {
    /// A folder of this moment in the directory of a store.
    pub(super) fn new(directory: &Path, now: Timestamp) -> Self {
        let parent = directory.join("damaged");
        // Two repairs within a second have folders of their own.
        let folder = (0..)
            .map(|attempt| match attempt {
                0 => parent.join(now.digits()),
                _ => parent.join(format!("{}-{attempt}", now.digits())),
            })
            .find(|folder| !folder.exists())
            .unwrap_or_else(|| parent.clone());
        Self { directory: directory.to_path_buf(), folder, is_used: false }
    }

    /// The folder, if anything is in it.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.is_used.then_some(self.folder.as_path())
    }

    /// Copies a file there.
    pub(super) fn copy(&mut self, name: &str) -> Result<(), StoreError> {
        let to = self.place(name)?;
        fs::copy(self.directory.join(name), &to).map_err(StoreError::file("write", &to))?;
        Ok(())
    }

    /// Moves a file or a folder there.
    pub(super) fn take(&mut self, name: &str) -> Result<(), StoreError> {
        let to = self.place(name)?;
        fs::rename(self.directory.join(name), &to).map_err(StoreError::file("move to", &to))
    }

    /// Keeps bytes there.
    pub(super) fn keep(&mut self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let to = self.place(name)?;
        fs::write(&to, bytes).map_err(StoreError::file("write", &to))
    }

    fn place(&mut self, name: &str) -> Result<PathBuf, StoreError> {
        let to = self.folder.join(name);
        let parent = to.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent).map_err(StoreError::file("make", parent))?;
        self.is_used = true;
        Ok(to)
    }
}
