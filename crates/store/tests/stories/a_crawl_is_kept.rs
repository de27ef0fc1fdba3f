//! A small crawl, written and read back: numbers, records, versions, visits, files, and the state
//! after a restart.

use std::path::Path;

use bytes::Bytes;
use freshet_protocol::ids::{PageNumber, SiteNumber, UrlId};
use freshet_protocol::time::Timestamp;
use freshet_store::all_urls::{Source, Standing, UrlRecord};
use freshet_store::changes::Changes;
use freshet_store::coll_urls::PageRecord;
use freshet_store::collection::{Exchange, ExchangeKind};
use freshet_store::error::StoreError;
use freshet_store::history::{VisitKind, VisitQuery, VisitRow};
use freshet_store::sites::SiteRecord;
use freshet_store::store::{Numbered, Settings, Store};
use freshet_store::versions::VersionKind;

const SITE: &str = "http://a.example";

fn moment(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_794_790_000_000 + seconds * 1000)
}

fn open(directory: &Path) -> Store {
    let settings = Settings { segment_bytes: 4000, ..Settings::default() };
    Store::open(directory, settings).expect("it opens")
}

/// Adds a page with this path, as a seed, to the changes.
fn add_page(store: &mut Store, changes: &mut Changes, path: &str) -> PageNumber {
    let url = format!("{SITE}/{path}");
    let site = store.site_number(SITE).expect("a number");
    if let Numbered::New(number) = site {
        let record = SiteRecord { site: SITE.to_owned(), ..SiteRecord::default() };
        changes.sites.push((number, record));
    }
    let Numbered::New(id) = store.url_number(&url).expect("a number") else {
        panic!("{url} is known");
    };
    let page = store.page_number().expect("a number");
    let record = UrlRecord {
        url,
        site: site.number(),
        discovered: moment(0),
        found_on: None,
        depth: 0,
        anchor: String::new(),
        source: Source::Seed,
        listed_modified: None,
        standing: Standing::Kept(page),
        detail: String::new(),
    };
    changes.urls.push((id, record));
    changes.pages.push((page, PageRecord::admitted(id, site.number(), moment(0))));
    page
}

/// Adds a visit with this body to the changes.
fn add_visit(
    changes: &mut Changes,
    page: PageNumber,
    path: &str,
    seconds: i64,
    kind: ExchangeKind,
    body: &str,
) {
    let url = format!("{SITE}/{path}");
    let row = VisitRow {
        page: Some(page),
        status: 200,
        bytes: body.len() as u64,
        ..VisitRow::new(moment(seconds), &url, VisitKind::Changed)
    };
    changes.visits.push(row);
    changes.exchanges.push(Exchange {
        page: Some(page),
        url,
        time: moment(seconds),
        kind,
        address: Some([127, 0, 0, 1].into()),
        request_head: b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        response_head: b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n".to_vec(),
        status: 200,
        body: Bytes::copy_from_slice(body.as_bytes()),
        truncated: None,
        millis: 3,
        charset: None,
        via: None,
        raw_digest: None,
        text_digest: None,
        simhash: None,
        folded: None,
    });
}

#[test]
fn what_was_committed_is_read_at_once_and_after_a_restart() {
    let place = tempfile::tempdir().expect("a directory");
    let mut store = open(place.path());
    let mut changes = Changes::default();
    let page = add_page(&mut store, &mut changes, "one");
    add_visit(&mut changes, page, "one", 1, ExchangeKind::Full, "first");
    changes.links.push((page, vec![UrlId(5), UrlId(2)]));
    changes.notes.push(("policy".to_owned(), Some(vec![1, 2])));
    let committed = store.commit(changes).expect("it is committed");
    let mut changes = Changes::default();
    add_visit(&mut changes, page, "one", 2, ExchangeKind::Identical, "first");
    add_visit(&mut changes, page, "one", 3, ExchangeKind::Full, "third");
    store.commit(changes).expect("it is committed");
    for restart in [false, true] {
        if restart {
            drop(store);
            store = open(place.path());
        }
        let reader = store.reader();
        let id = reader.url_id("http://a.example/one").expect("read").expect("it is known");
        assert_eq!(reader.url(id).expect("read").expect("it is known").standing, Standing::Kept(page));
        assert_eq!(reader.page(page).expect("read").expect("it is kept").place, Some(committed.places[0]));
        assert_eq!(reader.links(page).expect("read"), [UrlId(2), UrlId(5)]);
        assert_eq!(reader.note("policy").expect("read"), Some(vec![1, 2]));
        assert_eq!(reader.site_number(SITE).expect("read"), Some(SiteNumber(0)));
        let kinds: Vec<_> =
            reader.versions(page).expect("read").iter().map(|version| version.record.kind).collect();
        assert_eq!(kinds, [VersionKind::Full, VersionKind::Identical, VersionKind::Full]);
        let body = |seconds| {
            let response = reader.response_at(page, moment(seconds)).expect("read");
            response.map(|response| String::from_utf8(response.body).expect("text"))
        };
        let bodies = [0, 1, 2, 3].map(body);
        assert_eq!(
            bodies.each_ref().map(Option::as_deref),
            [None, Some("first"), Some("first"), Some("third")]
        );
        assert_eq!(reader.visits(&VisitQuery::since(moment(2))).expect("read").len(), 2);
        assert_eq!(reader.counters().expect("read"), *store.counters());
        assert_eq!((store.counters().urls, store.counters().kept, store.counters().visits), (1, 1, 3));
    }
}

