//! Parses a page of search results: the results, and the reported number of matches.
//!
//! # Promises
//! - Any bytes are an answer: with results, without results, or unreadable with a reason.
//! - At most [`RESULTS_MAX`] results, of [`TEXT_BYTES_MAX`] bytes each, are taken from a page.

use freshet_fetch::page::charset::Charset;
use freshet_fetch::page::{Canonical, PageUrl};
use scraper::{ElementRef, Html};
use serde_json::Value;

use super::description::{Interface, plain_urls};
use super::pattern::Pattern;

/// Maximum number of results taken from one page.
pub const RESULTS_MAX: usize = 200;

/// Maximum bytes taken of a result's text.
pub const TEXT_BYTES_MAX: usize = 1 << 20;

/// Maximum bytes parsed of a page of results. A tree of HTML takes some twenty times as much memory.
pub const PAGE_BYTES_MAX: usize = 4 << 20;

/// A parsed page of results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The results, in page order.
    pub results: Vec<Found>,
    /// The total number of matches that the page reports.
    pub count: Option<u64>,
    /// Why the page is not as expected, if it is not.
    pub trouble: Option<Trouble>,
}

/// One search result.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Target of its link. `None` without a link.
    pub url: Option<PageUrl>,
    /// Its title.
    pub title: String,
    /// Its text.
    pub text: String,
}

/// What is wrong with a page of results.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Trouble {
    /// It asks for proof that the client is human.
    Captcha,
    /// It cannot be read.
    Unreadable(String),
}

/// Parses a page of results.
///
/// # Examples
///
/// ```
/// use freshet_fetch::page::Canonical;
/// use freshet_text::interface::{Documents, Interface, read_answer};
///
/// let interface = Interface {
///     search: "https://a.example/search?q={query}&page={n}".to_owned(),
///     results: "li.result".to_owned(),
///     link: None,
///     text: None,
///     count: Some("/of ([0-9,]+)/".to_owned()),
///     documents: Documents::Linked,
/// };
/// let page = interface.url("heart disease", 1, 10).expect("it is a URL");
/// let body = b"<p>1-1 of 1,234</p><ol><li class=result><a href=/1>Hearts</a></ol>";
/// let answer = read_answer(&interface, &page, Some("text/html"), body);
///
/// assert_eq!(answer.count, Some(1234));
/// let url = Canonical::default().of("https://a.example/1")?;
/// assert_eq!(answer.results[0].url.as_ref(), Some(&url));
/// # Ok::<(), freshet_fetch::page::UrlRefused>(())
/// ```
pub fn read_answer(interface: &Interface, page: &PageUrl, content_type: Option<&str>, body: &[u8]) -> Answer {
    let body = &body[..body.len().min(PAGE_BYTES_MAX)];
    let unreadable = |why: String| Answer { trouble: Some(Trouble::Unreadable(why)), ..Answer::default() };
    let results = match Pattern::parse(&interface.results) {
        Ok(results) => results,
        Err(why) => return unreadable(why),
    };
    let text = Charset::of(content_type, page.host(), body).decode(body);
    if text.chars().take(4096).any(|letter| letter == '\0') {
        return unreadable("the answer is binary".to_owned());
    }
    let mut answer = match &results {
        Pattern::Css(selector) => read_html(interface, page, selector, &text),
        Pattern::Json(path) => match serde_json::from_str(&text) {
            Ok(value) => read_json(interface, page, path, &value),
            Err(error) => unreadable(format!("the answer is not JSON: {error}")),
        },
        Pattern::Regex(_) => unreadable("results are named by CSS or by a JSON path".to_owned()),
    };
    if let Some(Ok(Pattern::Regex(regex))) = interface.count.as_deref().map(Pattern::parse) {
        let found = regex.captures(&text);
        answer.count = found
            .and_then(|found| found.get(1).or(found.get(0)))
            .and_then(|found| largest_number(found.as_str()));
    }
    if answer.results.is_empty() && asks_whether_human(&text) {
        answer.trouble = Some(Trouble::Captcha);
    }
    answer
}

