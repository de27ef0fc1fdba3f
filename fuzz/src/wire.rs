//! What comes over the wire beside the page: robots.txt, headers, content encodings.

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use freshet_fetch::page::kind::Kind;
use freshet_fetch::page::reading::Limits;
use freshet_fetch::page::{Canonical, read};
use freshet_fetch::web::dates::parse_date;
use freshet_fetch::web::{Robots, decoded};
use freshet_store::collection::gzip::unfold;

use crate::{Parser, base, fingerprint, lossy, seeds, size};

/// A robots.txt.
pub fn robots(bytes: &[u8]) -> u64 {
    let robots = Robots::parse(bytes, "freshet");
    let verdicts = ["/", "/a", "/a/b?c", "/%2F*$", "/robots.txt"].map(|path| robots.verdict(path).allowed);
    fingerprint((verdicts, robots.sitemaps().len().min(5), robots.crawl_delay().is_some()))
}

/// Headers, one a line: Content-Type, X-Robots-Tag, Link; and each as a date.
pub fn headers(bytes: &[u8]) -> u64 {
    let text = lossy(bytes);
    let mut lines = text.lines();
    let (content_type, robots) = (lines.next(), lines.next().unwrap_or_default());
    let links: Vec<&str> = lines.take(20).collect();
    let (body, canonical) = (b"<p>Hello</p>", Canonical::default());
    let reading = read(&base(), content_type, &[robots], &links, body, &canonical, &Limits::default());
    let dates = text.lines().filter_map(parse_date).count().min(5);
    let kind = Kind::of(content_type, "/a.html", body).name();
    let found = [reading.links.len(), reading.feeds.len()].map(size);
    fingerprint((
        kind,
        reading.robots.index,
        reading.robots.follow,
        found,
        reading.canonical.is_some(),
        dates,
    ))
}

/// A body in every content encoding, and as a gzip member of an archive.
pub fn decoding(bytes: &[u8]) -> u64 {
    let sizes = ["gzip", "deflate", "br", "zstd", "gzip, br", "br, zstd", "x"]
        .map(|coding| size(decoded(Some(coding), bytes.to_vec()).len()));
    fingerprint((sizes, unfold(bytes).map(|whole| size(whole.len())).ok()))
}

pub(crate) fn parsers() -> Vec<Parser> {
    vec![
        Parser {
            name: "robots",
            seeds: seeds(&[
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
            read: robots,
        },
        Parser {
            name: "headers",
            seeds: seeds(&[
                "text/html; charset=utf-8\nfreshet: noindex, nofollow\n</c>; rel=\"canonical\"\n\
                 <s.xml>; rel=alternate; type=\"application/rss+xml\", </n>; rel=next",
                "application/xhtml+xml\nSun, 06 Nov 1994 08:49:37 GMT\nSunday, 06-Nov-94 08:49:37 GMT\n\
                 Sun Nov  6 08:49:37 1994\n1994-11-06T08:49:37+01:00",
            ]),
            words: &[
                "; rel=",
                "canonical",
                "<",
                ">",
                "\"",
                "\\\"",
                ",",
                "; type=",
                "noindex",
                "unavailable_after:",
                "99999-99-99",
                "24:60:61",
                "-9999",
                "\n",
            ],
            read: headers,
        },
        Parser { name: "decoding", seeds: packed(), words: &["\u{1f}\u{8b}", "\0\0\0\0"], read: decoding },
    ]
}

/// A text in every content encoding that can be made here.
fn packed() -> Vec<Vec<u8>> {
    let plain = b"hello hello hello <a href=x>hello</a>".repeat(4);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::default());
    for encoder in [&mut gzip as &mut dyn std::io::Write, &mut zlib, &mut deflate] {
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
