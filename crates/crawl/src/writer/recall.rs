//! Restoring known URLs and pages when a crawl is opened: from the start-up index as far as it reaches, and
//! the rest from the records. It uses all processors, since there may be millions.
//!
//! # Promises
//! - Every URL is passed on once, in order of its number.
//! - The start-up index is used only where it agrees with the records. The last URL and the last page of
//!   every piece are checked. Since numbers are given in a fixed order, pieces with correct ends are correct.

use std::collections::{BTreeSet, HashMap};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use freshet_fetch::page::PageUrl;
use freshet_protocol::ids::{PageNumber, SiteNumber, UrlId};
use freshet_protocol::texts::Texts;
use freshet_protocol::time::Timestamp;
use freshet_store::all_urls::{Standing, UrlEntry};
use freshet_store::coll_urls::PageRecord;
use freshet_store::error::StoreError;
use freshet_store::history::VisitKind;
use freshet_store::reader::Reader;
use freshet_store::startup_index::{Piece, Reach, StartupIndex};

use super::apply::retry_wait;
use super::duplicates::Duplicates;
use super::memory::Memory;
use super::startup_index::{Leaf, Notebook, UrlEntries};
use crate::event::Event;

/// Number of URLs that are read and passed on at once.
const SOME: u32 = 4096;
/// Maximum number of pieces that wait per reading thread.
const PIECES_WAITING: usize = 4;
/// Maximum number of reading threads.
const THREADS_MAX: usize = 8;

/// Facts about pages that are needed to replay their first copies.
#[derive(Debug, Default)]
pub struct Copies {
    paths: Texts,
    /// Site and importance of each page. None if it is no longer kept.
    kept: Vec<Option<(SiteNumber, f32)>>,
    /// Sites whose sitemaps state changes and are trusted, and the time of their last reading, if it was
    /// stored.
    told: HashMap<SiteNumber, Option<Timestamp>>,
}

impl Copies {
    /// Pages with these paths, of which nothing else is known yet.
    pub(super) fn new(paths: Texts) -> Self {
        Self { paths, kept: Vec::new(), told: HashMap::new() }
    }

    /// Records that the sitemaps of a site state changes and are trusted, and the time of their last reading,
    /// if it was stored.
    pub(super) fn believe(&mut self, site: SiteNumber, last_read: Option<Timestamp>) {
        self.told.insert(site, last_read);
    }

    /// Adds a kept page.
    pub(super) fn add(&mut self, page: PageNumber, site: SiteNumber, importance: f32) {
        if self.kept.len() <= page.index() {
            self.kept.resize(page.index() + 1, None);
        }
        self.kept[page.index()] = Some((site, importance));
    }

    /// The site of a page. None if it is no longer kept.
    pub fn site(&self, page: PageNumber) -> Option<SiteNumber> {
        self.kept.get(page.index())?.map(|(site, _)| site)
    }

    /// Whether trusted sitemaps may have stated, before a visit, whether the page had changed, in a reading
    /// that was not stored.
    pub fn was_told(&self, page: PageNumber, visit: Timestamp) -> bool {
        let last_read = self.site(page).and_then(|site| self.told.get(&site));
        last_read.is_some_and(|read| read.is_none_or(|read| visit <= read))
    }

    /// The event of a page that was copied at this time. None if it is no longer kept.
    pub fn copied(&self, page: PageNumber, time: Timestamp) -> Option<Event> {
        let (site, importance) = (*self.kept.get(page.index())?)?;
        let path = self.paths.get(page.index()).unwrap_or_default().to_owned();
        Some(Event::Copied { page, site, path, importance, time })
    }
}

/// The pages at the opening of the stores, until they are replayed.
#[derive(Debug, Default)]
pub(super) struct Past {
    /// Path and query of every page that is kept.
    pub(super) paths: Texts,
    pub(super) pages: Vec<PastPage>,
    /// Pages that were changed or added since they were read.
    pub(super) altered: BTreeSet<PageNumber>,
}

/// A fact about a page to report at a start.
#[derive(Debug)]
pub(super) enum PastPage {
    /// It is kept.
    Kept { page: PageNumber, site: SiteNumber, importance: f32 },
    /// It waits for its first visit.
    Waits { page: PageNumber, site: SiteNumber, url: UrlId },
    /// Another event, which few pages have.
    Told { page: PageNumber, event: Box<Event> },
}

impl PastPage {
    pub(super) fn number(&self) -> PageNumber {
        let (Self::Kept { page, .. } | Self::Waits { page, .. } | Self::Told { page, .. }) = self;
        *page
    }
}

/// What was read from page records.
#[derive(Debug, Default)]
pub(super) struct PastPages {
    pub(super) duplicates: Duplicates,
    pub(super) pages: Vec<PastPage>,
    /// URLs of pages that are about the topic of the crawl.
    pub(super) hot: Vec<UrlId>,
}

