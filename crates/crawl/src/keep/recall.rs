//! What the stores know of URLs and pages, read back when a crawl is opened: on all processors, for there may be millions.
//!
//! # Promises
//! - Every URL is told once, in no order.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use freshet_store::all_urls::{Source, Standing, UrlGlance};
use freshet_store::error::StoreError;
use freshet_store::ids::{PageNumber, SiteNumber, UrlId};
use freshet_store::reader::Reader;
use freshet_store::time::Timestamp;

use super::known::{Known, UrlHash};
use super::news::News;
use crate::page::PageUrl;
use crate::page::traps::Traits;

/// URLs that are handed on at once.
const PIECE: usize = 4096;
/// Pieces that may wait for each thread that reads.
const PIECES_WAITING: usize = 2;
/// Threads that read at most.
const THREADS_MAX: usize = 8;

/// A URL that is known.
pub(super) struct Recalled {
    pub(super) id: UrlId,
    pub(super) hash: UrlHash,
    /// What the defence against traps counts of it; none if it is no URL that could be admitted today.
    pub(super) traits: Option<Traits>,
    /// The URL, if a user began with it.
    pub(super) seed: Option<PageUrl>,
    /// The page that it is, and its path and query.
    pub(super) page: Option<(PageNumber, Box<str>)>,
}

impl Recalled {
    fn of(id: UrlId, glance: &UrlGlance<'_>) -> Self {
        let url = PageUrl::stored(glance.url);
        let page = match (glance.standing, &url) {
            (Standing::Kept(page), Some(url)) => Some((page, url.path_and_query().into())),
            (Standing::Kept(page), None) => Some((page, "".into())),
            _ => None,
        };
        let traits = url.as_ref().map(Traits::of);
        let seed = url.filter(|_| glance.source == Source::Seed);
        Self { id, hash: Known::hash(glance.url), traits, seed, page }
    }
}

/// What is told of pages when they are copied, for the visits of the past.
#[derive(Debug)]
pub struct Copies(Vec<Copied>);

#[derive(Clone, Debug, Default)]
struct Copied {
    path: Box<str>,
    /// None if the page is not kept any more.
    kept: Option<(SiteNumber, f32)>,
}

impl Copies {
    /// Pages with these paths, of which nothing else is known yet.
    pub(super) fn new(paths: Vec<(PageNumber, Box<str>)>) -> Self {
        let pages = paths.iter().map(|(page, _)| page.index() + 1).max().unwrap_or(0);
        let mut copies = vec![Copied::default(); pages];
        for (page, path) in paths {
            copies[page.index()].path = path;
        }
        Self(copies)
    }

    /// A page is kept.
    pub(super) fn add(&mut self, page: PageNumber, site: SiteNumber, importance: f32) {
        if let Some(copied) = self.0.get_mut(page.index()) {
            copied.kept = Some((site, importance));
        }
    }

    /// What is told of a page that was copied at a moment; nothing if it is not kept any more.
    pub fn copied(&self, page: PageNumber, time: Timestamp) -> Option<News> {
        let Copied { path, kept } = self.0.get(page.index())?;
        let (site, importance) = (*kept)?;
        Some(News::Copied { page, site, path: path.to_string(), importance, time })
    }
}

type Piece = Result<Vec<Recalled>, StoreError>;

/// Tells of every URL that is known.
pub(super) fn recall_urls(reader: &Reader, mut tell: impl FnMut(Recalled)) -> Result<(), StoreError> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    let urls = reader.counters()?.urls;
    let limit = |thread: usize| UrlId((urls * thread as u64 / threads as u64) as u32);
    thread::scope(|scope| {
        let (pieces, told) = sync_channel(PIECES_WAITING * threads);
        for thread in 0..threads {
            let pieces = pieces.clone();
            let end = (thread + 1 < threads).then(|| limit(thread + 1));
            scope.spawn(move || read(reader, limit(thread), end, &pieces));
        }
        drop(pieces);
        hear(&told, &mut tell)
    })
}

/// Reads a part of the URLs. Nobody may be listening any more.
fn read(reader: &Reader, first: UrlId, end: Option<UrlId>, pieces: &SyncSender<Piece>) {
    let mut piece = Vec::with_capacity(PIECE);
    let read = reader.all_urls().glance(first, end, |id, glance| {
        piece.push(Recalled::of(id, &glance));
        if piece.len() == PIECE {
            let _ = pieces.send(Ok(std::mem::replace(&mut piece, Vec::with_capacity(PIECE))));
        }
    });
    let _ = pieces.send(read.map(|()| piece));
}

fn hear(told: &Receiver<Piece>, tell: &mut impl FnMut(Recalled)) -> Result<(), StoreError> {
    for piece in told {
        piece?.into_iter().for_each(&mut *tell);
    }
    Ok(())
}
