//! Stamps record the last step of each keyspace, so that a keyspace replaced by an older copy is detected.
//!
//! The engine keeps each keyspace in its own files and shares one journal among them. If the journal is
//! emptied, or a folder is replaced by an older copy, keyspaces lose different numbers of steps, and the
//! engine reports nothing. So a batch with a step number also writes two things: the step, under a reserved
//! key in every keyspace that it touches; and in `meta`, the marks of all keyspaces. A mark is the step and
//! the number of the keyspace's table list, which grows whenever tables are written or merged. The journal
//! may restore the newest steps of an older folder, but not its newer table list.
//!
//! # Promises
//! - Stamps are invisible: no read and no scan returns them.
//! - A keyspace that lost a batch of a step, or whose tables were replaced by older ones, differs
//!   from its mark.
//! - Marks never decrease: a keyspace that is behind stays so, whatever is committed later.

use super::engine::Space;

/// The key of a keyspace's stamp. No record has this key: names are UTF-8, and numbers have at
/// least four bytes.
pub(crate) const STAMP: &[u8] = &[0xff];

/// The key of the marks of all keyspaces in `meta`.
pub(crate) const MARKS: &[u8] = b"stamps";

/// Size of one keyspace's mark in the record, in bytes: keyspace number, step, table list.
const MARK_BYTES: usize = 17;

/// The last step and the table list of a keyspace.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Mark {
    /// The number of the last step that touched it; 0 if none did.
    pub step: u64,
    /// The number of its table list.
    pub tables: u64,
}

/// A keyspace that is older than its recorded mark.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Behind {
    /// The keyspace.
    pub space: Space,
    /// Its actual mark.
    pub found: Mark,
    /// Its recorded mark.
    pub expected: Mark,
}

impl std::fmt::Display for Behind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { space, found, expected } = self;
        let name = space.name();
        if found.step < expected.step {
            return write!(
                formatter,
                "the keyspace `{name}` is at step {} and was at step {} before",
                found.step, expected.step
            );
        }
        write!(
            formatter,
            "the keyspace `{name}` has table list {} and had table list {} before: its folder is an \
             older copy",
            found.tables, expected.tables
        )
    }
}

/// The marks of all keyspaces, as recorded in `meta`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Marks([Mark; Space::ALL.len()]);

impl Marks {
    /// The mark of a keyspace.
    pub(crate) fn of(&self, space: Space) -> Mark {
        self.0[space as usize]
    }

    /// Raises the mark of a keyspace to at least this one.
    pub(crate) fn raise(&mut self, space: Space, mark: Mark) {
        let old = &mut self.0[space as usize];
        *old = Mark { step: old.step.max(mark.step), tables: old.tables.max(mark.tables) };
    }

    /// The last step that touched any keyspace.
    pub(crate) fn last_step(&self) -> u64 {
        self.0.iter().map(|mark| mark.step).max().unwrap_or(0)
    }

    /// Encodes the record in `meta`.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(MARK_BYTES * Space::ALL.len());
        for space in Space::ALL {
            let mark = self.of(*space);
            if mark != Mark::default() {
                bytes.push(*space as u8);
                bytes.extend_from_slice(&mark.step.to_le_bytes());
                bytes.extend_from_slice(&mark.tables.to_le_bytes());
            }
        }
        bytes
    }

    /// Decodes the record; none if it is malformed. Skips keyspaces of later versions of this program.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut marks = Self::default();
        let (records, []) = bytes.as_chunks::<MARK_BYTES>() else { return None };
        for record in records {
            let number = |from: usize| record[from..from + 8].try_into().map(u64::from_le_bytes).ok();
            let mark = Mark { step: number(1)?, tables: number(9)? };
            if let Some(known) = marks.0.get_mut(usize::from(record[0])) {
                *known = mark;
            }
        }
        Some(marks)
    }

    /// The keyspaces whose actual mark (`found`) is behind the recorded one. If `found` has a later step than
    /// any recorded, `meta` itself is behind.
    pub(crate) fn behind(&self, found: &Self) -> Vec<Behind> {
        let mut behind: Vec<_> = Space::ALL
            .iter()
            .map(|space| Behind { space: *space, found: found.of(*space), expected: self.of(*space) })
            .filter(|Behind { found, expected, .. }| {
                found.step < expected.step || found.tables < expected.tables
            })
            .collect();
        let farthest = found.last_step();
        if self.last_step() < farthest && behind.iter().all(|other| other.space != Space::Meta) {
            let expected = Mark { step: farthest, ..self.of(Space::Meta) };
            let found = Mark { step: self.last_step(), ..found.of(Space::Meta) };
            behind.push(Behind { space: Space::Meta, found, expected });
        }
        behind
    }
}

/// Whether this key is reserved and hidden from readers.
pub(crate) fn is_hidden(space: Space, key: &[u8]) -> bool {
    key == STAMP || (space == Space::Meta && key == MARKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_as_they_were_written() {
        let mut marks = Marks::default();
        marks.raise(Space::Meta, Mark { step: 7, tables: 1 });
        marks.raise(Space::Files, Mark { step: 3, tables: u64::MAX });
        let mut bytes = marks.encode();
        assert_eq!(Marks::decode(&bytes), Some(marks));
        bytes.extend_from_slice(&[250; MARK_BYTES]);
        assert_eq!(Marks::decode(&bytes), Some(marks));
        bytes.pop();
        assert_eq!(Marks::decode(&bytes), None);
    }

    #[test]
    fn a_keyspace_is_behind_its_mark_and_meta_behind_a_keyspace() {
        let (mut expected, mut found) = (Marks::default(), Marks::default());
        for marks in [&mut expected, &mut found] {
            marks.raise(Space::Meta, Mark { step: 9, tables: 1 });
            marks.raise(Space::Urls, Mark { step: 5, tables: 2 });
        }
        assert_eq!(expected.behind(&found), []);
        expected.raise(Space::Urls, Mark { step: 5, tables: 3 });
        assert_eq!(expected.behind(&found).len(), 1);
        assert!(expected.behind(&found)[0].to_string().contains("older copy"));
        found.raise(Space::Urls, Mark { step: 12, tables: 3 });
        let behind = expected.behind(&found);
        assert_eq!(behind.len(), 1);
        assert_eq!(behind[0].to_string(), "the keyspace `meta` is at step 9 and was at step 12 before");
    }
}
