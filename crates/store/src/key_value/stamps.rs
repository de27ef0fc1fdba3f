//! Stamps: which step each keyspace has come to, so that a keyspace that fell back is noticed.
//!
//! The engine keeps every keyspace in files of its own and shares a journal among them. An emptied journal,
//! or a folder that was replaced by an older copy, takes keyspaces back by different amounts, and the engine
//! says nothing. So a batch with a step number also writes, in every keyspace that it touches, the step under
//! a key that nobody else uses; and in `meta` the marks of all keyspaces. A mark is the step and the number
//! of the keyspace's table list, which grows whenever tables are written or merged: a journal that is still
//! there may bring the newest steps back into an older folder, but not the older table list.
//!
//! # Promises
//! - Stamps are invisible: no read and no scan gives them.
//! - A keyspace that lost a batch of a step, or whose tables were replaced by older ones, differs
//!   from its mark.
//! - Marks never go back: a keyspace that is behind stays so, whatever is committed later.

use super::engine::Space;

/// The key of a keyspace's stamp. No record has it: names are UTF-8, numbers have four bytes or more.
pub(crate) const STAMP: &[u8] = &[0xff];

/// The key in `meta` of the marks of all keyspaces.
pub(crate) const MARKS: &[u8] = b"stamps";

/// Bytes of one keyspace in the record of all marks: its number, its step, its table list.
const MARK_BYTES: usize = 17;

/// How far a keyspace has come.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Mark {
    /// The last step that touched it; 0 if none did.
    pub step: u64,
    /// The number of its table list.
    pub tables: u64,
}

/// A keyspace that is older than it should be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Behind {
    /// The keyspace.
    pub space: Space,
    /// How far it has come.
    pub found: Mark,
    /// How far it had come before.
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
            "the keyspace `{name}` has table list {} and had table list {} before: its folder is an older copy",
            found.tables, expected.tables
        )
    }
}

/// The marks of all keyspaces, as `meta` has them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Marks([Mark; Space::ALL.len()]);

impl Marks {
    /// The mark of a keyspace.
    pub(crate) fn of(&self, space: Space) -> Mark {
        self.0[space as usize]
    }

    /// A keyspace has come this far.
    pub(crate) fn raise(&mut self, space: Space, mark: Mark) {
        let old = &mut self.0[space as usize];
        *old = Mark { step: old.step.max(mark.step), tables: old.tables.max(mark.tables) };
    }

    /// The last step that touched any keyspace.
    pub(crate) fn last_step(&self) -> u64 {
        self.0.iter().map(|mark| mark.step).max().unwrap_or(0)
    }

    /// The record in `meta`.
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

    /// Reads the record; none if it is not one. Keyspaces of a later program are passed over.
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

    /// The keyspaces that are not as far as their marks, given how far they are. One that is farther says
    /// that `meta` itself fell back.
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

/// Whether this key is one that readers do not see.
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
