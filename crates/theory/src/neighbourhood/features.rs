//! Feature vectors of pages: everything that is correlated with how they change.
//!
//! **neighbours**, section 4.3. The vector of a page holds:
//! - its words, reduced: the pages are clustered by their tf·idf vectors, and for each of the ten
//!   largest clusters the vector holds the rank of the page's own cluster as seen from it (0 for
//!   itself, 1 for the nearest, …);
//! - the words of its URL, reduced in the same way to ten more dimensions;
//! - the numbers of its words, incoming links, outgoing links, images, slashes in the URL and bytes;
//! - the top-level domain of its URL.
//!
//! # Promises
//! - The words, however many, make at most twenty dimensions.
//! - Every dimension lies between zero and one, so that no unit of measure outweighs the others.
//!
//! # Departures
//! The text gives no scale for the dimensions and no number of clusters for the words. Counts are taken as
//! ln(1 + count), everything is divided by the largest value of its dimension, each top-level domain is a
//! dimension of its own, and the caller gives the numbers of clusters. Slashes are counted after the scheme.

use std::collections::BTreeMap;

use rand::Rng;

use super::bisection::repeated_bisection;
use super::centroids::CentroidRanks;
use super::directory::UrlParts;
use super::vectors::UnitVectors;
use super::words::{tf_idf, url_words};

/// Number of the largest word clusters whose ranks stand for the words.
const RANKED_CLUSTERS: usize = 10;

/// The data of a page from which its features are computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page<'a> {
    /// Its URL.
    pub url: &'a str,
    /// Its words without markup, repeated as often as they occur.
    pub words: Vec<&'a str>,
    /// Number of links to it.
    pub incoming_links: u64,
    /// Number of links on it.
    pub outgoing_links: u64,
    /// Number of images on it.
    pub images: u64,
    /// Size of its file in bytes.
    pub bytes: u64,
}

/// Number of word clusters that are made before words become features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordClusters {
    /// Number of clusters of the pages by their content.
    pub content: usize,
    /// Number of clusters of the pages by the words of their URLs.
    pub url: usize,
}

