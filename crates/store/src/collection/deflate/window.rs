//! The bytes that a copy can reach, in a buffer of their own.
//!
//! A place is a 16-bit number, and the window has that many bytes: every place lies in the window, and needs
//! no bounds check. When the window is full, its farther half is dropped.
//!
//! # Promises
//! - Earlier contents of the window are never read: zeros follow the last byte, as far as any reader looks.

use super::copies::STRETCH;
use super::items::BYTES_AT_ONCE;
use super::symbols::{DISTANCE_MAX, LENGTH_MAX};

/// Number of bytes that are compared at once.
pub(super) const WORD: usize = 8;
/// Maximum bytes of a window: twice what a copy can reach, so that half of it can be new.
const BYTES_MAX: usize = 2 * DISTANCE_MAX;
/// Number of zeros after the last byte: a stretch, a copy or an addition may begin there, and be compared one
/// word further.
const ZEROS: usize = LENGTH_MAX + STRETCH + BYTES_AT_ONCE + WORD;

#[derive(Clone, Debug)]
pub(super) struct Window {
    /// A word that is never part of a copy precedes the first byte, so that the word before any byte
    /// can be read.
    room: Box<[u8; WORD + BYTES_MAX + ZEROS]>,
    len: usize,
}

impl Window {
    pub(super) fn new() -> Self {
        Self { room: Box::new([0; WORD + BYTES_MAX + ZEROS]), len: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// The number of bytes in the window.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_full(&self) -> bool {
        self.len == BYTES_MAX
    }

    /// Appends as many bytes as there is room for, and returns the others.
    pub(super) fn append<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let (now, later) = bytes.split_at(bytes.len().min(BYTES_MAX - self.len));
        let (to, after) = self.room[WORD + self.len..].split_at_mut(now.len());
        to.copy_from_slice(now);
        after[..ZEROS].fill(0);
        self.len += now.len();
        later
    }

    /// Drops the bytes of a full window that its end cannot reach any more. Returns how far the other
    /// bytes moved.
    pub(super) fn give_up(&mut self) -> u16 {
        let gone = self.len - DISTANCE_MAX;
        self.room.copy_within(gone..WORD + self.len, 0);
        self.len = DISTANCE_MAX;
        gone as u16
    }

    /// The bytes from a place on, with the zeros that follow them.
    #[inline(always)]
    pub(super) fn from(&self, place: usize) -> &[u8] {
        &self.room[WORD + place..]
    }

    /// The word that begins at a place.
    #[inline(always)]
    pub(super) fn word_at(&self, place: u16) -> u64 {
        self.word_after(place, 0)
    }

    /// The number of equal bytes from two places on, of which `other` is the later. At most the maximum
    /// length of a copy.
    #[inline(always)]
    pub(super) fn same_ahead(&self, one: u16, other: u16) -> usize {
        let differs = |after: usize| self.word_after(one, after) ^ self.word_after(other, after);
        // Two words without a loop: few copies are longer, and their length cannot be predicted.
        let (first, second) = (differs(0), differs(WORD));
        if first | second != 0 {
            let (differs, same) = if first == 0 { (second, WORD) } else { (first, 0) };
            return same + differs.trailing_zeros() as usize / 8;
        }
        let words = (2 * WORD..LENGTH_MAX).step_by(WORD);
        let mut unlike = words.map(|after| (after, differs(after))).filter(|(_, differs)| *differs != 0);
        let same = unlike.next().map(|(after, differs)| after + differs.trailing_zeros() as usize / 8);
        same.map_or(LENGTH_MAX, |same| same.min(LENGTH_MAX))
    }

    /// The number of equal bytes before two places, up to seven.
    #[inline(always)]
    pub(super) fn same_behind(&self, one: u16, other: u16) -> usize {
        let differs = self.word(usize::from(one)) ^ self.word(usize::from(other));
        (differs | 1).leading_zeros() as usize / 8
    }

    #[inline(always)]
    fn word_after(&self, place: u16, after: usize) -> u64 {
        self.word(WORD + usize::from(place) + after)
    }

    #[inline(always)]
    fn word(&self, index: usize) -> u64 {
        u64::from_le_bytes(self.room[index..index + WORD].try_into().expect("a word has eight bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_compared_to_both_sides() {
        let mut window = Window::new();
        assert!(window.append(b"-once upon a time, and once upon a time, so").is_empty());
        assert_eq!((window.same_ahead(1, 23), window.same_behind(1, 23)), (18, 0));
        assert_eq!((window.same_ahead(6, 28), window.same_behind(6, 28)), (13, 5));
        assert_eq!(window.same_behind(10, 32), 7);
        window.append(&[b'x'; 1000]);
        assert_eq!(window.same_ahead(100, 101), LENGTH_MAX);
    }

    #[test]
    fn what_can_be_reached_stays() {
        let bytes: Vec<u8> = (0..100_000_u32).map(|number| (number >> 8) as u8 ^ number as u8).collect();
        let mut window = Window::new();
        let later = window.append(&bytes);
        assert!(window.is_full());
        let gone = usize::from(window.give_up());
        assert_eq!(window.from(0)[..DISTANCE_MAX], bytes[gone..][..DISTANCE_MAX]);
        assert!(window.append(later).len() < later.len());
        assert_eq!(window.from(0)[..window.len()], bytes[gone..][..window.len()]);
    }
}
