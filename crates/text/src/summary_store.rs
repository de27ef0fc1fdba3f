//! The summary store: directory of databases and the versions of their summaries.
//!
//! ```text
//! DIR/db/NAME/database.toml               what the database is
//! DIR/db/NAME/summary-TIME-HASH.parquet   a version of its summary: when it was learned, in milliseconds,
//!                                         and the hash of the file
//! DIR/db/NAME/sampling.jsonl              journal of a running sample, one event per line
//! DIR/db/NAME/attempts.jsonl              failed refreshes, one per line
//! DIR/db/model.json                       the fitted model
//! DIR/db/.index/                          the inverted index: see `select::catalogue`
//! ```
//!
//! # Promises
//! - A file appears whole or not at all: it is written under another name, synced, and renamed. After a kill
//!   at any instant, a version is either complete or absent.
//! - A version whose bytes differ from what was written is refused: its name contains its hash.
//! - A name of a database cannot lead out of the summary store.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use freshet_protocol::time::Timestamp;
use xxhash_rust::xxh3::xxh3_64;

use crate::database::Database;
use crate::error::TextError;
use crate::version::Version;

/// Maximum length of a database name, in bytes.
const NAME_BYTES_MAX: usize = 100;

/// Handle of a directory that stores databases and their summaries.
///
/// # Examples
///
/// ```
/// use freshet_protocol::time::Timestamp;
/// use freshet_text::database::{Database, Place};
/// use freshet_text::summary::Summary;
/// use freshet_text::summary_store::SummaryStore;
/// use freshet_text::version::{Facts, Kind, Size, Version};
/// use freshet_text::words::Wording;
///
/// let directory = tempfile::tempdir()?;
/// let store = SummaryStore::in_directory(directory.path());
/// store.add("letters", &Database::of(Place::Dir { path: "letters".into() }))?;
///
/// let facts = Facts {
///     time_ms: 1_000,
///     kind: Kind::Complete,
///     size: Size::Counted(2.0),
///     documents_read: 2,
///     wording: Wording::default(),
///     notes: Vec::new(),
///     sampling: None,
/// };
/// let version = Version { facts, summary: Summary::from_words(2.0, vec![("dear", 2.0)]) };
/// store.keep("letters", &version)?;
///
/// assert_eq!(store.times("letters")?, [Timestamp::from_millis(1_000)]);
/// assert_eq!(store.latest("letters")?, Some(version));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SummaryStore {
    directory: PathBuf,
}

impl SummaryStore {
    /// The summary store in the directory of a crawl, or in any other directory.
    pub fn in_directory(directory: &Path) -> Self {
        Self { directory: directory.join("db") }
    }

    /// Its directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The directory of a database's files.
    pub fn place(&self, name: &str) -> Result<PathBuf, TextError> {
        check_name(name)?;
        Ok(self.directory.join(name))
    }

    /// The names of all databases, sorted.
    pub fn names(&self) -> Result<Vec<String>, TextError> {
        let mut names = self.folders()?;
        names.retain(|name| self.directory.join(name).join("database.toml").is_file());
        Ok(names)
    }

    /// The names of all folders that may be databases, sorted.
    fn folders(&self) -> Result<Vec<String>, TextError> {
        let mut names = Vec::new();
        self.each_folder(|name, _| names.push(name.to_owned()))?;
        names.sort();
        Ok(names)
    }

    /// The folders that may be databases, unordered, each with its modification time in nanoseconds since
    /// 1970; zero if unknown.
    pub(crate) fn folders_with_times(&self) -> Result<Vec<(String, u64)>, TextError> {
        let mut folders = Vec::new();
        self.each_folder(|name, entry| {
            // `DirEntry::metadata` avoids a walk along the whole path. It does not follow symbolic links.
            let metadata = entry.metadata().ok().filter(fs::Metadata::is_dir);
            let altered = metadata.map_or(0, |metadata| {
                let seconds = u64::try_from(metadata.mtime()).unwrap_or(0);
                seconds
                    .saturating_mul(1_000_000_000)
                    .saturating_add(u64::try_from(metadata.mtime_nsec()).unwrap_or(0))
            });
            folders.push((name.to_owned(), altered));
        })?;
        Ok(folders)
    }

