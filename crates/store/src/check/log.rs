//! Checks the log, and whether the state, the History, the URL files and the options agree with its steps.
//!
//! The last value that the log has for a key must be the one in the state. The visits of the log must be
//! those of the History, and its URLs those of the URL files. Values from steps before the oldest log file
//! cannot be compared.
//!
//! # Promises
//! - Changes nothing. Leftovers of a crash are no fault.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::hash::{DefaultHasher, Hasher as _};
use std::path::Path;

use freshet_protocol::ids::UrlId;
use xxhash_rust::xxh3::xxh3_64;

use crate::all_urls::AllUrls;
use crate::counters::Counters;
use crate::directory::folders::relative;
use crate::error::StoreError;
use crate::findings::Findings;
use crate::history::files::checksum;
use crate::key_value::{Space, View};
use crate::log::event::{OPTIONS, OPTIONS_FILE};
use crate::log::files::{LogFile, listed};
use crate::log::frame::{Frame, Kind};
use crate::log::step::entries;
use crate::synced::{self, Synced};
use crate::url_files::{self, FOLDER, UrlRow};

/// Maximum number of faults of one kind that are listed; the others are only counted.
const NAMED: u64 = 5;

/// Result of the log check that the check of the History uses: the number of every visit in the log, with the
/// hash of its record.
pub(crate) type LoggedVisits = HashMap<u64, u64>;

/// Checks the log, and compares the state with it.
pub(crate) fn check_log(
    directory: &Path,
    view: &dyn View,
    counters: &Counters,
    findings: &mut Findings,
) -> Result<LoggedVisits, StoreError> {
    let synced = match synced::read(directory) {
        Ok(synced) => Some(synced),
        Err(StoreError::Behind { reason, .. }) => {
            findings.add(synced::FILE_NAME, reason);
            None
        }
        Err(error) => return Err(error),
    };
    if synced.as_ref().is_some_and(|synced| synced.number > 1) && synced::whole_slots(directory) < 2 {
        findings.leftovers.push(format!("{}: one of its two slots is torn", synced::FILE_NAME));
    }
    let files = listed(directory)?;
    if files.is_empty() {
        findings.add_loss("log", "it is missing", "every step since the History was written".to_owned());
    }
    let mut logged = LoggedVisits::new();
    let mut seen = HashSet::new();
    let mut wrong = 0;
    let mut later: Option<Later> = None;
    // Whether steps are missing after those of a file. One of them may have replaced any value.
    let mut is_behind_gap = false;
    // From the newest step to the oldest: the first value seen of a key is its current one.
    for (at, (first, path)) in files.iter().enumerate().rev() {
        let file = LogFile::read_any(path, *first)?;
        let is_last = at + 1 == files.len();
        let (frames, is_damaged) = whole_frames(directory, &file, is_last, synced.as_ref(), findings);
        let end = frames.last().map_or(0, |last| last.step);
        is_behind_gap |= is_damaged || is_last && end < counters.commits;
        if let (Some(later), Some(last)) = (&later, frames.last())
            && last.step + 1 != later.first
        {
            is_behind_gap = true;
            if !later.says_gap {
                let first = later.first;
                let problem =
                    format!("it ends at step {}, and the file behind it begins with {first}", last.step);
                findings.add(relative(path, directory), problem);
            }
        }
        later = frames.first().map(|base| Later { first: *first, says_gap: has_gap(base) });
        // Later steps are applied at the next start, or a running crawl wrote them after the
        // state was copied.
        let is_known = |frame: &&Frame| frame.kind == Kind::Step && frame.step <= counters.commits;
        for frame in frames.iter().rev().filter(is_known) {
            if is_behind_gap {
                log_visits(frame, &mut logged);
            } else {
                wrong += compare_step(view, frame, &mut seen, &mut logged, findings)?;
            }
        }
    }
    if wrong > NAMED {
        findings.add("state", format!("{} more values are not those of the log", wrong - NAMED));
    }
    Ok(logged)
}

/// The log file that follows another one, as needed to check that other one.
struct Later {
    /// The first step that it may hold.
    first: u64,
    /// Whether it records that steps before it were lost.
    says_gap: bool,
}

/// Collects the visits of a step. A visit never gets another value.
fn log_visits(frame: &Frame, logged: &mut LoggedVisits) {
    for (space, key, value) in entries(&frame.content).filter_map(Result::ok) {
        if let (Space::Visits, Some(value)) = (space, &value) {
            logged.insert(visit_number(&key), xxh3_64(value));
        }
    }
}

fn visit_number(key: &[u8]) -> u64 {
    key.try_into().map_or(u64::MAX, u64::from_be_bytes)
}

