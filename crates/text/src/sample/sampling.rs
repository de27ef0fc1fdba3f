//! Chooses the next query of a sample from past events.
//!
//! Callan and Connell's query-based sampling, as **summary** (section 2) uses it: query a single word, take
//! the first results, learn their words, and choose the next word from all learned words, until about 300
//! documents are read. Then, where the interface reports the number of matches, query some more words to
//! learn the size.
//!
//! # Promises
//! - The next step depends only on the rules and past events: a replayed sample continues as the original
//!   would have.
//! - The sample ends: by enough documents, by its budget, or because the interface returns nothing new,
//!   fails, or refuses. It reports which.
//! - No word is queried twice, and no document is counted twice.

use std::collections::{BTreeMap, HashSet};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use xxhash_rust::xxh3::xxh3_64;

use super::event::{Came, Event};
use super::recapture;
use super::size::{Measure, estimate};
use crate::sample_rules::{CAPTCHAS_MAX, FAILURES_MAX, FRUITLESS_MAX, SAME_MAX, START_WORDS, SampleRules};
use crate::summary::Summary;
use crate::version::{FAILURES_TOLD, Facts, Kind, SamplingFacts, Size, Version};
use crate::words::Wording;

/// Minimum and maximum share of the sample's documents that a measuring word may occur in. Rarer words occur
/// by luck.
const MEASURING_SHARE: (f64, f64) = (0.02, 0.5);

/// The next step of a sample.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Next {
    /// Query a word and read the first results.
    Ask(String),
    /// Query a word to learn the number of matches.
    Measure(String),
    /// Stop.
    End,
}

/// What the sample knows about a word.
#[derive(Clone, Copy, Debug)]
struct Learned {
    /// Number of sampled documents that contain it.
    documents: u32,
    /// Hash of the document it was first seen in.
    from: u64,
}

/// State of a running sample.
#[derive(Clone, Debug)]
pub struct Sampling {
    rules: SampleRules,
    wording: Wording,
    /// The words of the sample.
    frequencies: BTreeMap<String, Learned>,
    documents: HashSet<String>,
    read: u32,
    asked: HashSet<String>,
    /// Words queried to learn the number of matches, with that number.
    measures: Vec<(String, u64)>,
    /// The same for words queried to find documents.
    counts_on_the_way: Vec<(String, u64)>,
    /// Documents that each query returned, read or not. Identical answers to consecutive queries count once.
    answers: Vec<Vec<u64>>,
    /// The document in which the word of the last query was first seen.
    parent: Option<u64>,
    measured: u32,
    /// Whether the interface ever reported the number of matches.
    counts: bool,
    facts: SamplingFacts,
    captchas: u32,
    fruitless: u32,
    failures: u32,
    same: u32,
    last_mark: Option<u64>,
    fewer_than_shown: u32,
    results_per_page: u32,
    ended: Option<String>,
}

impl Sampling {
    /// A sample before its first query.
    pub fn new(rules: SampleRules, wording: Wording) -> Self {
        Self {
            rules,
            wording,
            frequencies: BTreeMap::new(),
            documents: HashSet::new(),
            read: 0,
            asked: HashSet::new(),
            measures: Vec::new(),
            counts_on_the_way: Vec::new(),
            answers: Vec::new(),
            parent: None,
            measured: 0,
            counts: false,
            facts: SamplingFacts::default(),
            captchas: 0,
            fruitless: 0,
            failures: 0,
            same: 0,
            last_mark: None,
            fewer_than_shown: 0,
            results_per_page: 0,
            ended: None,
        }
    }

    /// The next step.
    pub fn next_step(&mut self) -> Next {
        if self.ended.is_none() {
            if let Some(why) = self.why_enough() {
                self.ended = Some(why);
            } else {
                match self.next_word() {
                    Some(word) => return Next::Ask(word),
                    None => self.ended = Some("there was no further word to ask for".to_owned()),
                }
            }
        }
        let may_measure = self.counts
            && self.measured < self.rules.size_queries
            && self.facts.queries + self.measured < self.rules.queries_max
            && !self.is_shut()
            && !self.is_deaf();
        match self.measuring_word().filter(|_| may_measure) {
            Some(word) => Next::Measure(word),
            None => Next::End,
        }
    }

    /// Whether this document was not seen before.
    pub fn is_new(&self, document: &str) -> bool {
        !self.documents.contains(document)
    }

