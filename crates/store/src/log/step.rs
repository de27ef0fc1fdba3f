//! The content of a step: the entries of its batch, without those that can be derived from others.
//!
//! A step holds absolute values, so replaying it is idempotent. Derived entries are left out when a step is
//! written, and made again when it is replayed: the lookup keys of URLs and sites, the places of versions,
//! and index lines. They follow from the records of URLs, sites and versions and from the Collection.
//!
//! The content is a sequence of entries: a byte with the keyspace, plus 128 if the key is removed; the key;
//! and the value unless the key is removed. Key and value are each preceded by their length as a varint.
//!
//! # Promises
//! - Replaying the steps of a crawl from the first gives the same state.
//! - Arbitrary bytes cause no panic.

use freshet_protocol::codec::{Field as _, Input, Malformed, Record as _, put_number, take_number};

use crate::all_urls::{UrlRecord, url_key};
use crate::collection::segment::SegmentRecord;
use crate::error::StoreError;
use crate::key_value::{Batch, Direction, KeyRange, Space, View};
use crate::log::frame::Frame;
use crate::sites::SiteRecord;
use crate::versions::{VersionRecord, place_key};

/// Marks an entry that removes its key.
const REMOVED: u8 = 128;

/// An entry of a step: a keyspace, a key, and its value; none if the key is removed.
pub(crate) type Entry = (Space, Vec<u8>, Option<Vec<u8>>);

/// The content of the step with this batch.
pub(crate) fn content(batch: &Batch) -> Vec<u8> {
    let is_said = |space: Space, is_put: bool| match space {
        // Puts are derived from other records. Removals must be logged.
        Space::UrlKeys | Space::SiteNames | Space::Places => !is_put,
        // Index lines are made again from the Collection. The log itself is no part of the log.
        Space::Index | Space::Steps => false,
        _ => true,
    };
    let said = batch.items.iter().filter(|(space, _, value)| is_said(*space, value.is_some()));
    let mut content = Vec::with_capacity(1024);
    for (space, key, value) in said {
        content.push(*space as u8 | if value.is_some() { 0 } else { REMOVED });
        put_number(key.len() as u64, &mut content);
        content.extend_from_slice(key);
        if let Some(value) = value {
            put_number(value.len() as u64, &mut content);
            content.extend_from_slice(value);
        }
    }
    content
}

/// The entries of a content, in order.
pub(crate) fn entries(content: &[u8]) -> impl Iterator<Item = Result<Entry, Malformed>> {
    let mut input = Input::new(content);
    std::iter::from_fn(move || (input.left() > 0).then(|| entry(&mut input)))
}

fn entry(input: &mut Input<'_>) -> Result<Entry, Malformed> {
    let first = input.take_byte()?;
    let space = Space::take(&mut Input::new(&[first & !REMOVED]))?;
    let key = counted(input)?.to_vec();
    let value = if first & REMOVED == 0 { Some(counted(input)?.to_vec()) } else { None };
    Ok((space, key, value))
}

fn counted<'a>(input: &mut Input<'a>) -> Result<&'a [u8], Malformed> {
    let length = usize::try_from(take_number(input)?).map_err(|_| Malformed::Large)?;
    input.take_bytes(length)
}

/// The batch that replays a step on a state that has all earlier steps. It has no index lines.
pub(crate) fn replayed(view: &dyn View, seed: u64, frame: &Frame) -> Result<Batch, StoreError> {
    let mut batch = Batch::new();
    for entry in entries(&frame.content) {
        let step = frame.step.to_be_bytes();
        let (space, key, value) = entry.map_err(StoreError::corrupt(Space::Steps, &step))?;
        match &value {
            Some(value) => add_what_follows(view, seed, (space, &key, value), &mut batch)?,
            None if space == Space::Segments => drop_lines(view, &key, &mut batch)?,
            None => {}
        }
        batch.items.push((space, key, value));
    }
    Ok(batch)
}

/// Adds the entries derived from one entry.
fn add_what_follows(
    view: &dyn View,
    seed: u64,
    (space, key, value): (Space, &[u8], &[u8]),
    batch: &mut Batch,
) -> Result<(), StoreError> {
    match space {
        Space::Urls => {
            let record = UrlRecord::decode(value).map_err(StoreError::corrupt(space, key))?;
            batch.put(Space::UrlKeys, url_key(seed, &record.url), key);
        }
        Space::Sites => {
            let record = SiteRecord::decode(value).map_err(StoreError::corrupt(space, key))?;
            batch.put(Space::SiteNames, record.site.as_bytes(), key);
        }
        Space::Versions => {
            let record = VersionRecord::decode(value).map_err(StoreError::corrupt(space, key))?;
            batch.put(Space::Places, place_key(record.place), key);
        }
        Space::Segments => {
            let record = SegmentRecord::decode(value).map_err(StoreError::corrupt(space, key))?;
            if record.indexed {
                drop_lines(view, key, batch)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Removes the index lines of a segment: its index file has them.
fn drop_lines(view: &dyn View, segment: &[u8], batch: &mut Batch) -> Result<(), StoreError> {
    for line in view.scan(Space::Index, KeyRange::prefix(segment), Direction::Forward) {
        batch.remove(Space::Index, line?.0);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_said_comes_back(
            items in prop::collection::vec(
                (prop::sample::select(Space::ALL), any::<Vec<u8>>(), any::<Option<Vec<u8>>>()),
                0..20,
            ),
        ) {
            let batch = Batch { items: items.clone(), ..Batch::new() };
            let said: Vec<_> = entries(&content(&batch)).collect::<Result<_, _>>().expect("it is whole");
            let expected: Vec<_> = items
                .into_iter()
                .filter(|(space, _, value)| match space {
                    Space::Index | Space::Steps => false,
                    Space::UrlKeys | Space::SiteNames | Space::Places => value.is_none(),
                    _ => true,
                })
                .collect();
            prop_assert_eq!(said, expected);
        }

        #[test]
        fn any_bytes_are_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = entries(&bytes).take_while(Result::is_ok).count();
        }
    }
}