    fn each_folder(&self, mut each: impl FnMut(&str, &fs::DirEntry)) -> Result<(), TextError> {
        let entries = match fs::read_dir(&self.directory) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            other => other.map_err(TextError::file("read", &self.directory))?,
        };
        for entry in entries {
            let entry = entry.map_err(TextError::file("read", &self.directory))?;
            let is_folder = entry.file_type().is_ok_and(|kind| !kind.is_file());
            if let Some(name) =
                entry.file_name().to_str().filter(|name| is_folder && check_name(name).is_ok())
            {
                each(name, &entry);
            }
        }
        Ok(())
    }

    /// Adds a database.
    pub fn add(&self, name: &str, database: &Database) -> Result<(), TextError> {
        let place = self.place(name)?;
        let path = place.join("database.toml");
        if path.exists() {
            return Err(TextError::Exists(name.to_owned()));
        }
        fs::create_dir_all(&place).map_err(TextError::file("make", &place))?;
        write_whole(&path, database.to_toml().as_bytes())
    }

    /// The description of a database.
    pub fn database(&self, name: &str) -> Result<Database, TextError> {
        let path = self.place(name)?.join("database.toml");
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(TextError::Unknown { name: name.to_owned(), store: self.directory.clone() });
            }
            other => other.map_err(TextError::file("read", &path))?,
        };
        Database::from_toml(&text).map_err(|why| TextError::damaged(&path, why))
    }

    /// The times at which the versions of a database's summary were learned, oldest first.
    pub fn times(&self, name: &str) -> Result<Vec<Timestamp>, TextError> {
        Ok(self.files(name)?.into_iter().map(|file| file.time).collect())
    }

    /// The files of the versions of a database's summary, oldest first.
    fn files(&self, name: &str) -> Result<Vec<VersionFile>, TextError> {
        let place = self.place(name)?;
        let entries = match fs::read_dir(&place) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(TextError::file("read", &place))?,
        };
        let mut files: Vec<VersionFile> =
            entries.filter_map(|entry| VersionFile::of(&entry.ok()?.path())).collect();
        files.sort_by_key(|file| file.time);
        Ok(files)
    }

    /// The newest version not later than a moment.
    pub fn version_at(&self, name: &str, moment: Timestamp) -> Result<Option<Version>, TextError> {
        let times = self.times(name)?;
        let Some(time) = times.iter().rev().find(|time| **time <= moment) else { return Ok(None) };
        self.version(name, *time).map(Some)
    }

    /// The newest version.
    pub fn latest(&self, name: &str) -> Result<Option<Version>, TextError> {
        self.version_at(name, Timestamp::from_millis(i64::MAX))
    }

    /// The version of this time.
    pub fn version(&self, name: &str, time: Timestamp) -> Result<Version, TextError> {
        let Some(file) = self.files(name)?.into_iter().find(|file| file.time == time) else {
            return Err(TextError::TooLittle(format!("there is no summary of {name} of {}", time.iso())));
        };
        file.read()
    }

    /// File name of the newest version. `None` if there is no database or no version.
    pub(crate) fn newest_file(&self, name: &str) -> Result<Option<String>, TextError> {
        if !self.place(name)?.join("database.toml").is_file() {
            return Ok(None);
        }
        let newest = self.files(name)?.pop();
        Ok(newest.and_then(|file| Some(file.path.file_name()?.to_str()?.to_owned())))
    }

    /// The version in a file of this name.
    pub(crate) fn read_file(&self, name: &str, file: &str) -> Result<Version, TextError> {
        let path = self.place(name)?.join(file);
        VersionFile::of(&path).ok_or_else(|| TextError::damaged(&path, "it is no version"))?.read()
    }

    /// Stores a version.
    pub fn keep(&self, name: &str, version: &Version) -> Result<(), TextError> {
        let place = self.place(name)?;
        let bytes = version.to_bytes().map_err(|why| TextError::damaged(&place, why))?;
        let file = format!("summary-{}-{:016x}.parquet", version.facts.time_ms, xxh3_64(&bytes));
        write_whole(&place.join(file), &bytes)
    }
}

/// A version's file, as described by its name.
struct VersionFile {
    path: PathBuf,
    time: Timestamp,
    hash: u64,
}

impl VersionFile {
    fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.strip_prefix("summary-")?.strip_suffix(".parquet")?;
        let (time, hash) = name.rsplit_once('-')?;
        let hash = u64::from_str_radix(hash, 16).ok()?;
        Some(Self { path: path.to_owned(), time: Timestamp::from_millis(time.parse().ok()?), hash })
    }

    fn read(&self) -> Result<Version, TextError> {
        let bytes = fs::read(&self.path).map_err(TextError::file("read", &self.path))?;
        if xxh3_64(&bytes) != self.hash {
            return Err(TextError::damaged(&self.path, "its bytes are not those that were written"));
        }
        Version::from_bytes(bytes.into()).map_err(|why| TextError::damaged(&self.path, why))
    }
}