    /// Whether more documents are wanted and requests are left.
    pub fn wants_documents(&self) -> bool {
        self.read < self.rules.documents && self.facts.requests < self.rules.requests_max
    }

    /// The largest number of results on a first page.
    pub fn results_per_page(&self) -> usize {
        self.results_per_page as usize
    }

    /// Number of documents read so far, and the number wanted.
    pub fn progress(&self) -> (u32, u32) {
        (self.read, self.rules.documents)
    }

    /// Applies an event.
    pub fn take(&mut self, event: &Event) {
        match event {
            Event::Asked { word, came } => self.take_answer(word, came),
            Event::Turned { word, page, came } => {
                self.facts.requests += 1;
                match came {
                    Came::Results { documents, .. } => self.take_further(documents),
                    Came::Captcha => self.captchas += 1,
                    Came::Forbidden(why) | Came::Failed(why) => {
                        self.tell(format!("{word}, page {page}: {why}"));
                    }
                }
            }
            Event::Read { document, words } => {
                self.facts.requests += 1;
                self.documents.insert(document.clone());
                self.read += 1;
                self.fruitless = 0;
                let from = xxh3_64(document.as_bytes());
                for word in words {
                    let learned =
                        self.frequencies.entry(word.clone()).or_insert(Learned { documents: 0, from });
                    learned.documents += 1;
                }
            }
            Event::NotRead { document, why } => {
                self.facts.requests += 1;
                self.documents.insert(document.clone());
                self.facts.documents_failed += 1;
                self.tell(format!("{document}: {why}"));
            }
            Event::Measured { word, count } => {
                self.facts.requests += 1;
                self.measured += 1;
                self.asked.insert(word.clone());
                self.measures.extend(count.map(|count| (word.clone(), count)));
            }
        }
    }

    /// The summary of the sample, at this time.
    pub fn version(&self, time_ms: i64) -> Version {
        let (size, about_size) = self.size();
        let words: Vec<(&str, f64)> = self
            .frequencies
            .iter()
            .map(|(word, learned)| (word.as_str(), f64::from(learned.documents)))
            .collect();
        let mut summary = Summary::from_words(f64::from(self.read), words);
        if let Some(documents) = size.documents().filter(|_| self.read > 0) {
            summary = summary.scaled_to(documents);
        }
        let mut notes = vec![self.error_statement()];
        notes.extend(about_size);
        if self.fewer_than_shown > 0 {
            notes.push(format!(
                "{} times the interface counted fewer documents than it showed",
                self.fewer_than_shown
            ));
        }
        let mut facts = self.facts.clone();
        facts.ended = self.ended.clone().unwrap_or_else(|| "it was stopped".to_owned());
        Version {
            facts: Facts {
                time_ms,
                kind: Kind::Sample,
                size,
                documents_read: self.read.into(),
                wording: self.wording,
                notes,
                sampling: Some(facts),
            },
            summary,
        }
    }

    /// The size of the database, and a note about it. Uses the counts of the interface; if it has none that
    /// are credible, uses repeated documents.
    fn size(&self) -> (Size, Option<String>) {
        if self.is_deaf() {
            let why = "the size is not known: the interface answers the same whatever it is asked";
            return (Size::Unknown, Some(why.to_owned()));
        }
        // If few words are known, all of them were queried to find documents: use those counts.
        let has_measured = !self.measures.is_empty();
        let counts = if has_measured { &self.measures } else { &self.counts_on_the_way };
        let (size, no_counts) = self.size_by(counts);
        let Some(no_counts) = no_counts else {
            let note = "the size is estimated by words whose documents the sample itself was drawn from, for \
                        want of others: there are rather more than fewer";
            return (size, (!has_measured).then(|| note.to_owned()));
        };
        match recapture::estimate(&self.answers) {
            (size, None) => {
                let queries = self.answers.len();
                let note = format!(
                    "the size is estimated from documents that came again in the answers of {queries} \
                     queries, because {no_counts}; interfaces show some documents more often than others, so \
                     there are rather more than fewer"
                );
                (size, Some(note))
            }
            (size, Some(none_came_again)) => {
                let why =
                    if self.counts { format!("{no_counts}; {none_came_again}") } else { none_came_again };
                (size, Some(format!("the size is not known: {why}")))
            }
        }
    }

    fn size_by(&self, counts: &[(String, u64)]) -> (Size, Option<String>) {
        let measure =
            |(word, reported): &(String, u64)| Measure { sampled: self.frequency(word), reported: *reported };
        estimate(&counts.iter().map(measure).collect::<Vec<_>>(), self.read, self.rules.seed)
    }