#[test]
fn a_url_keeps_its_number() {
    let place = tempfile::tempdir().expect("a directory");
    let mut store = open(place.path());
    let mut changes = Changes::default();
    add_page(&mut store, &mut changes, "one");
    let one = format!("{SITE}/one");
    assert_eq!(store.url_number(&one).expect("a number"), Numbered::Known(UrlId(0)), "before the commit");
    store.commit(changes).expect("it is committed");
    assert_eq!(store.url_number(&one).expect("a number"), Numbered::Known(UrlId(0)), "after it");
    drop(store);
    let mut store = open(place.path());
    assert_eq!(store.url_number(&one).expect("a number"), Numbered::Known(UrlId(0)), "after a restart");
    assert_eq!(store.url_number("http://a.example/two").expect("a number"), Numbered::New(UrlId(1)));
}

#[test]
fn a_second_opener_is_refused_and_told_the_process() {
    let place = tempfile::tempdir().expect("a directory");
    let _store = open(place.path());
    let error = Store::open(place.path(), Settings::default()).expect_err("it is open").to_string();
    assert!(error.contains(&format!("in use by process {}", std::process::id())), "{error}");
}

#[test]
fn a_directory_of_another_format_is_refused() {
    let place = tempfile::tempdir().expect("a directory");
    std::fs::write(place.path().join("FORMAT"), "freshet store 99\n").expect("it is written");
    let error = Store::open(place.path(), Settings::default()).expect_err("it is of format 99");
    assert!(matches!(&error, StoreError::Format { found, .. } if found == "99"), "{error}");
}

#[test]
fn segments_are_closed_when_they_are_large_and_get_their_index() {
    let place = tempfile::tempdir().expect("a directory");
    let mut store = open(place.path());
    let mut changes = Changes::default();
    let page = add_page(&mut store, &mut changes, "one");
    store.commit(changes).expect("it is committed");
    for seconds in 0..20 {
        let mut changes = Changes::default();
        add_visit(&mut changes, page, "one", seconds, ExchangeKind::Full, &"text ".repeat(seconds as usize));
        store.commit(changes).expect("it is committed");
    }
    while store.tidy(moment(100)).expect("it is tidied").is_some() {}
    store.close(moment(100)).expect("it is closed");
    let names = |folder: &str, end: &str| {
        let entries = std::fs::read_dir(place.path().join(folder)).expect("listed");
        let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text"));
        let mut names: Vec<_> = names.filter(|name| name.ends_with(end)).collect();
        names.sort();
        names
    };
    let segments = names("collection", ".warc.gz");
    assert!(segments.len() > 2, "{segments:?}");
    assert_eq!(names("collection", ".cdxj").len(), segments.len());
    assert_eq!(names("history", ".parquet").len(), 1);
    let index = std::fs::read_to_string(place.path().join("collection/segment-00000001.cdxj")).expect("read");
    assert!(index.lines().all(|line| line.starts_with("example,a)/one 2026")), "{index}");
    let store = open(place.path());
    assert_eq!(store.reader().visits(&VisitQuery::all()).expect("read").len(), 20);
    let last = store.reader().response_at(page, moment(99)).expect("read").expect("it is there");
    assert_eq!(last.body, "text ".repeat(19).as_bytes());
    assert_eq!(store.mended().bytes_cut, 0);
}
