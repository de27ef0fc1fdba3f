//! Inverted index over all summaries of a summary store, kept in files and brought up to date at every
//! opening.
//!
//! ```text
//! DIR/db/.index/segment-TIME-HASH.index   the summaries of some databases; see `segment` for the form
//! ```
//!
//! A segment is never altered. Each time the catalogue is opened, it determines the newest version of each
//! database and ignores what segments hold of other versions. Databases whose newest version is in no segment
//! are read and written as new segments. Segments that are mostly obsolete are rewritten. So the cost of a
//! query depends on its own words, whatever changed since the last query, and nobody must notify the
//! catalogue of changes.
//!
//! The newest version is found by reading a database's folder. A folder that was not altered since a segment
//! was made is not read again; only its modification time is checked. Every query pays for that check for
//! every database, whether the database has the words or not.
//!
//! # Promises
//! - A selection uses the newest version of every database, whatever was killed, removed or damaged in
//!   between.
//! - A damaged segment is removed and rebuilt. If segments cannot be written, they are built in memory.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use xxhash_rust::xxh3::xxh3_64;

use super::ranking::{Algorithm, Choice, Posting, Ranked, Ranking};
use super::segment::{self, Damaged, Held, Segment};
use crate::error::TextError;
use crate::summary::Summary;
use crate::summary_store::{SummaryStore, write_whole};

/// Maximum number of postings of a new segment (one per word and database): some 200 MB while it is built.
const POSTINGS_MAX: usize = 4_000_000;

/// Maximum number of segments. Beyond it the smaller ones are merged.
const SEGMENTS_MAX: usize = 128;

/// Nanoseconds after its last alteration within which a folder may be altered again without a new
/// modification time.
const UNSURE_NS: u64 = 2_000_000_000;

/// Number of damaged segments after which a query fails.
const DAMAGED_MAX: usize = 3;

/// Index over the summaries of all databases of a summary store.
#[derive(Debug)]
pub struct Catalogue {
    store: SummaryStore,
    databases: Vec<Ranked>,
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    /// `None` for a segment that exists only in memory.
    path: Option<PathBuf>,
    segment: Segment,
    /// For each database of the segment its index among all databases. `None` if the segment's version is not
    /// the newest.
    places: Vec<Option<u32>>,
}

/// A database and its newest version.
#[derive(Clone, Debug)]
struct Standing {
    name: String,
    version: String,
    folder_ns: u64,
}

impl Catalogue {
    /// Opens the catalogue of a summary store and brings it up to date.
    pub fn of(store: &SummaryStore) -> Result<Self, TextError> {
        let mut parts = open_all(&folder_of(store));
        let standings = standings(store, &parts)?;
        let missing = place(&mut parts, &standings);
        let (kept, dissolved) = sort_out(parts, !missing.is_empty());
        let again = dissolved.iter().flat_map(|part| part.live(&standings));
        let wanted: Vec<Standing> = missing.iter().copied().chain(again).cloned().collect();
        let mut parts = kept;
        if !wanted.is_empty() {
            parts.extend(made(store, &wanted)?);
            // Assign the new segments too.
            place(&mut parts, &standings);
        }
        for part in dissolved {
            part.remove();
        }
        let mut ranked: Vec<Option<Ranked>> = vec![None; standings.len()];
        for part in &parts {
            for (held, place) in part.segment.databases.iter().zip(&part.places) {
                if let Some(place) = place {
                    ranked[*place as usize] = Some(Ranked {
                        name: held.name.clone(),
                        documents: held.documents,
                        total: held.total,
                        wording: held.wording,
                    });
                }
            }
        }
        let databases = ranked.into_iter().flatten().collect::<Vec<_>>();
        assert_eq!(databases.len(), standings.len(), "every database was placed");
        Ok(Self { store: store.clone(), databases, parts })
    }

    /// Number of databases with a summary.
    pub fn len(&self) -> usize {
        self.databases.len()
    }

    /// Whether no database has a summary.
    pub fn is_empty(&self) -> bool {
        self.databases.is_empty()
    }

    /// The databases that contain words of the query, best first, at most `top`.
    pub fn select(
        &mut self,
        query: &str,
        algorithm: Algorithm,
        top: usize,
    ) -> Result<Vec<Choice>, TextError> {
        for _ in 0..DAMAGED_MAX {
            match Ranking::new(&self.databases, query, |word| self.who_has(word)) {
                Ok(ranking) => return Ok(ranking.best(algorithm, top)),
                Err(number) => {
                    self.parts.swap_remove(number).remove();
                    *self = Self::of(&self.store)?;
                }
            }
        }
        Err(TextError::damaged(&folder_of(&self.store), "its files are damaged again and again"))
    }

    /// The databases that contain a word, or the number of the damaged segment.
    fn who_has(&self, word: &str) -> Result<Vec<Posting>, usize> {
        let mut all = Vec::new();
        for (number, part) in self.parts.iter().enumerate() {
            let found = part.segment.who_has(word).map_err(|Damaged| number)?;
            all.extend(
                found
                    .into_iter()
                    .filter_map(|(place, frequency)| Some((part.places[place as usize]?, frequency))),
            );
        }
        Ok(all)
    }
}