    /// Records the documents that a query returned. The document that its word was learned from is left out:
    /// it is always returned, and so says nothing about the size.
    fn take_first(&mut self, word: &str, documents: &[u64]) {
        self.parent = self.frequencies.get(word).map(|learned| learned.from);
        self.answers.push(Vec::new());
        self.take_further(documents);
    }

    /// Records documents on a further page of the last query's results.
    fn take_further(&mut self, documents: &[u64]) {
        if let Some(answer) = self.answers.last_mut() {
            answer.extend(documents.iter().filter(|document| Some(**document) != self.parent));
            answer.sort_unstable();
            answer.dedup();
        }
    }

    fn error_statement(&self) -> String {
        if self.read == 0 {
            return "no document could be read: nothing is known of the words".to_owned();
        }
        let n = f64::from(self.read);
        format!(
            "frequencies are estimated from {} documents: a word in half of them is known to ±{:.0}% of the \
             documents (95%), a word in fewer than one of {:.0} documents is probably missing",
            self.read,
            100.0 * 1.96 * (0.25 / n).sqrt(),
            n / 3.0,
        )
    }

    fn take_answer(&mut self, word: &str, came: &Came) {
        self.asked.insert(word.to_owned());
        self.facts.queries += 1;
        self.facts.requests += 1;
        self.fruitless += 1;
        match came {
            Came::Results { results, count, mark, documents } => {
                self.failures = 0;
                self.facts.queries_without_results += u32::from(*results == 0);
                self.counts |= count.is_some();
                self.counts_on_the_way.extend(count.map(|count| (word.to_owned(), count)));
                self.results_per_page = self.results_per_page.max(*results);
                self.fewer_than_shown += u32::from(count.is_some_and(|count| count < u64::from(*results)));
                let is_same = *results > 0 && self.last_mark == Some(*mark);
                if !is_same {
                    self.take_first(word, documents);
                }
                self.same = if is_same { self.same + 1 } else { 0 };
                self.last_mark = Some(*mark);
            }
            Came::Captcha => {
                self.captchas += 1;
                self.fail(word, "it asks whether we are human");
            }
            Came::Forbidden(rule) => {
                self.ended = Some(format!("robots.txt forbids to search: {rule}"));
                self.fail(word, &format!("robots.txt forbids it: {rule}"));
            }
            Came::Failed(why) => self.fail(word, why),
        }
    }

    fn fail(&mut self, word: &str, why: &str) {
        self.failures += 1;
        self.facts.queries_failed += 1;
        self.tell(format!("{word}: {why}"));
    }

    fn tell(&mut self, failure: String) {
        if self.facts.failures.len() < FAILURES_TOLD {
            self.facts.failures.push(failure);
        }
    }

    /// Whether the interface no longer answers.
    fn is_shut(&self) -> bool {
        CAPTCHAS_MAX <= self.captchas
            || FAILURES_MAX <= self.failures
            || self.rules.requests_max <= self.facts.requests
    }

    /// Whether the interface gives the same answer to every query.
    fn is_deaf(&self) -> bool {
        SAME_MAX <= self.same
    }

    /// Maximum number of queries to find documents. Where the interface reports the number of matches, some
    /// are reserved for the size.
    fn queries_for_documents(&self) -> u32 {
        let SampleRules { queries_max, size_queries, .. } = self.rules;
        queries_max - if self.counts { size_queries.min(queries_max / 4) } else { 0 }
    }

    fn why_enough(&self) -> Option<String> {
        let SampleRules { documents, queries_max, requests_max, .. } = self.rules;
        let reasons = [
            (documents <= self.read, format!("{documents} documents were read")),
            (CAPTCHAS_MAX <= self.captchas, "it asks whether we are human".to_owned()),
            (FAILURES_MAX <= self.failures, format!("{FAILURES_MAX} queries in a row failed")),
            (self.is_deaf(), format!("{SAME_MAX} different queries in a row had the same results")),
            (
                FRUITLESS_MAX <= self.fruitless,
                format!("{FRUITLESS_MAX} queries in a row brought nothing new"),
            ),
            (
                self.queries_for_documents() <= self.facts.queries,
                format!("the budget of {queries_max} queries was spent"),
            ),
            (requests_max <= self.facts.requests, format!("the budget of {requests_max} requests was spent")),
        ];
        reasons.into_iter().find(|(holds, _)| *holds).map(|(_, why)| why)
    }

