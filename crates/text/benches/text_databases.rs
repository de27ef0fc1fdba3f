//! What summaries of text databases cost: to build, to load and to query.
//!
//! Three questions, each on one core:
//! - How long does a complete summary of 100,000 documents of 10 KB take, compared with splitting the same
//!   text at spaces? More than three times as long is worrying, and so is memory that grows with the
//!   documents.
//! - How long does it take to read a summary of a million words from its file? More than 50 ms is worrying.
//! - How long does a query over 10,000 databases of 20,000 words take, from their files, as `freshet db
//!   select` asks it? More than 50 ms is worrying. This one needs some 5 GB of disk space and a few minutes
//!   to write the files.
//!
//! The argument `small` divides all sizes by a hundred, `tenth` by ten.
#![allow(clippy::print_stdout, reason = "printing is the purpose of a benchmark")]

use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

use freshet_text::counting::Counting;
use freshet_text::database::{Database, Place};
use freshet_text::select::{Algorithm, Catalogue};
use freshet_text::summary::Summary;
use freshet_text::summary_store::SummaryStore;
use freshet_text::version::{Facts, Kind, Size, Version};
use freshet_text::words::Wording;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

fn main() {
    let is_said = |word: &str| std::env::args().any(|argument| argument == word);
    let part = match () {
        () if is_said("small") => 100,
        () if is_said("tenth") => 10,
        () => 1,
    };
    println!("\n| what | measured | at most |");
    println!("| --- | --- | --- |");
    complete_summary(100_000 / part);
    load(1_000_000 / part);
    select(10_000 / part, 20_000);
}

/// Documents of about 10 KB, with words drawn by Zipf's law from a vocabulary of 200,000.
fn documents(count: usize, chance: &mut ChaCha8Rng) -> Vec<String> {
    let words: Vec<String> = (0..200_000).map(|n| word(n, chance)).collect();
    let document = |chance: &mut ChaCha8Rng| {
        let mut text = String::with_capacity(10_100);
        while text.len() < 10_000 {
            let rank = (words.len() as f64).powf(chance.random::<f64>()) as usize;
            text.push_str(&words[rank.min(words.len() - 1)]);
            text.push(' ');
        }
        text
    };
    // A thousand different documents are enough to overflow every cache.
    (0..count.min(1_000)).map(|_| document(chance)).collect()
}

fn word(number: usize, chance: &mut ChaCha8Rng) -> String {
    let mut word = String::new();
    let mut rest = number + 7;
    while rest > 0 {
        word.push(char::from(b"bdfgklmnprstvz"[rest % 14]));
        word.push(char::from(b"aeiou"[chance.random_range(0..5)]));
        rest /= 14;
    }
    word
}

fn complete_summary(count: usize) {
    let texts = documents(count, &mut ChaCha8Rng::seed_from_u64(1));
    let all = || (0..count).map(|n| &texts[n % texts.len()]);
    let bytes: usize = all().map(String::len).sum();
    let (at_spaces, words) = timed(|| {
        all()
            .map(|text| text.split_whitespace().map(|word| black_box(word).len().min(1)).sum::<usize>())
            .sum::<usize>()
    });
    let before = resident();
    let (whole, summary) = timed(|| {
        let mut counting = Counting::new(Wording::default());
        all().for_each(|text| counting.add(text));
        counting.finish()
    });
    let megabytes = bytes as f64 / 1e6;
    println!(
        "| {count} documents, {megabytes:.0} MB, {words} words: split at spaces | {:.2} s ({:.0} MB/s) | |",
        at_spaces.as_secs_f64(),
        megabytes / at_spaces.as_secs_f64()
    );
    println!(
        "| complete summary, {} different words | {:.2} s ({:.0} MB/s) | |",
        summary.len(),
        whole.as_secs_f64(),
        megabytes / whole.as_secs_f64()
    );
    println!("| ratio | {:.2} | 3 |", whole.as_secs_f64() / at_spaces.as_secs_f64());
    println!("| memory for the summary | {:.0} MB | |", (resident() - before).max(0.0));
}

