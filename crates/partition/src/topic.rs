//! Focused crawling: the importance of a page to a crawl about a topic (**thesis** 2.2 and 2.5.4).
//!
//! > hot: its text is about the topic, or the topic is in its anchor or URL, or it is within two links of a
//! > page whose text is
//!
//! - The *likeness* of a fetched page is the cosine similarity of its words and those of the topic
//!   ([`freshet_theory::rank::similarity`]), of its title or of its text, whichever is greater: one topic
//!   word among the five of a title says more than six among four hundred of a text. A page with a likeness
//!   of [`HOT`] or more is hot.
//! - A URL that was not visited is hot if its anchor or the URL itself has a word of the topic, or if it is
//!   near a hot page. Hot URLs are visited before all others; the nearer and the more words, the sooner.
//! - The importance of a page is its likeness. For a page that was not fetched it is estimated from its words
//!   and its distance.
//!
//! # Promises
//! - The distance is the shortest over the known links, also when a later link shortens it.
//! - The importance of a fetched page depends on its text alone, whatever its links promised.
//!
//! # Departures
//! - In the thesis a page is hot if it has the word once in its title or ten times in its text. A cosine does
//!   nearly the same for pages of the usual length, and does not make every long page hot.
//! - A waiting URL is raised when a hot page links to it; in the figure it keeps its place.
//! - A page that is no longer hot keeps raising the pages it links to until the next start.

use std::collections::{BTreeMap, HashMap, VecDeque};

use freshet_protocol::ids::UrlId;
use freshet_theory::rank::graph::Graph;
use freshet_theory::rank::similarity::{WordWeights, cosine};

/// Minimum likeness of a page about the topic: that of a typical text of 400 words with six of the topic.
pub const HOT: f32 = 0.15;

/// Maximum number of links from a hot page at which a URL counts as hot: "< 3" in Figure 2.13.
pub const DISTANCE_MAX: u8 = 2;

/// Priority of hot URLs over all others: more than any depth subtracts.
pub const HOT_QUEUE: f32 = 100_000.0;

/// Additional priority of each topic word in the anchor or the URL, in levels of depth.
const WORD: f32 = 10.0;

/// Additional priority of each link less from a hot page, in levels of depth.
const LINK_LESS: f32 = 5.0;

/// Factor of importance for each further link from a hot page.
const FURTHER: f64 = 0.5;

/// Maximum contribution of PageRank and place: they break ties between pages of equal likeness.
const PLAIN: f64 = 0.1;

/// The words of the topic, and the URLs near hot pages.
///
/// # Examples
///
/// ```
/// use freshet_partition::topic::{HOT, Topic};
///
/// let topic = Topic::new(&["polar", "bears"]).expect("it has words");
/// assert!(topic.likeness("Polar bears of Svalbard", "") > HOT);
/// assert!(topic.likeness("Cooking with leeks", "Wash them well.") < HOT);
/// assert_eq!(topic.words_in("see the bears", "http://a.example/polar/1"), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Topic {
    words: Vec<String>,
    query: WordWeights,
    /// Number of links from a hot page, if at most [`DISTANCE_MAX`].
    distances: HashMap<UrlId, u8>,
}

/// What is known of the likeness of a URL before the final importance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sign {
    /// Its likeness, if it was fetched.
    pub likeness: Option<f32>,
    /// Whether its anchor or URL has a word of the topic.
    pub has_words: bool,
}

impl Topic {
    /// The topic of these words; none if there are no words.
    pub fn new<W: AsRef<str>>(words: &[W]) -> Option<Self> {
        let query = weights(words.iter().map(AsRef::as_ref));
        let words: Vec<String> = query.keys().cloned().collect();
        (!words.is_empty()).then(|| Self { words, query, distances: HashMap::new() })
    }

    /// The likeness of a page to the topic, from 0 to 1.
    pub fn likeness(&self, title: &str, text: &str) -> f32 {
        let likeness = |text| cosine(&weights([text].into_iter()), &self.query);
        likeness(title).max(likeness(text)) as f32
    }

    /// Number of topic words in the anchor or URL of a link.
    pub fn words_in(&self, anchor: &str, url: &str) -> usize {
        let (anchor, url) = (anchor.to_lowercase(), url.to_lowercase());
        self.words.iter().filter(|word| anchor.contains(*word) || url.contains(*word)).count()
    }

    /// The additional priority of a URL: from its topic words, and from its distance or that of the page it
    /// was found on.
    pub fn warmth(&self, url: UrlId, anchor: &str, address: &str, found_on: Option<UrlId>) -> f32 {
        let words = self.words_in(anchor, address);
        let own = self.distance(url);
        let behind = found_on.and_then(|from| self.distance(from)).map(|distance| distance + 1);
        let distance = own.into_iter().chain(behind).min().filter(|distance| *distance <= DISTANCE_MAX);
        if words == 0 && distance.is_none() {
            return 0.0;
        }
        let links_less = distance.map_or(0, |distance| DISTANCE_MAX + 1 - distance);
        HOT_QUEUE + WORD * words as f32 + LINK_LESS * f32::from(links_less)
    }

    /// Number of links from a hot page; none if more than [`DISTANCE_MAX`].
    pub fn distance(&self, url: UrlId) -> Option<u8> {
        self.distances.get(&url).copied()
    }

    /// Whether this distance would be shorter than the known one.
    pub fn would_come_nearer(&self, url: UrlId, distance: u8) -> bool {
        distance <= DISTANCE_MAX && self.distance(url).is_none_or(|before| distance < before)
    }