/// Writes a file atomically: it is there whole or not at all.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> Result<(), TextError> {
    let pending = path.with_extension("pending");
    let mut file = File::create(&pending).map_err(TextError::file("write", &pending))?;
    file.write_all(content).and_then(|()| file.sync_all()).map_err(TextError::file("write", &pending))?;
    fs::rename(&pending, path).map_err(TextError::file("write", path))?;
    sync_directory(path)
}

/// Appends a line to a file. Readers ignore an incomplete line that a kill leaves.
pub(crate) fn append_line(path: &Path, line: &str) -> Result<(), TextError> {
    let mut file =
        OpenOptions::new().create(true).append(true).open(path).map_err(TextError::file("write", path))?;
    file.write_all(format!("{line}\n").as_bytes()).map_err(TextError::file("write", path))
}

fn sync_directory(path: &Path) -> Result<(), TextError> {
    let directory = path.parent().unwrap_or(Path::new("."));
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(TextError::file("write", directory))
}

fn check_name(name: &str) -> Result<(), TextError> {
    let is_sound = name.len() <= NAME_BYTES_MAX
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
    if is_sound { Ok(()) } else { Err(TextError::Name(name.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Place;
    use crate::summary::Summary;
    use crate::version::{Facts, Kind, Size};
    use crate::words::Wording;

    fn version(time_ms: i64) -> Version {
        let facts = Facts {
            time_ms,
            kind: Kind::Complete,
            size: Size::Counted(1.0),
            documents_read: 1,
            wording: Wording::default(),
            notes: Vec::new(),
            sampling: None,
        };
        Version { facts, summary: Summary::from_words(1.0, vec![("a", 1.0)]) }
    }

    #[test]
    fn versions_are_found_by_their_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = SummaryStore::in_directory(folder.path());
        let database = Database::of(Place::Dir { path: "/texts".into() });
        store.add("here", &database).expect("it is added");
        assert!(matches!(store.add("here", &database), Err(TextError::Exists(_))));
        assert_eq!(store.names().expect("names"), ["here"]);
        assert_eq!(store.database("here").expect("it is there"), database);
        for time in [3000, 1000, 2000] {
            store.keep("here", &version(time)).expect("it is kept");
        }
        let at = |moment| {
            store
                .version_at("here", Timestamp::from_millis(moment))
                .expect("it reads")
                .map(|version| version.facts.time_ms)
        };
        assert_eq!((at(999), at(1000), at(2500), at(i64::MAX)), (None, Some(1000), Some(2000), Some(3000)));
    }

    #[test]
    fn what_a_kill_left_is_no_version() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = SummaryStore::in_directory(folder.path());
        store.add("here", &Database::of(Place::Dir { path: "/texts".into() })).expect("it is added");
        store.keep("here", &version(1000)).expect("it is kept");
        fs::write(store.place("here").expect("a place").join("summary-2000-00.pending"), b"PAR1half")
            .expect("written");
        assert_eq!(store.latest("here").expect("it reads").map(|version| version.facts.time_ms), Some(1000));
    }

    #[test]
    fn a_version_with_a_damaged_byte_is_refused_whichever_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = SummaryStore::in_directory(folder.path());
        store.add("here", &Database::of(Place::Dir { path: "/texts".into() })).expect("it is added");
        store.keep("here", &version(1000)).expect("it is kept");
        let path = store.files("here").expect("files").remove(0).path;
        let whole = fs::read(&path).expect("it reads");
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&path, bytes).expect("it is written");
            assert!(matches!(store.latest("here"), Err(TextError::Damaged { .. })), "byte {at}");
        }
        fs::write(&path, &whole[..whole.len() / 2]).expect("it is cut");
        assert!(matches!(store.latest("here"), Err(TextError::Damaged { .. })));
    }

    #[test]
    fn names_do_not_lead_out_of_the_shelf() {
        for name in ["", "..", "../x", "a/b", ".hidden", "a b", "-x", "ä"] {
            assert!(check_name(name).is_err(), "{name}");
        }
        assert!(check_name("pub-med_2.org").is_ok());
    }
}
