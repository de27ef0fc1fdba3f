//! The start-up index: a cache of the URL data needed at start-up, in one file that is appended to and read
//! sequentially.
//!
//! Reading the records of ten million URLs takes long. The start-up needs little of them, and that never
//! changes, because a URL and a page keep their numbers for ever. So it is written a second time, in pieces,
//! each after the commit that added its URLs. The writer defines the contents of a piece; `form` is the
//! version of its encoding.
//!
//! # Promises
//! - Pieces are returned in the order in which they were written, and together cover the first URLs and the
//!   first pages without gaps.
//! - The store takes precedence. A piece that is damaged, covers more than the store has, or is rejected by
//!   its reader is truncated with everything after it. An index of another store or form is started again.
//!   The file may be missing, and may be removed whenever the store is closed.
//! - A failed write is no error: nothing more is written until the store is opened again.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::counters::Counters;
use crate::error::StoreError;
use crate::findings::Findings;

/// The name of the file.
pub(crate) const FILE_NAME: &str = "startup-index";

/// The magic bytes of the file, before the identity of the store (16 bytes) and the form (4 bytes).
const MAGIC: &[u8; 16] = b"freshet start1\r\n";
/// Offset of the first piece.
const HEAD: u64 = 36;
/// Size of the header of a piece: the length of its content, the numbers of URLs and pages covered with it, 4
/// bytes each, and the checksum of these and the content.
const PIECE_HEAD: usize = 20;
/// Maximum valid length of a content, so that damage cannot cause a huge allocation.
const CONTENT_MAX: u32 = 64 << 20;

/// How many URLs and pages a start-up index covers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Reach {
    /// It covers the URLs below this number.
    pub urls: u32,
    /// It covers the pages below this number.
    pub pages: u32,
}

impl Reach {
    /// The reach of a complete index of this store.
    pub fn of(counters: &Counters) -> Self {
        Self { urls: counters.urls as u32, pages: counters.pages as u32 }
    }

    fn is_within(self, limit: Self) -> bool {
        self.urls <= limit.urls && self.pages <= limit.pages
    }
}

/// A piece of a start-up index.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Piece<'a> {
    /// The reach of the pieces before it.
    pub from: Reach,
    /// The reach including it.
    pub to: Reach,
    /// Its content.
    pub content: &'a [u8],
}

/// The start-up index of an open store.
#[derive(Debug)]
pub struct StartupIndex {
    /// None if it cannot be written.
    file: Option<File>,
    reach: Reach,
}

impl StartupIndex {
    /// Opens the start-up index in this directory, of the store with this identity. Passes each of its pieces
    /// to `each` until that rejects one. Truncates the file after the last valid and accepted piece.
    pub(crate) fn open(
        directory: &Path,
        store: [u8; 16],
        form: u32,
        limit: Reach,
        mut each: impl FnMut(&Piece<'_>) -> bool,
    ) -> Self {
        let head = head(store, form);
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let Ok(mut file) = options.open(directory.join(FILE_NAME)) else {
            return Self { file: None, reach: Reach::default() };
        };
        let mut pieces = Pieces::of(&file, &head, limit);
        while let Some(piece) = pieces.as_mut().and_then(Pieces::read_next) {
            if !each(&piece) {
                break;
            }
            if let Some(pieces) = &mut pieces {
                pieces.believe();
            }
        }
        let (end, reach) = pieces.map_or((0, Reach::default()), |pieces| (pieces.end, pieces.reach));
        let is_ready = file
            .set_len(end)
            .and_then(|()| file.seek(SeekFrom::Start(end)))
            .and_then(|_| if end == 0 { file.write_all(&head) } else { Ok(()) });
        Self { file: is_ready.is_ok().then_some(file), reach }
    }

    /// The same for readers: truncates nothing, and nothing can be appended.
    pub(crate) fn look(
        directory: &Path,
        store: [u8; 16],
        form: u32,
        limit: Reach,
        mut each: impl FnMut(&Piece<'_>) -> bool,
    ) -> Self {
        let file = File::open(directory.join(FILE_NAME)).ok();
        let mut pieces = file.as_ref().and_then(|file| Pieces::of(file, &head(store, form), limit));
        while let Some(piece) = pieces.as_mut().and_then(Pieces::read_next) {
            if !each(&piece) {
                break;
            }
            if let Some(pieces) = &mut pieces {
                pieces.believe();
            }
        }
        Self { file: None, reach: pieces.map_or(Reach::default(), |pieces| pieces.reach) }
    }

    /// How many URLs and pages it covers.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// Appends a piece that covers everything between the current reach and `to`, all of which must
    /// be committed.
    ///
    /// # Panics
    /// If `to` is below the current reach.
    pub fn append(&mut self, to: Reach, content: &[u8]) {
        assert!(self.reach.is_within(to), "{to:?} is behind {:?}", self.reach);
        let Some(file) = &mut self.file else { return };
        let is_short = content.len() <= CONTENT_MAX as usize;
        if is_short && file.write_all(&piece(to, content)).is_ok() {
            self.reach = to;
        } else {
            // A partly written piece is invalid, and is truncated at the next start.
            self.file = None;
        }
    }
}

/// Reads the pieces of a file.
struct Pieces<'a> {
    input: BufReader<&'a File>,
    limit: Reach,
    /// The end and the reach of the accepted pieces.
    end: u64,
    reach: Reach,
    /// The same including the piece that was read last.
    next_end: u64,
    next_reach: Reach,
    content: Vec<u8>,
}

impl<'a> Pieces<'a> {
    /// The pieces of a file with this header.
    fn of(file: &'a File, head: &[u8], limit: Reach) -> Option<Self> {
        let mut input = BufReader::with_capacity(1 << 20, file);
        let mut found = [0; HEAD as usize];
        input.read_exact(&mut found).ok()?;
        (found == *head).then(|| Self {
            input,
            limit,
            end: HEAD,
            reach: Reach::default(),
            next_end: HEAD,
            next_reach: Reach::default(),
            content: Vec::new(),
        })
    }

