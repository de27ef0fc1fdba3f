//! URL templates: build the URL of a query.
//!
//! Names in braces are ours (`{query}`, `{n}`) or those of OpenSearch 1.1 (`{searchTerms}`, `{startPage}`,
//! `{startIndex}`, `{count}`, ...). A name with a question mark may be left empty.
//!
//! # Promises
//! - Every text is a template or is refused with a reason.
//! - The query is escaped: no character of it can end a parameter.

/// A parsed URL template.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Part {
    Text(String),
    Query,
    Page,
    FirstResult,
    ResultsPerPage,
    Encoding,
    AnyLanguage,
    Nothing,
}

impl Template {
    /// Parses a template, or returns what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            parts.push(Part::Text(rest[..open].to_owned()));
            let close = rest[open..].find('}').ok_or("a `{` has no `}`")? + open;
            parts.push(part(&rest[open + 1..close])?);
            rest = &rest[close + 1..];
        }
        parts.push(Part::Text(rest.to_owned()));
        let template = Self { parts };
        if !template.parts.contains(&Part::Query) {
            return Err("it has no `{query}`: write it where the words go, as in \
                        https://example.org/search?q={query}"
                .to_owned());
        }
        Ok(template)
    }

    /// The URL of a page of results. Pages are counted from one.
    pub fn url(&self, query: &str, page: u32, results_per_page: u32) -> String {
        let first = u64::from(page.saturating_sub(1)) * u64::from(results_per_page) + 1;
        let mut url = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => url.push_str(text),
                Part::Query => escape(query, &mut url),
                Part::Page => url.push_str(&page.to_string()),
                Part::FirstResult => url.push_str(&first.to_string()),
                Part::ResultsPerPage => url.push_str(&results_per_page.to_string()),
                Part::Encoding => url.push_str("UTF-8"),
                Part::AnyLanguage => url.push('*'),
                Part::Nothing => {}
            }
        }
        url
    }

    /// Whether the template contains the number of the page.
    pub fn has_pages(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Page | Part::FirstResult))
    }
}

fn part(name: &str) -> Result<Part, String> {
    let (bare, is_optional) = name.strip_suffix('?').map_or((name, false), |bare| (bare, true));
    Ok(match bare {
        "query" | "searchTerms" => Part::Query,
        "n" | "page" | "startPage" => Part::Page,
        "startIndex" | "offset" => Part::FirstResult,
        "count" => Part::ResultsPerPage,
        "inputEncoding" | "outputEncoding" => Part::Encoding,
        "language" => Part::AnyLanguage,
        _ if is_optional => Part::Nothing,
        _ => {
            return Err(format!(
                "`{{{name}}}` is not known: use {{query}} for the words and {{n}} for the page"
            ));
        }
    })
}

/// Escapes a text as a parameter value.
fn escape(text: &str, url: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => url.push(char::from(byte)),
            b' ' => url.push('+'),
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(template: &str, url: &str) {
        assert_eq!(
            Template::parse(template).map(|template| template.url("größe & x", 3, 10)),
            Ok(url.to_owned())
        );
    }

    #[test]
    fn names_are_filled_in() {
        check("http://e/?q={query}&p={n}", "http://e/?q=gr%C3%B6%C3%9Fe+%26+x&p=3");
        check(
            "http://e/?q={searchTerms}&s={startIndex?}&c={count}&f={x:geo?}",
            "http://e/?q=gr%C3%B6%C3%9Fe+%26+x&s=21&c=10&f=",
        );
    }

    #[test]
    fn what_is_no_template_says_why() {
        for (text, word) in [("http://e/", "{query}"), ("{query", "no `}`"), ("{query}{moon}", "moon")] {
            assert!(Template::parse(text).expect_err(text).contains(word));
        }
    }

    proptest! {
        #[test]
        fn every_text_is_a_template_or_refused(text in "\\PC{0,40}") {
            let _ = Template::parse(&text);
        }

        #[test]
        fn a_query_stays_in_its_place(query in "\\PC{0,20}") {
            let url = Template::parse("http://e/?q={query}&n=1").expect("a template").url(&query, 1, 10);
            prop_assert_eq!(url.matches('&').count(), 1);
            prop_assert!(url.is_ascii() && !url.contains(' ') && !url.contains('#'));
        }
    }
}
