//! Samples a small JSON search API and compares the summary with its real content.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use freshet_text::counting::Counting;
use freshet_text::interface::{Documents, Interface};
use freshet_text::sample::event::Journal;
use freshet_text::sample::{SampleRules, take_sample};
use freshet_text::version::{Kind, Size};
use freshet_text::words::Wording;
use serde_json::json;

use crate::server::{Reply, Server, parameter, sample, visitor};

/// Documents of 40 words. The probability of word `k` of a vocabulary of 3,000 falls as 1/k.
fn corpus(documents: usize) -> Arc<Vec<String>> {
    let mut lot = 12_345u64;
    let mut chance = move || {
        lot = lot.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (lot >> 11) as f64 / (1u64 << 53) as f64
    };
    let document =
        |_| (0..40).map(|_| format!("term{}", 3_000f64.powf(chance()) as u32)).collect::<Vec<_>>().join(" ");
    Arc::new((0..documents).map(document).collect())
}

/// An API over documents: returns the documents that contain the word, `per_page` per page, and their number.
fn api(documents: Arc<Vec<String>>, per_page: usize) -> impl Fn(&str) -> Reply + Send + Sync + 'static {
    let mut postings: HashMap<String, Vec<usize>> = HashMap::new();
    for (n, document) in documents.iter().enumerate() {
        for word in document.split(' ').collect::<BTreeSet<_>>() {
            postings.entry(word.to_owned()).or_default().push(n);
        }
    }
    move |path| {
        if !path.starts_with("/search") {
            return (404, "text/plain", Vec::new());
        }
        let word = parameter(path, "q");
        let hits = postings.get(word).cloned().unwrap_or_default();
        // Search engines rank: here by a hash of word and document.
        let mut ranked = hits.clone();
        ranked.sort_by_key(|n| xxhash(word, *n));
        let shown: Vec<_> = ranked
            .iter()
            .skip((parameter(path, "page").parse::<usize>().unwrap_or(1) - 1) * per_page)
            .take(per_page)
            .map(|n| json!({"url": format!("/document/{n}"), "body": documents[*n]}))
            .collect();
        (200, "application/json", json!({"total": hits.len(), "hits": shown}).to_string().into_bytes())
    }
}

fn xxhash(word: &str, document: usize) -> u64 {
    word.bytes().fold(document as u64 ^ 0x9e37_79b9_7f4a_7c15, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(17)
    })
}

fn rules() -> SampleRules {
    SampleRules { start_words: vec!["term1".to_owned(), "term2".to_owned()], ..SampleRules::default() }
}

#[tokio::test]
async fn a_json_api_is_sampled_and_its_size_is_learned() {
    let documents = corpus(4_000);
    let mut counting = Counting::new(Wording::default());
    documents.iter().for_each(|document| counting.add(document));
    let exact = counting.finish();
    let server = Server::start(api(Arc::clone(&documents), 10)).await;
    let folder = tempfile::tempdir().expect("a folder");
    let interface = Interface {
        text: Some("$.body".to_owned()),
        ..server.interface("$.hits", Some("$.total"), Documents::Shown)
    };
    let version = sample(&interface, &rules(), folder.path()).await;
    assert_eq!((version.facts.kind, version.facts.documents_read), (Kind::Sample, 300));
    let Size::Estimated { documents: size, low, high } = version.facts.size else {
        panic!("no size: {:?}", version.facts)
    };
    assert!((0.7..1.3).contains(&(size / 4_000.0)), "{size} ({low} to {high})");
    let comparison = version.summary.compare(&exact);
    assert!(comparison.weighted_recall.expect("there are words") > 0.9, "{comparison:?}");
    assert_eq!(comparison.precision, Some(1.0));
}

#[tokio::test]
async fn an_api_without_counts_tells_its_size_by_documents_that_come_again() {
    let server = Server::start(api(corpus(2_000), 10)).await;
    let folder = tempfile::tempdir().expect("a folder");
    let interface =
        Interface { text: Some("$.body".to_owned()), ..server.interface("$.hits", None, Documents::Shown) };
    let version = sample(&interface, &rules(), folder.path()).await;
    let Size::Estimated { documents: size, low, high } = version.facts.size else {
        panic!("no size: {:?}", version.facts)
    };
    assert!((0.5..1.5).contains(&(size / 2_000.0)), "{size} ({low} to {high})");
    assert!(version.facts.notes.iter().any(|note| note.contains("rather more")), "{:?}", version.facts.notes);
}

#[tokio::test]
async fn further_pages_are_asked_for_as_far_as_results_are_wanted() {
    let pages = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (seen, answer) = (Arc::clone(&pages), api(corpus(1_000), 3));
    let server = Server::start(move |path| {
        if path.starts_with("/search") {
            seen.lock().expect("whole").push(parameter(path, "page").to_owned());
        }
        answer(path)
    })
    .await;
    let folder = tempfile::tempdir().expect("a folder");
    let interface =
        Interface { text: Some("$.body".to_owned()), ..server.interface("$.hits", None, Documents::Shown) };
    let rules = SampleRules { documents: 60, results_per_query: 8, ..rules() };
    let version = sample(&interface, &rules, folder.path()).await;
    assert_eq!(version.facts.documents_read, 60);
    let pages = pages.lock().expect("whole");
    assert_eq!(pages[..4], ["1", "2", "3", "1"], "three results a page, eight of each query");
    assert!(pages.iter().all(|page| ["1", "2", "3"].contains(&page.as_str())), "{pages:?}");
}

#[tokio::test]
async fn a_sample_that_is_interrupted_goes_on_and_asks_nothing_again() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let answer = api(corpus(1_000), 10);
    let server = Server::start(move |path| {
        count.fetch_add(usize::from(path.starts_with("/search")), Ordering::SeqCst);
        answer(path)
    })
    .await;
    let interface = Interface {
        text: Some("$.body".to_owned()),
        ..server.interface("$.hits", Some("$.total"), Documents::Shown)
    };
    let whole = tempfile::tempdir().expect("a folder");
    let expected = sample(&interface, &rules(), whole.path()).await;
    let queries = asked.swap(0, Ordering::SeqCst);
    let folder = tempfile::tempdir().expect("a folder");
    let journal = Journal::at(folder.path().join("sampling.jsonl"));
    // Stop after every tenth query, and append an incomplete line as a kill may leave.
    for _ in 0..100 {
        let before = asked.load(Ordering::SeqCst);
        let stopped = || asked.load(Ordering::SeqCst) >= before + 10;
        let version =
            take_sample(&interface, &rules(), Wording::default(), &visitor(), &journal, |_, _| {}, stopped)
                .await;
        if let Some(version) = version.expect("nothing of ours fails") {
            assert_eq!(version.summary, expected.summary);
            assert_eq!(asked.load(Ordering::SeqCst), queries);
            return;
        }
        let mut bytes = std::fs::read(journal.path()).expect("a journal");
        bytes.extend_from_slice(b"{\"asked\":{\"wo");
        std::fs::write(journal.path(), bytes).expect("it is written");
    }
    panic!("the sample has no end");
}
