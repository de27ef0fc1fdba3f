//! Reads search interfaces from OpenSearch 1.1 descriptions.
//!
//! Reads the short name and the template of the first URL that answers with HTML or JSON. OpenSearch does not
//! say where the results are on the page: the user must name that.
//!
//! # Promises
//! - Any bytes are read as a description or refused with a reason.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// The search that a description offers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Offer {
    /// Its name.
    pub name: String,
    /// Its URL template.
    pub template: String,
    /// Media type of its answers.
    pub media_type: String,
}

/// Maximum length of a description, in bytes.
const BYTES_MAX: usize = 1 << 20;

/// Parses a description, or returns why it offers no usable search.
pub fn read_description(bytes: &[u8]) -> Result<Offer, String> {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(BYTES_MAX)]);
    let mut reader = Reader::from_str(&text);
    let (mut name, mut urls, mut is_description) = (String::new(), Vec::new(), false);
    let mut in_name = false;
    loop {
        match reader.read_event().map_err(|error| format!("it is not XML: {error}"))? {
            Event::Start(element) | Event::Empty(element) => match element.local_name().as_ref() {
                "OpenSearchDescription" => is_description = true,
                "ShortName" => in_name = true,
                "Url" => urls.extend(url(&element)),
                _ => in_name = false,
            },
            Event::Text(text) if in_name => name.push_str(&text),
            Event::End(_) => in_name = false,
            Event::Eof => break,
            _ => {}
        }
    }
    if !is_description {
        return Err("it is no OpenSearch description".to_owned());
    }
    let wanted = |offer: &&(String, String)| {
        matches!(offer.0.as_str(), "text/html" | "application/xhtml+xml" | "application/json")
    };
    let Some((media_type, template)) = urls.iter().find(wanted) else {
        let offered: Vec<_> = urls.iter().map(|(media_type, _)| media_type.as_str()).collect();
        return Err(format!("it offers neither HTML nor JSON, but: {}", offered.join(", ")));
    };
    Ok(Offer { name: name.trim().to_owned(), template: template.clone(), media_type: media_type.clone() })
}

/// The media type and the template of a `Url` element for results that uses GET.
fn url(element: &BytesStart<'_>) -> Option<(String, String)> {
    let value = |wanted: &str| {
        let attribute =
            element.attributes().flatten().find(|attribute| attribute.key.local_name().as_ref() == wanted)?;
        let text = attribute.value.into_owned();
        Some(quick_xml::escape::unescape(&text).map(std::borrow::Cow::into_owned).unwrap_or(text))
    };
    let is_for_results = value("rel").is_none_or(|rel| rel.split_whitespace().any(|rel| rel == "results"));
    let is_get = value("method").is_none_or(|method| method.eq_ignore_ascii_case("get"));
    let media_type = value("type")?.split(';').next()?.trim().to_ascii_lowercase();
    (is_for_results && is_get).then_some((media_type, value("template")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DESCRIPTION: &str = r#"<?xml version="1.0"?>
        <OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
        <ShortName>Web Search</ShortName>
        <Url type="application/rss+xml" template="http://e/?q={searchTerms}&amp;format=rss"/>
        <Url type="text/html" method="post" template="http://e/post"/>
        <Url type="text/html" template="http://e/?q={searchTerms}&amp;pw={startPage?}"/>
        </OpenSearchDescription>"#;

    #[test]
    fn the_first_url_that_answers_with_html_is_taken() {
        let offer = read_description(DESCRIPTION.as_bytes()).expect("a description");
        assert_eq!(
            (offer.name.as_str(), offer.template.as_str()),
            ("Web Search", "http://e/?q={searchTerms}&pw={startPage?}")
        );
    }

    #[test]
    fn what_is_no_description_says_why() {
        for (text, word) in [
            ("<html></html>", "no OpenSearch"),
            ("", "no OpenSearch"),
            ("<OpenSearchDescription/>", "neither"),
        ] {
            assert!(read_description(text.as_bytes()).expect_err(text).contains(word));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_description(&bytes);
        }

        #[test]
        fn a_damaged_description_is_read_or_refused(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let mut bytes = DESCRIPTION.as_bytes().to_vec();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let _ = read_description(&bytes);
        }
    }
}
