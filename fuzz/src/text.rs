//! What text databases answer, how they describe themselves, and the words of any text.

use freshet_text::counting::Counting;
use freshet_text::interface::answer::RESULTS_MAX;
use freshet_text::interface::open_search::read_description;
use freshet_text::interface::{Documents, Interface, read_answer};
use freshet_text::words::{Language, WORD_BYTES_MAX, Wording};

use crate::{Parser, base, fingerprint, lossy, seeds, size};

/// A page of search results, as HTML and as JSON.
pub fn results(bytes: &[u8]) -> u64 {
    let css = interface("li, .result", Some("a"), "/of ([0-9,]+)/");
    let json = interface("$..hits[*]", Some("$.link"), "$.total");
    let found = [css, json, interface("$", None, "$..*")].map(|interface| {
        let answer = read_answer(&interface, &base(), None, bytes);
        assert!(answer.results.len() <= RESULTS_MAX);
        (size(answer.results.len()), answer.count.is_some(), answer.trouble.is_some())
    });
    fingerprint(found)
}

/// An OpenSearch description.
pub fn open_search(bytes: &[u8]) -> u64 {
    let offer = read_description(bytes).map(|offer| (size(offer.name.len()), offer.media_type));
    fingerprint(offer.map_err(|fault| size(fault.len())))
}

/// A text as words, plain and stemmed; a count of documents has the same.
pub fn words(bytes: &[u8]) -> u64 {
    let text = lossy(bytes);
    let languages = [None, Some(Language::English), Some(Language::German)];
    let sizes = languages.map(|language| {
        let wording = Wording { stop_words: language, stemming: language };
        let mut words = wording.words(&text);
        assert!(words.iter().all(|word| (1..=WORD_BYTES_MAX).contains(&word.len())));
        let mut counting = Counting::new(wording);
        counting.add(&text);
        words.sort_unstable();
        words.dedup();
        let summary = counting.finish();
        assert!(summary.words().map(|(word, _)| word).eq(words.iter().map(String::as_str)));
        size(words.len())
    });
    fingerprint(sizes)
}

fn interface(results: &str, link: Option<&str>, count: &str) -> Interface {
    Interface {
        search: "http://a.example/?q={query}".to_owned(),
        results: results.to_owned(),
        link: link.map(str::to_owned),
        text: None,
        count: Some(count.to_owned()),
        documents: Documents::Linked,
    }
}

pub(crate) fn parsers() -> Vec<Parser> {
    vec![
        Parser {
            name: "results",
            seeds: seeds(&[
                "<p>1-2 of 1,234</p><ol><li><a href=/1>One</a> first</li>\
                 <li class=result><a href=/2>Two</a></ol>",
                "{\"total\": \"1 234\", \
                 \"r\": {\"hits\": [{\"link\": \"/1\", \"title\": \"One\"}, {\"url\": \"/2\"}]}}",
            ]),
            words: &[
                "<li>",
                "</li>",
                "<a href=",
                "<table>",
                "of 9,999,999",
                "{\"hits\":[",
                "]}",
                "{\"link\":\"",
                "\\ud800",
                "1e999",
                "captcha",
            ],
            read: results,
        },
        Parser {
            name: "open_search",
            seeds: seeds(&["<?xml version=\"1.0\"?>\
                 <OpenSearchDescription xmlns=\"http://a9.com/-/spec/opensearch/1.1/\">\
                 <ShortName>Search</ShortName>\
                 <Url type=\"text/html\" template=\"http://a.example/?q={searchTerms}&amp;p={startPage?}\"/>\
                 </OpenSearchDescription>"]),
            words: &[
                "<Url ",
                "template=",
                "type=\"application/json\"",
                "&#x0;",
                "<![CDATA[",
                "rel=",
                "<ShortName>",
            ],
            read: open_search,
        },
        Parser {
            name: "words",
            seeds: seeds(&[
                "Don't stop: the running dogs' 3.14, e.g. \u{4e2d}\u{6587} \u{30ab}\u{30bf} stra\u{df}e",
            ]),
            words: &[
                "'",
                "\u{2019}",
                "\u{130}",
                "\u{df}",
                "\u{4e2d}",
                "\u{301}",
                "aaaaaaaaaaaaaaaa",
                "running",
                "\0",
            ],
            read: words,
        },
    ]
}
