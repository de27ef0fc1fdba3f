//! The living web over real sockets: what is served agrees with the reported truth, and a crawler can explore
//! it.

use std::collections::{HashSet, VecDeque};

use bytes::Bytes;
use freshet_lab::web::atlas::PageNumber;
use freshet_lab::web::character::ValidatorKind;
use freshet_lab::web::clock::{START, WebClock, days_after_start};
use freshet_lab::web::hosts::Hosts;
use freshet_lab::web::lives::Standing;
use freshet_lab::web::living_web::LivingWeb;
use freshet_lab::web::request_log::LogTarget;
use freshet_lab::web::server::{ServedWeb, Serving};
use freshet_lab::web::settings::WebSettings;
use freshet_lab::web::truth::Scope;
use freshet_protocol::time::Timestamp;
use http::{HeaderMap, Request, header};
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// An answer as a client sees it.
struct Got {
    status: u16,
    headers: HeaderMap,
    body: String,
}

impl Got {
    fn header(&self, name: header::HeaderName) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("text"))
    }
}

/// A connection to one site.
struct Client {
    host: String,
    sender: SendRequest<Empty<Bytes>>,
}

impl Client {
    async fn connect(served: &ServedWeb, url: &str) -> Self {
        let hosts = served.web().atlas.hosts();
        let (site, _) = hosts.split(url, served.web().atlas.site_count()).expect("a URL of the web");
        let stream = TcpStream::connect((hosts.address(site), hosts.port())).await.expect("it listens");
        let (sender, connection) = handshake(TokioIo::new(stream)).await.expect("it speaks HTTP");
        tokio::spawn(connection);
        Self { host: hosts.origin(site).trim_start_matches("http://").to_owned(), sender }
    }

    async fn get(&mut self, path: &str, headers: &[(header::HeaderName, &str)]) -> Got {
        let mut request = Request::get(path).header(header::HOST, &self.host);
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        let request = request.body(Empty::new()).expect("a request");
        let response = self.sender.send_request(request).await.expect("an answer");
        let (head, body) = response.into_parts();
        let body = body.collect().await.expect("a whole body").to_bytes();
        let body = String::from_utf8_lossy(&body).into_owned();
        Got { status: head.status.as_u16(), headers: head.headers, body }
    }
}

async fn get(served: &ServedWeb, url: &str, headers: &[(header::HeaderName, &str)]) -> Got {
    let path = served.web().atlas.hosts().split(url, served.web().atlas.site_count()).expect("a URL").1;
    Client::connect(served, url).await.get(path, headers).await
}

async fn serve(settings: WebSettings, hosts: Hosts) -> ServedWeb {
    let serving = Serving { hosts, clock: WebClock::held(), log: LogTarget::Memory };
    LivingWeb::serve(settings, serving).await.expect("it serves")
}

async fn small(noise: f64, lies: f64) -> ServedWeb {
    let settings = WebSettings { sites: 8, pages: 600, noise, lies, ..WebSettings::default() };
    serve(settings, Hosts::Addresses { port: 0 }).await
}

fn pages(served: &ServedWeb) -> impl Iterator<Item = PageNumber> {
    (0..served.web().atlas.pages()).map(PageNumber)
}

fn validators(served: &ServedWeb, page: PageNumber) -> ValidatorKind {
    served.web().atlas.sites[served.web().atlas.site_of(page) as usize].character.validators
}

