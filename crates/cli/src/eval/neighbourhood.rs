//! The neighbourhood of a changed sample, as functions of `freshet eval`.

use std::collections::BTreeMap;

use freshet_theory::neighbourhood::directory::{Convention, UrlParts, distance};
use freshet_theory::neighbourhood::granularity::Granularity;
use freshet_theory::neighbourhood::link::LinkGraph;
use freshet_theory::neighbourhood::probability;
use serde_json::{Value, json};

use super::Function;
use super::answer::{Answer, number};
use super::arguments::Arguments;

/// The functions of this family.
pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "link_distance",
        arguments: "nodes [id], edges [[from, to]], seed",
        evaluate: link_distance,
    },
    Function {
        name: "link_download",
        arguments: "nodes [id], edges [[from, to]], seed, d",
        evaluate: link_download,
    },
    Function {
        name: "directory_distance",
        arguments: "seed, url, convention?=text|formula",
        evaluate: directory_distance,
    },
    Function {
        name: "download_probability",
        arguments: "strategy=status|ha|wha|pra, changed?, history? [bool], pagerank? 0..10, printed?=false",
        evaluate: download_probability,
    },
];

fn link_distance(arguments: &Arguments<'_>) -> Answer {
    let nodes: Vec<String> = arguments.get("nodes")?;
    let links = Links::read(arguments, &nodes)?;
    let word = |distance: Option<i64>| distance.map_or_else(|| Value::from("inf"), Value::from);
    let distances = links.graph.distances(links.seed).into_iter().map(word);
    Ok(links.names.into_iter().map(str::to_owned).zip(distances).collect())
}

fn link_download(arguments: &Arguments<'_>) -> Answer {
    let nodes: Vec<String> = arguments.get("nodes")?;
    let links = Links::read(arguments, &nodes)?;
    let d: f64 = arguments.get("d")?;
    if d.fract() != 0.0 {
        return Err(format!("argument `d`: {d} is no whole number"));
    }
    // The conversion saturates at the largest `i64`, which no distance reaches.
    let pages = links.graph.neighbours(links.seed, Granularity(d as i64));
    Ok(json!(pages.into_iter().map(|page| links.names[page]).collect::<Vec<_>>()))
}

/// The links between named pages. Pages are numbered in the order of their names.
struct Links<'a> {
    /// Each name once, in code point order.
    names: Vec<&'a str>,
    graph: LinkGraph,
    seed: usize,
}

impl<'a> Links<'a> {
    fn read(arguments: &Arguments<'_>, nodes: &'a [String]) -> Result<Self, String> {
        let mut names: Vec<&str> = nodes.iter().map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        let numbers: BTreeMap<&str, usize> = names.iter().copied().zip(0..).collect();
        let number = |argument: &str, name: &str| {
            let number = numbers.get(name).copied();
            number.ok_or_else(|| format!("argument `{argument}`: {name:?} is not among the nodes"))
        };
        let edges: Vec<(String, String)> = arguments.get("edges")?;
        let links: Vec<(usize, usize)> = edges
            .iter()
            .map(|(from, to)| Ok((number("edges", from)?, number("edges", to)?)))
            .collect::<Result<_, String>>()?;
        let seed = number("seed", &arguments.get::<String>("seed")?)?;
        Ok(Self { graph: LinkGraph::new(names.len(), &links), names, seed })
    }
}

fn directory_distance(arguments: &Arguments<'_>) -> Answer {
    const CONVENTIONS: [(&str, Convention); 2] =
        [("text", Convention::UpperPositive), ("formula", Convention::LowerPositive)];
    let (seed, url): (String, String) = (arguments.get("seed")?, arguments.get("url")?);
    let convention = arguments.choice("convention", &CONVENTIONS, Some("text"))?;
    Ok(json!(distance(url_parts("seed", &seed)?, url_parts("url", &url)?, convention)))
}

fn url_parts<'a>(argument: &str, url: &'a str) -> Result<UrlParts<'a>, String> {
    UrlParts::of(url).ok_or_else(|| format!("argument `{argument}`: {url:?} has no `://`"))
}

fn download_probability(arguments: &Arguments<'_>) -> Answer {
    const STRATEGIES: [(&str, DownloadStrategy); 4] = [
        ("status", DownloadStrategy::Status),
        ("ha", DownloadStrategy::History),
        ("wha", DownloadStrategy::WeightedHistory),
        ("pra", DownloadStrategy::PageRank),
    ];
    let strategy = arguments.choice("strategy", &STRATEGIES, None)?;
    let printed = arguments.get_or("printed", false)?;
    Ok(number(match strategy {
        DownloadStrategy::Status => probability::status(arguments.get("changed")?),
        DownloadStrategy::History => probability::history(&history(arguments)?),
        DownloadStrategy::WeightedHistory if printed => {
            probability::weighted_history_as_printed(&history(arguments)?)
        }
        DownloadStrategy::WeightedHistory => probability::weighted_history(&history(arguments)?),
        DownloadStrategy::PageRank => probability::pagerank(pagerank(arguments)?),
    }))
}

