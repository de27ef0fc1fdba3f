//! Benchmark: the cost of reading a page, compared with the unavoidable minimum of tokenizing it and hashing
//! its bytes.
//!
//! Pages are generated from a seed, 10 to 50 KB, of the usual kind: navigation, paragraphs with links, a
//! table, a script, a footer. Measured: MB a second and microseconds a page for the whole of `read` (charset,
//! text, canonical links, digests, simhash), for html5gum with an emitter that only counts, for BLAKE3, and
//! for what other libraries need to find the links and the text alone: lol_html (streaming) and html5ever
//! with the tree of scraper.
//! These would be alarming: more than 100 microseconds for a page of 10 KB, or `read` at less than a fifth of
//! the speed of plain tokenizing.
#![allow(clippy::print_stdout, reason = "printing is the purpose of a benchmark")]

use std::convert::Infallible;
use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};

use freshet_fetch::page::reading::Limits;
use freshet_fetch::page::{Canonical, PageUrl, read};
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use lol_html::{HtmlRewriter, Settings, element, text};
use scraper::{Html, Selector};

/// Duration of each measurement.
const SPAN: Duration = Duration::from_secs(2);

/// Different pages of each size, so that the branch predictor cannot learn them.
const PAGES: u64 = 40;

fn main() {
    println!("\n| page     | links | what            | MB/s    | µs a page |");
    println!("|----------|-------|-----------------|---------|-----------|");
    for kilobytes in [10, 25, 50] {
        let pages: Vec<String> = (0..PAGES).map(|seed| page(seed, kilobytes * 1_000)).collect();
        let url = PageUrl::stored("https://site7.example/section/3/page17.html").expect("a canonical URL");
        let (canonical, limits) = (Canonical::default(), Limits::default());
        let read_it = |page: &str| {
            read(&url, Some("text/html; charset=utf-8"), &[], &[], page.as_bytes(), &canonical, &limits)
        };
        let links = pages.iter().map(|page| read_it(page).links.len()).sum::<usize>() / pages.len();
        let row = |what: &str, act: &dyn Fn(&str)| report(kilobytes, links, what, &pages, act);
        row("read", &|page| _ = black_box(read_it(page)));
        row("tokenize only", &|page| _ = black_box(tags(page)));
        row("hash only", &|page| _ = black_box(blake3::hash(page.as_bytes())));
        row("lol_html", &|page| _ = black_box(with_lol_html(page)));
        row("html5ever", &|page| _ = black_box(with_html5ever(page)));
    }
}

/// Measures each page by the fastest of many runs, to exclude other load on the machine.
fn report(kilobytes: usize, links: usize, what: &str, pages: &[String], act: &dyn Fn(&str)) {
    let mut fastest = vec![Duration::MAX; pages.len()];
    let start = Instant::now();
    while start.elapsed() < SPAN {
        for (page, fastest) in pages.iter().zip(&mut fastest) {
            let start = Instant::now();
            act(page);
            *fastest = start.elapsed().min(*fastest);
        }
    }
    let seconds: f64 = fastest.iter().map(Duration::as_secs_f64).sum();
    let bytes: usize = pages.iter().map(String::len).sum();
    let (speed, cost) = (bytes as f64 / 1e6 / seconds, seconds * 1e6 / pages.len() as f64);
    println!("| {kilobytes:>5} KB | {links:>5} | {what:<15} | {speed:>7.0} | {cost:>9.1} |");
}

/// Number of tags of a page.
fn tags(page: &str) -> usize {
    let mut tags = 0;
    let emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
        tags += usize::from(matches!(event, CallbackEvent::CloseStartTag { .. }));
        None
    });
    let Ok(()) = Tokenizer::new_with_emitter(page, emitter).finish();
    tags
}

/// The links of a page, and the bytes of its text, by lol_html.
fn with_lol_html(page: &str) -> (Vec<String>, usize) {
    let (mut links, mut text) = (Vec::new(), 0);
    let settings = Settings::new()
        .append_element_content_handler(element!("a[href]", |link| {
            links.extend(link.get_attribute("href"));
            Ok(())
        }))
        .append_element_content_handler(text!("body", |chunk| {
            text += chunk.as_str().len();
            Ok(())
        }));
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| ());
    rewriter.write(page.as_bytes()).expect("it is read");
    rewriter.end().expect("it ends");
    (links, text)
}

/// The same by html5ever, which makes a tree of the whole page.
fn with_html5ever(page: &str) -> (Vec<String>, usize) {
    let document = Html::parse_document(page);
    let selector = Selector::parse("a[href]").expect("a selector");
    let links = document.select(&selector).filter_map(|link| link.attr("href")).map(str::to_owned).collect();
    (links, document.root_element().text().map(str::len).sum())
}

/// A page from a seed, of about `bytes` bytes.
fn page(seed: u64, bytes: usize) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1;
    let mut draw = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Page {seed} of the \
         site</title>\n<link \
         rel=\"stylesheet\" href=\"/static/site.css\"><link rel=\"canonical\" \
         href=\"/section/{seed}\"><script>var page = {seed}; if \
         (page < 7 && page > 2) {{ track('<p>'); }}</script></head>\n<body class=\"page wide\"><nav><ul>"
    );
    for item in 0..12 {
        write_to(
            &mut html,
            format_args!(
                "<li class=\"nav-item\"><a class=\"nav-link\" href=\"/section/{item}/\">Section \
                 {item}</a></li>\n"
            ),
        );
    }
    html.push_str("</ul></nav><main><h1>A heading &amp; more</h1>\n");
    while html.len() < bytes {
        html.push_str("<p class=\"text\">");
        for _ in 0..30 + draw(40) {
            match draw(40) {
                0 => write_to(
                    &mut html,
                    format_args!("<a href=\"../{}/page{}.html\">a link</a> ", draw(30), draw(500)),
                ),
                1 => write_to(
                    &mut html,
                    format_args!(
                        "<a href=\"https://site{}.example/?id={}&amp;x=1\">other</a> ",
                        draw(99),
                        draw(500)
                    ),
                ),
                2 => html.push_str("<em>stressed</em> &mdash; "),
                _ => write_to(&mut html, format_args!("{} ", WORDS[draw(WORDS.len() as u64) as usize])),
            }
        }
        write_to(
            &mut html,
            format_args!("</p>\n<div class=\"box b{}\"><span>{}</span></div>\n", draw(9), draw(9_999)),
        );
    }
    html.push_str("</main><footer>&copy; 2026</footer></body></html>\n");
    html
}

fn write_to(html: &mut String, text: std::fmt::Arguments<'_>) {
    html.write_fmt(text).expect("a string takes any text");
}

const WORDS: [&str; 24] = [
    "water",
    "the",
    "of",
    "spring",
    "and",
    "a",
    "in",
    "freshness",
    "river",
    "to",
    "is",
    "measured",
    "by",
    "stone",
    "with",
    "pages",
    "changing",
    "often",
    "market",
    "quiet",
    "für",
    "naïve",
    "window",
    "letter",
];
