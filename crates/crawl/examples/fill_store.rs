//! Fills a crawl directory with a given number of URLs and pages, to test a crawl at scale:
//! `cargo run --release -p freshet-crawl --example fill_store -- DIR --urls 10000000 --pages 1000000 --links
//! 20`.
//!
//! The sites have a thousand URLs each and do not exist. `pages` of the URLs are kept as pages, each with one
//! visit and with links to URLs of its own site and a few others. The other URLs are known and never kept.
#![allow(clippy::print_stdout, reason = "it says what it has done")]

use std::path::PathBuf;
use std::time::Instant;

use freshet_protocol::ids::{PageNumber, SiteNumber, UrlId};
use freshet_protocol::time::Timestamp;
use freshet_store::all_urls::{Reason, Source, Standing, UrlRecord};
use freshet_store::changes::Changes;
use freshet_store::coll_urls::PageRecord;
use freshet_store::history::{VisitKind, VisitRow};
use freshet_store::sites::SiteRecord;
use freshet_store::store::{Settings, Store};

const URLS_PER_SITE: u32 = 1_000;
const URLS_PER_COMMIT: u32 = 10_000;

fn main() {
    let directory: PathBuf = std::env::args().nth(1).expect("a directory").into();
    let (urls, pages, links) =
        (number("--urls", 1_000_000), number("--pages", 100_000), number("--links", 20));
    let mut store = Store::open(&directory, Settings::default()).expect("the store opens");
    let (begun, first) = (Instant::now(), Timestamp::from_millis(1_790_000_000_000));
    for start in (0..urls).step_by(URLS_PER_COMMIT as usize) {
        let mut changes = Changes::default();
        for url in start..urls.min(start + URLS_PER_COMMIT) {
            add(&mut store, &mut changes, url, [urls, pages, links], first);
        }
        store.commit(changes).expect("it is committed");
        store.tidy(first).expect("it is tidied");
    }
    let used = store.disk_use();
    let state = used.state as f64 / f64::from(urls);
    store.close(first).expect("it closes");
    println!(
        "{urls} URLs, {pages} of them kept, in {:.0?}; {state:.0} bytes of state a URL",
        begun.elapsed()
    );
}

/// Adds a URL, and its page if it has one.
fn add(store: &mut Store, changes: &mut Changes, url: u32, [urls, pages, links]: [u32; 3], time: Timestamp) {
    let name = format!("http://site-{}.example", url / URLS_PER_SITE);
    if url.is_multiple_of(URLS_PER_SITE) {
        let site = store.site_number(&name).expect("a number").number();
        changes
            .sites
            .push((site, SiteRecord { site: name.clone(), first_seen: time, ..SiteRecord::default() }));
    }
    let site = SiteNumber(url / URLS_PER_SITE);
    let text = format!("{name}/articles/2026/{:02}/the-name-of-page-{url}.html", url % 12);
    let id = store.url_number(&text).expect("a number").number();
    // Pages are spread evenly, so that every site has some.
    let is_page = u64::from(url) * u64::from(pages) % u64::from(urls) < u64::from(pages);
    let standing = if is_page {
        let page = store.page_number().expect("a number");
        keep(changes, page, id, site, time);
        let targets = (0..links).map(|link| UrlId(target(url, link, urls))).collect();
        changes.links.push((page, targets));
        changes.visits.push(VisitRow {
            page: Some(page),
            status: 200,
            bytes: 20_000,
            ..VisitRow::new(time, &text, VisitKind::New)
        });
        Standing::Kept(page)
    } else {
        Standing::Discarded(Reason::Unimportant)
    };
    let record = UrlRecord {
        url: text,
        site,
        discovered: time,
        found_on: Some(UrlId(url / 2)),
        depth: 3,
        anchor: "read more about it".to_owned(),
        source: Source::Link,
        listed_modified: None,
        standing,
        detail: String::new(),
    };
    changes.urls.push((id, record));
}

fn keep(changes: &mut Changes, page: PageNumber, id: UrlId, site: SiteNumber, time: Timestamp) {
    let record = PageRecord {
        visits: 1,
        first_visit: Some(time),
        last_visit: Some(time),
        etag: Some("\"0123456789abcdef\"".to_owned()),
        title: "The title of a page".to_owned(),
        raw_digest: Some([7; 16]),
        text_digest: Some([8; 16]),
        simhash: Some(u64::from(page.0).wrapping_mul(0x9E37_79B9_7F4A_7C15)),
        transfer_bytes: 20_000,
        importance: 1.0,
        ..PageRecord::admitted(id, site, time)
    };
    changes.pages.push((page, record));
}

/// Returns the target of a link: one link in five leaves the site.
fn target(url: u32, link: u32, urls: u32) -> u32 {
    let scattered = url.wrapping_mul(2_654_435_761).wrapping_add(link.wrapping_mul(40_503)) >> 3;
    if link.is_multiple_of(5) {
        scattered % urls
    } else {
        (url / URLS_PER_SITE * URLS_PER_SITE + scattered % URLS_PER_SITE) % urls
    }
}

fn number(option: &str, otherwise: u32) -> u32 {
    let given = std::env::args().skip_while(|word| word != option).nth(1);
    given.map_or(otherwise, |value| value.parse().expect("a whole number"))
}
