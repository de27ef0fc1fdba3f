//! An in-memory key-value store for tests, made of ordered maps.
//!
//! A snapshot copies the maps, and a scan copies its range: simple and correct, not fast.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use super::engine::{
    Batch, Direction, Durability, KeyRange, KeyValue, KeyValueError, Readable, Scan, Space, View,
};
use super::stamps::Behind;

/// One map per keyspace.
type Maps = BTreeMap<Space, BTreeMap<Vec<u8>, Vec<u8>>>;

/// An in-memory key-value store. Nothing survives a restart.
#[derive(Debug, Default)]
pub struct InMemory {
    maps: RwLock<Maps>,
    last_step: AtomicU64,
}

impl InMemory {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }
}

impl View for InMemory {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, KeyValueError> {
        get(&self.maps.read().unwrap_or_else(PoisonError::into_inner), space, key)
    }

    fn scan(&self, space: Space, range: KeyRange, direction: Direction) -> Scan<'_> {
        scan(&self.maps.read().unwrap_or_else(PoisonError::into_inner), space, &range, direction)
    }
}

impl Readable for InMemory {
    fn snapshot(&self) -> Box<dyn View + '_> {
        Box::new(Copied(self.maps.read().unwrap_or_else(PoisonError::into_inner).clone()))
    }
}

impl KeyValue for InMemory {
    fn commit(&self, batch: Batch, _durability: Durability) -> Result<(), KeyValueError> {
        let mut maps = self.maps.write().unwrap_or_else(PoisonError::into_inner);
        self.last_step.fetch_max(batch.step, Ordering::Relaxed);
        for (space, key, value) in batch.items {
            let map = maps.entry(space).or_default();
            match value {
                Some(value) => map.insert(key, value),
                None => map.remove(&key),
            };
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), KeyValueError> {
        Ok(())
    }

    fn disk_bytes(&self) -> u64 {
        0
    }

    fn behind(&self) -> Result<Vec<Behind>, KeyValueError> {
        Ok(Vec::new())
    }

    fn last_step(&self) -> u64 {
        self.last_step.load(Ordering::Relaxed)
    }

    fn is_poisoned(&self) -> bool {
        false
    }

    fn reopen(&self) -> Result<(), KeyValueError> {
        Ok(())
    }
}

/// A snapshot: a copy of the maps.
struct Copied(Maps);

impl View for Copied {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, KeyValueError> {
        get(&self.0, space, key)
    }

    fn scan(&self, space: Space, range: KeyRange, direction: Direction) -> Scan<'_> {
        scan(&self.0, space, &range, direction)
    }
}

fn get(maps: &Maps, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, KeyValueError> {
    Ok(maps.get(&space).and_then(|map| map.get(key)).cloned())
}

fn scan(maps: &Maps, space: Space, range: &KeyRange, direction: Direction) -> Scan<'static> {
    let Some(map) = maps.get(&space).filter(|_| !range.is_empty()) else {
        return Box::new(std::iter::empty());
    };
    let end = range.to.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    let found = map.range::<[u8], _>((Bound::Included(range.from.as_slice()), end));
    let mut entries: Vec<_> = found.map(|(key, value)| Ok((key.clone(), value.clone()))).collect();
    if direction == Direction::Backward {
        entries.reverse();
    }
    Box::new(entries.into_iter())
}