#[tokio::test]
async fn what_is_served_differs_exactly_when_something_is_told_to_have_happened() {
    let served = small(0.0, 0.0).await;
    let (web, clock) = (served.web(), served.clock());
    let (early, late) = (days_after_start(2.0), days_after_start(16.0));
    let (mut same, mut different) = (0, 0);
    for page in pages(&served).step_by(2) {
        let url = web.url(page, false);
        clock.set(early);
        let first = get(&served, &url, &[]).await;
        clock.set(late);
        let second = get(&served, &url, &[]).await;
        let missed = web.first_missed(&url, early, late, Scope::Text).expect("a page of the web");
        let equal = (first.status, &first.body) == (second.status, &second.body);
        // A page born and dead between the two visits left no trace.
        let both_absent = [first.status, second.status].iter().all(|status| [404, 410].contains(status));
        assert!(equal == missed.is_none() || both_absent, "{url}: {missed:?}");
        same += u32::from(equal);
        different += u32::from(!equal);
        let state = web.url_state(&url, late).expect("a page of the web");
        let expected = match state.standing {
            Standing::Live => vec![200],
            Standing::Unborn => vec![404],
            Standing::Moved => vec![301],
            Standing::Gone => vec![404, 410],
        };
        assert!(expected.contains(&second.status), "{url}: {} but {state:?}", second.status);
    }
    assert!(same > 50 && different > 50, "{same} {different}");
    served.stop().await.expect("it stops");
}