    /// The next piece, if it is valid and within the limit.
    fn read_next(&mut self) -> Option<Piece<'_>> {
        let mut head = [0; PIECE_HEAD];
        self.input.read_exact(&mut head).ok()?;
        let number = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
        let (length, to) = (number(0), Reach { urls: number(4), pages: number(8) });
        if CONTENT_MAX < length || !to.is_within(self.limit) || !self.reach.is_within(to) {
            return None;
        }
        self.content.clear();
        let read = self.input.by_ref().take(u64::from(length)).read_to_end(&mut self.content);
        let is_whole = read.is_ok_and(|read| read == length as usize);
        if !is_whole || checksum(&head[..12], &self.content).to_le_bytes() != head[12..] {
            return None;
        }
        self.next_end = self.end + PIECE_HEAD as u64 + u64::from(length);
        self.next_reach = to;
        Some(Piece { from: self.reach, to, content: &self.content })
    }

    /// Accepts the piece that was read last.
    fn believe(&mut self) {
        (self.end, self.reach) = (self.next_end, self.next_reach);
    }
}

/// Reports damage to the start-up index of a store with this reach. The index holds only copies, so damage to
/// it is no loss.
pub(crate) fn check(directory: &Path, store: [u8; 16], limit: Reach, findings: &mut Findings) {
    let file = match File::open(directory.join(FILE_NAME)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(error) => return findings.add(FILE_NAME, error.to_string()),
    };
    let mut head = [0; HEAD as usize];
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    if (&file).read_exact(&mut head).is_err() || head[..32] != self::head(store, 0)[..32] {
        findings.leftovers.push(format!("{FILE_NAME}: it is of no use, and will be made anew"));
        return;
    }
    let Some(mut pieces) = (&file).rewind().ok().and_then(|()| Pieces::of(&file, &head, limit)) else {
        return;
    };
    while pieces.read_next().is_some() {
        pieces.believe();
    }
    if pieces.end < length {
        let bytes = length - pieces.end;
        findings
            .leftovers
            .push(format!("{FILE_NAME}: {bytes} bytes at its end are of no use, and will be made anew"));
    }
}

/// Removes the start-up index of a closed store; the next start rebuilds it.
pub(crate) fn remove(directory: &Path) -> Result<(), StoreError> {
    let path = directory.join(FILE_NAME);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::file("remove", &path)(error))
        }
        _ => Ok(()),
    }
}

fn head(store: [u8; 16], form: u32) -> [u8; HEAD as usize] {
    let mut head = [0; HEAD as usize];
    head[..16].copy_from_slice(MAGIC);
    head[16..32].copy_from_slice(&store);
    head[32..].copy_from_slice(&form.to_le_bytes());
    head
}

fn piece(to: Reach, content: &[u8]) -> Vec<u8> {
    let mut piece = Vec::with_capacity(PIECE_HEAD + content.len());
    piece.extend((content.len() as u32).to_le_bytes());
    piece.extend(to.urls.to_le_bytes());
    piece.extend(to.pages.to_le_bytes());
    piece.extend(checksum(&piece, content).to_le_bytes());
    piece.extend(content);
    piece
}