impl PastPages {
    fn add(&mut self, page: PageNumber, record: &PageRecord) {
        if record.discarded.is_some() {
            return;
        }
        if let Some(simhash) = record.simhash {
            self.duplicates.insert(page, simhash);
        }
        if Memory::is_hot(record) {
            self.hot.push(record.url);
        }
        let site = record.site;
        // A page whose only copy a repair found damaged waits for its first visit again.
        let has_lost_copy = has_lost_copy(record);
        if !has_lost_copy {
            self.pages.push(PastPage::Kept { page, site, importance: record.importance });
        }
        if record.visits == 0 || has_lost_copy {
            self.pages.push(PastPage::Waits { page, site, url: record.url });
        } else if record.text_digest.is_none() || record.gone {
            let again = record.last_visit.unwrap_or_default().plus_millis(retry_wait(record));
            self.tell(page, Event::Unsettled { page, site, is_first: !record.gone, again });
        }
        if let Some(every) = record.pinned_every {
            let due = record.last_visit.unwrap_or_default().plus_millis(every as i64);
            self.tell(page, Event::Pinned { page, site, every, due });
        }
    }

    fn tell(&mut self, page: PageNumber, event: Event) {
        self.pages.push(PastPage::Told { page, event: Box::new(event) });
    }
}

/// Whether a page was copied and its copy is lost.
fn has_lost_copy(record: &PageRecord) -> bool {
    let was_copied = matches!(
        record.outcome,
        Some(
            VisitKind::New
                | VisitKind::Unchanged
                | VisitKind::NotModified
                | VisitKind::Changed
                | VisitKind::Back
        )
    );
    was_copied && record.place.is_none() && record.text_digest.is_none()
}

/// Reads all pages.
pub(super) fn recall_pages(reader: &Reader) -> Result<PastPages, StoreError> {
    let mut past = PastPages::default();
    for entry in reader.pages() {
        let (page, record) = entry?;
        past.add(page, &record);
    }
    Ok(past)
}

/// Reads these pages again.
pub(super) fn recall_some_pages(
    reader: &Reader,
    pages: &BTreeSet<PageNumber>,
) -> Result<Vec<PastPage>, StoreError> {
    let mut past = PastPages::default();
    for page in pages {
        if let Some(record) = reader.page(*page)? {
            past.add(*page, &record);
        }
    }
    Ok(past.pages)
}

/// What was restored besides the URLs.
pub(super) struct Recalled {
    /// Continues the start-up index where it ends.
    pub(super) notebook: Notebook,
    /// Path and query of every page that is kept.
    pub(super) paths: Texts,
}

