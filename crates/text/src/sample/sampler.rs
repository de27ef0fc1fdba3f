//! Runs a sample, from the first word to the summary.
//!
//! # Promises
//! - Every event is written to the journal before the next request: a killed sample continues where it
//!   stopped.
//! - Further pages are requested only as far as results are wanted, and no page twice.
//! - An interface may answer anything: the sample reports what it learned and what it could not, and stops at
//!   its budget.

use std::collections::BTreeSet;

use freshet_fetch::page::PageUrl;
use freshet_fetch::page::reading::{Limits, read};
use xxhash_rust::xxh3::xxh3_64;

use super::event::{Came, Event, Journal};
use super::sampling::{Next, Sampling};
use crate::error::TextError;
use crate::interface::answer::Trouble;
use crate::interface::{Answer, Documents, Found, Interface, plain_urls, read_answer};
use crate::sample_rules::{PAGES_MAX, SampleRules};
use crate::version::Version;
use crate::visitor::{NoArrival, Visitor};
use crate::words::Wording;

/// Maximum number of distinct words recorded per document.
const WORDS_MAX: usize = 20_000;

/// Runs a sample of a database, or continues an interrupted one, until it ends. Returns `None` if
/// `is_stopped` stops it.
///
/// `progress` receives the number of documents read and wanted.
pub async fn take_sample(
    interface: &Interface,
    rules: &SampleRules,
    wording: Wording,
    visitor: &Visitor,
    journal: &Journal,
    progress: impl Fn(u32, u32),
    is_stopped: impl Fn() -> bool,
) -> Result<Option<Version>, TextError> {
    interface.check()?;
    let mut sampler =
        Sampler { interface, wording, visitor, journal, sampling: Sampling::new(rules.clone(), wording) };
    for event in journal.events()? {
        sampler.sampling.take(&event);
    }
    journal.mend()?;
    loop {
        if is_stopped() {
            return Ok(None);
        }
        match sampler.sampling.next_step() {
            Next::Ask(word) => sampler.ask(&word, rules.results_per_query).await?,
            Next::Measure(word) => {
                let (_, answer) = sampler.query(&word, First).await;
                sampler.note(&Event::Measured { word, count: answer.and_then(|answer| answer.count) })?;
            }
            Next::End => return Ok(Some(sampler.sampling.version(visitor.now().millis()))),
        }
        let (read, wanted) = sampler.sampling.progress();
        progress(read, wanted);
    }
}

/// Results requested on the first page, where the interface supports it.
const RESULTS_PER_PAGE: u32 = 10;

/// Which page of results.
enum Page {
    First,
    /// Pages from the second on. Each has as many results as the first.
    Further {
        page: u32,
        per_page: u32,
    },
}

use Page::{First, Further};

struct Sampler<'a> {
    interface: &'a Interface,
    wording: Wording,
    visitor: &'a Visitor,
    journal: &'a Journal,
    sampling: Sampling,
}

