//! Binary encoding of records: fields in order, compact, without field names.
//!
//! - A **number** is a varint: seven bits per byte, lowest first. The eighth bit is set
//!   on all bytes but the last.
//! - A **moment** or another signed number is zigzag-coded (0, -1, 1, -2, ...) and then a varint.
//! - A **text** is its length in bytes, then its bytes in UTF-8. **Bytes** are the same
//!   without the UTF-8 condition.
//! - A **decimal** is the four bytes of an IEEE 754 single, lowest first.
//! - A **flag** is a byte 0 or 1. An **optional** field is a flag, followed by the field if the flag is 1.
//! - A **list** is the number of its members, then the members.
//! - A **word** is one byte that stands for one of a closed set of words.
//!
//! A whole record begins with one byte, the version of its form. The macro `record!` generates the encoding
//! of a struct from its fields, so the code cannot disagree with the struct. It also keeps the names and
//! comments of the fields, from which a test makes the tables of `docs/FORMAT.md`.
//!
//! # Promises
//! - Decoding an encoded record gives back the same record.
//! - No input bytes make decoding panic or allocate more than a few times their own length.
//! - A record is accepted only if all of its bytes were read. Bytes left over are an error.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::time::Timestamp;

/// Why decoding a record failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Malformed {
    /// The input ends inside a field.
    #[error("it ends in the middle of a field")]
    Short,
    /// Bytes are left over after the last field. Holds how many.
    #[error("{0} bytes are left over after the last field")]
    Long(usize),
    /// This program does not know the version.
    #[error("its version is {found}, this program knows {known}")]
    Version {
        /// The version in the record.
        found: u8,
        /// The version that this program knows.
        known: u8,
    },
    /// A number is too large for its field.
    #[error("a number is too large for its field")]
    Large,
    /// A text is not UTF-8.
    #[error("a text is not UTF-8")]
    NotText,
    /// The byte stands for no word of its set.
    #[error("{0} stands for nothing")]
    UnknownWord(u8),
}

/// Reader over the bytes of a record; holds the bytes not read yet.
#[derive(Debug)]
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// Starts at the first of these bytes.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Reads the next `count` bytes.
    #[inline]
    pub fn take_bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Malformed::Short)?;
        self.0 = rest;
        Ok(taken)
    }

    /// Reads the next byte.
    #[inline]
    pub fn take_byte(&mut self) -> Result<u8, Malformed> {
        let (first, rest) = self.0.split_first().ok_or(Malformed::Short)?;
        self.0 = rest;
        Ok(*first)
    }

    /// The number of bytes not read yet.
    #[inline]
    pub fn left(&self) -> usize {
        self.0.len()
    }

    /// Checks that all bytes were read.
    #[inline]
    pub fn end(&self) -> Result<(), Malformed> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed::Long(self.0.len())) }
    }
}

/// A type that can be encoded as a part of a record.
pub trait Field: Sized {
    /// The type as `docs/FORMAT.md` names it.
    fn describe() -> String;
    /// Appends the bytes of this field.
    fn put(&self, output: &mut Vec<u8>);
    /// Reads a field of this type.
    fn take(input: &mut Input<'_>) -> Result<Self, Malformed>;
}

/// Describes one field of a record for `docs/FORMAT.md`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FieldNote {
    /// The field's name.
    pub name: &'static str,
    /// The field's type.
    pub form: String,
    /// What the field means.
    pub meaning: String,
}

/// A value that is stored under a key of its own.
pub trait Record: Field {
    /// The version of this form, the first byte of every record.
    const VERSION: u8;

    /// The fields in the order of their bytes.
    fn fields() -> Vec<FieldNote>;

    /// Encodes the record.
    fn encode(&self) -> Vec<u8> {
        let mut output = Vec::with_capacity(128);
        output.push(Self::VERSION);
        self.put(&mut output);
        output
    }

    /// Decodes a record.
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut input = Input::new(bytes);
        let found = input.take_byte()?;
        if !(1..=Self::VERSION).contains(&found) {
            return Err(Malformed::Version { found, known: Self::VERSION });
        }
        let record = Self::take_form(found, &mut input)?;
        input.end()?;
        Ok(record)
    }

    /// Decodes a record of this version. Fields that were added in later versions are empty.
    fn take_form(version: u8, input: &mut Input<'_>) -> Result<Self, Malformed>;
}

