//! Writes a small store that `tests/read_formats.py` reads with other tools: `write_sample DIR`.
//!
//! It covers the hard cases: bodies in every content encoding and of every length around zero, a truncated
//! one, HTTP/2, chunked transfer, revisits of both kinds, several segments, visits of several days in files
//! and in the key-value store, URLs with ports, queries and letters beyond ASCII.

use std::path::Path;

use bytes::Bytes;
use freshet_protocol::time::Timestamp;
use freshet_store::all_urls::{Source, Standing, UrlRecord, site_of};
use freshet_store::changes::Changes;
use freshet_store::coll_urls::PageRecord;
use freshet_store::collection::{Exchange, ExchangeKind, Truncation};
use freshet_store::error::StoreError;
use freshet_store::history::{VisitKind, VisitRow};
use freshet_store::sites::SiteRecord;
use freshet_store::store::{Numbered, Settings, Store};

/// The first visit: 2026-11-14 at 22:00 UTC.
const START: i64 = 1_794_693_600_000;

/// Milliseconds between two rounds of visits (six hours).
const ROUND: i64 = 6 * 3_600_000;

const PATHS: [&str; 8] = [
    "http://a.example/",
    "http://a.example/plain?b=2&a=1",
    "https://www.b.example:8443/Deep/er/page.html",
    "http://127.0.0.1:4000/x",
    "https://c.example/%C3%A9t%C3%A9",
    "https://c.example/empty",
    "https://c.example/gone",
    "http://[::1]:8080/six",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).ok_or("name a directory")?;
    let settings = Settings { segment_bytes: 20_000, ..Settings::default() };
    let mut store = Store::open(Path::new(&directory), settings)?;
    let pages = add_pages(&mut store)?;
    for round in 0..12 {
        let mut changes = Changes::default();
        for (at, page) in pages.iter().enumerate() {
            let time = Timestamp::from_millis(START + round * ROUND + at as i64 * 1234);
            let exchange = exchange(*page, at, round, time);
            changes.visits.push(visit(&exchange));
            changes.exchanges.push(exchange);
        }
        store.commit(changes)?;
        while store.tidy(Timestamp::from_millis(START + round * ROUND))?.is_some() {}
    }
    store.close(Timestamp::from_millis(START + 12 * ROUND))?;
    Ok(())
}

fn add_pages(store: &mut Store) -> Result<Vec<freshet_protocol::ids::PageNumber>, StoreError> {
    let mut changes = Changes::default();
    let mut pages = Vec::new();
    let now = Timestamp::from_millis(START);
    for url in PATHS {
        let site = store.site_number(site_of(url))?;
        if let Numbered::New(number) = site {
            let record =
                SiteRecord { site: site_of(url).to_owned(), first_seen: now, ..SiteRecord::default() };
            changes.sites.push((number, record));
        }
        let id = store.url_number(url)?.number();
        let page = store.page_number()?;
        let record = UrlRecord {
            url: url.to_owned(),
            site: site.number(),
            discovered: now,
            found_on: None,
            depth: 0,
            anchor: String::new(),
            source: Source::Seed,
            listed_modified: None,
            standing: Standing::Kept(page),
            detail: String::new(),
        };
        changes.urls.push((id, record));
        changes.pages.push((page, PageRecord::admitted(id, site.number(), now)));
        pages.push(page);
    }
    store.commit(changes)?;
    Ok(pages)
}

fn exchange(page: freshet_protocol::ids::PageNumber, at: usize, round: i64, time: Timestamp) -> Exchange {
    let text = format!("<!doctype html><title>Page {at}</title><p>Round {}. ", round / 3).repeat(at * 40);
    let (head, body) = match at {
        2 => ("HTTP/2 200\r\ncontent-type: text/html; charset=utf-8\r\n\r\n", text.clone().into_bytes()),
        3 => (
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n",
            text.clone().into_bytes(),
        ),
        4 => (
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\
             Vary: Accept-Encoding\r\n\r\n",
            gzip(&text),
        ),
        5 => ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Vec::new()),
        6 => ("HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n\r\n", b"no such page".to_vec()),
        _ => (
            "HTTP/1.1 200 OK\r\nServer: sample\r\nContent-Type: text/html\r\n\r\n",
            text.clone().into_bytes(),
        ),
    };
    let kind = match round % 3 {
        0 => ExchangeKind::Full,
        1 => ExchangeKind::Identical,
        _ => ExchangeKind::NotModified,
    };
    let not_modified = kind == ExchangeKind::NotModified;
    let head = if not_modified { "HTTP/1.1 304 Not Modified\r\nETag: \"e\"\r\n\r\n" } else { head };
    let status = if not_modified {
        304
    } else if at == 6 {
        404
    } else {
        200
    };
    Exchange {
        page: Some(page),
        url: PATHS[at].to_owned(),
        time,
        kind,
        address: Some(if at == 7 { "::1".parse().expect("an address") } else { [127, 0, 0, 1].into() }),
        request_head: b"GET / HTTP/1.1\r\nUser-Agent: sample\r\n\r\n".to_vec(),
        response_head: head.as_bytes().to_vec(),
        status,
        body: Bytes::from(if not_modified { Vec::new() } else { body }),
        truncated: (at == 7 && !not_modified).then_some(Truncation::Length),
        millis: 7,
        charset: Some("UTF-8".to_owned()),
        via: (at > 0).then(|| PATHS[0].to_owned()),
        raw_digest: Some([at as u8; 16]),
        text_digest: Some([round as u8 / 3; 16]),
        simhash: Some(u64::MAX - at as u64),
        folded: None,
    }
}

fn visit(exchange: &Exchange) -> VisitRow {
    let kind = match exchange.kind {
        ExchangeKind::Full => VisitKind::Changed,
        ExchangeKind::Identical => VisitKind::Unchanged,
        ExchangeKind::NotModified => VisitKind::NotModified,
    };
    VisitRow {
        page: exchange.page,
        status: exchange.status,
        bytes: exchange.body.len() as u64,
        millis: exchange.millis,
        raw_digest: exchange.raw_digest,
        text_digest: exchange.text_digest,
        simhash: exchange.simhash,
        change_size: (kind == VisitKind::Changed).then_some(0.25),
        error: (exchange.status == 404).then(|| "not found".to_owned()),
        ..VisitRow::new(exchange.time, &exchange.url, kind)
    }
}

fn gzip(text: &str) -> Vec<u8> {
    let mut packed = Vec::new();
    freshet_store::collection::gzip::MemberWriter::new(6).append(&[text.as_bytes()], &mut packed);
    packed
}
