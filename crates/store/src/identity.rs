//! The identity of a store: a unique number, and the seed of its hashes.

use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;

use freshet_protocol::codec::record;

use crate::error::StoreError;
use crate::key_value::{Space, View};
use crate::records::read;

/// The key of the identity in the store.
pub(crate) const IDENTITY: &[u8] = b"store";

record! {
    /// What a store is.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Identity {
        /// A number that no other store has, for the identifiers of records.
        id: [u8; 16],
        /// The seed of the hashes by which URLs are found, eight bytes, the lowest first.
        seed: [u8; 8],
    }
}

/// Reads the identity of the store.
pub(crate) fn known_identity(directory: &Path, state: &dyn View) -> Result<Identity, StoreError> {
    read(state, Space::Meta, IDENTITY)?
        .ok_or_else(|| StoreError::behind(&directory.join("state"), "it does not say whose it is"))
}

/// A new random identity.
pub(crate) fn new_identity() -> Identity {
    let random = || RandomState::new().hash_one(0_u8).to_le_bytes();
    let mut id = [0; 16];
    id[..8].copy_from_slice(&random());
    id[8..].copy_from_slice(&random());
    Identity { id, seed: random() }
}
