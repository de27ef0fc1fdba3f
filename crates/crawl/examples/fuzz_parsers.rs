//! Fuzzer: runs mutated inputs through every parser of foreign bytes, and prints each input that causes a
//! panic or takes too long.
//!
//!     cargo run --release -p freshet-crawl --example fuzz_parsers -- --seconds 600 [--seed 1] [--only html]
//!
//! Each parser has a few seeds defined here, valid or nearly so, and a dictionary of words. An input is a
//! seed with one to eight mutations: bits flipped, bytes replaced, pieces removed, duplicated or swapped with
//! those of another seed, words inserted. An input with an outcome not seen before (by a rough fingerprint)
//! becomes a seed.
//!
//! These would be alarming: any panic, and any input of a few kilobytes that takes longer than a second.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, Write as _};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use freshet_crawl::import::cdx::CdxColumns;
use freshet_crawl::import::file_kind::FileKind;
use freshet_crawl::import::http_message::{response, without_chunks};
use freshet_crawl::import::warc_file::WarcFile;
use freshet_fetch::page::charset::Charset;
use freshet_fetch::page::reading::Limits;
use freshet_fetch::page::{Canonical, PageUrl, feed, read, sitemap};
use freshet_fetch::web::{Robots, decoded};
use freshet_protocol::codec::Record as _;
use freshet_store::all_urls::UrlRecord;
use freshet_store::coll_urls::PageRecord;
use freshet_store::collection::gzip::unfold;
use freshet_store::collection::surt::surt;
use freshet_store::collection::warc::WarcRecord;
use freshet_store::history::VisitRow;
use freshet_store::links;
use freshet_store::sites::SiteRecord;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// Maximum time for one input.
const PATIENCE: Duration = Duration::from_secs(1);

/// Maximum length of an input, in bytes.
const INPUT_BYTES_MAX: usize = 16 << 10;

/// Maximum number of seeds of a parser.
const SEEDS_MAX: usize = 2000;

/// Number of inputs for a parser per turn.
const TURN: usize = 200;

/// A parser: its name, its seeds, its dictionary, and the function that calls it. The function returns a
/// rough fingerprint of the outcome.
struct Target {
    name: &'static str,
    seeds: Vec<Vec<u8>>,
    words: &'static [&'static str],
    call: fn(&[u8]) -> u64,
}

/// The results of a parser.
#[derive(Default)]
struct Score {
    inputs: u64,
    panics: u64,
    slow: u64,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let seconds = option("--seconds").and_then(|seconds| seconds.parse().ok()).unwrap_or(60);
    let seed = option("--seed").and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let only = option("--only");
    let mut targets = targets();
    targets.retain(|target| only.as_ref().is_none_or(|only| target.name == only));
    panic::set_hook(Box::new(|_| {}));
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut chance = ChaCha8Rng::seed_from_u64(seed);
    let mut scores: Vec<Score> = targets.iter().map(|_| Score::default()).collect();
    let mut seen: Vec<HashSet<u64>> = targets.iter().map(|_| HashSet::new()).collect();
    while Instant::now() < until && !targets.is_empty() {
        for ((target, score), seen) in targets.iter_mut().zip(&mut scores).zip(&mut seen) {
            for _ in 0..TURN {
                try_one(target, score, seen, &mut chance);
            }
        }
    }
    report(&targets, &scores)
}

fn report(targets: &[Target], scores: &[Score]) -> ExitCode {
    let mut output = io::stdout().lock();
    let mut total = 0;
    for (target, score) in targets.iter().zip(scores) {
        total += score.inputs;
        let line = format!(
            "{:14} {:>12} inputs, {} seeds, {} panics, {} slow",
            target.name,
            score.inputs,
            target.seeds.len(),
            score.panics,
            score.slow
        );
        let _ = writeln!(output, "{line}");
    }
    let _ = writeln!(output, "{:14} {total:>12} inputs", "all");
    let has_failed = scores.iter().any(|score| score.panics + score.slow > 0);
    if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn try_one(target: &mut Target, score: &mut Score, seen: &mut HashSet<u64>, chance: &mut ChaCha8Rng) {
    let input = mutated(target, chance);
    let begun = Instant::now();
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| (target.call)(&input)));
    score.inputs += 1;
    let took = begun.elapsed();
    match outcome {
        Ok(fingerprint) => {
            if seen.insert(fingerprint) && target.seeds.len() < SEEDS_MAX {
                target.seeds.push(input.clone());
            }
        }
        Err(_) => {
            score.panics += 1;
            show(target.name, "panics", &input);
        }
    }
    if took > PATIENCE {
        score.slow += 1;
        show(target.name, &format!("takes {took:?}"), &input);
    }
}

