//! RankingModule: decides what belongs in the collection (**thesis** 7.3, the refinement decision).
//!
//! In the background it computes the importance of every known URL, from the links of the pages we hold and
//! from the URL's depth. It admits better URLs, and discards the least important pages when the collection is
//! full. It reads the stores and sends its decisions to the writer; the fetch loop never waits for it.
//!
//! > importance = PageRank (mean 1) × 0.85^depth^½, so that a page without known links to it is judged by its
//! > depth
//!
//! In a crawl about a topic the importance is how much a page is about it ([`freshet_partition::topic`]), and
//! the formula above decides between pages that are alike.
//!
//! # Promises
//! - Mean importance over the kept pages is 1.
//! - A page is discarded only for a URL that is more important by a margin, so that noise does not move pages
//!   in and out.

use freshet_partition::topic::{Sign, Topic, worth};
use freshet_protocol::ids::{PageNumber, UrlId};
use freshet_store::all_urls::Standing;
use freshet_store::error::StoreError;
use freshet_store::reader::Reader;
use freshet_theory::rank::graph::Graph;
use freshet_theory::rank::pagerank::{Damping, Dangling, approximate};

/// Probability that a reader follows a link instead of jumping (**thesis** 2.3).
const DAMPING: f64 = 0.85;
/// Accepted relative error of PageRank.
const RANK_ERROR: f64 = 1e-3;
/// Factor of a page's importance for the first level of depth.
const DEPTH_FACTOR: f64 = 0.85;
/// A URL must be this many times as important as the page it replaces.
const MARGIN: f64 = 1.25;
/// Maximum fraction of the collection that one refinement may replace.
const REPLACED_MAX: f64 = 0.05;

/// The decisions of the module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// The importance of pages; 1 on average.
    pub importance: Vec<(PageNumber, f32)>,
    /// URLs to admit.
    pub admit: Vec<UrlId>,
    /// Pages to discard.
    pub discard: Vec<PageNumber>,
}

impl Ranking {
    /// The same decisions in pieces of at most `size`, to be applied one after the other: pages are discarded
    /// before URLs are admitted.
    pub fn pieces(&self, size: usize) -> impl Iterator<Item = Self> {
        let importance =
            self.importance.chunks(size).map(|some| Self { importance: some.to_vec(), ..Self::default() });
        let discard =
            self.discard.chunks(size).map(|some| Self { discard: some.to_vec(), ..Self::default() });
        let admit = self.admit.chunks(size).map(|some| Self { admit: some.to_vec(), ..Self::default() });
        importance.chain(discard).chain(admit)
    }
}

/// What the ranking needs to know of a URL.
#[derive(Clone, Copy, Debug)]
struct Known {
    depth: u16,
    /// The page, if it is kept.
    page: Option<PageNumber>,
    /// Whether it waits to be admitted.
    waits: bool,
}

/// Ranks all known URLs. At most `pages_max` pages are kept, by topic if there is one.
pub fn rank(reader: &Reader, pages_max: usize, topic: Option<&Topic>) -> Result<Ranking, StoreError> {
    let (urls, url_of_page) = read_urls(reader)?;
    let graph = read_links(reader, urls.len(), &url_of_page)?;
    let mut scores = scores(&urls, &graph);
    if let Some(topic) = topic {
        scores = worth(&signs(reader, topic, urls.len())?, &graph, &scores);
    }
    Ok(refine(&urls, &scores, pages_max))
}

/// How much each URL is about a topic, or seems to be.
fn signs(reader: &Reader, topic: &Topic, urls: usize) -> Result<Vec<Sign>, StoreError> {
    let mut signs = vec![Sign::default(); urls];
    for entry in reader.urls() {
        let (id, record) = entry?;
        if let Some(sign) = signs.get_mut(id.index()) {
            sign.has_words = topic.words_in(&record.anchor, &record.url) > 0;
        }
    }
    for entry in reader.pages() {
        let (_, record) = entry?;
        if let Some(sign) = signs.get_mut(record.url.index()).filter(|_| record.text_digest.is_some()) {
            sign.likeness = record.likeness;
        }
    }
    Ok(signs)
}

fn read_urls(reader: &Reader) -> Result<(Vec<Known>, Vec<Option<UrlId>>), StoreError> {
    let (mut urls, mut url_of_page) = (Vec::new(), Vec::new());
    for entry in reader.urls() {
        let (id, record) = entry?;
        let page = match record.standing {
            Standing::Kept(page) => Some(page),
            _ => None,
        };
        if let Some(page) = page {
            if url_of_page.len() <= page.index() {
                url_of_page.resize(page.index() + 1, None);
            }
            url_of_page[page.index()] = Some(id);
        }
        urls.resize(id.index(), Known { depth: u16::MAX, page: None, waits: false });
        urls.push(Known { depth: record.depth, page, waits: record.standing == Standing::Waiting });
    }
    Ok((urls, url_of_page))
}

/// The links between URLs. They are read in two passes, so that they are never held in a second form besides
/// the rows of the graph.
fn read_links(reader: &Reader, urls: usize, url_of_page: &[Option<UrlId>]) -> Result<Graph, StoreError> {
    let from = |page: PageNumber| url_of_page.get(page.index()).copied().flatten().map(UrlId::index);
    let known = |to: &UrlId| to.index() < urls;
    let mut starts = vec![0; urls + 1];
    for entry in reader.all_links().from(PageNumber(0)) {
        let (page, targets) = entry?;
        if let Some(from) = from(page) {
            starts[from + 1] = targets.iter().copied().filter(known).count();
        }
    }
    for url in 0..urls {
        starts[url + 1] += starts[url];
    }
    let mut rows = vec![0; starts[urls]];
    for entry in reader.all_links().from(PageNumber(0)) {
        let (page, targets) = entry?;
        let Some(from) = from(page) else { continue };
        // A page that was visited since the first pass may have other links now: there is room for as many as
        // it had.
        let row = &mut rows[starts[from]..starts[from + 1]];
        let mut targets = targets.iter().copied().filter(known);
        for link in row {
            *link = targets.next().map_or(from as u32, |to| to.0);
        }
    }
    Ok(Graph::from_rows(starts, rows))
}

