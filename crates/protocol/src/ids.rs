//! Identifiers: dense numbers for URLs, pages and sites, and the place of a record in the Collection.
//!
//! Numbers are given in the order of arrival, from zero, and never reused. Arrays can be indexed by them.

use crate::codec::record;

/// Defines a newtype of `u32` that is stored as four bytes whose order is the order of the numbers.
macro_rules! dense_number {
    ($(#[doc = $doc:literal])+ $name:ident) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index into arrays.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The number as a storage key.
            #[inline]
            pub const fn key(self) -> [u8; 4] {
                self.0.to_be_bytes()
            }

            /// Reads the number from a storage key; `None` if the bytes are not one.
            #[inline]
            pub fn from_key(key: &[u8]) -> Option<Self> {
                Some(Self(u32::from_be_bytes(key.try_into().ok()?)))
            }
        }

        impl $crate::codec::Field for $name {
            fn describe() -> String {
                "number".to_owned()
            }

            #[inline]
            fn put(&self, output: &mut Vec<u8>) {
                self.0.put(output);
            }

            #[inline]
            fn take(input: &mut $crate::codec::Input<'_>) -> Result<Self, $crate::codec::Malformed> {
                Ok(Self(u32::take(input)?))
            }
        }
    };
}

dense_number! {
    /// The number of a URL: every URL that was ever discovered has one.
    UrlId
}

dense_number! {
    /// The number of a page: every URL that was ever kept has one.
    PageNumber
}

dense_number! {
    /// The number of a site (scheme and authority).
    SiteNumber
}

record! {
    /// Where a record stands in the Collection.
    #[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
    pub struct Place {
        /// The number of the segment file.
        segment: u32,
        /// The byte in the file at which the gzip member of the record begins.
        offset: u64,
        /// The bytes of the gzip member.
        length: u32,
    }
}
