//! The numbers of visits that were lost to damage. The store records them, so that their absence is no fault.
//!
//! The value of `lost visits` is the version 1, the number of ranges, and of each range its first number and
//! its length, all varints.
//!
//! # Promises
//! - What is written is read back. Malformed bytes are an error, never a panic.

use std::ops::Range;

use freshet_protocol::codec::{Input, Malformed, put_number, take_number};

use crate::error::StoreError;
use crate::key_value::{Batch, Space, View};

/// The key of the list in the store.
const NAME: &[u8] = b"lost visits";

/// The version of the encoding.
const VERSION: u8 = 1;

/// The numbers of lost visits, in order.
pub(crate) fn read(view: &dyn View) -> Result<Vec<Range<u64>>, StoreError> {
    let Some(value) = view.get(Space::Meta, NAME)? else {
        return Ok(Vec::new());
    };
    decode(&value).map_err(StoreError::corrupt(Space::Meta, NAME))
}

/// Records these numbers as lost, in place of the earlier list.
pub(crate) fn put(lost: &[Range<u64>], batch: &mut Batch) {
    if lost.is_empty() {
        batch.remove(Space::Meta, NAME);
    } else {
        batch.put(Space::Meta, NAME, encode(lost));
    }
}

fn encode(lost: &[Range<u64>]) -> Vec<u8> {
    let mut output = vec![VERSION];
    put_number(lost.len() as u64, &mut output);
    for range in lost {
        put_number(range.start, &mut output);
        put_number(range.end - range.start, &mut output);
    }
    output
}

fn decode(bytes: &[u8]) -> Result<Vec<Range<u64>>, Malformed> {
    let mut input = Input::new(bytes);
    let found = input.take_byte()?;
    if found != VERSION {
        return Err(Malformed::Version { found, known: VERSION });
    }
    let count = take_number(&mut input)?;
    // Every range has at least two bytes, which bounds a valid count.
    if count > input.left() as u64 / 2 {
        return Err(Malformed::Short);
    }
    let mut lost = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let start = take_number(&mut input)?;
        let end = start.checked_add(take_number(&mut input)?).ok_or(Malformed::Large)?;
        lost.push(start..end);
    }
    input.end()?;
    Ok(lost)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_come_back(ranges in prop::collection::vec((0..u64::MAX / 2, 0..u64::MAX / 2), 0..9)) {
            let lost: Vec<_> = ranges.into_iter().map(|(start, length)| start..start + length).collect();
            prop_assert_eq!(decode(&encode(&lost)), Ok(lost));
        }

        #[test]
        fn any_bytes_are_no_panic(mut bytes in prop::collection::vec(any::<u8>(), 1..40)) {
            let _ = decode(&bytes);
            bytes[0] = VERSION;
            let _ = decode(&bytes);
        }
    }
}