/// Defines a struct that is encoded as its fields, in the order they are written here. Fields added later
/// stand at the end, under `since` and the version that added them.
///
/// # Examples
///
/// ```
/// use freshet_protocol::codec::{Malformed, Record as _, record};
/// use freshet_protocol::time::Timestamp;
///
/// record! {
///     /// A page as somebody remembers it.
///     #[derive(Debug, PartialEq)]
///     pub struct Remembered {
///         /// Its URL.
///         url: String,
///         /// When it was seen last.
///         seen: Option<Timestamp>,
///         since 2 {
///             /// How often it was seen: records of version 1 do not say.
///             visits: u32,
///         }
///     }
/// }
///
/// let page = Remembered { url: "http://a.example/".to_owned(), seen: None, visits: 300 };
/// let bytes = page.encode();
/// assert_eq!(bytes.len(), 22); // version, length and text, no moment, a number of two bytes
/// assert_eq!(Remembered::decode(&bytes), Ok(page));
/// assert_eq!(Remembered::decode(&bytes[..21]), Err(Malformed::Short));
///
/// // What was written before there was a second version is still read.
/// let old = [1, 1, b'x', 0];
/// assert_eq!(Remembered::decode(&old).map(|page| page.visits), Ok(0));
/// ```
#[macro_export]
macro_rules! record {
    (
        $(#[doc = $doc:literal])+
        $(#[derive($($derived:ident),+ $(,)?)])?
        pub struct $name:ident {
            $($(#[doc = $field_doc:literal])+ $field:ident: $type:ty,)+
            $(since $version:literal {
                $($(#[doc = $later_doc:literal])+ $later:ident: $later_type:ty,)+
            })*
        }
    ) => {
        $(#[doc = $doc])+
        $(#[derive($($derived),+)])?
        pub struct $name {
            $($(#[doc = $field_doc])+ pub $field: $type,)+
            $($($(#[doc = $later_doc])+ pub $later: $later_type,)+)*
        }

        impl $crate::codec::Field for $name {
            fn describe() -> String {
                stringify!($name).to_owned()
            }

            #[inline]
            fn put(&self, output: &mut Vec<u8>) {
                $($crate::codec::Field::put(&self.$field, output);)+
                $($($crate::codec::Field::put(&self.$later, output);)+)*
            }

            #[inline]
            fn take(input: &mut $crate::codec::Input<'_>) -> Result<Self, $crate::codec::Malformed> {
                Ok(Self {
                    $($field: <$type as $crate::codec::Field>::take(input)?,)+
                    $($($later: <$later_type as $crate::codec::Field>::take(input)?,)+)*
                })
            }
        }

        impl $crate::codec::Record for $name {
            const VERSION: u8 = {
                let versions: &[u8] = &[1 $(, $version)*];
                versions[versions.len() - 1]
            };

            fn take_form(
                _version: u8,
                input: &mut $crate::codec::Input<'_>,
            ) -> Result<Self, $crate::codec::Malformed> {
                Ok(Self {
                    $($field: <$type as $crate::codec::Field>::take(input)?,)+
                    $($($later: if $version <= _version {
                        <$later_type as $crate::codec::Field>::take(input)?
                    } else {
                        <$later_type>::default()
                    },)+)*
                })
            }

            fn fields() -> Vec<$crate::codec::FieldNote> {
                vec![$($crate::codec::FieldNote {
                    name: stringify!($field),
                    form: <$type as $crate::codec::Field>::describe(),
                    meaning: concat!($($field_doc),+).trim().to_owned(),
                },)+
                $($($crate::codec::FieldNote {
                    name: stringify!($later),
                    form: <$later_type as $crate::codec::Field>::describe(),
                    meaning: concat!("Since version ", $version, ":" $(, $later_doc)+).trim().to_owned(),
                },)+)*]
            }
        }
    };
}
pub use crate::record;

/// Defines a closed set of words: each is one byte on disk and one lower-case word in tables.
#[macro_export]
macro_rules! words {
    (
        $(#[doc = $doc:literal])+
        pub enum $name:ident {
            $($(#[doc = $word_doc:literal])+ $variant:ident = $byte:literal $word:literal,)+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum $name {
            $($(#[doc = $word_doc])+ $variant = $byte,)+
        }

        impl $name {
            /// All words, in the order of their bytes.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The word shown in tables and reports.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// Parses a word; `None` if it is not in the set.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.word() == word)
            }

            /// Each byte with its word and its meaning, for `docs/FORMAT.md`.
            pub fn notes() -> Vec<(u8, &'static str, String)> {
                vec![$(($byte, $word, concat!($($word_doc),+).trim().to_owned()),)+]
            }
        }

        impl $crate::codec::Field for $name {
            fn describe() -> String {
                concat!("word of ", stringify!($name)).to_owned()
            }

            #[inline]
            fn put(&self, output: &mut Vec<u8>) {
                output.push(*self as u8);
            }

            #[inline]
            fn take(input: &mut $crate::codec::Input<'_>) -> Result<Self, $crate::codec::Malformed> {
                match input.take_byte()? {
                    $($byte => Ok(Self::$variant),)+
                    other => Err($crate::codec::Malformed::UnknownWord(other)),
                }
            }
        }
    };
}
pub use crate::words;

/// Appends a number as a varint.
///
/// # Examples
///
/// ```
/// use freshet_protocol::codec::{Input, put_number, take_number};
///
/// let mut bytes = Vec::new();
/// put_number(5, &mut bytes);
/// put_number(300, &mut bytes);
/// assert_eq!(bytes, [5, 0b1010_1100, 0b10]);
///
/// let mut input = Input::new(&bytes);
/// assert_eq!((take_number(&mut input), take_number(&mut input)), (Ok(5), Ok(300)));
/// assert_eq!(input.end(), Ok(()));
/// ```
#[inline]
pub fn put_number(mut number: u64, output: &mut Vec<u8>) {
    while number >= 0x80 {
        output.push(number as u8 | 0x80);
        number >>= 7;
    }
    output.push(number as u8);
}

/// Reads a varint.
#[inline]
pub fn take_number(input: &mut Input<'_>) -> Result<u64, Malformed> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = input.take_byte()?;
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            return Err(Malformed::Large);
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(Malformed::Large)
}

macro_rules! number_field {
    ($($type:ty),+) => {$(
        impl Field for $type {
            fn describe() -> String {
                "number".to_owned()
            }

            #[inline]
            fn put(&self, output: &mut Vec<u8>) {
                put_number(u64::from(*self), output);
            }

            #[inline]
            fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
                <$type>::try_from(take_number(input)?).map_err(|_| Malformed::Large)
            }
        }
    )+};
}
number_field!(u8, u16, u32, u64);

impl Field for Timestamp {
    fn describe() -> String {
        "moment".to_owned()
    }

    #[inline]
    fn put(&self, output: &mut Vec<u8>) {
        let millis = self.millis();
        put_number(((millis << 1) ^ (millis >> 63)) as u64, output);
    }

    #[inline]
    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        let folded = take_number(input)?;
        Ok(Self::from_millis((folded >> 1) as i64 ^ -((folded & 1) as i64)))
    }
}

impl Field for bool {
    fn describe() -> String {
        "flag".to_owned()
    }

    #[inline]
    fn put(&self, output: &mut Vec<u8>) {
        output.push(u8::from(*self));
    }

    #[inline]
    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        match input.take_byte()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Malformed::UnknownWord(other)),
        }
    }
}

impl Field for f32 {
    fn describe() -> String {
        "decimal".to_owned()
    }

    #[inline]
    fn put(&self, output: &mut Vec<u8>) {
        output.extend_from_slice(&self.to_le_bytes());
    }

    #[inline]
    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        let bytes = input.take_bytes(4)?;
        Ok(Self::from_le_bytes(bytes.try_into().expect("four bytes were taken")))
    }
}

impl<const N: usize> Field for [u8; N] {
    fn describe() -> String {
        format!("{N} bytes")
    }

    #[inline]
    fn put(&self, output: &mut Vec<u8>) {
        output.extend_from_slice(self);
    }

    #[inline]
    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        Ok(input.take_bytes(N)?.try_into().expect("as many bytes were taken"))
    }
}

impl Field for String {
    fn describe() -> String {
        "text".to_owned()
    }

    #[inline]
    fn put(&self, output: &mut Vec<u8>) {
        put_number(self.len() as u64, output);
        output.extend_from_slice(self.as_bytes());
    }

    #[inline]
    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        let length = usize::try_from(take_number(input)?).map_err(|_| Malformed::Large)?;
        let text = std::str::from_utf8(input.take_bytes(length)?).map_err(|_| Malformed::NotText)?;
        Ok(text.to_owned())
    }
}

/// Bytes whose meaning is known only to their owner.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Opaque(pub Vec<u8>);

impl Field for Opaque {
    fn describe() -> String {
        "bytes".to_owned()
    }

    #[inline]
    fn put(&self, output: &mut Vec<u8>) {
        put_number(self.0.len() as u64, output);
        output.extend_from_slice(&self.0);
    }

    #[inline]
    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        let length = usize::try_from(take_number(input)?).map_err(|_| Malformed::Large)?;
        Ok(Self(input.take_bytes(length)?.to_vec()))
    }
}

impl Field for IpAddr {
    fn describe() -> String {
        "4 or 16 bytes after their number".to_owned()
    }

    #[inline]
    fn put(&self, output: &mut Vec<u8>) {
        match self {
            Self::V4(address) => {
                output.push(4);
                output.extend_from_slice(&address.octets());
            }
            Self::V6(address) => {
                output.push(16);
                output.extend_from_slice(&address.octets());
            }
        }
    }

    #[inline]
    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        match input.take_byte()? {
            4 => Ok(Self::V4(Ipv4Addr::from(<[u8; 4]>::take(input)?))),
            16 => Ok(Self::V6(Ipv6Addr::from(<[u8; 16]>::take(input)?))),
            other => Err(Malformed::UnknownWord(other)),
        }
    }
}

impl<T: Field> Field for Option<T> {
    fn describe() -> String {
        format!("optional {}", T::describe())
    }

    #[inline]
    fn put(&self, output: &mut Vec<u8>) {
        self.is_some().put(output);
        if let Some(value) = self {
            value.put(output);
        }
    }

    #[inline]
    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        Ok(if bool::take(input)? { Some(T::take(input)?) } else { None })
    }
}

impl<T: Field> Field for Vec<T> {
    fn describe() -> String {
        format!("list of {}", T::describe())
    }

    #[inline]
    fn put(&self, output: &mut Vec<u8>) {
        put_number(self.len() as u64, output);
        for value in self {
            value.put(output);
        }
    }

    #[inline]
    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        let count = take_number(input)?;
        // Every member takes at least one byte, so a larger count is wrong. Refusing it here
        // avoids a large allocation.
        if count > input.left() as u64 {
            return Err(Malformed::Short);
        }
        (0..count).map(|_| T::take(input)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check<T: Field + PartialEq + std::fmt::Debug>(value: &T, expected: &[u8]) {
        let mut bytes = Vec::new();
        value.put(&mut bytes);
        assert_eq!(bytes, expected);
        let mut input = Input::new(&bytes);
        assert_eq!(T::take(&mut input).as_ref(), Ok(value));
        assert_eq!(input.end(), Ok(()));
    }

    #[test]
    fn numbers_take_seven_bits_a_byte() {
        check(&0_u32, &[0]);
        check(&127_u32, &[0x7f]);
        check(&128_u32, &[0x80, 1]);
        check(&u64::MAX, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]);
    }

    #[test]
    fn moments_fold_their_sign_into_the_lowest_bit() {
        check(&Timestamp::from_millis(0), &[0]);
        check(&Timestamp::from_millis(-1), &[1]);
        check(&Timestamp::from_millis(1), &[2]);
        check(&Timestamp::from_millis(i64::MIN), &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]);
    }

    #[test]
    fn texts_lists_and_options_say_how_much_follows() {
        check(&"né".to_owned(), &[3, b'n', 0xc3, 0xa9]);
        check(&vec![1_u32, 300], &[2, 1, 0xac, 2]);
        check(&Some(5_u8), &[1, 5]);
        check(&None::<u8>, &[0]);
        check(&IpAddr::from([127, 0, 0, 1]), &[4, 127, 0, 0, 1]);
    }

    #[track_caller]
    fn refuse<T: Field + std::fmt::Debug>(bytes: &[u8], expected: Malformed) {
        assert_eq!(T::take(&mut Input::new(bytes)).expect_err("it is malformed"), expected);
    }

    #[test]
    fn what_is_not_a_field_is_refused_by_its_reason() {
        refuse::<u64>(&[0x80], Malformed::Short);
        refuse::<u64>(&[0xff; 10], Malformed::Large);
        refuse::<u16>(&[0xff, 0xff, 0x7f], Malformed::Large);
        refuse::<String>(&[2, 0xff, 0xff], Malformed::NotText);
        refuse::<String>(&[9, b'a'], Malformed::Short);
        refuse::<Vec<u8>>(&[0xff, 0xff, 0xff, 0x7f], Malformed::Short);
        refuse::<bool>(&[2], Malformed::UnknownWord(2));
    }

    proptest! {
        #[test]
        fn every_number_and_moment_comes_back(number: u64, millis: i64) {
            let mut bytes = Vec::new();
            (number).put(&mut bytes);
            Timestamp::from_millis(millis).put(&mut bytes);
            let mut input = Input::new(&bytes);
            prop_assert_eq!(u64::take(&mut input), Ok(number));
            prop_assert_eq!(Timestamp::take(&mut input), Ok(Timestamp::from_millis(millis)));
        }

        #[test]
        fn no_bytes_make_the_reading_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = Vec::<Option<String>>::take(&mut Input::new(&bytes));
            let _ = Vec::<IpAddr>::take(&mut Input::new(&bytes));
            let _ = <Option<Opaque> as Field>::take(&mut Input::new(&bytes));
        }
    }
}