impl Sampler<'_> {
    /// Queries a word and reads the first results, from as many pages as needed.
    async fn ask(&mut self, word: &str, results_per_query: u32) -> Result<(), TextError> {
        let (came, answer) = self.query(word, First).await;
        self.note(&Event::Asked { word: word.to_owned(), came: came.clone() })?;
        let mut last = mark_of(&came);
        let count = answer.as_ref().and_then(|answer| answer.count).unwrap_or(u64::MAX);
        let mut results = answer.map(|answer| answer.results).unwrap_or_default();
        let per_page = u32::try_from(results.len()).unwrap_or(u32::MAX);
        let mut left = results_per_query as usize;
        let mut seen = 0;
        for page in 2.. {
            for found in results.iter().take(left) {
                if !self.sampling.wants_documents() {
                    return Ok(());
                }
                self.read(found).await?;
            }
            left = left.saturating_sub(results.len());
            seen += results.len();
            // A page with fewer results than others is the last, and so is one that completes the count.
            let is_last = results.len() < self.sampling.results_per_page() || count <= seen as u64;
            let is_enough = left == 0 || results.is_empty() || PAGES_MAX < page;
            if is_last || is_enough || !self.interface.has_pages() || !self.sampling.wants_documents() {
                break;
            }
            let (came, answer) = self.query(word, Further { page, per_page }).await;
            let mark = mark_of(&came);
            self.note(&Event::Turned { word: word.to_owned(), page, came })?;
            // A repeated page means the end of the results, whatever its number.
            results = answer.map(|answer| answer.results).filter(|_| mark != last).unwrap_or_default();
            last = mark;
        }
        Ok(())
    }

    /// Requests a page of results. Returns the outcome and the page.
    async fn query(&self, word: &str, page: Page) -> (Came, Option<Answer>) {
        let (page, per_page) = match page {
            First => (1, RESULTS_PER_PAGE),
            Further { page, per_page } => (page, per_page),
        };
        let Some(url) = self.interface.url(word, page, per_page) else {
            return (Came::Failed("the word cannot stand in a URL".to_owned()), None);
        };
        let page = match self.visitor.visit(&url).await {
            Ok(page) => page,
            Err(NoArrival::Forbidden(rule)) => return (Came::Forbidden(rule), None),
            Err(why) => return (Came::Failed(why.to_string()), None),
        };
        let answer = read_answer(self.interface, &page.url, page.content_type.as_deref(), &page.body);
        let came = match &answer.trouble {
            Some(Trouble::Captcha) => Came::Captcha,
            Some(Trouble::Unreadable(why)) => Came::Failed(why.clone()),
            None => {
                let names: Vec<String> = answer.results.iter().map(name_of).collect();
                let results = u32::try_from(answer.results.len()).unwrap_or(u32::MAX);
                let mut documents: Vec<u64> = names.iter().map(|name| xxh3_64(name.as_bytes())).collect();
                documents.sort_unstable();
                documents.dedup();
                let mark = xxh3_64(names.join("\n").as_bytes());
                Came::Results { results, count: answer.count, mark, documents }
            }
        };
        (came, Some(answer))
    }

    async fn read(&mut self, found: &Found) -> Result<(), TextError> {
        let document = name_of(found);
        if !self.sampling.is_new(&document) {
            return Ok(());
        }
        let text = match (self.interface.documents, &found.url) {
            (Documents::Shown, _) => Ok(found.text.clone()),
            (Documents::Linked, Some(url)) => self.text_of(url).await,
            (Documents::Linked, None) => Err("the result has no link".to_owned()),
        };
        match text.map(|text| self.words_of(&text)) {
            Ok(words) if words.is_empty() => {
                self.note(&Event::NotRead { document, why: "it has no words".to_owned() })
            }
            Ok(words) => self.note(&Event::Read { document, words }),
            Err(why) => self.note(&Event::NotRead { document, why }),
        }
    }

    /// The text of a document, or why it could not be read.
    async fn text_of(&self, url: &PageUrl) -> Result<String, String> {
        let page = self.visitor.visit(url).await.map_err(|why| why.to_string())?;
        let reading = read(
            &page.url,
            page.content_type.as_deref(),
            &[],
            &[],
            &page.body,
            &plain_urls(),
            &Limits::default(),
        );
        if reading.charset.is_none() && reading.text.is_empty() {
            return Err("it is no text".to_owned());
        }
        Ok(match reading.title {
            Some(title) => format!("{title}\n{}", reading.text),
            None => reading.text,
        })
    }

    fn words_of(&self, text: &str) -> Vec<String> {
        let words: BTreeSet<String> = self.wording.words(text).into_iter().collect();
        words.into_iter().take(WORDS_MAX).collect()
    }

    fn note(&mut self, event: &Event) -> Result<(), TextError> {
        self.journal.note(event)?;
        self.sampling.take(event);
        Ok(())
    }
}

/// Hash that recognises a repeated page of results.
fn mark_of(came: &Came) -> Option<u64> {
    match came {
        Came::Results { mark, .. } => Some(*mark),
        Came::Captcha | Came::Forbidden(_) | Came::Failed(_) => None,
    }
}

/// Identity of a result, to recognise it again.
fn name_of(found: &Found) -> String {
    match &found.url {
        Some(url) => url.as_str().to_owned(),
        None => format!("text {:016x}", xxh3_64(found.text.as_bytes())),
    }
}