/// Passes every known URL to `tell`.
pub(super) fn recall(
    reader: &Reader,
    startup_index: impl FnOnce(&mut dyn FnMut(&Piece<'_>) -> bool) -> StartupIndex + Send,
    mut tell: impl FnMut(UrlId, &UrlEntries),
) -> Result<Recalled, StoreError> {
    let known = Reach::of(&reader.counters()?);
    let mut paths = Texts::default();
    let startup_index = read_startup_index(reader, startup_index, |leaf| {
        leaf.urls.iter().zip(leaf.first_url.0..).for_each(|(url, id)| tell(UrlId(id), url));
        paths.append(&leaf.paths);
    });
    let mut notebook = Notebook::new(startup_index);
    let mut found = vec![None; (known.pages - notebook.reach().pages) as usize];
    let first_page = notebook.reach().pages;
    read_records(reader, notebook.reach().urls, known.urls, |record| {
        tell(record.id, &record.startup_index);
        notebook.add_url(record.id, &record.startup_index);
        notebook.committed();
        if let Some((page, path)) = record.page
            && let Some(place) = page.0.checked_sub(first_page).and_then(|at| found.get_mut(at as usize))
        {
            *place = Some(path);
        }
    })?;
    for (page, path) in (first_page..).map(PageNumber).zip(found) {
        // Pages that are no longer kept have an empty path.
        let is_kept =
            |page| Ok::<_, StoreError>(reader.page(page)?.is_some_and(|page| page.discarded.is_none()));
        let path = match path {
            None if is_kept(page)? => path_of(reader, page)?,
            path => path,
        };
        let path = path.unwrap_or_default();
        paths.push(&path);
        notebook.add_page(page, &path);
        notebook.committed();
    }
    notebook.write();
    Ok(Recalled { notebook, paths })
}

/// Reads the start-up index on a thread of its own, and passes on its valid pieces.
fn read_startup_index(
    reader: &Reader,
    startup_index: impl FnOnce(&mut dyn FnMut(&Piece<'_>) -> bool) -> StartupIndex + Send,
    each: impl FnMut(Leaf),
) -> StartupIndex {
    thread::scope(|scope| {
        let (leaves, told) = sync_channel(PIECES_WAITING);
        let reading = scope.spawn(move || {
            startup_index(&mut |piece| {
                let leaf = Leaf::of(piece).filter(|leaf| is_true(leaf, reader));
                leaf.is_some_and(|leaf| leaves.send(leaf).is_ok())
            })
        });
        told.into_iter().for_each(each);
        reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Whether the last URL and the last page of a piece agree with the records.
fn is_true(leaf: &Leaf, reader: &Reader) -> bool {
    let url_is_true = leaf.last_url().is_none_or(|(id, startup_index)| {
        let record = reader.url(id).ok().flatten();
        record.is_some_and(|record| {
            UrlEntries::of(&record.url, PageUrl::stored(&record.url).as_ref(), record.source)
                == *startup_index
        })
    });
    let page_is_true = leaf.last_page().is_none_or(|(page, path)| {
        path.is_empty() || path_of(reader, page).is_ok_and(|found| found.as_deref() == Some(path))
    });
    url_is_true && page_is_true
}

/// Path and query of a page, if it can be visited.
fn path_of(reader: &Reader, page: PageNumber) -> Result<Option<Box<str>>, StoreError> {
    let Some(record) = reader.page(page)? else { return Ok(None) };
    let url = reader.url(record.url)?.and_then(|url| PageUrl::stored(&url.url));
    Ok(url.map(|url| url.path_and_query().into()))
}

/// A URL read from its record.
struct Read {
    id: UrlId,
    startup_index: UrlEntries,
    /// Its page, with path and query, if it has one.
    page: Option<(PageNumber, Box<str>)>,
}

impl Read {
    fn of(id: UrlId, entry: &UrlEntry<'_>) -> Self {
        let url = PageUrl::stored(entry.url);
        let page = match (entry.standing, &url) {
            (Standing::Kept(page), Some(url)) => Some((page, url.path_and_query().into())),
            _ => None,
        };
        Self { id, startup_index: UrlEntries::of(entry.url, url.as_ref(), entry.source), page }
    }
}

type SomeRead = Result<Vec<Read>, StoreError>;

/// Passes on every URL from `first` up to but not including `end`, in order. The threads read pieces in turn.
fn read_records(reader: &Reader, first: u32, end: u32, mut each: impl FnMut(Read)) -> Result<(), StoreError> {
    let pieces = (end - first).div_ceil(SOME) as usize;
    let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX).min(pieces);
    let starts = |thread: usize| (first..end).step_by(SOME as usize).skip(thread).step_by(threads.max(1));
    thread::scope(|scope| {
        let told: Vec<Receiver<SomeRead>> = (0..threads)
            .map(|thread| {
                let (pieces, told) = sync_channel(PIECES_WAITING);
                scope.spawn(move || {
                    // The receiver may be gone.
                    starts(thread).try_for_each(|start| {
                        pieces.send(read_some(reader, start, end.min(start.saturating_add(SOME)))).ok()
                    })
                });
                told
            })
            .collect();
        for piece in 0..pieces {
            let some = told[piece % threads].recv().unwrap_or_else(|_| Ok(Vec::new()))?;
            some.into_iter().for_each(&mut each);
        }
        Ok(())
    })
}

fn read_some(reader: &Reader, first: u32, end: u32) -> SomeRead {
    let mut some = Vec::with_capacity((end - first) as usize);
    reader.all_urls().glance(UrlId(first), Some(UrlId(end)), |id, entry| some.push(Read::of(id, &entry)))?;
    Ok(some)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use freshet_store::all_urls::{Reason, Source, UrlRecord};
    use freshet_store::changes::Changes;
    use freshet_store::sites::SiteRecord;
    use freshet_store::store::{Settings, Store};

    use super::super::startup_index::FORM;
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

    fn open(place: &Path) -> Store {
        Store::open(place, Settings::default()).expect("the store opens")
    }

    fn url(number: u32) -> String {
        match number % 5 {
            0 => format!("http://a.example/{number}?q=1&page={number}"),
            1 => "lost:".to_owned() + &number.to_string(),
            2 => format!("http://b.example/0123456789abcdef{number:04}/x"),
            _ => format!("http://a.example/dir/{number}"),
        }
    }

    /// Adds this many URLs in one commit. Every third is a page, and every other of these is discarded at
    /// once.
    fn add(store: &mut Store, count: u32) {
        let mut changes = Changes::default();
        if store.counters().urls == 0 {
            let site = store.site_number("http://a.example").expect("a number").number();
            changes.sites.push((
                site,
                SiteRecord { site: "http://a.example".into(), first_seen: NOW, ..SiteRecord::default() },
            ));
        }
        for number in (store.counters().urls as u32..).take(count as usize) {
            let text = url(number);
            let id = store.url_number(&text).expect("a number").number();
            let mut standing = Standing::Waiting;
            if number % 3 == 0 {
                let page = store.page_number().expect("a number");
                let discarded = (number % 2 == 0).then_some(NOW);
                standing = discarded.map_or(Standing::Kept(page), |_| Standing::Discarded(Reason::Gone));
                let record = PageRecord::admitted(id, SiteNumber(0), NOW);
                changes.pages.push((page, PageRecord { discarded, ..record }));
            }
            let record = UrlRecord {
                url: text,
                site: SiteNumber(0),
                discovered: NOW,
                found_on: None,
                depth: 0,
                anchor: String::new(),
                source: if number % 7 == 0 { Source::Seed } else { Source::Link },
                listed_modified: None,
                standing,
                detail: String::new(),
            };
            changes.urls.push((id, record));
        }
        store.commit(changes).expect("it is committed");
    }

    /// Checks what a start finds: the URLs, and how far the start-up index reached.
    #[track_caller]
    fn check(store: &Store, startup_index_reaches: u32) {
        let mut before = Reach::default();
        drop(store.startup_index(FORM, |piece| {
            let is_believed = Leaf::of(piece).is_some_and(|leaf| is_true(&leaf, &store.reader()));
            before = if is_believed { piece.to } else { before };
            is_believed
        }));
        assert_eq!(before.urls, startup_index_reaches);
        let mut urls = Vec::new();
        let Recalled { notebook, paths } = recall(
            &store.reader(),
            |each| store.startup_index(FORM, each),
            |id, url| urls.push((id, url.clone())),
        )
        .expect("it is read");
        let known = Reach::of(store.counters());
        assert_eq!(urls.len(), known.urls as usize);
        for (number, (id, startup_index)) in urls.into_iter().enumerate() {
            let (text, is_seed) = (url(number as u32), number % 7 == 0);
            let source = if is_seed { Source::Seed } else { Source::Link };
            assert_eq!(id, UrlId(number as u32));
            assert_eq!(startup_index, UrlEntries::of(&text, PageUrl::stored(&text).as_ref(), source));
        }
        assert_eq!(paths.len(), known.pages as usize);
        for page in (0..known.pages).filter(|page| page % 2 == 1) {
            let text = url(3 * page);
            let expected =
                PageUrl::stored(&text).map_or("", |url| &text[text.len() - url.path_and_query().len()..]);
            assert_eq!(paths.get(page as usize), Some(expected), "{text}");
        }
        assert_eq!(notebook.reach(), known);
    }

    #[test]
    fn the_startup_index_says_what_the_records_say_and_the_rest_is_read() {
        let place = tempfile::tempdir().expect("a directory");
        let mut store = open(place.path());
        check(&store, 0);
        add(&mut store, 2 * SOME + 17);
        check(&store, 0);
        check(&store, 2 * SOME + 17);
        // What is committed without an entry in the start-up index is found all the same.
        add(&mut store, SOME);
        check(&store, 2 * SOME + 17);
        check(&store, 3 * SOME + 17);
        drop(store);
        check(&open(place.path()), 3 * SOME + 17);
    }

    #[test]
    fn a_startup_index_that_is_damaged_or_untrue_is_not_believed() {
        let place = tempfile::tempdir().expect("a directory");
        let mut store = open(place.path());
        add(&mut store, 1000);
        check(&store, 0);
        let path = place.path().join("startup-index");
        let mut bytes = fs::read(&path).expect("it is there");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&path, &bytes).expect("written");
        check(&store, 0);
        check(&store, 1000);
        // A URL that the store has under another number.
        fs::remove_file(&path).expect("removed");
        let mut notebook = Notebook::new(store.startup_index(FORM, |_| true));
        for number in 0..10 {
            let text = url(number + 1);
            let startup_index = UrlEntries::of(&text, PageUrl::stored(&text).as_ref(), Source::Link);
            notebook.add_url(UrlId(number), &startup_index);
        }
        notebook.write();
        check(&store, 0);
        // A page that has another path.
        fs::remove_file(&path).expect("removed");
        let mut notebook = Notebook::new(store.startup_index(FORM, |_| true));
        ["", "/not/its/path"]
            .iter()
            .zip(0..)
            .for_each(|(text, page)| notebook.add_page(PageNumber(page), text));
        notebook.write();
        let mut believed = 0;
        drop(store.startup_index(FORM, |piece| {
            believed += u32::from(Leaf::of(piece).is_some_and(|leaf| is_true(&leaf, &store.reader())));
            false
        }));
        assert_eq!(believed, 0);
        check(&store, 0);
    }
}
