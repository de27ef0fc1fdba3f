//! What a page is worth to a crawl about a topic (**thesis** 2.2 and 2.5.4).
//!
//! > hot: its text is about the topic, or the topic is in its anchor or URL, or it is within two links of a page whose text is
//!
//! - The *likeness* of a page that was read is the cosine of its words and those of the topic ([`freshet_theory::rank::similarity`]), of its title or of its
//!   text, whichever is greater: one word of the topic among the five of a title says more than six among four hundred of a
//!   text. From [`HOT`] on, a page is hot.
//! - A URL that was not visited is hot if its anchor or the URL itself has a word of the topic, or if it is near a hot page. Hot URLs
//!   are visited before all others; the nearer and the more words, the sooner.
//! - The importance of a page is its likeness; of one that was not read, what those like it turned out to be.
//!
//! # Promises
//! - The distance is the shortest over the links that are known, also when a later link shortens it.
//! - A page that was read is worth what it says, whatever its links promised.
//!
//! # Departures
//! - The thesis takes a page for hot that has the word once in its title or ten times in its text. A cosine does nearly the same for pages
//!   of the usual length, and does not take every long page for hot.
//! - A URL that waits already is raised when a hot page links to it; in the figure it stays where it is.
//! - A page that is hot no longer goes on warming what it links to until the next start.

use std::collections::{BTreeMap, HashMap, VecDeque};

use freshet_protocol::ids::UrlId;
use freshet_theory::rank::graph::Graph;
use freshet_theory::rank::similarity::{WordWeights, cosine};

/// Likeness from which on a page is about the topic: that of a text of 400 words, as texts are, with six of the topic.
pub const HOT: f32 = 0.15;

/// Links from a hot page within which a URL counts as hot: "< 3" in Figure 2.13.
pub const DISTANCE_MAX: u8 = 2;

/// What hot URLs have before all others: more than any depth takes away.
pub const HOT_QUEUE: f32 = 100_000.0;

/// What each word of the topic in the anchor or the URL is worth beside that, in levels of depth.
const WORD: f32 = 10.0;

/// What each link less from a hot page is worth, in levels of depth.
const LINK_LESS: f32 = 5.0;

/// What a URL that is a link further from a hot page is worth beside the one before.
const FURTHER: f64 = 0.5;

/// What PageRank and place count beside likeness, at most: they decide between pages that are alike.
const PLAIN: f64 = 0.1;

/// Words that pages should be about, and which URLs are near a page that is.
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
    /// Links from a hot page, where they are few.
    distances: HashMap<UrlId, u8>,
}

/// What is known of a URL before all is said: how like the topic it was, or what promises it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sign {
    /// Its likeness, if it was read.
    pub likeness: Option<f32>,
    /// Whether its anchor or URL has a word of the topic.
    pub has_words: bool,
}

impl Topic {
    /// The topic of these words; none if there are none.
    pub fn new<W: AsRef<str>>(words: &[W]) -> Option<Self> {
        let query = weights(words.iter().map(AsRef::as_ref));
        let words: Vec<String> = query.keys().cloned().collect();
        (!words.is_empty()).then(|| Self { words, query, distances: HashMap::new() })
    }

    /// How much a page is about the topic, from 0 to 1.
    pub fn likeness(&self, title: &str, text: &str) -> f32 {
        let likeness = |text| cosine(&weights([text].into_iter()), &self.query);
        likeness(title).max(likeness(text)) as f32
    }

    /// How many words of the topic a link has in its anchor or its URL.
    pub fn words_in(&self, anchor: &str, url: &str) -> usize {
        let (anchor, url) = (anchor.to_lowercase(), url.to_lowercase());
        self.words.iter().filter(|word| anchor.contains(*word) || url.contains(*word)).count()
    }

    /// By how much sooner a URL is visited: by its words, and by its distance from a hot page or that of the page it was found on.
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

    /// Links from a hot page; none if they are many.
    pub fn distance(&self, url: UrlId) -> Option<u8> {
        self.distances.get(&url).copied()
    }

    /// Whether a URL at this distance would be nearer to a hot page than it is.
    pub fn would_come_nearer(&self, url: UrlId, distance: u8) -> bool {
        distance <= DISTANCE_MAX && self.distance(url).is_none_or(|before| distance < before)
    }

    /// A URL is so many links from a hot page, if that is nearer than it was. Whether it is.
    pub fn come_nearer(&mut self, url: UrlId, distance: u8) -> bool {
        let is_nearer = self.would_come_nearer(url, distance);
        if is_nearer {
            self.distances.insert(url, distance);
        }
        is_nearer
    }
}

/// What every URL is worth by its likeness, or by what promises it; `plain` is what each is worth without a topic, one on average.
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

/// Links of each URL from a hot page, where they are few.
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

/// How often each word occurs: runs of letters and digits, in lower case.
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
        // 0 is hot and links to 2, which links to 3; 4 has words; 1 was read and is about something else.
        let signs = [read(0.5), read(0.0), waits(false), waits(false), waits(true), waits(false)];
        let graph = Graph::from_links(6, &[(0, 2), (2, 3), (1, 5)]);
        let worth = worth(&signs, &graph, &[1.0; 6]);
        assert_eq!(
            worth.iter().map(|worth| (worth - PLAIN / 2.0) * 4.0).map(f64::round).collect::<Vec<_>>(),
            [4.0, 0.0, 2.0, 1.0, 4.0, 0.0]
        );
    }
}
