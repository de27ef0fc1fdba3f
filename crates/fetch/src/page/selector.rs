//! CSS selectors that choose elements of a page.
//!
//! A subset of CSS (Selectors Level 4): a tag `table`, an id `#prices`, classes `.row.total`, attributes
//! `[itemprop]` and `[itemprop=price]` (also quoted), all of them on one element as in `td.price[data-x]`,
//! elements inside of others as in `#prices td`, and lists as in `h1, .price`. Names of tags and attributes
//! match ignoring case.
//!
//! # Promises
//! - A selector outside of the subset is refused; the error states the selector and the reason.
//! - Matching costs a few comparisons per element, however a page is nested.

/// Maximum number of parts of one selector, and of selectors of one list.
const PARTS_MAX: usize = 16;

/// The conditions on one element.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Part {
    tag: Option<String>,
    id: Option<String>,
    classes: Vec<String>,
    attributes: Vec<(String, Option<String>)>,
}

/// Conditions on nested elements, the outermost first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Selector {
    parts: Vec<Part>,
    written: String,
}

/// Why a text is not a selector.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "`{selector}` is no selector that is understood: {why} (use tag, #id, .class, [attribute] and spaces \
     between them)"
)]
pub struct BadSelector {
    /// The text.
    pub selector: String,
    /// The reason.
    pub why: String,
}

/// Access to the attributes of an element by name.
pub(super) trait Attributes {
    /// The value of an attribute; none if the element does not have it.
    fn value(&self, name: &str) -> Option<&[u8]>;
}

impl Selector {
    /// Parses a comma-separated list of selectors.
    pub fn list(text: &str) -> Result<Vec<Self>, BadSelector> {
        let selectors = text.split(',').map(Self::one).collect::<Result<Vec<_>, _>>()?;
        if selectors.len() > PARTS_MAX {
            return Err(bad(text, "it is too long"));
        }
        Ok(selectors)
    }

    fn one(text: &str) -> Result<Self, BadSelector> {
        let parts = text
            .split_ascii_whitespace()
            .map(|part| Part::parse(part).map_err(|why| bad(text, &why)))
            .collect::<Result<Vec<_>, _>>()?;
        match parts.len() {
            0 => Err(bad(text, "it is empty")),
            1..=PARTS_MAX => Ok(Self { parts, written: text.trim().to_owned() }),
            _ => Err(bad(text, "it is too long")),
        }
    }

    /// The selector as its user wrote it.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// The number of parts matched at an element, given the number matched outside of it.
    pub(super) fn step(&self, met: u8, tag: &[u8], attributes: &dyn Attributes) -> u8 {
        match self.parts.get(usize::from(met)) {
            Some(part) if part.matches(tag, attributes) => met + 1,
            _ => met,
        }
    }

    /// Whether an element with this number of matched parts is selected, or inside of one that is.
    pub(super) fn is_met(&self, met: u8) -> bool {
        usize::from(met) == self.parts.len()
    }
}

impl Part {
    fn parse(text: &str) -> Result<Self, String> {
        let mut part = Self::default();
        let mut rest = text;
        let tag = name(rest);
        if !tag.is_empty() {
            part.tag = Some(tag.to_ascii_lowercase());
        }
        rest = &rest[tag.len()..];
        if let (None, Some(after)) = (&part.tag, rest.strip_prefix('*')) {
            part.tag = Some("*".to_owned());
            rest = after;
        }
        while let Some(sign) = rest.chars().next() {
            rest = &rest[sign.len_utf8()..];
            match sign {
                '#' | '.' => {
                    let named = name(rest);
                    if named.is_empty() {
                        return Err(format!("no name follows `{sign}`"));
                    }
                    rest = &rest[named.len()..];
                    if sign == '#' {
                        part.id = Some(named.to_owned());
                    } else {
                        part.classes.push(named.to_owned());
                    }
                }
                '[' => {
                    let (inside, after) = rest.split_once(']').ok_or("`[` is not closed")?;
                    part.attributes.push(attribute(inside)?);
                    rest = after;
                }
                other => return Err(format!("`{other}` is not understood")),
            }
        }
        Ok(part)
    }