    /// Records a distance if it is shorter than the known one. Returns whether it is.
    pub fn come_nearer(&mut self, url: UrlId, distance: u8) -> bool {
        let is_nearer = self.would_come_nearer(url, distance);
        if is_nearer {
            self.distances.insert(url, distance);
        }
        is_nearer
    }
}

/// The importance of every URL by its likeness, measured or estimated. `plain` is the importance of each
/// without a topic, one on average.
pub fn worth(signs: &[Sign], graph: &Graph, plain: &[f64]) -> Vec<f64> {
    let hot: Vec<f32> =
        signs.iter().filter_map(|sign| sign.likeness).filter(|likeness| HOT <= *likeness).collect();
    let usual =
        if hot.is_empty() { f64::from(HOT) } else { f64::from(hot.iter().sum::<f32>()) / hot.len() as f64 };
    let distances = distances(signs, graph);
    let expected = |(sign, distance): (&Sign, &Option<u8>)| match (sign.likeness, sign.has_words, distance) {
        (Some(likeness), ..) => f64::from(likeness) / usual,
        (None, true, _) => 1.0,
        (None, false, Some(distance)) => FURTHER.powi(i32::from(*distance)),
        (None, false, None) => 0.0,
    };
    signs
        .iter()
        .zip(&distances)
        .map(expected)
        .zip(plain)
        .map(|(likeness, plain)| likeness + PLAIN * plain / (1.0 + plain))
        .collect()
}

/// Number of links of each URL from a hot page, if at most [`DISTANCE_MAX`].
fn distances(signs: &[Sign], graph: &Graph) -> Vec<Option<u8>> {
    let mut distances = vec![None; signs.len()];
    let is_hot = |sign: &Sign| sign.likeness.is_some_and(|likeness| HOT <= likeness);
    let mut next: VecDeque<(u32, u8)> =
        (0..).zip(signs).filter(|(_, sign)| is_hot(sign)).map(|(url, _)| (url, 0)).collect();
    while let Some((url, distance)) = next.pop_front() {
        if distances[url as usize].is_some() {
            continue;
        }
        distances[url as usize] = Some(distance);
        if distance < DISTANCE_MAX {
            next.extend(graph.links_from(url).iter().map(|target| (*target, distance + 1)));
        }
    }
    distances
}

/// Counts words: runs of letters and digits, in lower case.
fn weights<'a>(texts: impl Iterator<Item = &'a str>) -> WordWeights {
    let mut weights = BTreeMap::new();
    for text in texts {
        for word in text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
            *weights.entry(word.to_lowercase()).or_insert(0.0) += 1.0;
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic() -> Topic {
        Topic::new(&["Harpsichord", "tuning"]).expect("there are words")
    }

    #[track_caller]
    fn check(title: &str, text: &str, is_hot: bool) {
        assert_eq!(HOT <= topic().likeness(title, text), is_hot, "{}", topic().likeness(title, text));
    }

    #[test]
    fn a_page_is_hot_by_its_title_or_by_its_text() {
        let usual = "the music of the house and of the town is what the people of it hear ".repeat(20);
        check("News", &usual, false);
        check("News", &format!("{usual} a harpsichord"), false);
        check("How to tune a harpsichord", &usual, true);
        check("News", &format!("{usual} {}", "harpsichord tuning, ".repeat(20)), true);
        check("", "", false);
    }

    #[test]
    fn a_topic_needs_words() {
        assert!(Topic::new(&[" ", "-"]).is_none());
        assert!(Topic::new::<&str>(&[]).is_none());
    }

    #[test]
    fn words_and_hot_pages_make_a_link_hot() {
        let mut topic = topic();
        let warmth = |topic: &Topic, url, anchor, found_on: Option<u32>| {
            topic.warmth(UrlId(url), anchor, "http://a.example/x", found_on.map(UrlId))
        };
        assert_eq!(warmth(&topic, 1, "more", None), 0.0);
        let by_words = warmth(&topic, 1, "Harpsichords", None);
        assert!(HOT_QUEUE < by_words);
        assert!(topic.come_nearer(UrlId(7), 0));
        assert!(!topic.come_nearer(UrlId(7), 1), "it is nearer already");
        let one_link = warmth(&topic, 1, "more", Some(7));
        assert!(HOT_QUEUE < one_link);
        assert!(topic.come_nearer(UrlId(2), 2) && !topic.come_nearer(UrlId(3), 3));
        assert!(HOT_QUEUE < warmth(&topic, 2, "more", None) && warmth(&topic, 2, "more", None) < one_link);
        assert_eq!(warmth(&topic, 1, "more", Some(2)), 0.0, "three links from a hot page");
    }

    #[test]
    fn what_a_page_says_counts_more_than_what_was_promised() {
        let read = |likeness| Sign { likeness: Some(likeness), has_words: true };
        let waits = |has_words| Sign { likeness: None, has_words };
        // 0 is hot and links to 2, which links to 3; 4 has words; 1 was fetched and is about something else.
        let signs = [read(0.5), read(0.0), waits(false), waits(false), waits(true), waits(false)];
        let graph = Graph::from_links(6, &[(0, 2), (2, 3), (1, 5)]);
        let worth = worth(&signs, &graph, &[1.0; 6]);
        assert_eq!(
            worth.iter().map(|worth| (worth - PLAIN / 2.0) * 4.0).map(f64::round).collect::<Vec<_>>(),
            [4.0, 0.0, 2.0, 1.0, 4.0, 0.0]
        );
    }
}