#[derive(Clone, Copy)]
enum DownloadStrategy {
    Status,
    History,
    WeightedHistory,
    PageRank,
}

/// Reads `history`, which must not be empty: without a cycle the rate is not defined, and no page is sampled
/// before its first cycle.
fn history(arguments: &Arguments<'_>) -> Result<Vec<bool>, String> {
    let history: Vec<bool> = arguments.get("history")?;
    if history.is_empty() { Err("argument `history`: no cycles".to_owned()) } else { Ok(history) }
}

/// Reads `pagerank`.
fn pagerank(arguments: &Arguments<'_>) -> Result<f64, String> {
    let pagerank: f64 = arguments.get("pagerank")?;
    if (0.0..=10.0).contains(&pagerank) {
        Ok(pagerank)
    } else {
        Err(format!("argument `pagerank`: {pagerank} is not from 0 to 10"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::calls::{call, check, check_error};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn links_join_known_pages() {
        let args = |edge: &str, seed: &str| {
            json!({
                "nodes": ["a", "b"], "edges": [["a", edge]], "seed": seed, "d": 1
            })
        };
        for name in ["link_distance", "link_download"] {
            check_error(name, args("c", "a"), "`edges`");
            check_error(name, args("b", "c"), "`seed`");
            check_error(name, json!({"nodes": ["a"], "edges": [["a"]], "seed": "a", "d": 1}), "`edges`");
        }
        check("link_distance", args("b", "b"), json!({"a": -1, "b": 0}));
        check("link_distance", json!({"nodes": ["a", "a"], "edges": [], "seed": "a"}), json!({"a": 0}));
    }

    #[test]
    fn downloads_are_sorted_by_code_point() {
        let nodes = ["z", "Z", "é", "\u{10000}", "\u{ffff}", "p10", "p2"];
        let edges: Vec<_> = nodes.iter().map(|node| ["z", node]).collect();
        let args = |d: f64| json!({"nodes": nodes, "edges": edges, "seed": "z", "d": d});
        let all = json!(["Z", "p10", "p2", "z", "é", "\u{ffff}", "\u{10000}"]);
        check("link_download", args(1e300), all);
        check("link_download", args(-1e300), json!(["z"]));
        check_error("link_download", args(0.5), "`d`");
    }

    #[test]
    fn a_url_needs_a_scheme() {
        check_error("directory_distance", json!({"seed": "http://a", "url": "/b"}), "`url`");
        check_error("directory_distance", json!({"seed": "a", "url": "http://b"}), "`seed`");
        let args = json!({"seed": "http://a", "url": "http://b", "convention": "prose"});
        check_error("directory_distance", args, "`convention`");
        check("directory_distance", json!({"seed": "http://h/a/b", "url": "http://h/"}), json!(1));
    }

    #[test]
    fn a_strategy_needs_its_argument() {
        let check_missing = |strategy: &str, word| {
            check_error("download_probability", json!({"strategy": strategy}), word);
        };
        check_missing("status", "`changed`");
        check_missing("ha", "`history`");
        check_missing("wha", "`history`");
        check_missing("pra", "`pagerank`");
        check_missing("best", "`strategy`");
        check_error("download_probability", json!({"strategy": "ha", "history": []}), "`history`");
        for pagerank in [-1, 11] {
            check_error(
                "download_probability",
                json!({"strategy": "pra", "pagerank": pagerank}),
                "`pagerank`",
            );
        }
        check("download_probability", json!({"strategy": "status", "changed": false}), json!(0.0));
    }

    fn strange_value() -> impl Strategy<Value = Value> {
        prop_oneof![
            prop::sample::select(vec![
                json!(null),
                json!(true),
                json!(0),
                json!(-1),
                json!(2.5),
                json!(1e308),
                json!(u64::MAX),
                json!(""),
                json!("a"),
                json!("ha"),
                json!("pra"),
                json!("text"),
                json!("://"),
                json!("h://a//b/"),
                json!([]),
                json!([[]]),
                json!(["a", "b", "a"]),
                json!([["a", "b"], ["b", "b"]]),
                json!([true, false]),
                json!({}),
            ]),
            any::<String>().prop_map(|text| json!(text)),
            any::<f64>().prop_map(|number| json!(number)),
        ]
    }

    proptest! {
        #[test]
        fn no_call_is_too_strange(changes in prop::collection::vec((0usize..10, strange_value()), 0..4)) {
            const NAMES: [&str; 10] = [
                "nodes", "edges", "seed", "d", "url", "convention", "strategy", "changed", "history",
                "pagerank",
            ];
            let mut args = json!({
                "nodes": ["a", "b", "http://c"], "edges": [["a", "b"]], "seed": "http://c", "d": 1,
                "url": "http://d/e", "strategy": "wha", "changed": true, "history": [true], "pagerank": 4,
            });
            for (name, value) in changes {
                args[NAMES[name]] = value;
            }
            for function in FUNCTIONS {
                if let Ok(Value::Number(number)) = call(function.name, args.clone()) {
                    prop_assert!(number.as_f64().is_some_and(f64::is_finite));
                }
            }
        }
    }
}