#[tokio::test]
async fn an_honest_site_answers_304_exactly_when_nothing_changed() {
    let served = small(0.5, 0.0).await;
    let (web, clock) = (served.web(), served.clock());
    let (early, late) = (START, days_after_start(12.0));
    let (mut unchanged, mut changed) = (0, 0);
    let honest = |page: &PageNumber| {
        validators(&served, *page) != ValidatorKind::Absent
            && [early, late].iter().all(|at| {
                web.url_state(&web.url(*page, false), *at).expect("a page").standing == Standing::Live
            })
    };
    for page in pages(&served).filter(honest).step_by(2) {
        let url = web.url(page, false);
        clock.set(early);
        let first = get(&served, &url, &[]).await;
        let conditions: Vec<_> = [
            (header::IF_NONE_MATCH, first.header(header::ETAG)),
            (header::IF_MODIFIED_SINCE, first.header(header::LAST_MODIFIED)),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect();
        assert!(!conditions.is_empty());
        assert_eq!(get(&served, &url, &conditions).await.status, 304);
        clock.set(late);
        let again = get(&served, &url, &conditions).await;
        let missed = web.first_missed(&url, early, late, Scope::Text).expect("a page of the web");
        assert_eq!(again.status, if missed.is_none() { 304 } else { 200 }, "{url}: {missed:?}");
        assert_eq!(again.body.is_empty(), missed.is_none());
        unchanged += u32::from(missed.is_none());
        changed += u32::from(missed.is_some());
    }
    assert!(unchanged > 20 && changed > 20, "{unchanged} {changed}");
}

#[tokio::test]
async fn each_kind_of_lie_lies() {
    let served = small(0.0, 1.0).await;
    let (web, clock) = (served.web(), served.clock());
    let late = days_after_start(60.0);
    for kind in [ValidatorKind::EverNewEtag, ValidatorKind::FrozenEtag, ValidatorKind::DateOfNow] {
        let changed = |page: &PageNumber| {
            validators(&served, *page) == kind
                && web.life(*page).span_at(false).1 > late
                && !web.main_changes(*page, late).is_empty()
        };
        let page = pages(&served).find(changed).expect("there is one");
        let url = web.url(page, false);
        clock.set(START);
        let first = get(&served, &url, &[]).await;
        let condition = match kind {
            ValidatorKind::DateOfNow => (header::IF_MODIFIED_SINCE, first.header(header::LAST_MODIFIED)),
            _ => (header::IF_NONE_MATCH, first.header(header::ETAG)),
        };
        let condition = [(condition.0, condition.1.expect("it says something"))];
        clock.set(START.plus_millis(5_000));
        assert_eq!(web.main_changes(page, clock.now()), [], "nothing has changed yet");
        let unchanged = get(&served, &url, &condition).await.status;
        clock.set(late);
        let changed = get(&served, &url, &condition).await.status;
        let expected = if kind == ValidatorKind::FrozenEtag { (304, 304) } else { (200, 200) };
        assert_eq!((unchanged, changed), expected, "{kind:?}");
    }
}

/// Link targets of a page, as far as `<a href="...">` shows them.
fn references(html: &str) -> Vec<String> {
    let anchors = html.split("<a ").skip(1);
    anchors
        .filter_map(|rest| rest.split_once("href=\"")?.1.split_once('"'))
        .map(|(reference, _)| reference.to_owned())
        .collect()
}

/// The paths of a site that are reachable from its root, including disallowed ones.
async fn reached(served: &ServedWeb, root: &str) -> HashSet<String> {
    let mut client = Client::connect(served, root).await;
    let mut seen = HashSet::from(["/".to_owned()]);
    let mut queue = VecDeque::from(["/".to_owned()]);
    let mut live = HashSet::new();
    while let Some(path) = queue.pop_front() {
        let got = client.get(&path, &[]).await;
        let mut found = references(&got.body);
        match got.status {
            200 => drop(live.insert(path.clone())),
            301 | 302 => found.push(got.header(header::LOCATION).expect("where it leads").to_owned()),
            status => assert!([404, 410].contains(&status), "{path}: {status}"),
        }
        for reference in found.into_iter().filter(|reference| reference.starts_with('/')) {
            if seen.insert(reference.clone()) {
                queue.push_back(reference);
            }
        }
    }
    live
}

#[tokio::test]
async fn every_live_page_is_reached_from_the_root_of_its_site_at_any_time() {
    let served = small(0.3, 0.1).await;
    let web = served.web();
    for at in [START, days_after_start(100.0)] {
        served.clock().set(at);
        for (site, root) in served.seeds().iter().enumerate() {
            let reached = reached(&served, root).await;
            let pages = web.atlas.sites[site].pages.clone().map(PageNumber);
            for page in pages.filter(|page| web.life(*page).is_live_at(at)) {
                let path = web.atlas.path(page, web.has_moved(page, at));
                assert!(reached.contains(&path), "{root} does not lead to {path}");
            }
        }
    }
    let requests = served.requests();
    let connections: HashSet<u64> = requests.iter().map(|request| request.connection).collect();
    assert_eq!(connections.len(), 16, "connections are kept alive");
    assert_eq!(requests.len() as u64, served.request_count());
}

#[tokio::test]
async fn sites_can_share_one_address() {
    let settings = WebSettings { sites: 8, pages: 600, ..WebSettings::default() };
    let served = serve(settings, Hosts::Names { port: 0 }).await;
    assert!(served.seeds()[7].starts_with("http://site-0007.test:"), "{}", served.seeds()[7]);
    let name = &served.web().atlas.sites[7].name;
    let got = get(&served, &served.seeds()[7], &[]).await;
    assert!(got.status == 200 && got.body.contains(&format!("<h1>{name}</h1>")));
    let mut client = Client::connect(&served, &served.seeds()[0]).await;
    client.host = "site-0008.test".to_owned();
    assert_eq!(client.get("/", &[]).await.status, 421);
    let other = LivingWeb::serve(
        WebSettings { sites: 1, pages: 10, ..WebSettings::default() },
        Serving {
            hosts: Hosts::Names { port: served.address().port() },
            clock: WebClock::held(),
            log: LogTarget::Nowhere,
        },
    );
    let error = other.await.expect_err("the port is taken").to_string();
    assert!(error.contains("choose another --port"), "{error}");
}

/// Parses JSON lines.
fn values(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[tokio::test]
async fn the_truth_over_http_is_the_truth() {
    let served = small(0.3, 0.1).await;
    let web = served.web();
    let (since, until) = (days_after_start(3.0), days_after_start(60.0));
    served.clock().set(until);
    let mut client = Client::connect(&served, &served.seeds()[0]).await;

    let clock = values(&client.get("/-/clock", &[]).await.body).remove(0);
    assert_eq!(clock["now_ms"], until.millis());
    assert_eq!(clock["start_ms"], START.millis());

    let path = format!("/-/truth?since={}&until={}", since.millis(), until.millis());
    let told = values(&client.get(&path, &[]).await.body);
    let happenings = web.happenings(since, until);
    assert_eq!(told.len(), happenings.len());
    for (line, happening) in told.iter().zip(&happenings) {
        assert_eq!(line["time_ms"], happening.time.millis());
        assert_eq!(line["version"], happening.main);
        assert_eq!(line["lasting"], true);
        let (page, _) = web.page_of(line["url"].as_str().expect("a URL")).expect("of a page");
        assert_eq!(page, happening.page);
    }
    let main = values(&client.get(&format!("{path}&of=main"), &[]).await.body);
    assert!(main.len() < told.len() && main.iter().all(|line| line["part"] != "template"));

    let state = values(&client.get("/-/state", &[]).await.body);
    assert_eq!(state.len(), web.live_pages(until).count());
    let copies: Vec<(String, Timestamp)> =
        web.live_pages(since).map(|page| (web.url(page, web.has_moved(page, since)), since)).collect();
    let fresh: HashSet<&str> = state
        .iter()
        .filter(|line| line["changed_ms"].as_i64().expect("a moment") <= since.millis())
        .map(|line| line["url"].as_str().expect("a URL"))
        .collect();
    let by_state = copies.iter().filter(|(url, _)| fresh.contains(url.as_str())).count() as f64;
    assert_eq!(web.quality_of(&copies, until, Scope::Text).freshness, by_state / copies.len() as f64);

    let page = format!("/-/truth/page?url={}&at={}", copies[0].0.replace(':', "%3A"), since.millis());
    let page = values(&client.get(&page, &[]).await.body).remove(0);
    assert_eq!((page["url"].as_str(), page["standing"].as_str()), (Some(copies[0].0.as_str()), Some("live")));

    for (path, word) in [
        ("/-/truth?since=yesterday", "milliseconds since 1970"),
        ("/-/truth?of=raw", "text or main"),
        ("/-/truth/page", "name the page"),
        ("/-/truth/page?url=http://example.org/", "never the URL"),
        ("/-/lies", "ask for"),
    ] {
        let got = client.get(path, &[]).await;
        assert!(got.status == 400 && got.body.contains(word), "{path}: {} {}", got.status, got.body);
    }
    assert_eq!(served.request_count(), 0, "questions about the truth are no visits");
}

#[tokio::test]
async fn two_webs_of_one_seed_are_the_same_and_of_another_are_not() {
    let settings = |seed| WebSettings { sites: 4, pages: 200, seed, noise: 0.0, ..WebSettings::default() };
    let hosts = Hosts::Names { port: 81 };
    let make = |seed| LivingWeb::new(settings(seed), hosts).expect("a web");
    let (one, two, other) = (make(3), make(3), make(4));
    let late = days_after_start(40.0);
    // In another order of questions, the answers are still the same.
    let _ = two.happenings(START, late);
    assert_eq!(one.happenings(START, late), two.happenings(START, late));
    assert_ne!(one.happenings(START, late), other.happenings(START, late));
    let answers = |web: &LivingWeb, backwards: bool| {
        let mut pages: Vec<_> = web.live_pages(late).collect();
        if backwards {
            pages.reverse();
        }
        let mut answers: Vec<_> = pages
            .into_iter()
            .map(|page| {
                let asked = freshet_lab::web::answer::Asked {
                    site: web.atlas.site_of(page),
                    path_and_query: &web.atlas.path(page, web.has_moved(page, late)),
                    conditions: Default::default(),
                    now: late,
                    request: 0,
                };
                (page, web.answer(&asked).body)
            })
            .collect();
        answers.sort();
        answers
    };
    assert!(answers(&one, false) == answers(&two, true));
    assert!(answers(&one, false) != answers(&other, false));
}
