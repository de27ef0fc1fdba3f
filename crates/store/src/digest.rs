//! The digest by which content is compared: of the bytes of a copy, or of its visible text.

/// A digest of content: the first 16 bytes of its blake3 hash.
pub type Digest = [u8; 16];