/// The checksum of a piece. The header is hashed separately, so that the content need not be copied.
fn checksum(head: &[u8], content: &[u8]) -> u64 {
    xxh3_64(head) ^ xxh3_64(content).rotate_left(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORE: [u8; 16] = [7; 16];
    const ALL: Reach = Reach { urls: 100, pages: 100 };

    fn reach(urls: u32, pages: u32) -> Reach {
        Reach { urls, pages }
    }

    /// Opens a start-up index. Returns the contents of its pieces, and the index.
    fn open(directory: &Path, store: [u8; 16], form: u32, limit: Reach) -> (Vec<Vec<u8>>, StartupIndex) {
        let mut said = Vec::new();
        let startup_index = StartupIndex::open(directory, store, form, limit, |piece| {
            said.push(piece.content.to_vec());
            true
        });
        (said, startup_index)
    }

    /// A start-up index of three pieces in a new directory.
    fn written() -> tempfile::TempDir {
        let place = tempfile::tempdir().expect("a directory");
        let (said, mut startup_index) = open(place.path(), STORE, 1, ALL);
        assert!(said.is_empty());
        for (to, content) in [(reach(3, 0), "one"), (reach(5, 2), "two"), (reach(5, 4), "")] {
            startup_index.append(to, content.as_bytes());
        }
        place
    }

    #[track_caller]
    fn check(place: &Path, limit: Reach, expected: &[&str], reaches: Reach) {
        let (said, startup_index) = open(place, STORE, 1, limit);
        assert_eq!(said, expected.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>());
        assert_eq!(startup_index.reach(), reaches);
    }

    #[test]
    fn pieces_come_back_and_more_are_added() {
        let place = written();
        check(place.path(), ALL, &["one", "two", ""], reach(5, 4));
        let (_, mut startup_index) = open(place.path(), STORE, 1, ALL);
        startup_index.append(reach(9, 9), b"four");
        check(place.path(), ALL, &["one", "two", "", "four"], reach(9, 9));
    }

    #[test]
    fn what_the_store_does_not_have_is_cut_off_for_good() {
        let place = written();
        check(place.path(), reach(5, 1), &["one"], reach(3, 0));
        check(place.path(), ALL, &["one"], reach(3, 0));
    }

    #[test]
    fn a_piece_that_is_not_believed_is_cut_off_with_all_behind_it() {
        let place = written();
        let startup_index = StartupIndex::open(place.path(), STORE, 1, ALL, |piece| piece.content != b"two");
        assert_eq!(startup_index.reach(), reach(3, 0));
        check(place.path(), ALL, &["one"], reach(3, 0));
    }

    #[test]
    fn a_startup_index_of_another_store_or_form_is_begun_anew() {
        for (store, form) in [([8; 16], 1), (STORE, 2)] {
            let place = written();
            let (said, mut startup_index) = open(place.path(), store, form, ALL);
            assert_eq!((said.len(), startup_index.reach()), (0, Reach::default()));
            startup_index.append(reach(1, 1), b"new");
            assert_eq!(open(place.path(), store, form, ALL).0, [b"new"]);
        }
    }

    #[test]
    fn a_byte_that_was_flipped_and_a_file_that_was_cut_leave_the_pieces_before() {
        let whole = fs::read(written().path().join(FILE_NAME)).expect("it is there");
        for at in 0..whole.len() {
            let place = tempfile::tempdir().expect("a directory");
            let mut flipped = whole.clone();
            flipped[at] ^= 0x10;
            for bytes in [&flipped, &whole[..at].to_vec()] {
                fs::write(place.path().join(FILE_NAME), bytes).expect("written");
                let (said, startup_index) = open(place.path(), STORE, 1, ALL);
                let all: [&[u8]; 3] = [b"one", b"two", b""];
                assert!(said.len() < 3, "{at}");
                assert_eq!(said, all[..said.len()], "{at}");
                assert_eq!(
                    startup_index.reach(),
                    [reach(0, 0), reach(3, 0), reach(5, 2)][said.len()],
                    "{at}"
                );
            }
        }
    }

    #[test]
    fn a_check_says_what_is_of_no_use_and_finds_no_fault() {
        let place = written();
        let findings = |limit: Reach| {
            let mut findings = Findings::default();
            super::check(place.path(), STORE, limit, &mut findings);
            assert!(findings.is_clean());
            findings.leftovers
        };
        assert!(findings(ALL).is_empty());
        assert_eq!(
            findings(reach(3, 0)),
            ["startup-index: 43 bytes at its end are of no use, and will be made anew"]
        );
        fs::write(place.path().join(FILE_NAME), "?").expect("written");
        assert_eq!(findings(ALL), ["startup-index: it is of no use, and will be made anew"]);
        remove(place.path()).expect("removed");
        remove(place.path()).expect("nothing to remove");
        assert!(findings(ALL).is_empty());
    }
}
