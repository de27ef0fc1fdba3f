//! A temporary copy of a state that a reader opens: the engine writes when it opens, and must not write to
//! the directory of a crawl.
//!
//! Tables never change. The copy links to them through open file descriptors, so that a table may be removed
//! meanwhile. Journals and lists of tables are copied, without the holes in journals. A crawling process may
//! write all the while: the copy is valid if no journal appeared or disappeared and no list of tables
//! changed meanwhile. It then equals what a crash would have left at that moment, and the steps that it
//! lacks are in the log.
//!
//! # Promises
//! - Writes only to its own folder in the system's temporary directory, which is removed when the
//!   value is dropped.
//! - The next reader removes the folders of killed readers.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::directory::folders::listed;
use crate::error::{StoreError, is_out_of_files};

/// The prefix of folder names.
const PREFIX: &str = "freshet-read-";

/// The lock file of a reader in its folder.
const ALIVE: &str = "alive";

/// Maximum number of attempts to copy while a crawling process changes the files. They change every few
/// seconds, and a copy takes less than one.
const TRIES: u32 = 30;

/// Time between two attempts.
const TRY_AGAIN: Duration = Duration::from_millis(50);

/// Size of the copy buffer in bytes.
const SOME: usize = 1 << 20;

/// A temporary folder with a copy of a state.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: PathBuf,
    /// Locked while the reader exists.
    _alive: File,
    /// The open tables that the copy links to.
    tables: Vec<File>,
    /// The number of bytes copied of each journal. Journals grow at their ends only.
    journals: BTreeMap<u64, u64>,
    /// Total number of bytes copied.
    copied: u64,
}

impl Scratch {
    /// Copies the state of the crawl in this directory.
    pub(crate) fn of(directory: &Path) -> Result<Self, StoreError> {
        Self::try_of(directory).map_err(|error| match error {
            StoreError::DiskFull { source, .. } => {
                StoreError::NoRoomToRead { folder: std::env::temp_dir(), source }
            }
            other => other,
        })
    }

    fn try_of(directory: &Path) -> Result<Self, StoreError> {
        remove_abandoned();
        let state = directory.join("state");
        let mut scratch = Self::empty()?;
        let mut before = Lists::of(&state)?;
        let mut denied = None;
        for _ in 0..TRIES {
            let copied = scratch.copy(&state, &before);
            let after = Lists::of(&state)?;
            match copied {
                Ok(()) if after == before => return Ok(scratch),
                // A list of tables that was just written is readable by its owner only until the next sync.
                Err(error) if error.is_denied() => denied = Some(error),
                // Files that disappear during the copy are no error.
                Err(error) if after == before => return Err(error),
                _ => {}
            }
            before = after;
            std::thread::sleep(TRY_AGAIN);
        }
        Err(denied.unwrap_or_else(|| StoreError::Restless { directory: directory.to_path_buf() }))
    }

    /// The temporary folder, which contains the copied state.
    pub(crate) fn directory(&self) -> &Path {
        &self.folder
    }

    /// Total number of bytes copied.
    #[cfg(test)]
    pub(crate) fn copied(&self) -> u64 {
        self.copied
    }