/// The importance of every URL: PageRank with mean 1, times the factor of its depth.
fn scores(urls: &[Known], graph: &Graph) -> Vec<f64> {
    if urls.is_empty() {
        return Vec::new();
    }
    let ranks = approximate(graph, Damping::new(DAMPING), Dangling::LinksToAll, RANK_ERROR);
    let mean = ranks.iter().sum::<f64>() / ranks.len() as f64;
    urls.iter()
        .zip(ranks)
        .map(|(url, rank)| rank / mean * DEPTH_FACTOR.powf(f64::from(url.depth).sqrt()))
        .collect()
}

/// Decides which URLs to admit and which pages to discard, from their scores.
fn refine(urls: &[Known], scores: &[f64], pages_max: usize) -> Ranking {
    let by_score = |one: &usize, other: &usize| scores[*one].total_cmp(&scores[*other]);
    let mut kept: Vec<usize> = (0..urls.len()).filter(|url| urls[*url].page.is_some()).collect();
    let mut waiting: Vec<usize> = (0..urls.len()).filter(|url| urls[*url].waits).collect();
    kept.sort_unstable_by(by_score);
    waiting.sort_unstable_by(|one, other| by_score(other, one));
    let mean = kept.iter().map(|url| scores[*url]).sum::<f64>() / kept.len().max(1) as f64;
    let mut ranking = Ranking::default();
    let free = pages_max.saturating_sub(kept.len());
    let replaced_max = (pages_max as f64 * REPLACED_MAX) as usize;
    for (place, url) in waiting.into_iter().enumerate() {
        if place < free {
            ranking.admit.push(UrlId(url as u32));
            continue;
        }
        let Some(worst) = kept.get(place - free).filter(|_| place - free < replaced_max) else { break };
        if scores[url] < MARGIN * scores[*worst] {
            break;
        }
        ranking.admit.push(UrlId(url as u32));
        ranking.discard.extend(urls[*worst].page);
    }
    // A collection over its limit (which was lowered) loses its least important pages.
    let surplus = kept.len().saturating_sub(pages_max);
    ranking.discard.extend(kept.iter().take(surplus).filter_map(|url| urls[*url].page));
    let importance =
        |url: &usize| Some((urls[*url].page?, (scores[*url] / mean.max(f64::MIN_POSITIVE)) as f32));
    ranking.importance = kept.iter().filter_map(importance).collect();
    ranking
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(depth: u16, page: Option<u32>) -> Known {
        Known { depth, page: page.map(PageNumber), waits: page.is_none() }
    }

    #[test]
    fn importance_is_one_on_average_and_a_linked_page_has_more() {
        let urls = [known(0, Some(0)), known(1, Some(1)), known(1, Some(2))];
        let graph = Graph::from_links(3, &[(0, 1), (2, 1), (1, 0)]);
        let ranking = refine(&urls, &scores(&urls, &graph), 10);
        let of = |page| ranking.importance.iter().find(|(number, _)| number.0 == page).unwrap().1;
        assert!((of(0) + of(1) + of(2) - 3.0).abs() < 1e-4);
        assert!(of(1) > of(2));
    }

    #[test]
    fn a_full_collection_gives_up_its_worst_page_only_for_a_much_better_one() {
        let urls: Vec<_> = (0..40).map(|page| known(1, Some(page))).chain([known(1, None)]).collect();
        let mut scores = vec![1.0; 40];
        scores[7] = 0.5;
        scores.push(2.0);
        let ranking = refine(&urls, &scores, 40);
        assert_eq!(
            (ranking.admit.as_slice(), ranking.discard.as_slice()),
            ([UrlId(40)].as_slice(), [PageNumber(7)].as_slice())
        );
        scores[40] = 0.6;
        let ranking = refine(&urls, &scores, 40);
        assert!(ranking.admit.is_empty());
        assert!(ranking.discard.is_empty());
    }

    #[test]
    fn the_pieces_of_a_ranking_are_all_of_it_and_what_leaves_leaves_first() {
        let ranking = Ranking {
            importance: (0..5).map(|page| (PageNumber(page), 1.0)).collect(),
            admit: (0..3).map(UrlId).collect(),
            discard: (0..2).map(PageNumber).collect(),
        };
        let pieces: Vec<Ranking> = ranking.pieces(2).collect();
        let sizes: Vec<_> = pieces
            .iter()
            .map(|piece| [piece.importance.len(), piece.discard.len(), piece.admit.len()])
            .collect();
        assert_eq!(sizes, [[2, 0, 0], [2, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 2], [0, 0, 1]]);
        assert_eq!(pieces.into_iter().flat_map(|piece| piece.admit).collect::<Vec<_>>(), ranking.admit);
    }

    #[test]
    fn a_collection_above_its_limit_shrinks() {
        let urls: Vec<_> = (0..4).map(|page| known(1, Some(page))).collect();
        let ranking = refine(&urls, &[1.0, 3.0, 0.1, 2.0], 3);
        assert_eq!(ranking.discard, [PageNumber(2)]);
    }
}