/// The valid records of a file up to the first invalid one, and whether that one is damaged (not
/// merely torn).
fn whole_frames(
    directory: &Path,
    file: &LogFile,
    is_last: bool,
    synced: Option<&Synced>,
    findings: &mut Findings,
) -> (Vec<Frame>, bool) {
    let name = relative(&file.path, directory);
    match (file.store(), synced) {
        (None, _) => findings.add(&name, "it does not begin as a file of a log does"),
        (Some(found), Some(synced)) if found != synced.store => findings.add(&name, "it is of another crawl"),
        _ => {}
    }
    let mut frames = file.frames();
    let found: Vec<_> = frames.by_ref().collect();
    let (whole, length) = (frames.end() as u64, file.bytes().len() as u64);
    let durable = match synced {
        Some(synced) if synced.log == file.first => synced.log_bytes,
        Some(synced) if synced.log > file.first => length,
        _ => 0,
    };
    let is_damaged = whole < durable || whole < length && !is_last;
    if is_damaged {
        let holds = format!("steps from {} on", found.last().map_or(file.first, |last| last.step + 1));
        findings.add_loss(&name, format!("it cannot be read from byte {whole} on"), holds);
    } else if whole < length {
        findings.leftovers.push(format!("{name}: {} bytes of a record without its end", length - whole));
    }
    let is_in_order = found.iter().enumerate().all(|(at, frame)| frame.step == file.first + at as u64 - 1);
    if !is_in_order {
        findings.add(&name, "its steps are not one after the other");
    }
    (found, is_damaged)
}

/// Whether a file records that the steps before it were lost.
fn has_gap(base: &Frame) -> bool {
    entries(&base.content)
        .filter_map(Result::ok)
        .any(|(space, key, _)| space == Space::Meta && key == crate::ledger::GAP)
}

/// Compares the values of a step with the state, except those that a later step replaced.
fn compare_step(
    view: &dyn View,
    frame: &Frame,
    seen: &mut HashSet<u64>,
    logged: &mut LoggedVisits,
    findings: &mut Findings,
) -> Result<u64, StoreError> {
    let said: Vec<_> = entries(&frame.content).filter_map(Result::ok).collect();
    let mut wrong = 0;
    for (space, key, value) in said.into_iter().rev() {
        if let (Space::Visits, Some(value)) = (space, &value) {
            logged.insert(visit_number(&key), xxh3_64(value));
        }
        // These are derived from records that are compared.
        if matches!(space, Space::UrlKeys | Space::SiteNames | Space::Places) {
            continue;
        }
        if seen.insert(hash(space, &key)) && view.get(space, &key)? != value {
            wrong += 1;
            if wrong <= NAMED {
                let key = crate::error::hexadecimal(&key);
                let problem = format!("{key} is not what step {} of the log made it", frame.step);
                findings.add(format!("state ({})", space.name()), problem);
            }
        }
    }
    Ok(wrong)
}

fn hash(space: Space, key: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u8(space as u8);
    hasher.write(key);
    hasher.finish()
}

/// Checks that the URL files hold every URL below `urls_settled` once, with its known values.
pub(crate) fn check_url_files(
    directory: &Path,
    view: &dyn View,
    counters: &Counters,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let all_urls = AllUrls::new(view, 0);
    let mut next = 0;
    for (name, record) in url_files::registered(view)? {
        let path = directory.join(FOLDER).join(&name);
        let shown = relative(&path, directory);
        if checksum(&path).ok() != Some(record.checksum) {
            findings.add(&shown, "it is missing or damaged: its checksum is another one");
            next += record.rows;
            continue;
        }
        let mut wrong = 0_u64;
        let read = url_files::read_file(&path, &mut |row| {
            let known = all_urls.get(UrlId(row.number)).ok().flatten();
            let is_right = u64::from(row.number) == next
                && known.is_some_and(|known| is_same(&UrlRow::of(UrlId(row.number), &known), &row));
            wrong += u64::from(!is_right);
            next += 1;
        });
        if let Err(error) = read {
            findings.add(&shown, error.to_string());
        } else if wrong > 0 {
            findings.add(&shown, format!("{wrong} rows are not the URLs that are known"));
        }
    }
    if next != counters.urls_settled {
        let problem = format!("URLs in files: {next} are there, {} should be", counters.urls_settled);
        findings.add(FOLDER, problem);
    }
    Ok(())
}

/// Whether a row is that of a URL. The depth of a URL may have decreased since: it was found again
/// nearer to a seed.
fn is_same(known: &UrlRow, row: &UrlRow) -> bool {
    known.url == row.url && known.time == row.time && known.source == row.source && known.depth <= row.depth
}

/// Checks that the options file holds the last options given to the crawl.
pub(crate) fn check_options(
    directory: &Path,
    view: &dyn View,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let Some(told) = view.get(Space::Commands, OPTIONS.as_bytes())? else { return Ok(()) };
    match fs::read(directory.join(OPTIONS_FILE)) {
        Ok(found) if found == told => {}
        Ok(_) => findings.add(OPTIONS_FILE, "it is not what the crawl was told last"),
        Err(error) => findings.add(OPTIONS_FILE, format!("it cannot be read: {error}")),
    }
    Ok(())
}