fn read_html(interface: &Interface, page: &PageUrl, results: &scraper::Selector, text: &str) -> Answer {
    let document = Html::parse_document(text);
    let css = |text: Option<&str>| match text.map(Pattern::parse) {
        Some(Ok(Pattern::Css(selector))) => Some(selector),
        _ => None,
    };
    let (link, inner, count) =
        (css(interface.link.as_deref()), css(interface.text.as_deref()), css(interface.count.as_deref()));
    let anchor = scraper::Selector::parse("a[href]").expect("a selector");
    let urls = plain_urls();
    let found = document.select(results).take(RESULTS_MAX).map(|element| {
        let linked = match &link {
            Some(link) => element.select(link).next(),
            None => Some(element)
                .filter(|element| element.attr("href").is_some())
                .or_else(|| element.select(&anchor).next()),
        };
        let url =
            linked.and_then(|linked| linked.attr("href")).and_then(|href| urls.join(page, href.trim()).ok());
        let title = linked.map(text_of).unwrap_or_default();
        let text = inner.as_ref().map_or(Some(element), |inner| element.select(inner).next()).map(text_of);
        Found { url, title, text: text.unwrap_or_default() }
    });
    let results = found.collect();
    let count =
        count.and_then(|count| document.select(&count).find_map(|element| largest_number(&text_of(element))));
    Answer { results, count, trouble: None }
}