fn show(name: &str, what: &str, input: &[u8]) {
    let _ = writeln!(io::stdout().lock(), "{name} {what}: b\"{}\"", input.escape_ascii());
}

fn mutated(target: &Target, chance: &mut ChaCha8Rng) -> Vec<u8> {
    let any_seed = |chance: &mut ChaCha8Rng| target.seeds[chance.random_range(0..target.seeds.len())].clone();
    let mut input = any_seed(chance);
    for _ in 0..chance.random_range(1..=8) {
        let length = input.len();
        let at = chance.random_range(0..=length);
        let end = (at + chance.random_range(0..=16)).min(length);
        match chance.random_range(0..9) {
            0 if at < length => input[at] ^= 1 << chance.random_range(0..8),
            1 if at < length => input[at] = chance.random(),
            2 => drop(input.drain(at..end)),
            3 => {
                let piece = input[at..end].repeat(chance.random_range(1..=8));
                input.splice(at..at, piece);
            }
            4 | 5 if !target.words.is_empty() => {
                let word = target.words[chance.random_range(0..target.words.len())];
                input.splice(at..at, word.bytes());
            }
            6 => {
                let other = any_seed(chance);
                let cut = chance.random_range(0..=other.len());
                input.truncate(at);
                input.extend_from_slice(&other[cut..]);
            }
            7 => {
                let number: u64 = chance.random::<u64>() >> chance.random_range(0..64);
                input.splice(at..end, number.to_string().into_bytes());
            }
            8 => input.truncate(at),
            _ => input.insert(at, chance.random()),
        }
    }
    input.truncate(INPUT_BYTES_MAX);
    input
}