    /// A learned word that was not queried yet. Before any word is learned, a start word.
    fn next_word(&self) -> Option<String> {
        let learned: Vec<&String> = self.frequencies.keys().filter(|word| self.is_askable(word)).collect();
        if learned.is_empty() {
            let given = self.rules.start_words.iter().map(String::as_str);
            return given
                .chain(START_WORDS.iter().copied())
                .find(|word| !self.asked.contains(*word))
                .map(str::to_owned);
        }
        // The generator is seeded by the number of queries, so that a sample can be replayed.
        let mut chance = ChaCha8Rng::seed_from_u64(
            self.rules.seed.wrapping_mul(0x9e37_79b9).wrapping_add(self.facts.queries.into()),
        );
        Some(learned[chance.random_range(0..learned.len())].clone())
    }

    /// Whether a word is worth a query. Single letters and numbers are not.
    fn is_askable(&self, word: &str) -> bool {
        word.chars().nth(2).is_some() && word.chars().any(char::is_alphabetic) && !self.asked.contains(word)
    }

    /// The most frequent word of the sample that was not queried yet, among those neither too rare nor too
    /// common.
    fn measuring_word(&self) -> Option<String> {
        let n = f64::from(self.read);
        let within = |share: f64| MEASURING_SHARE.0 <= share && share <= MEASURING_SHARE.1;
        let candidates: Vec<(&String, u32)> = self
            .frequencies
            .iter()
            .filter(|(word, learned)| {
                within(f64::from(learned.documents) / n) && learned.documents >= 2 && self.is_askable(word)
            })
            .map(|(word, learned)| (word, learned.documents))
            .collect();
        if candidates.is_empty() {
            return None;
        }
        let mut chance = ChaCha8Rng::seed_from_u64(
            self.rules.seed.wrapping_add(1 << 32).wrapping_add(self.measured.into()),
        );
        Some(candidates[chance.random_range(0..candidates.len())].0.clone())
    }