    fn empty() -> Result<Self, StoreError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let folder = std::env::temp_dir().join(format!("{PREFIX}{}-{number}", std::process::id()));
            // Other users must not read the crawl's private data.
            match fs::DirBuilder::new().mode(0o700).create(&folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => {
                    made.map_err(StoreError::file("make the temporary folder (TMPDIR says where)", &folder))?;
                }
            }
            let path = folder.join(ALIVE);
            let alive = File::create(&path).map_err(StoreError::file("write", &path))?;
            let _ = alive.try_lock();
            return Ok(Self {
                folder,
                _alive: alive,
                tables: Vec::new(),
                journals: BTreeMap::new(),
                copied: 0,
            });
        }
    }

    /// Copies journals and lists of tables, and links to tables. A repeated call copies only what is new.
    fn copy(&mut self, state: &Path, lists: &Lists) -> Result<(), StoreError> {
        let to = self.folder.join("state");
        make_folder(&to)?;
        // The current journal comes last: it then has everything that the others had when they were listed.
        for (number, name) in &lists.journals {
            // The last block may have been copied before it was complete.
            let from = self.journals.get(number).map_or(0, |end| end.saturating_sub(SOME as u64));
            let end = self.copy_from(&state.join(name), &to.join(name), from)?;
            self.journals.insert(*number, end);
        }
        for number in self.journals.keys().filter(|number| !lists.journals.contains_key(number)) {
            let path = to.join(format!("{number}.jnl"));
            fs::remove_file(&path).map_err(StoreError::file("remove", &path))?;
        }
        self.journals.retain(|number, _| lists.journals.contains_key(number));
        for path in listed(state)? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_file() && !name.ends_with(".jnl") {
                self.copy_file(&path, &to.join(name))?;
            }
        }
        let keyspaces = state.join("keyspaces");
        if !keyspaces.is_dir() {
            return Ok(());
        }
        make_folder(&to.join("keyspaces"))?;
        for keyspace in listed(&keyspaces)? {
            let name = keyspace.file_name().unwrap_or_default();
            let to = to.join("keyspaces").join(name);
            if !keyspace.is_dir() {
                self.copy_file(&keyspace, &to)?;
                continue;
            }
            make_folder(&to)?;
            for path in listed(&keyspace)? {
                let to = to.join(path.file_name().unwrap_or_default());
                if path.is_dir() { self.link_tables(&path, &to)? } else { self.copy_file(&path, &to)? }
            }
        }
        Ok(())
    }

    fn link_tables(&mut self, from: &Path, to: &Path) -> Result<(), StoreError> {
        make_folder(to)?;
        for path in listed(from)? {
            let link = to.join(path.file_name().unwrap_or_default());
            if link.is_symlink() {
                continue;
            }
            let target = match File::open(&path) {
                // An unfinished table may be removed by the engine.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                // Out of file descriptors: link to the path instead.
                Err(error) if is_out_of_files(&error) => absolute(&path)?,
                opened => self.hold(opened.map_err(StoreError::file("open", &path))?, &path)?,
            };
            symlink(target, &link).map_err(StoreError::file("make", &link))?;
        }
        Ok(())
    }

    /// Keeps a table open. Returns a path that opens it even after it was removed.
    fn hold(&mut self, table: File, path: &Path) -> Result<PathBuf, StoreError> {
        let held = PathBuf::from(format!("/proc/self/fd/{}", table.as_raw_fd()));
        self.tables.push(table);
        if held.exists() { Ok(held) } else { absolute(path) }
    }

    /// Copies a file.
    fn copy_file(&mut self, from: &Path, to: &Path) -> Result<(), StoreError> {
        self.copy_from(from, to, 0).map(|_| ())
    }

    /// Copies a file from this byte on, without holes. Returns the offset of its end.
    fn copy_from(&mut self, from: &Path, to: &Path, begin: u64) -> Result<u64, StoreError> {
        let mut source = match File::open(from) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(begin),
            opened => opened.map_err(StoreError::file("open", from))?,
        };
        let mut copy = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(begin == 0)
            .open(to)
            .map_err(StoreError::file("write", to))?;
        let mut at = begin;
        while let Some((begin, end)) = next_data(&source, at) {
            source.seek(SeekFrom::Start(begin)).map_err(StoreError::file("read", from))?;
            copy.seek(SeekFrom::Start(begin)).map_err(StoreError::file("write", to))?;
            self.copied += copy_some(&mut source, &mut copy, end - begin).map_err(|(is_source, error)| {
                if is_source {
                    StoreError::file("read", from)(error)
                } else {
                    StoreError::file("write", to)(error)
                }
            })?;
            at = end;
        }
        Ok(at)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The next reader removes what cannot be removed now.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The files that must not change while a state is copied.
#[derive(Debug, Eq, PartialEq)]
struct Lists {
    /// The journals by number, which is the order in which they were begun.
    journals: BTreeMap<u64, String>,
    /// The contents of the file `current`, which names the list of tables, by keyspace.
    current: BTreeMap<PathBuf, Vec<u8>>,
}

impl Lists {
    fn of(state: &Path) -> Result<Self, StoreError> {
        let mut lists = Self { journals: BTreeMap::new(), current: BTreeMap::new() };
        for path in listed(state)? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if let Some(number) = name.strip_suffix(".jnl").and_then(|number| number.parse().ok()) {
                lists.journals.insert(number, name.to_owned());
            }
        }
        let keyspaces = state.join("keyspaces");
        if keyspaces.is_dir() {
            for keyspace in listed(&keyspaces)? {
                let current = fs::read(keyspace.join("current")).unwrap_or_default();
                lists.current.insert(keyspace, current);
            }
        }
        Ok(lists)
    }
}

