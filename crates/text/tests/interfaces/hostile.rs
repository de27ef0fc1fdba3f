//! Broken, endless and hostile interfaces: the sample ends, and reports what it could and could not learn.

use std::sync::atomic::{AtomicU64, Ordering};

use freshet_text::interface::Documents;
use freshet_text::sample::SampleRules;
use freshet_text::version::{SamplingFacts, Size, Version};

use crate::server::{Reply, Server, parameter, sample};

/// Samples an interface that answers by `answer`. The sample must end for this reason.
async fn check(
    answer: impl Fn(&str) -> Reply + Send + Sync + 'static,
    documents: Documents,
    ended: &str,
) -> (Version, SamplingFacts) {
    let server =
        Server::start(
            move |path| if path == "/robots.txt" { (404, "text/plain", Vec::new()) } else { answer(path) },
        )
        .await;
    let folder = tempfile::tempdir().expect("a folder");
    let rules = SampleRules { documents: 60, queries_max: 60, requests_max: 200, ..SampleRules::default() };
    let interface = server.interface("li", Some("p.count"), documents);
    let version = sample(&interface, &rules, folder.path()).await;
    let facts = version.facts.sampling.clone().expect("it is a sample");
    assert!(facts.ended.contains(ended), "{facts:?}");
    assert!(facts.requests <= 200 && facts.queries <= 60, "{facts:?}");
    (version, facts)
}

fn html(text: impl Into<Vec<u8>>) -> Reply {
    (200, "text/html", text.into())
}

#[tokio::test]
async fn an_interface_that_returns_nothing_is_known_for_it() {
    let (version, facts) = check(|_| html("<p>Nothing found"), Documents::Linked, "nothing new").await;
    assert_eq!((version.facts.documents_read, version.facts.size), (0, Size::Unknown));
    assert_eq!(facts.queries_without_results, facts.queries);
}

#[tokio::test]
async fn the_same_page_for_ever_is_noticed() {
    let (version, _) = check(
        |_| html("<p class=count>3<li><a href=/a>alpha beta gamma</a><li><a href=/b>delta epsilon</a>"),
        Documents::Shown,
        "same results",
    )
    .await;
    assert_eq!(version.facts.documents_read, 2);
}

#[tokio::test]
async fn errors_end_a_sample() {
    for status in [403, 404, 500] {
        let (_, facts) =
            check(move |_| (status, "text/html", b"<h1>no".to_vec()), Documents::Linked, "in a row failed")
                .await;
        assert!(facts.failures[0].contains(&format!("status {status}")), "{facts:?}");
    }
}

#[tokio::test]
async fn a_captcha_ends_a_sample() {
    let (version, facts) =
        check(|_| html("<form>Please complete the CAPTCHA</form>"), Documents::Linked, "human").await;
    assert_eq!((version.facts.documents_read, facts.queries), (0, 2));
}

#[tokio::test]
async fn a_search_that_robots_forbid_is_not_asked() {
    let server = Server::start(|path| {
        assert!(!path.starts_with("/search"), "it was asked");
        (200, "text/plain", b"User-agent: *\nDisallow: /search\n".to_vec())
    })
    .await;
    let folder = tempfile::tempdir().expect("a folder");
    let version =
        sample(&server.interface("li", None, Documents::Linked), &SampleRules::default(), folder.path())
            .await;
    assert!(version.facts.sampling.expect("it is a sample").ended.contains("robots.txt forbids"));
}

/// Endless new results, each with words of its own.
fn endless(counter: &AtomicU64, count: &str) -> Vec<u8> {
    let results: String = (0..400)
        .map(|_| {
            let n = counter.fetch_add(1, Ordering::SeqCst);
            format!("<li><a href=/d/{n}>word{n} common{} other</a>", n % 7)
        })
        .collect();
    format!("<p class=count>{count}</p>{results}").into_bytes()
}

#[tokio::test]
async fn results_without_end_stop_at_the_budget() {
    let counter = AtomicU64::new(0);
    let (version, _) = check(move |_| html(endless(&counter, "12")), Documents::Shown, "60 documents").await;
    assert_eq!(version.facts.documents_read, 60);
    assert!(
        version.facts.notes.iter().any(|note| note.contains("fewer documents than it showed")),
        "{:?}",
        version.facts.notes
    );
}

#[tokio::test]
async fn counts_that_contradict_each_other_give_no_size() {
    let counter = AtomicU64::new(0);
    let answer = move |path: &str| {
        let count = if parameter(path, "q").len().is_multiple_of(2) { "7" } else { "9,999,999,999" };
        html(endless(&counter, count))
    };
    let (version, _) = check(answer, Documents::Shown, "60 documents").await;
    // Only seven words can measure the size. Whether they contradict each other depends on their lengths, but
    // none is credible.
    assert!(!matches!(version.facts.size, Size::Counted(_)));
}

#[tokio::test]
async fn binary_and_broken_text_is_a_failure_and_no_more() {
    check(|_| (200, "text/html", vec![0, 1, 2, 0, 255, 254, 7]), Documents::Linked, "in a row failed").await;
    check(|_| (200, "application/octet-stream", vec![0; 100_000]), Documents::Linked, "in a row failed")
        .await;
    // A charset other than the declared one: whatever the words are, they are words.
    let (version, _) = check(
        |_| (200, "text/html; charset=utf-8", b"<li><a href=/a>gr\xf6\xdfe \xff\xfe stadt</a>".to_vec()),
        Documents::Shown,
        "same results",
    )
    .await;
    assert_eq!(version.facts.documents_read, 1);
    assert!(version.summary.words().any(|(word, frequency)| word == "stadt" && frequency > 0.0));
}

#[tokio::test]
async fn documents_that_cannot_be_read_are_counted() {
    let answer = |path: &str| match path.starts_with("/search") {
        true => html(format!(
            "<li><a href=/d/{0}.bin>one</a><li><a href=/d/{0}.html>two</a>",
            parameter(path, "q")
        )),
        false if path.ends_with(".bin") => (200, "application/octet-stream", vec![0; 64]),
        false => html(format!(
            "<title>x</title>about {} and more{}",
            path.trim_matches('/').replace('/', " "),
            path.len()
        )),
    };
    let (version, facts) = check(answer, Documents::Linked, "").await;
    assert!(facts.documents_failed > 0 && version.facts.documents_read > 0, "{facts:?}");
    assert!(facts.failures.iter().any(|failure| failure.contains("no text")), "{facts:?}");
}
