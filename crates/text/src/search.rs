//! Merges the results of several databases into one list.
//!
//! CORI's merging (Callan, Lu, Croft 1995): a document's score D in its database is combined with the
//! database's score C,
//!
//! > (D + 0.4 D C)/1.4
//!
//! both from 0 to 1. Interfaces report ranks rather than scores, so D falls linearly with the rank.
//!
//! # Promises
//! - Results of one database keep their order. Of two first results, that of the better database comes first.
//! - A page that several databases return is listed once, at its best place, with all its sources.

use crate::interface::Found;

/// A result in the merged list.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The databases that returned it, best first.
    pub databases: Vec<String>,
    /// The result.
    pub found: Found,
    /// Its score.
    pub score: f64,
}

/// The results of one database.
#[derive(Clone, Debug, PartialEq)]
pub struct Returned {
    /// Name of the database.
    pub name: String,
    /// Its score, from 0 to 1.
    pub share: f64,
    /// Its results, best first.
    pub results: Vec<Found>,
}

/// Merges all results into one list, best first, of at most `top` results.
pub fn merge(returned: Vec<Returned>, top: usize) -> Vec<Hit> {
    let longest = returned.iter().map(|returned| returned.results.len()).max().unwrap_or(0).max(1) as f64;
    let mut hits: Vec<Hit> = Vec::new();
    for Returned { name, share, results } in returned {
        for (rank, found) in results.into_iter().enumerate() {
            let own = 1.0 - rank as f64 / longest;
            let score = own * (1.0 + 0.4 * share.clamp(0.0, 1.0)) / 1.4;
            let known = hits.iter_mut().find(|hit| found.url.is_some() && hit.found.url == found.url);
            match known {
                Some(hit) if hit.score < score => {
                    hit.databases.insert(0, name.clone());
                    hit.score = score;
                }
                Some(hit) if !hit.databases.contains(&name) => hit.databases.push(name.clone()),
                Some(_) => {}
                None => hits.push(Hit { databases: vec![name.clone()], found, score }),
            }
        }
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.databases.cmp(&b.databases)));
    hits.truncate(top);
    hits
}

#[cfg(test)]
mod tests {
    use freshet_fetch::page::PageUrl;

    use super::*;

    fn returned(name: &str, share: f64, urls: &[&str]) -> Returned {
        let found = |url: &&str| Found {
            url: PageUrl::stored(&format!("http://{url}.example/")),
            title: (*url).to_owned(),
            text: String::new(),
        };
        Returned { name: name.to_owned(), share, results: urls.iter().map(found).collect() }
    }

    fn titles(hits: &[Hit]) -> Vec<&str> {
        hits.iter().map(|hit| hit.found.title.as_str()).collect()
    }

    #[test]
    fn better_databases_come_first_and_ranks_are_kept() {
        let hits =
            merge(vec![returned("poor", 0.1, &["p1", "p2"]), returned("good", 0.9, &["g1", "g2"])], 10);
        assert_eq!(titles(&hits), ["g1", "p1", "g2", "p2"]);
        assert_eq!(titles(&merge(vec![returned("a", 1.0, &["x", "y"])], 1)), ["x"]);
    }

    #[test]
    fn a_page_of_two_databases_stands_once() {
        let hits =
            merge(vec![returned("poor", 0.1, &["same"]), returned("good", 0.9, &["same", "other"])], 10);
        assert_eq!(titles(&hits), ["same", "other"]);
        assert_eq!(hits[0].databases, ["good", "poor"]);
    }
}