fn load(words: usize) {
    let mut chance = ChaCha8Rng::seed_from_u64(2);
    let named: Vec<(String, f64)> = (0..words)
        .map(|n| (format!("{}{n}", word(n, &mut chance)), f64::from(chance.random_range(1..10_000u32))))
        .collect();
    let version = version(Summary::from_words(10_000.0, named));
    let place = std::env::temp_dir().join(format!("freshet-bench-{}", std::process::id()));
    let store = SummaryStore::in_directory(&place);
    store.add("bench", &Database::of(Place::Dir { path: place.clone() })).expect("the bench can write");
    store.keep("bench", &version).expect("the bench can write");
    let size = version.to_bytes().map_or(0, |bytes| bytes.len());
    let best = (0..9).map(|_| timed(|| store.latest("bench").expect("it reads")).0).min().unwrap_or_default();
    let _ = fs::remove_dir_all(&place);
    println!(
        "| load {words} words ({:.1} MB) | {:.1} ms | 50 ms |",
        size as f64 / 1e6,
        best.as_secs_f64() * 1e3
    );
}

/// Wraps a summary in a version.
fn version(summary: Summary) -> Version {
    let facts = Facts {
        time_ms: 0,
        kind: Kind::Complete,
        size: Size::Counted(10_000.0),
        documents_read: 10_000,
        wording: Wording::default(),
        notes: Vec::new(),
        sampling: None,
    };
    Version { facts, summary }
}

fn select(databases: usize, words_each: usize) {
    let place = std::env::temp_dir().join(format!("freshet-bench-select-{}", std::process::id()));
    let store = SummaryStore::in_directory(&place);
    fill(&store, databases, words_each);
    // Every query reads recently altered folders again, so wait until they no longer count as recent.
    std::thread::sleep(Duration::from_secs(3));
    let (built, catalogue) = timed(|| Catalogue::of(&store).expect("it reads"));
    println!(
        "| who has which word, {} databases of {words_each} words, made once | {:.1} s, {:.0} MB in all | |",
        catalogue.len(),
        built.as_secs_f64(),
        resident()
    );
    drop(catalogue);
    for (name, algorithm) in [("CORI", Algorithm::Cori), ("bGlOSS", Algorithm::BGloss), ("KL", Algorithm::Kl)]
    {
        let mut times: Vec<Duration> = Vec::new();
        for query in 0..51 {
            let text = format!("w{} w{} w{}", query * 7, 5_000 + query, 300_000 + query * 31);
            let ask =
                || Catalogue::of(&store).and_then(|mut catalogue| catalogue.select(&text, algorithm, 10));
            times.push(timed(|| ask().expect("it reads")).0);
        }
        times.sort_unstable();
        println!(
            "| choose by {name} from the files, three words: median and slowest of {} queries | {:.1} ms, \
             {:.1} ms | 50 ms |",
            times.len(),
            times[times.len() / 2].as_secs_f64() * 1e3,
            times[times.len() - 1].as_secs_f64() * 1e3
        );
    }
    let (again, _) = timed(|| {
        store
            .keep("d0", &version(Summary::from_words(10_000.0, vec![("w0", 1.0)])))
            .expect("the bench can write");
        let mut catalogue = Catalogue::of(&store).expect("it reads");
        catalogue.select("w0", Algorithm::Cori, 10).expect("it reads")
    });
    println!("| one summary kept, and the next query | {:.1} ms | |", again.as_secs_f64() * 1e3);
    let _ = fs::remove_dir_all(&place);
}

/// Adds databases that share the common words and few of the rare ones: each takes half of its words by a
/// power law over a million.
fn fill(store: &SummaryStore, databases: usize, words_each: usize) {
    let mut chance = ChaCha8Rng::seed_from_u64(3);
    let vocabulary: Vec<String> = (0..1_000_000).map(|n| format!("w{n}")).collect();
    for database in 0..databases {
        let mut places: Vec<usize> = (0..words_each / 2).collect();
        places.extend(
            (0..words_each / 2)
                .map(|_| (1e6f64.powf(0.7 + 0.3 * chance.random::<f64>()) as usize).min(999_999)),
        );
        places.sort_unstable();
        places.dedup();
        let words: Vec<(&str, f64)> = places
            .iter()
            .map(|place| (vocabulary[*place].as_str(), f64::from(chance.random_range(1..1_000u32))))
            .collect();
        let name = format!("d{database}");
        let database = Database::of(Place::Dir { path: store.directory().to_owned() });
        store.add(&name, &database).expect("the bench can write");
        store.keep(&name, &version(Summary::from_words(10_000.0, words))).expect("the bench can write");
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let began = Instant::now();
    let result = black_box(work());
    (began.elapsed(), result)
}

/// Resident memory of the process, in megabytes.
fn resident() -> f64 {
    let pages = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages.split(' ').nth(1).and_then(|pages| pages.parse::<f64>().ok()).unwrap_or(0.0) * 4096.0 / 1e6
}