    fn matches(&self, tag: &[u8], attributes: &dyn Attributes) -> bool {
        let is_tag = |wanted: &String| wanted == "*" || tag.eq_ignore_ascii_case(wanted.as_bytes());
        let has_class = |wanted: &String| {
            let classes = attributes.value("class").unwrap_or(b"");
            classes.split(u8::is_ascii_whitespace).any(|class| class == wanted.as_bytes())
        };
        let has = |(name, wanted): &(String, Option<String>)| {
            attributes
                .value(name)
                .is_some_and(|value| wanted.as_ref().is_none_or(|wanted| value == wanted.as_bytes()))
        };
        self.tag.as_ref().is_none_or(is_tag)
            && self.id.as_ref().is_none_or(|wanted| attributes.value("id") == Some(wanted.as_bytes()))
            && self.classes.iter().all(has_class)
            && self.attributes.iter().all(has)
    }
}

/// The name at the start of a text; may be empty.
fn name(text: &str) -> &str {
    let is_letter = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
    &text[..text.find(|letter| !is_letter(letter)).unwrap_or(text.len())]
}

fn attribute(inside: &str) -> Result<(String, Option<String>), String> {
    let (named, value) = match inside.split_once('=') {
        Some((named, value)) => (named, Some(value.trim_matches(['"', '\'']).to_owned())),
        None => (inside, None),
    };
    if named.is_empty() || name(named) != named {
        return Err(format!("`[{inside}]` is no attribute"));
    }
    Ok((named.to_ascii_lowercase(), value))
}

fn bad(selector: &str, why: &str) -> BadSelector {
    BadSelector { selector: selector.trim().to_owned(), why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Given(Vec<(&'static str, &'static str)>);

    impl Attributes for Given {
        fn value(&self, name: &str) -> Option<&[u8]> {
            self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_bytes())
        }
    }

    #[track_caller]
    fn check(selector: &str, tag: &str, attributes: &[(&'static str, &'static str)], expected: bool) {
        let selector = &Selector::list(selector).unwrap()[0];
        let met = selector.step(0, tag.as_bytes(), &Given(attributes.to_vec()));
        assert_eq!(selector.is_met(met), expected, "{selector:?}");
    }

    #[test]
    fn an_element_matches_all_that_is_asked_of_it() {
        check("td", "TD", &[], true);
        check("td", "th", &[], false);
        check("#a", "p", &[("id", "a")], true);
        check(".a.b", "p", &[("class", "b c a")], true);
        check(".a.b", "p", &[("class", "ab")], false);
        check("[itemprop='price']", "p", &[("itemprop", "price")], true);
        check("[itemprop]", "p", &[], false);
        check("p.a[b=c]#d", "p", &[("class", "a"), ("b", "c"), ("id", "d")], true);
        check("*", "p", &[], true);
    }

    #[test]
    fn elements_inside_of_others_are_met_one_after_the_other() {
        let selector = &Selector::list("#prices td").unwrap()[0];
        let outer = selector.step(0, b"table", &Given(vec![("id", "prices")]));
        let row = selector.step(outer, b"tr", &Given(vec![]));
        assert!(!selector.is_met(row));
        assert!(selector.is_met(selector.step(row, b"td", &Given(vec![]))));
        assert!(!selector.is_met(selector.step(0, b"td", &Given(vec![]))));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for text in ["", "a > b", "a:hover", "..a", "#", "[a", "[=b]", "a,,b"] {
            assert!(Selector::list(text).is_err(), "{text}");
        }
        assert_eq!(Selector::list("h1, .price").unwrap().len(), 2);
    }

    proptest! {
        #[test]
        fn any_text_is_a_selector_or_refused(text in "\\PC{0,30}") {
            let _ = Selector::list(&text);
        }
    }
}
