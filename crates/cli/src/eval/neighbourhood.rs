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
    // The conversion ends at the largest whole number, which no distance reaches.
    let pages = links.graph.neighbours(links.seed, Granularity(d as i64));
    Ok(json!(pages.into_iter().map(|page| links.names[page]).collect::<Vec<_>>()))
}

/// The links among named pages, numbered in the order of their names.
struct Links<'a> {
    /// Each name once, by code point.
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
    const STRATEGIES: [(&str, Strategy); 4] = [
        ("status", Strategy::Status),
        ("ha", Strategy::History),
        ("wha", Strategy::WeightedHistory),
        ("pra", Strategy::PageRank),
    ];
    let strategy = arguments.choice("strategy", &STRATEGIES, None)?;
    let printed = arguments.get_or("printed", false)?;
    Ok(number(match strategy {
        Strategy::Status => probability::status(arguments.get("changed")?),
        Strategy::History => probability::history(&history(arguments)?),
        Strategy::WeightedHistory if printed => {
            probability::weighted_history_as_printed(&history(arguments)?)
        }
        Strategy::WeightedHistory => probability::weighted_history(&history(arguments)?),
        Strategy::PageRank => probability::pagerank(pagerank(arguments)?),
    }))
}

#[derive(Clone, Copy)]
enum Strategy {
    Status,
    History,
    WeightedHistory,
    PageRank,
}

/// Reads `history`. Without a cycle the rate is not defined, and no page is sampled before its first cycle.
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