/// The next range of a file that is no hole.
fn next_data(file: &File, from: u64) -> Option<(u64, u64)> {
    let length = file.metadata().ok()?.len();
    if length <= from {
        return None;
    }
    match rustix::fs::seek(file, rustix::fs::SeekFrom::Data(from)) {
        Ok(begin) => {
            let end = rustix::fs::seek(file, rustix::fs::SeekFrom::Hole(begin)).unwrap_or(length);
            Some((begin, end))
        }
        // There is no more data.
        Err(rustix::io::Errno::NXIO) => None,
        // The file system does not report holes.
        Err(_) => Some((from, length)),
    }
}

/// Copies up to this many bytes. An error says whether reading failed.
fn copy_some(source: &mut File, copy: &mut File, bytes: u64) -> Result<u64, (bool, io::Error)> {
    let mut buffer = vec![0; SOME.min(usize::try_from(bytes).unwrap_or(SOME)).max(1)];
    let mut left = bytes;
    while left > 0 {
        let some = buffer.len().min(usize::try_from(left).unwrap_or(SOME));
        let count = source.read(&mut buffer[..some]).map_err(|error| (true, error))?;
        if count == 0 {
            break;
        }
        copy.write_all(&buffer[..count]).map_err(|error| (false, error))?;
        left -= count as u64;
    }
    Ok(bytes - left)
}

fn make_folder(path: &Path) -> Result<(), StoreError> {
    fs::create_dir_all(path).map_err(StoreError::file("make", path))
}

fn absolute(path: &Path) -> Result<PathBuf, StoreError> {
    std::path::absolute(path).map_err(StoreError::file("find", path))
}

/// Removes the folders of killed readers.
fn remove_abandoned() {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let is_ours =
            path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(PREFIX.as_bytes()));
        if is_ours && File::open(path.join(ALIVE)).is_ok_and(|alive| alive.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_value::{Batch, Durability, KeyValue as _, OnDisk, Space, View as _};

    /// A state with a table and a journal.
    fn state(directory: &Path) -> OnDisk {
        let state = OnDisk::open(&directory.join("state"), 1 << 20).expect("it opens");
        for number in 0..100_u32 {
            let mut batch = Batch::new();
            batch.put(Space::Urls, number.to_be_bytes(), vec![7; 1000]);
            state.commit(batch, Durability::Buffered).expect("it is committed");
            if number == 50 {
                state.write_tables(Space::Urls).expect("they are written");
            }
        }
        state
    }

    #[test]
    fn a_copy_has_all_that_was_committed_while_another_process_holds_the_state() {
        let place = tempfile::tempdir().expect("a directory");
        let state = state(place.path());
        let scratch = Scratch::of(place.path()).expect("it is copied");
        assert!(scratch.copied() < 1_000_000, "{}", scratch.copied());
        let copy = OnDisk::open(&scratch.directory().join("state"), 1 << 20).expect("it opens");
        for number in 0..100_u32 {
            let found = copy.get(Space::Urls, &number.to_be_bytes()).expect("it is read");
            assert_eq!(found.map(|value| value.len()), Some(1000), "{number}");
        }
        let mut batch = Batch::new();
        batch.put(Space::Urls, 1000_u32.to_be_bytes(), b"only in the copy");
        copy.commit(batch, Durability::Synced).expect("it is committed");
        assert_eq!(state.get(Space::Urls, &1000_u32.to_be_bytes()).expect("it is read"), None);
        drop(copy);
        let folder = scratch.directory().to_path_buf();
        drop(scratch);
        assert!(!folder.exists());
    }

    #[test]
    fn what_a_killed_reader_left_goes_and_that_of_a_living_one_stays() {
        let place = tempfile::tempdir().expect("a directory");
        drop(state(place.path()));
        let living = Scratch::of(place.path()).expect("it is copied");
        let abandoned = std::env::temp_dir().join(format!("{PREFIX}test-{}", std::process::id()));
        fs::create_dir_all(&abandoned).expect("it is made");
        fs::write(abandoned.join(ALIVE), "").expect("it is written");
        drop(Scratch::of(place.path()).expect("it is copied"));
        assert!(living.directory().exists() && !abandoned.exists());
    }
}