/// The feature vector of each page.
///
/// Panics if a number of clusters is zero.
pub fn feature_vectors(pages: &[Page<'_>], clusters: WordClusters, rng: &mut impl Rng) -> UnitVectors {
    let mut columns =
        rank_columns(&tf_idf(pages.iter().map(|page| page.words.iter().copied())), clusters.content, rng);
    columns.extend(rank_columns(&tf_idf(pages.iter().map(|page| url_words(page.url))), clusters.url, rng));
    let counts: [fn(&Page<'_>) -> u64; 6] = [
        |page| page.words.len() as u64,
        |page| page.incoming_links,
        |page| page.outgoing_links,
        |page| page.images,
        |page| depth(page.url),
        |page| page.bytes,
    ];
    columns.extend(counts.map(|count| pages.iter().map(|page| (count(page) as f64).ln_1p()).collect()));
    columns.extend(top_level_domain_columns(pages));
    rows(columns, pages.len())
}

/// For each of the largest clusters of the vectors, the rank of every vector's cluster as seen from it.
fn rank_columns(vectors: &UnitVectors, clusters: usize, rng: &mut impl Rng) -> Vec<Vec<f64>> {
    let clustering = repeated_bisection(vectors, clusters, rng);
    let ranks = CentroidRanks::new(vectors, &clustering);
    let rank = |from, vector| ranks.rank(from, clustering.cluster_of(vector)) as f64;
    let column = |from| (0..vectors.len()).map(|vector| rank(from, vector)).collect();
    (0..ranks.clusters().min(RANKED_CLUSTERS)).map(column).collect()
}

/// One column of zeros and ones for each top-level domain.
fn top_level_domain_columns(pages: &[Page<'_>]) -> Vec<Vec<f64>> {
    let mut columns: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (index, page) in pages.iter().enumerate() {
        let column = columns.entry(top_level_domain(page.url)).or_insert_with(|| vec![0.0; pages.len()]);
        column[index] = 1.0;
    }
    columns.into_values().collect()
}

/// Vectors from columns, each divided by its largest value.
fn rows(columns: Vec<Vec<f64>>, pages: usize) -> UnitVectors {
    let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::with_capacity(columns.len()); pages];
    for (dimension, column) in columns.into_iter().enumerate() {
        let largest = column.iter().copied().fold(0.0, f64::max);
        for (row, value) in rows.iter_mut().zip(column).filter(|(_, value)| *value > 0.0) {
            row.push((dimension as u32, value / largest));
        }
    }
    UnitVectors::new(rows)
}

/// Number of slashes in a URL after its scheme.
fn depth(url: &str) -> u64 {
    UrlParts::of(url).map_or(0, |parts| parts.count() as u64 - 1)
}

/// The last label of the host, without a port. Empty for a numeric address or a URL without a host.
fn top_level_domain(url: &str) -> &str {
    let authority = UrlParts::of(url).and_then(|parts| parts.iter().next()).unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default().split(':').next().unwrap_or_default();
    let label = host.rsplit('.').next().unwrap_or_default();
    if label.chars().all(|character| character.is_ascii_digit()) { "" } else { label }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng as _;

    const CLUSTERS: WordClusters = WordClusters { content: 12, url: 12 };

    fn vectors(pages: &[Page<'_>]) -> UnitVectors {
        feature_vectors(pages, CLUSTERS, &mut ChaCha8Rng::seed_from_u64(5))
    }

    #[test]
    fn words_make_at_most_twenty_dimensions() {
        let words: Vec<String> = (0..600).map(|word| format!("w{word}")).collect();
        let urls: Vec<String> = (0..200).map(|page| format!("http://h.org/{}/p{page}", page % 40)).collect();
        let page = |page: usize| Page {
            url: &urls[page],
            words: words[page % 30 * 20..][..20].iter().map(String::as_str).collect(),
            ..Page::default()
        };
        let vectors = vectors(&(0..200).map(page).collect::<Vec<_>>());
        assert_eq!(vectors.len(), 200);
        assert!(vectors.dimensions() <= 20 + 6 + 1, "{}", vectors.dimensions());
    }

    #[test]
    fn every_dimension_is_scaled_by_its_largest_value() {
        // Columns in order: the words and URLs are equal, so one cluster each; then the counts.
        let page = |bytes, images| Page { url: "http://h.org/p", bytes, images, ..Page::default() };
        let columns: Vec<Vec<f64>> = vectors(&[page(u64::MAX, 0), page(9, 1)])
            .iter_rows()
            .map(|row| row.into_iter().map(|(_, value)| value).collect())
            .collect();
        // For the first page depth, bytes and domain are one; for the second, images, depth and domain.
        assert!(columns[0].iter().all(|value| (value - columns[0][0]).abs() < 1e-15), "{columns:?}");
        assert_eq!((columns[0].len(), columns[1].len()), (3, 4));
        assert!(columns[1][2] < 0.06, "{columns:?}");
    }

    #[test]
    fn the_depth_is_the_number_of_slashes() {
        assert_eq!(depth("http://www.abc.com/dir1/index1.htm"), 2);
        assert_eq!(depth("http://www.abc.com"), 0);
        assert_eq!(depth("no address"), 0);
    }

    #[test]
    fn the_top_level_domain_is_the_last_label_of_the_host() {
        for (url, expected) in [
            ("http://www.abc.com/dir.x/index.htm", "com"),
            ("https://user:p@abc.edu:8080/", "edu"),
            ("http://localhost/", "localhost"),
            ("http://127.0.0.1/a.b", ""),
            ("abc.com", ""),
            ("http://", ""),
        ] {
            assert_eq!(top_level_domain(url), expected, "{url}");
        }
    }

    impl UnitVectors {
        fn iter_rows(&self) -> impl Iterator<Item = Vec<(usize, f64)>> + '_ {
            (0..self.len()).map(|vector| self.entries(vector).collect())
        }
    }
}