    fn frequency(&self, word: &str) -> u32 {
        self.frequencies.get(word).map_or(0, |learned| learned.documents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a sample against a database that answers every query by `answer`, until the sample ends.
    #[track_caller]
    fn check(answer: impl Fn(u32) -> Vec<Event>, ended: &str) -> Version {
        let mut sampling = Sampling::new(SampleRules::default(), Wording::default());
        for n in 0..10_000 {
            match sampling.next_step() {
                Next::End => {
                    let version = sampling.version(0);
                    let why = version.facts.sampling.clone().expect("it is a sample").ended;
                    assert!(why.contains(ended), "{why}");
                    return version;
                }
                Next::Ask(word) => {
                    for event in answer(n) {
                        sampling.take(&match event {
                            Event::Asked { came, .. } => Event::Asked { word: word.clone(), came },
                            other => other,
                        });
                    }
                }
                Next::Measure(word) => sampling.take(&Event::Measured { word, count: Some(40) }),
            }
        }
        panic!("the sample has no end");
    }

    fn asked(came: Came) -> Event {
        Event::Asked { word: String::new(), came }
    }

    fn results(results: u32, mark: u64) -> Event {
        asked(Came::Results { results, count: Some(results.into()), mark, documents: Vec::new() })
    }

    #[test]
    fn a_sample_ends_when_it_has_its_documents() {
        let answer = |n: u32| {
            let words =
                |k: u32| (0..10).map(|j| format!("word{}", (n * 7 + k * 13 + j * 29) % 150)).collect();
            let read = |k: u32| Event::Read { document: format!("{n}-{k}"), words: words(k) };
            std::iter::once(results(4, n.into())).chain((0..4).map(read)).collect()
        };
        let version = check(answer, "300 documents");
        assert_eq!(version.facts.documents_read, 300);
        assert!(matches!(version.facts.size, Size::Estimated { .. }));
    }

    #[test]
    fn an_interface_that_is_of_no_use_ends_the_sample() {
        check(|_| vec![results(0, 0)], "brought nothing new");
        check(|_| vec![results(10, 7)], "the same results");
        check(|_| vec![asked(Came::Failed("status 500".to_owned()))], "in a row failed");
        check(|_| vec![asked(Came::Captcha)], "human");
        check(|_| vec![asked(Came::Forbidden("Disallow: /search".to_owned()))], "robots.txt");
    }

    #[test]
    fn without_counts_the_size_is_that_of_documents_that_came_again() {
        // 600 documents, of which each query returns four at random. New ones are read.
        let read_before = std::cell::RefCell::new(HashSet::new());
        let answer = |n: u32| {
            let mut chance = ChaCha8Rng::seed_from_u64(n.into());
            let documents: Vec<u64> = (0..4).map(|_| chance.random_range(0..600)).collect();
            let read = |document: &u64| Event::Read {
                document: document.to_string(),
                words: (0..10).map(|j| format!("word{}", (document * 31 + j * 29) % 900)).collect(),
            };
            let is_new = |document: &&u64| read_before.borrow_mut().insert(**document);
            let read: Vec<Event> = documents.iter().filter(is_new).map(read).collect();
            let came = Came::Results { results: 4, count: None, mark: n.into(), documents };
            std::iter::once(asked(came)).chain(read).collect()
        };
        let version = check(answer, "300 documents");
        let size = version.facts.size.documents().expect("it is estimated");
        assert!((450.0..800.0).contains(&size), "{size}");
        assert!(
            version.facts.notes.iter().any(|note| note.contains("came again")),
            "{:?}",
            version.facts.notes
        );
    }

    #[test]
    fn where_few_words_are_known_the_counts_on_the_way_tell_the_size() {
        // Every word occurs in half of 500 documents, and there are only twelve words.
        let answer = |n: u32| {
            let words = (0..12).filter(|k| (n + k).is_multiple_of(2)).map(|k| format!("word{k}")).collect();
            vec![
                asked(Came::Results {
                    results: 4,
                    count: Some(250),
                    mark: n.into(),
                    documents: vec![n.into()],
                }),
                Event::Read { document: n.to_string(), words },
            ]
        };
        let version = check(answer, "no further word");
        let size = version.facts.size.documents().expect("it is estimated");
        assert!((450.0..550.0).contains(&size), "{size} {:?}", version.facts.notes);
    }

    #[test]
    fn an_interface_that_does_not_listen_tells_nothing_of_its_size() {
        let answer = |n: u32| match n {
            0 => {
                vec![results(10, 7), Event::Read { document: "a".to_owned(), words: vec!["word".to_owned()] }]
            }
            _ => vec![results(10, 7)],
        };
        let version = check(answer, "the same results");
        assert_eq!(version.facts.size, Size::Unknown);
        assert!(version.facts.notes.iter().any(|note| note.contains("whatever it is asked")));
    }

    #[test]
    fn a_budget_of_queries_ends_the_sample() {
        let answer = |n: u32| {
            vec![
                results(1, n.into()),
                Event::Read {
                    document: n.to_string(),
                    words: vec![format!("word{n}"), format!("pair{}", n / 2)],
                },
            ]
        };
        let rules = SampleRules { queries_max: 30, ..SampleRules::default() };
        let mut sampling = Sampling::new(rules, Wording::default());
        let (mut n, mut measured) = (0, 0);
        loop {
            let word = match sampling.next_step() {
                Next::Ask(word) => word,
                Next::Measure(word) => {
                    sampling.take(&Event::Measured { word, count: Some(1) });
                    measured += 1;
                    continue;
                }
                Next::End => break,
            };
            for event in answer(n) {
                sampling.take(&if let Event::Asked { came, .. } = event {
                    Event::Asked { word: word.clone(), came }
                } else {
                    event
                });
            }
            n += 1;
        }
        assert_eq!(n, 23);
        assert!((1..=7).contains(&measured), "{measured}");
    }

    #[test]
    fn a_replayed_sample_goes_on_as_it_would_have() {
        let mut one = Sampling::new(SampleRules::default(), Wording::default());
        let mut events = Vec::new();
        for n in 0..20 {
            let Next::Ask(word) = one.next_step() else { panic!("it ended") };
            events.push(Event::Asked {
                word,
                came: Came::Results { results: 1, count: None, mark: n, documents: Vec::new() },
            });
            events.push(Event::Read {
                document: n.to_string(),
                words: vec![format!("alpha{n}"), format!("beta{n}")],
            });
            events[2 * n as usize..].iter().for_each(|event| one.take(event));
        }
        let mut other = Sampling::new(SampleRules::default(), Wording::default());
        events.iter().for_each(|event| other.take(event));
        assert_eq!(one.next_step(), other.next_step());
    }
}