fn fingerprint(parts: impl std::hash::Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// The order of magnitude of a length. Used in fingerprints, so that not every input counts as a new outcome.
fn size(length: usize) -> u32 {
    length.checked_ilog2().map_or(0, |log| log + 1)
}

fn base() -> PageUrl {
    Canonical::default().of("http://a.example/dir/page?q=1").expect("it is a URL")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn read_as(content_type: &str, body: &[u8]) -> u64 {
    let reading =
        read(&base(), Some(content_type), &["noindex"], &[], body, &Canonical::default(), &Limits::default());
    let shape = (
        size(reading.text.len()),
        size(reading.links.len()),
        size(reading.listed.len()),
        size(reading.feeds.len()),
    );
    fingerprint((shape, reading.title.is_some(), reading.canonical.is_some(), reading.refresh.is_some()))
}

fn targets() -> Vec<Target> {
    let owned = |seeds: &[&str]| seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect::<Vec<_>>();
    vec![
        Target {
            name: "url",
            seeds: owned(&[
                "http://user:pw@a.example:80/a/../b;c?d=e&f#g",
                "//b.example/%7e%zz",
                "../x?y=%20",
                "HTTP://[::1]:8080/",
                "http://xn--bcher-kva.example/",
            ]),
            words: &[
                "http://",
                "https:",
                "//",
                "?",
                "#",
                "%2e%2e",
                "%",
                "[::",
                "]",
                "@",
                "xn--",
                "\u{130}",
                "..",
                ";jsessionid=",
                "utm_source=",
                "\u{202e}",
            ],
            call: |bytes| {
                let canonical = Canonical::default();
                let text = text(bytes);
                let (alone, joined) = (canonical.of(&text), canonical.join(&base(), &text));
                let key = joined.as_ref().map(|url| surt(url.as_str()).len()).unwrap_or(0);
                for url in [&alone, &joined].into_iter().flatten() {
                    let again = canonical.of(url.as_str()).expect("a canonical URL is a URL");
                    assert_eq!(again, *url, "a canonical URL stays as it is");
                    assert_eq!(PageUrl::stored(url.as_str()).as_ref(), Some(url));
                }
                fingerprint((
                    alone.map(|url| url.path().len().min(20)).map_err(|error| error.to_string()),
                    size(key),
                ))
            },
        },
        Target {
            name: "robots",
            seeds: owned(&[
                "User-agent: *\nDisallow: /a*b$\nAllow: /a\nCrawl-delay: 2\n\
                 Sitemap: http://a.example/s.xml\n",
                "user-agent: freshet\nuser-agent: x\ndisallow:\n\u{feff}# c\r",
            ]),
            words: &[
                "User-agent:",
                "Disallow:",
                "Allow:",
                "*",
                "$",
                "%2F",
                "\r",
                "Crawl-delay: 1e999",
                "Sitemap:",
                "#",
                "freshet",
            ],
            call: |bytes| {
                let robots = Robots::parse(bytes, "freshet");
                let verdicts =
                    ["/", "/a", "/a/b?c", "/%2F*$", "/robots.txt"].map(|path| robots.verdict(path).allowed);
                fingerprint((verdicts, robots.sitemaps().len().min(5), robots.crawl_delay().is_some()))
            },
        },
        Target {
            name: "html",
            seeds: owned(&[
                "<!DOCTYPE html><html><head><title>T</title><base href=/x/><meta name=robots \
                 content=nofollow><link rel=canonical href=/c><meta http-equiv=refresh content='0;url=/r'>\
                 </head><body><p>Hello <b>world</b><a href=/a>A</a><area href=b><iframe src=c></iframe>\
                 <script>x</script><!-- c --></body>",
                "<p>&amp;&#x41;&notit;<textarea><a href=x></textarea><svg><a href=y>",
            ]),
            words: &[
                "<a href=",
                "<title>",
                "</title>",
                "<script>",
                "</script>",
                "<!--",
                "-->",
                "<![CDATA[",
                "]]>",
                "&#x110000;",
                "&nbsp;",
                "<base href=",
                "<meta charset=utf-16>",
                "\0",
                "<template>",
                "<plaintext>",
                "rel=nofollow",
            ],
            call: |bytes| read_as("text/html", bytes),
        },
        Target {
            name: "plain",
            seeds: owned(&["Some text with http://a.example/x and\nlines.", "\u{feff}text"]),
            words: &["http://", "\r", "\0", "\u{2028}"],
            call: |bytes| read_as("text/plain", bytes),
        },
        Target {
            name: "sitemap",
            seeds: owned(&[
                "<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url>\
                 <loc>http://a.example/1</loc><lastmod>2026-11-16</lastmod></url></urlset>",
                "<sitemapindex><sitemap><loc>http://a.example/s.xml.gz</loc></sitemap></sitemapindex>",
                "http://a.example/1\nhttp://a.example/2\n",
            ]),
            words: &[
                "<url>",
                "</url>",
                "<loc>",
                "</loc>",
                "<lastmod>",
                "<![CDATA[",
                "]]>",
                "&amp;",
                "<!ENTITY x \"y\">",
                "&x;",
                "<!--",
                "2026-11-16T00:00:00+99:99",
                "<?",
            ],
            call: |bytes| {
                let read = sitemap::read(&base(), None, bytes, &Canonical::default());
                fingerprint((
                    size(read.pages.len()),
                    size(read.sitemaps.len()),
                    size(read.alternates.len()),
                    read.is_cut,
                ))
            },
        },
        Target {
            name: "feed",
            seeds: owned(&[
                "<rss version=\"2.0\"><channel><title>T</title><item><link>http://a.example/1</link><pubDate>\
                 Mon, 16 Nov 2026 01:00:00 GMT</pubDate><guid>x</guid></item></channel></rss>",
                "<feed xmlns=\"http://www.w3.org/2005/Atom\"><entry><link href=\"/1\"/><updated>\
                 2026-11-16T01:00:00Z</updated><title type=\"html\">&lt;b&gt;</title></entry></feed>",
                "{\"version\": \"https://jsonfeed.org/version/1.1\", \"items\": [{\"url\": \"/1\", \
                 \"date_published\": \"2026-11-16T01:00:00Z\"}]}",
            ]),
            words: &[
                "<item>",
                "</item>",
                "<entry>",
                "<link href=",
                "<pubDate>",
                "<updated>",
                "<![CDATA[",
                "{\"items\":",
                "[",
                "xml:base=",
                "Mon, 32 Foo 99999",
            ],
            call: |bytes| {
                let read = feed::read(&base(), None, bytes, &Canonical::default());
                fingerprint((size(read.entries.len()), read.title.is_some()))
                    ^ read_as("application/rss+xml", bytes)
            },
        },
        Target {
            name: "charset",
            seeds: owned(&[
                "<meta charset=windows-1252>\u{e9}",
                "\u{feff}x",
                "<?xml version='1.0' encoding='shift_jis'?>",
            ]),
            words: &[
                "charset=",
                "utf-16le",
                "gb18030",
                "\0",
                "<meta http-equiv=content-type content='text/html; charset=",
                "iso-2022-jp",
                "\u{1b}$B",
            ],
            call: |bytes| {
                let declared = text(&bytes[..bytes.len().min(24)]);
                let charset =
                    Charset::of(Some(&format!("text/html; charset={declared}")), "a.example", bytes);
                let guessed = Charset::of(None, "a.example", bytes);
                fingerprint((
                    charset.name(),
                    guessed.name(),
                    size(charset.decode(bytes).len()),
                    size(guessed.decode(bytes).len()),
                ))
            },
        },
        Target {
            name: "message",
            seeds: owned(&[
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\
                 Content-Encoding: gzip\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\n",
                "HTTP/1.0 404 Not Found\n\nx",
            ]),
            words: &[
                "\r\n\r\n",
                "chunked",
                "ffffffffffffffff\r\n",
                "0\r\n",
                "Content-Encoding: br\r\n",
                "Content-Encoding: zstd, gzip\r\n",
                "HTTP/1.1 99999 ",
            ],
            call: |bytes| {
                let whole = without_chunks(bytes).map(|whole| size(whole.len()));
                let found = response(bytes);
                fingerprint((
                    whole,
                    found.map(|found| (found.status, found.headers.len().min(9), size(found.body.len()))),
                ))
            },
        },
        Target {
            name: "decoding",
            seeds: packed_seeds(),
            words: &["\u{1f}\u{8b}", "\0\0\0\0"],
            call: |bytes| {
                let sizes = ["gzip", "deflate", "br", "zstd", "gzip, br", "br, zstd", "x"]
                    .map(|coding| size(decoded(Some(coding), bytes.to_vec()).len()));
                fingerprint((sizes, unfold(bytes).map(|whole| size(whole.len())).ok()))
            },
        },
        Target {
            name: "warc",
            seeds: owned(&["WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: <http://a.example/>\r\n\
                 WARC-Date: 2026-11-16T01:00:00Z\r\nContent-Length: 19\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n\r\n\
                 WARC/1.1\r\nContent-Length: 0\r\n\r\n\r\n\r\n"]),
            words: &[
                "WARC/1.1\r\n",
                "Content-Length: ",
                "\r\n\r\n",
                "WARC-Date: ",
                "18446744073709551615",
                "\n ",
                "WARC-Type: revisit\r\n",
            ],
            call: |bytes| {
                let mut kinds = Vec::new();
                if let Ok(mut file) = WarcFile::new(bytes, 0) {
                    while let Ok(Some(record)) = file.next_record() {
                        kinds.push((
                            record.kind().len().min(9),
                            record.time().is_some(),
                            size(record.block.len()),
                        ));
                        if kinds.len() > 50 {
                            break;
                        }
                    }
                }
                let own = WarcRecord::parse(bytes)
                    .map(|record| (record.time().is_some(), size(record.http().1.len())));
                fingerprint((kinds, own.map_err(|reason| reason.len())))
            },
        },
        Target {
            name: "cdx",
            seeds: owned(&[
                " CDX N b a m s k r M S V g\nexample,a)/ 20261116010000 http://a.example/ text/html 200 ABC \
                 - - 5 6 f\n",
                "example,a)/ 20261116010000 {\"url\": \"http://a.example/\", \"status\": \"200\", \
                 \"digest\": \"X\"}\n",
            ]),
            words: &[" CDX ", "{\"url\": \"", "}", "99999999999999", "\\u0000", " - ", "{\"a\":{\"a\":"],
            call: |bytes| {
                let text = text(bytes);
                let mut columns = CdxColumns::default();
                let mut found = Vec::new();
                for line in text.lines() {
                    if let Some(named) = CdxColumns::of_header(line) {
                        columns = named;
                    }
                    found.push(
                        columns
                            .entry(line)
                            .map(|entry| (entry.status, size(entry.url.len()), entry.is_revisit)),
                    );
                }
                found.truncate(5);
                fingerprint((found, FileKind::of(bytes) as u8))
            },
        },
        Target {
            name: "records",
            seeds: vec![vec![1; 40], vec![1, 0, 5, 3, 200, 1, 7], links::encode(vec![])],
            words: &["\u{1}", "\u{7f}\u{7f}\u{7f}\u{7f}", "\0\0\0\0"],
            call: |bytes| {
                fingerprint((
                    UrlRecord::decode(bytes).err().map(|error| error.to_string()),
                    PageRecord::decode(bytes).err().map(|error| error.to_string()),
                    SiteRecord::decode(bytes).err().map(|error| error.to_string()),
                    VisitRow::decode(bytes).err().map(|error| error.to_string()),
                    links::decode(bytes).err().map(|error| error.to_string()),
                ))
            },
        },
    ]
}

/// A text in every content encoding that we can produce.
fn packed_seeds() -> Vec<Vec<u8>> {
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    let plain = b"hello hello hello <a href=x>hello</a>".repeat(4);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::default());
    for encoder in [&mut gzip as &mut dyn io::Write, &mut zlib, &mut deflate] {
        encoder.write_all(&plain).expect("memory takes it");
    }
    let brotli = vec![0x0b, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 0x03];
    vec![
        gzip.finish().expect("memory takes it"),
        zlib.finish().expect("memory takes it"),
        deflate.finish().expect("memory takes it"),
        zstd::stream::encode_all(&plain[..], 3).expect("memory takes it"),
        brotli,
        plain,
    ]
}