/// The visible text of an element, with its pieces separated.
fn text_of(element: ElementRef<'_>) -> String {
    let is_hidden = |name: &str| matches!(name, "script" | "style" | "noscript" | "template");
    let mut text = String::new();
    for node in element.descendants() {
        let Some(piece) = node.value().as_text() else { continue };
        let within = node.parent().and_then(ElementRef::wrap);
        if within.is_some_and(|within| is_hidden(within.value().name())) {
            continue;
        }
        if TEXT_BYTES_MAX < text.len() + piece.len() {
            break;
        }
        text.push_str(piece);
        text.push(' ');
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn read_json(
    interface: &Interface,
    page: &PageUrl,
    results: &super::json_path::JsonPath,
    value: &Value,
) -> Answer {
    let path = |text: Option<&str>| match text.map(Pattern::parse) {
        Some(Ok(Pattern::Json(path))) => Some(path),
        _ => None,
    };
    let (link, inner, count) =
        (path(interface.link.as_deref()), path(interface.text.as_deref()), path(interface.count.as_deref()));
    let urls = plain_urls();
    // A path to the list itself means the items in it.
    let items = results.find(value);
    let items: Vec<&Value> = match items.as_slice() {
        [Value::Array(list)] => list.iter().collect(),
        _ => items,
    };
    let found = items.into_iter().take(RESULTS_MAX).map(|item| {
        let named = |names: &[&str]| {
            names.iter().find_map(|name| item.get(name).and_then(Value::as_str)).map(str::to_owned)
        };
        let linked = match &link {
            Some(link) => link.find(item).first().and_then(|value| value.as_str()).map(str::to_owned),
            None => named(&["url", "link", "href"]),
        };
        let url = linked.and_then(|linked| join(&urls, page, &linked));
        let mut text = String::new();
        match &inner {
            Some(inner) => inner.find(item).into_iter().for_each(|value| strings_of(value, &mut text)),
            None => strings_of(item, &mut text),
        }
        Found { url, title: named(&["title", "name"]).unwrap_or_default(), text }
    });
    let results = found.collect();
    let count = count.and_then(|count| count.find(value).into_iter().find_map(number_of));
    Answer { results, count, trouble: None }
}

fn join(urls: &Canonical, page: &PageUrl, reference: &str) -> Option<PageUrl> {
    urls.join(page, reference.trim()).ok()
}

/// Collects all strings in a value, except URLs.
fn strings_of(value: &Value, text: &mut String) {
    match value {
        Value::String(string)
            if !string.starts_with("http") && text.len() + string.len() < TEXT_BYTES_MAX =>
        {
            text.push_str(string);
            text.push(' ');
        }
        Value::Array(values) => values.iter().for_each(|value| strings_of(value, text)),
        Value::Object(members) => members.values().for_each(|value| strings_of(value, text)),
        _ => {}
    }
}

fn number_of(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str().and_then(largest_number))
}

/// The largest whole number in a text, with or without thousands separators: 1234 for `1-10 of about 1,234`.
pub fn largest_number(text: &str) -> Option<u64> {
    let characters: Vec<char> = text.chars().take(10_000).collect();
    let digits = |from: usize| {
        characters[from.min(characters.len())..].iter().take_while(|letter| letter.is_ascii_digit()).count()
    };
    let (mut at, mut largest) = (0, None);
    while at < characters.len() {
        let length = digits(at);
        if length == 0 {
            at += 1;
            continue;
        }
        let mut number: String = characters[at..at + length].iter().collect();
        at += length;
        while length <= 3
            && characters
                .get(at)
                .is_some_and(|letter| matches!(letter, ',' | '.' | '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}'))
            && digits(at + 1) == 3
        {
            number.extend(&characters[at + 1..at + 4]);
            at += 4;
        }
        largest = largest.max(number.parse::<u64>().ok());
    }
    largest
}

fn asks_whether_human(text: &str) -> bool {
    const MARKS: [&str; 6] = [
        "captcha",
        "are you a robot",
        "not a robot",
        "unusual traffic",
        "verify you are human",
        "cf-challenge",
    ];
    let start: String = text.chars().take(200_000).collect::<String>().to_lowercase();
    MARKS.iter().any(|mark| start.contains(mark))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::interface::Documents;

    fn interface(results: &str, count: &str) -> Interface {
        Interface {
            search: "http://e.example/?q={query}".to_owned(),
            results: results.to_owned(),
            link: None,
            text: None,
            count: Some(count.to_owned()),
            documents: Documents::Linked,
        }
    }

    fn page() -> PageUrl {
        PageUrl::stored("http://e.example/search").expect("a URL")
    }

    #[test]
    fn results_and_their_number_are_read_from_html() {
        let html = "<p class=n>1-2 of about 1,234 results</p><ol><li><a \
                    href='/a'>A</a><script>no()</script><noscript><b>no</b></noscript> first<li><a \
                    href='http://o.example/b'>B</a></ol>";
        let answer = read_answer(&interface("ol > li", "p.n"), &page(), Some("text/html"), html.as_bytes());
        assert_eq!(answer.count, Some(1234));
        let urls: Vec<_> =
            answer.results.iter().map(|found| found.url.as_ref().expect("a link").as_str()).collect();
        assert_eq!(urls, ["http://e.example/a", "http://o.example/b"]);
        assert_eq!(answer.results[0].text, "A first");
    }

    #[test]
    fn results_and_their_number_are_read_from_json() {
        let json = r#"{"total": 77, "hits": [
            {"title": "Rings", "url": "/a", "body": "of Saturn"}, {"title": "none"}
        ]}"#;
        for results in ["$.hits[*]", "$.hits"] {
            let answer = read_answer(
                &interface(results, "$.total"),
                &page(),
                Some("application/json"),
                json.as_bytes(),
            );
            assert_eq!((answer.count, answer.results.len()), (Some(77), 2));
            assert!(answer.results[0].text.contains("of Saturn") && answer.results[1].url.is_none());
        }
    }

    #[test]
    fn numbers_are_found_in_all_their_forms() {
        for (text, number) in [
            ("Results 1 - 10 of about 1,234,567.", Some(1_234_567)),
            ("1.234 Treffer", Some(1234)),
            ("12 345 résultats", Some(12_345)),
            ("12\u{202f}345", Some(12_345)),
            ("page 2, 15 hits", Some(15)),
            ("no results", None),
            ("99999999999999999999999", None),
        ] {
            assert_eq!(largest_number(text), number, "{text}");
        }
    }

    #[test]
    fn a_page_that_asks_for_a_human_is_known() {
        let answer =
            read_answer(&interface("li", "p"), &page(), None, b"<html>Please solve this CAPTCHA</html>");
        assert_eq!(answer.trouble, Some(Trouble::Captcha));
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let json = read_answer(&interface("$.hits", "$.n"), &page(), None, b"<html>");
        assert!(matches!(json.trouble, Some(Trouble::Unreadable(why)) if why.contains("not JSON")));
        let binary = read_answer(&interface("li", "p"), &page(), Some("text/html"), b"<li>\0\0\x01");
        assert!(matches!(binary.trouble, Some(Trouble::Unreadable(why)) if why.contains("binary")));
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_answer(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            json in any::<bool>(),
        ) {
            let interface = if json { interface("$..a[*]", "$.n") } else { interface("li, a", "/([0-9]+)/") };
            let answer = read_answer(&interface, &page(), None, &bytes);
            prop_assert!(answer.results.len() <= RESULTS_MAX);
        }

        #[test]
        fn any_html_is_an_answer(text in "(<(li|a href=x|ol|/li|table|p|b)>|[a-z ]){0,40}") {
            read_answer(&interface("ol li", "p"), &page(), None, text.as_bytes());
        }

        #[test]
        fn any_text_has_a_number_or_none(text in "[0-9,. \\PC]{0,30}") {
            let _ = largest_number(&text);
        }
    }
}
