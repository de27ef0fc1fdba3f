//! A lenient XML walker for sitemaps and feeds.
//!
//! # Promises
//! - Only the five entities of XML itself and character references are expanded; document types are skipped.
//! - Malformed parts are skipped or end the walk; everything before them has been visited.
//! - The text of an element is kept up to [`TEXT_BYTES_MAX`] bytes.

use std::borrow::Cow;

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::canonical::REFERENCE_BYTES_MAX;

/// Maximum length of the text of one element, in bytes: one more than the longest reference, so that a longer
/// one is refused as too long.
const TEXT_BYTES_MAX: usize = REFERENCE_BYTES_MAX + 1;

/// Receives the elements of a document.
pub(super) trait Visitor {
    /// Called at the start of an element; the outermost has depth 1.
    fn open(&mut self, depth: usize, name: &str, attributes: &Attributes<'_>);
    /// Called at the end of an element. `text` is the text since the last start tag before it: that of an
    /// inner element, or its own.
    fn close(&mut self, depth: usize, name: &str, text: &str);
    /// Whether the walk may end.
    fn is_full(&self) -> bool;
}

/// Walks through a document. Returns whether it was well-formed up to where the walk ended.
pub(super) fn walk(document: &str, visitor: &mut impl Visitor) -> bool {
    let mut reader = Reader::from_str(document);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.expand_empty_elements = true;
    let mut depth = 0usize;
    let mut text = String::new();
    while !visitor.is_full() {
        match reader.read_event() {
            Ok(Event::Start(element)) => {
                depth += 1;
                text.clear();
                visitor.open(depth, local(element.name().0), &Attributes { element: &element });
            }
            Ok(Event::End(element)) => {
                visitor.close(depth, local(element.name().0), text.trim());
                depth = depth.saturating_sub(1);
            }
            Ok(Event::Text(piece)) => push(&mut text, &piece),
            Ok(Event::CData(piece)) => push(&mut text, &piece),
            Ok(Event::GeneralRef(reference)) => match reference.resolve_char_ref() {
                Ok(Some(character)) => push(&mut text, character.encode_utf8(&mut [0; 4])),
                _ => push(&mut text, resolve_predefined_entity(&reference).unwrap_or("")),
            },
            Ok(Event::Eof) => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
    true
}

/// The attributes of an element.
pub(super) struct Attributes<'a> {
    element: &'a BytesStart<'a>,
}

impl Attributes<'_> {
    /// The value of the attribute with this local name.
    pub(super) fn get(&self, wanted: &str) -> Option<String> {
        let mut attributes = self.element.attributes();
        let found =
            attributes.with_checks(false).flatten().find(|attribute| local(attribute.key.0) == wanted)?;
        // An unknown entity leaves the value unchanged.
        let value = found.normalized_value(XmlVersion::Implicit1_0).unwrap_or(Cow::Borrowed(&found.value));
        (value.len() <= TEXT_BYTES_MAX).then(|| value.trim().into())
    }
}

/// The name without its prefix.
fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

fn push(text: &mut String, piece: &str) {
    let room = TEXT_BYTES_MAX.saturating_sub(text.len());
    text.push_str(super::text::shortened(piece, room));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Records what it visits.
    #[derive(Default)]
    struct Witness {
        seen: Vec<String>,
    }

    impl Visitor for Witness {
        fn open(&mut self, depth: usize, name: &str, attributes: &Attributes<'_>) {
            self.seen.push(format!(
                "{depth}<{name}{}",
                attributes.get("a").map(|a| format!(" {a}")).unwrap_or_default()
            ));
        }

        fn close(&mut self, depth: usize, name: &str, text: &str) {
            self.seen.push(format!("{depth}>{name} {text}"));
        }

        fn is_full(&self) -> bool {
            500 < self.seen.len()
        }
    }

    #[track_caller]
    fn check(document: &str, well_formed: bool, expected: &[&str]) {
        let mut witness = Witness::default();
        assert_eq!(walk(document, &mut witness), well_formed);
        assert_eq!(witness.seen, expected);
    }

    #[test]
    fn elements_are_seen_with_depth_attribute_and_text() {
        check("<r><x:y q:a='1&amp;2'/> t </r>", true, &["1<r", "2<y 1&2", "2>y ", "1>r t"]);
        check("<r>&lt;&#65;<![CDATA[<b>]]></r>", true, &["1<r", "1>r <A<b>"]);
    }

    #[test]
    fn no_declared_entity_is_expanded() {
        let bomb =
            "<!DOCTYPE r [<!ENTITY a 'xxxx'><!ENTITY b '&a;&a;'><!ENTITY c SYSTEM 'file:///etc/hostname'>]>";
        check(&format!("{bomb}<r>&b;&c;.</r>"), true, &["1<r", "1>r ."]);
    }

    #[test]
    fn what_is_not_well_formed_is_survived() {
        check("<r><a></r></x></y>", true, &["1<r", "2<a", "2>r ", "1>x ", "0>y "]);
        check("<r>x</r><", false, &["1<r", "1>r x"]);
    }

    proptest! {
        #[test]
        fn any_text_is_walked(
            document in "(<|>|/|!|\\?|\\[|CDATA|DOCTYPE|--|&|;|#|x|a=|'|\"|ü| |-|\\]){0,40}",
        ) {
            walk(&document, &mut Witness::default());
        }
    }
}
