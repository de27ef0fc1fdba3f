//! Reads and decodes records of a keyspace.
//!
//! # Promises
//! - Malformed bytes are an error that names keyspace and key, never a panic.

use freshet_protocol::codec::{Malformed, Record};

use crate::error::StoreError;
use crate::key_value::{Direction, KeyRange, Space, View};

/// The record with this key.
pub(crate) fn read<R: Record>(view: &dyn View, space: Space, key: &[u8]) -> Result<Option<R>, StoreError> {
    let Some(value) = view.get(space, key)? else {
        return Ok(None);
    };
    R::decode(&value).map(Some).map_err(StoreError::corrupt(space, key))
}

/// The records of a keyspace from a key on, each with its number.
pub(crate) fn numbered<'a, N, R: Record + 'a>(
    view: &'a dyn View,
    space: Space,
    first: Vec<u8>,
    number: fn(&[u8]) -> Option<N>,
) -> impl Iterator<Item = Result<(N, R), StoreError>> + use<'a, N, R> {
    view.scan(space, KeyRange::from(first), Direction::Forward).map(move |entry| {
        let (key, value) = entry?;
        let number = number(&key).ok_or(Malformed::Short).map_err(StoreError::corrupt(space, &key))?;
        let record = R::decode(&value).map_err(StoreError::corrupt(space, &key))?;
        Ok((number, record))
    })
}
