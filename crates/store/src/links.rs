//! The URLs that each page links to.
//!
//! The targets are sorted, without duplicates, and delta-encoded: `number of targets, first, second - first,
//! ...`, all varints after the version byte. A page of thirty links takes some forty bytes.
//!
//! # Promises
//! - The targets are returned sorted and without duplicates.
//! - Malformed bytes are an error, never a panic.

use freshet_protocol::codec::{Input, Malformed, put_number, take_number};
use freshet_protocol::ids::{PageNumber, UrlId};

use crate::error::StoreError;
use crate::key_value::{Direction, KeyRange, Space, View};

/// The version of the encoding, its first byte.
pub(crate) const VERSION: u8 = 1;

/// Encodes targets, in any order and with duplicates.
pub fn encode(mut targets: Vec<UrlId>) -> Vec<u8> {
    targets.sort_unstable();
    targets.dedup();
    let mut output = Vec::with_capacity(2 + targets.len() * 2);
    output.push(VERSION);
    put_number(targets.len() as u64, &mut output);
    let mut before = 0;
    for target in targets {
        put_number(u64::from(target.0 - before), &mut output);
        before = target.0;
    }
    output
}

/// Decodes targets.
pub fn decode(bytes: &[u8]) -> Result<Vec<UrlId>, Malformed> {
    let mut input = Input::new(bytes);
    let found = input.take_byte()?;
    if found != VERSION {
        return Err(Malformed::Version { found, known: VERSION });
    }
    let count = take_number(&mut input)?;
    // Every target has at least one byte, which bounds a valid count.
    if count > input.left() as u64 {
        return Err(Malformed::Short);
    }
    let mut targets = Vec::with_capacity(count as usize);
    let mut before = 0_u32;
    for _ in 0..count {
        let step = u32::try_from(take_number(&mut input)?).map_err(|_| Malformed::Large)?;
        before = before.checked_add(step).ok_or(Malformed::Large)?;
        targets.push(UrlId(before));
    }
    input.end()?;
    Ok(targets)
}

/// The links, read from a view of the store.
pub struct Links<'a>(pub(crate) &'a dyn View);

impl<'a> Links<'a> {
    /// The URLs that a page links to; none if its links are unknown.
    pub fn get(&self, page: PageNumber) -> Result<Option<Vec<UrlId>>, StoreError> {
        let Some(value) = self.0.get(Space::Links, &page.key())? else {
            return Ok(None);
        };
        decode(&value).map(Some).map_err(StoreError::corrupt(Space::Links, &page.key()))
    }

    /// The links of the pages from this number on, ordered by number.
    pub fn from(
        &self,
        first: PageNumber,
    ) -> impl Iterator<Item = Result<(PageNumber, Vec<UrlId>), StoreError>> + use<'a> {
        self.0.scan(Space::Links, KeyRange::from(first.key()), Direction::Forward).map(|entry| {
            let (key, value) = entry?;
            let corrupt = |malformed| StoreError::corrupt(Space::Links, &key)(malformed);
            let page = PageNumber::from_key(&key).ok_or_else(|| corrupt(Malformed::Short))?;
            Ok((page, decode(&value).map_err(corrupt)?))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(targets: &[u32], expected: &[u8]) {
        assert_eq!(encode(targets.iter().copied().map(UrlId).collect()), expected);
    }

    #[test]
    fn targets_are_sorted_and_written_as_differences() {
        check(&[], &[1, 0]);
        check(&[300, 5, 300], &[1, 2, 5, 0xa7, 2]);
        check(&[u32::MAX], &[1, 1, 0xff, 0xff, 0xff, 0xff, 0x0f]);
    }

    proptest! {
        #[test]
        fn targets_come_back(targets in prop::collection::btree_set(any::<u32>(), 0..100)) {
            let targets: Vec<_> = targets.into_iter().map(UrlId).collect();
            prop_assert_eq!(decode(&encode(targets.clone())), Ok(targets));
        }

        #[test]
        fn any_bytes_are_no_panic(mut bytes in prop::collection::vec(any::<u8>(), 1..60)) {
            let _ = decode(&bytes);
            bytes[0] = VERSION;
            let _ = decode(&bytes);
        }
    }
}