impl Part {
    fn of(path: Option<PathBuf>, segment: Segment) -> Self {
        Self { path, places: vec![None; segment.databases.len()], segment }
    }

    fn live<'a>(&self, standings: &'a [Standing]) -> impl Iterator<Item = &'a Standing> {
        self.places.iter().flatten().map(|place| &standings[*place as usize])
    }

    fn live_count(&self) -> usize {
        self.places.iter().flatten().count()
    }

    fn remove(self) {
        if let Some(path) = self.path {
            // If the removal fails, the file is ignored at the next opening too.
            let _ = fs::remove_file(path);
        }
    }
}

fn folder_of(store: &SummaryStore) -> PathBuf {
    store.directory().join(".index")
}

/// All segments that can be opened, newest first. Those that cannot are removed.
fn open_all(folder: &Path) -> Vec<Part> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_segment = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "index");
    let mut paths: Vec<PathBuf> =
        entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).filter(is_segment).collect();
    paths.sort_by(|a, b| b.cmp(a));
    let mut parts = Vec::new();
    for path in paths {
        match Segment::open(&path) {
            Ok(segment) => parts.push(Part::of(Some(path), segment)),
            Err(Damaged) => _ = fs::remove_file(path),
        }
    }
    parts
}

/// Every database that has a summary, with its newest version.
fn standings(store: &SummaryStore, parts: &[Part]) -> Result<Vec<Standing>, TextError> {
    let mut known: HashMap<&str, &Held> = HashMap::new();
    for held in parts.iter().rev().flat_map(|part| &part.segment.databases) {
        known.insert(&held.name, held);
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos() as u64);
    let mut standings = Vec::new();
    for (name, altered) in store.folders_with_times()? {
        // Within the resolution of modification times, a later alteration may not show.
        let folder_ns = if altered.saturating_add(UNSURE_NS) < now { altered } else { 0 };
        let version = match known.get(name.as_str()) {
            Some(held) if held.folder_ns == folder_ns && folder_ns > 0 => Some(held.version.clone()),
            _ => store.newest_file(&name)?,
        };
        standings.extend(version.map(|version| Standing { name, version, folder_ns }));
    }
    standings.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(standings)
}

/// Assigns every database to the newest segment that holds its newest version. Returns the databases without
/// a segment.
fn place<'a>(parts: &mut [Part], standings: &'a [Standing]) -> Vec<&'a Standing> {
    let mut waiting: HashMap<(&str, &str), u32> =
        (0..).zip(standings).map(|(place, it)| ((it.name.as_str(), it.version.as_str()), place)).collect();
    for part in parts {
        let held = &part.segment.databases;
        part.places =
            held.iter().map(|held| waiting.remove(&(held.name.as_str(), held.version.as_str()))).collect();
    }
    let mut missing: Vec<u32> = waiting.into_values().collect();
    missing.sort_unstable();
    missing.into_iter().map(|place| &standings[place as usize]).collect()
}

/// Splits segments into those to keep and those to rebuild: the ones that are at least half obsolete and, if
/// a segment is to be added to too many, the smallest.
fn sort_out(parts: Vec<Part>, is_one_added: bool) -> (Vec<Part>, Vec<Part>) {
    let (mut kept, mut dissolved): (Vec<Part>, Vec<Part>) =
        parts.into_iter().partition(|part| part.places.len() < 2 * part.live_count());
    if is_one_added && SEGMENTS_MAX <= kept.len() {
        kept.sort_by_key(|part| std::cmp::Reverse(part.live_count()));
        dissolved.extend(kept.split_off(SEGMENTS_MAX / 2));
    }
    (kept, dissolved)
}

/// Builds new segments of these databases, written to files if possible.
fn made(store: &SummaryStore, standings: &[Standing]) -> Result<Vec<Part>, TextError> {
    let mut parts = Vec::new();
    let (mut databases, mut summaries, mut postings) = (Vec::new(), Vec::<Summary>::new(), 0);
    for (number, standing) in standings.iter().enumerate() {
        let version = store.read_file(&standing.name, &standing.version)?;
        let Ranked { name, documents, total, wording } =
            Ranked::of(&standing.name, version.facts.wording, &version.summary);
        databases.push(Held {
            name,
            version: standing.version.clone(),
            folder_ns: standing.folder_ns,
            documents,
            total,
            wording,
        });
        postings += version.summary.len();
        summaries.push(version.summary);
        if POSTINGS_MAX <= postings || number + 1 == standings.len() {
            parts.push(keep(&folder_of(store), segment::write(&databases, &summaries))?);
            databases.clear();
            summaries.clear();
            postings = 0;
        }
    }
    Ok(parts)
}

