//! The folder `aside/`: files that must be removed from the store are moved there, into a folder named by the
//! time, so that no collected data is deleted.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use freshet_protocol::time::Timestamp;

use crate::error::StoreError;

/// A folder for removed files, created on first use.
#[derive(Debug)]
pub(crate) struct Aside {
    directory: PathBuf,
    folder: PathBuf,
    is_used: bool,
}

impl Aside {
    /// A folder named by this time, in the directory of a store.
    pub(crate) fn new(directory: &Path, now: Timestamp) -> Self {
        let parent = directory.join("aside");
        // Two repairs within a second get different folders.
        let folder = (0..)
            .map(|attempt| match attempt {
                0 => parent.join(now.digits()),
                _ => parent.join(format!("{}-{attempt}", now.digits())),
            })
            .find(|folder| !folder.exists())
            .unwrap_or_else(|| parent.clone());
        Self { directory: directory.to_path_buf(), folder, is_used: false }
    }

    /// The folder, if anything was put into it.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.is_used.then_some(self.folder.as_path())
    }

    /// Copies a file into the folder.
    pub(crate) fn copy(&mut self, name: &str) -> Result<(), StoreError> {
        let to = self.place(name)?;
        fs::copy(self.directory.join(name), &to).map_err(StoreError::file("write", &to))?;
        Ok(())
    }

    /// Moves a file or a folder into the folder.
    pub(crate) fn take(&mut self, name: &str) -> Result<(), StoreError> {
        let to = self.place(name)?;
        fs::rename(self.directory.join(name), &to).map_err(StoreError::file("move to", &to))
    }

    /// Moves the bytes of a file from `from` on into the folder.
    pub(crate) fn cut(&mut self, name: &str, from: u64) -> Result<(), StoreError> {
        let path = self.directory.join(name);
        let to = self.place(&format!("{name}.from-{from}"))?;
        let mut source = File::open(&path).map_err(StoreError::file("open", &path))?;
        source
            .seek(SeekFrom::Start(from))
            .and_then(|_| File::create(&to))
            .and_then(|mut kept| std::io::copy(&mut source, &mut kept).and_then(|_| kept.sync_all()))
            .map_err(StoreError::file("write", &to))?;
        let file = OpenOptions::new().write(true).open(&path).map_err(StoreError::file("open", &path))?;
        file.set_len(from).map_err(StoreError::file("cut", &path))
    }

    /// Writes bytes to a file in the folder.
    pub(crate) fn keep(&mut self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let to = self.place(name)?;
        fs::write(&to, bytes).map_err(StoreError::file("write", &to))
    }

    fn place(&mut self, name: &str) -> Result<PathBuf, StoreError> {
        // A part of this folder may have been put there already.
        let to = (0..)
            .map(|attempt| match attempt {
                0 => self.folder.join(name),
                _ => self.folder.join(format!("{name}-{attempt}")),
            })
            .find(|to| !to.exists())
            .unwrap_or_else(|| self.folder.join(name));
        let parent = to.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent).map_err(StoreError::file("make", parent))?;
        self.is_used = true;
        Ok(to)
    }
}