/// Writes a segment and opens it. If it cannot be written, it stays in memory.
fn keep(folder: &Path, bytes: Vec<u8>) -> Result<Part, TextError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis());
    // The process id keeps two processes from writing the same file.
    let name = format!("segment-{now:013}-{:016x}-{}.index", xxh3_64(&bytes), std::process::id());
    let path = folder.join(name);
    let is_written = fs::create_dir_all(folder).is_ok() && write_whole(&path, &bytes).is_ok();
    let (path, segment) = match Segment::open(&path) {
        Ok(segment) if is_written => (Some(path), Ok(segment)),
        _ => (None, Segment::in_memory(bytes)),
    };
    let segment = segment.map_err(|Damaged| TextError::damaged(folder, "a segment cannot be read back"))?;
    Ok(Part::of(path, segment))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::{Database, Place};
    use crate::select::Index;
    use crate::version::{Facts, Kind, Size, Version};
    use crate::words::Wording;

    fn keep_version(store: &SummaryStore, name: &str, time_ms: i64, words: &[(&str, f64)]) {
        if store.database(name).is_err() {
            store.add(name, &Database::of(Place::Dir { path: "/texts".into() })).expect("it is added");
        }
        let facts = Facts {
            time_ms,
            kind: Kind::Complete,
            size: Size::Counted(10.0),
            documents_read: 10,
            wording: Wording::default(),
            notes: Vec::new(),
            sampling: None,
        };
        let version = Version { facts, summary: Summary::from_words(10.0, words.to_vec()) };
        store.keep(name, &version).expect("it is kept");
    }

    /// The catalogue selects what an in-memory index of the newest versions would.
    #[track_caller]
    fn check(store: &SummaryStore, segments: usize) {
        let mut index = Index::default();
        for name in store.names().expect("names") {
            if let Some(version) = store.latest(&name).expect("it reads") {
                index.add(&name, version.facts.wording, &version.summary);
            }
        }
        let mut catalogue = Catalogue::of(store).expect("it opens");
        for algorithm in [Algorithm::Cori, Algorithm::BGloss, Algorithm::Kl] {
            for query in ["saturn", "rings saturn", "nothing", "new old"] {
                let chosen = catalogue.select(query, algorithm, 10).expect("it reads");
                let expected = index.select(query, algorithm, 10);
                let names =
                    |choices: &[Choice]| choices.iter().map(|choice| choice.name.clone()).collect::<Vec<_>>();
                assert_eq!(names(&chosen), names(&expected), "{query} {algorithm:?}");
                for (one, other) in chosen.iter().zip(&expected) {
                    assert!((one.score - other.score).abs() < 1e-9, "{one:?} {other:?}");
                    assert_eq!(one.words, other.words);
                }
            }
        }
        assert_eq!(fs::read_dir(folder_of(store)).map_or(0, Iterator::count), segments);
    }

    #[test]
    fn a_selection_goes_by_the_newest_versions_whatever_happened() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = SummaryStore::in_directory(folder.path());
        check(&store, 0);
        keep_version(&store, "a", 1, &[("saturn", 3.0), ("old", 2.0)]);
        keep_version(&store, "b", 1, &[("saturn", 1.0), ("rings", 4.0)]);
        keep_version(&store, "c", 1, &[("rings", 1.0)]);
        check(&store, 1);
        check(&store, 1);
        // A new version, a new database, and a removed one.
        keep_version(&store, "a", 2, &[("saturn", 5.0), ("new", 2.0)]);
        keep_version(&store, "d", 1, &[("old", 1.0)]);
        check(&store, 2);
        fs::remove_dir_all(store.place("c").expect("a place")).expect("it is removed");
        // One of three databases of the first segment is still current: the segment is rebuilt.
        check(&store, 2);
        // A partly written segment is ignored.
        let segment = |n: usize| {
            let mut paths: Vec<PathBuf> = fs::read_dir(folder_of(&store))
                .expect("a folder")
                .map(|entry| entry.expect("a file").path())
                .collect();
            paths.sort();
            paths.remove(n)
        };
        let path = segment(0);
        let whole = fs::read(&path).expect("it reads");
        fs::write(&path, &whole[..whole.len() / 2]).expect("it is cut");
        check(&store, 2);
        // Damage in a place that only a query for the word reads.
        let path = segment(0);
        let mut bytes = fs::read(&path).expect("it reads");
        bytes[0] ^= 1;
        fs::write(&path, bytes).expect("it is damaged");
        check(&store, 2);
        fs::remove_dir_all(folder_of(&store)).expect("it is removed");
        check(&store, 1);
    }

    #[test]
    fn many_refreshes_leave_few_segments() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = SummaryStore::in_directory(folder.path());
        for n in 0..SEGMENTS_MAX + 3 {
            keep_version(&store, &format!("d{n}"), 1, &[("saturn", 1.0)]);
            Catalogue::of(&store).expect("it opens");
        }
        let segments = fs::read_dir(folder_of(&store)).expect("a folder").count();
        assert!(segments <= SEGMENTS_MAX / 2 + 4, "{segments}");
        assert_eq!(Catalogue::of(&store).expect("it opens").len(), SEGMENTS_MAX + 3);
    }
}
