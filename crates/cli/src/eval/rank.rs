//! Importance and ordering, as functions of `freshet eval`.

use std::collections::BTreeMap;

use freshet_theory::rank::Graph;
use freshet_theory::rank::crawl_order::{Ordering, crawl_order};
use freshet_theory::rank::pagerank::{Damping, Dangling, exact};
use freshet_theory::rank::quality::{crawl_and_stop, crawl_and_stop_with_threshold};
use freshet_theory::rank::similarity::{WordWeights, cosine, inner, with_idf};
use serde_json::Value;

use super::Function;
use super::answer::{Answer, defined, number, numbers};
use super::arguments::{Argument, Arguments, Count, NonNegative, number_that};

/// The functions of this family.
pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "pagerank",
        arguments: "n, edges, d, convention?=sum_n|sum_1, dangling?=all|drop",
        evaluate: pagerank,
    },
    Function {
        name: "crawl_order",
        arguments: "n, edges, start, metric=breadth_first|backlink|pagerank, d?=0.9, limit?",
        evaluate: evaluate_crawl_order,
    },
    Function {
        name: "crawl_quality",
        arguments: "importance, visited, k? or threshold?",
        evaluate: crawl_quality,
    },
    Function {
        name: "similarity",
        arguments: "doc, query, collection?, kind?=cosine|inner",
        evaluate: similarity,
    },
];

/// Maximum number of pages in a graph: fits the memory of any machine, and is ten times what a line can list.
const PAGES_MAX: u64 = 1_000_000;

/// Maximum of pages visited times pages reached when a crawl is ordered by PageRank: 2,000 pages in full,
/// which takes a few seconds.
const PAGERANK_CRAWL_MAX: usize = 4_000_000;

fn pagerank(arguments: &Arguments<'_>) -> Answer {
    let graph = graph(arguments)?;
    let damping = arguments.get("d")?;
    let conventions = [("sum_n", 1.0), ("sum_1", graph.pages() as f64)];
    let divisor = arguments.choice("convention", &conventions, Some("sum_n"))?;
    let rules = [("all", Dangling::LinksToAll), ("drop", Dangling::Drop)];
    let dangling = arguments.choice("dangling", &rules, Some("all"))?;
    let ranks = exact(&graph, damping, dangling).ok_or(
        "the iteration did not converge: this many pages cannot be solved so near to d = 1; use a \
         smaller `d`",
    )?;
    Ok(numbers(ranks.into_iter().map(|rank| rank / divisor)))
}

fn evaluate_crawl_order(arguments: &Arguments<'_>) -> Answer {
    let graph = graph(arguments)?;
    let start = page("start", arguments.get("start")?, graph.pages())?;
    let damping = arguments.get_or("d", Damping::THESIS)?;
    let metrics = [
        ("breadth_first", Ordering::BreadthFirst),
        ("backlink", Ordering::Backlink),
        ("pagerank", Ordering::PageRank(damping)),
    ];
    let ordering = arguments.choice("metric", &metrics, None)?;
    let limit: Option<Count> = arguments.optional("limit")?;
    let limit = limit.map_or(usize::MAX, |limit| limit.0 as usize);
    if matches!(ordering, Ordering::PageRank(_)) {
        let reached = crawl_order(&graph, start, Ordering::BreadthFirst, usize::MAX).len();
        if reached.min(limit).saturating_mul(reached) > PAGERANK_CRAWL_MAX {
            return Err(format!(
                "{reached} pages can be reached, too many to order by pagerank: visited times reached is at \
                 most {PAGERANK_CRAWL_MAX}; set a smaller `limit`"
            ));
        }
    }
    Ok(crawl_order(&graph, start, ordering, limit).into_iter().map(Value::from).collect())
}

fn crawl_quality(arguments: &Arguments<'_>) -> Answer {
    let importance: Vec<f64> = arguments.get("importance")?;
    let visited: Vec<Count> = arguments.get("visited")?;
    let visited = visited.into_iter().map(|visited| page("visited", visited, importance.len()));
    let visited: Vec<u32> = visited.collect::<Result<_, _>>()?;
    let visits: Option<Count> = arguments.optional("k")?;
    let threshold: Option<f64> = arguments.optional("threshold")?;
    let quality = match (visits, threshold) {
        (Some(Count(visits)), None) if visits <= importance.len() as u64 => {
            crawl_and_stop(&importance, &visited, visits as usize)
        }
        (Some(Count(visits)), None) => {
            return Err(format!("argument `k`: there are {} pages, fewer than {visits}", importance.len()));
        }
        (None, Some(threshold)) => crawl_and_stop_with_threshold(&importance, &visited, threshold),
        (None, None) => return Err("argument `k` or `threshold` is missing".to_owned()),
        (Some(_), Some(_)) => return Err("arguments `k` and `threshold` exclude each other".to_owned()),
    };
    Ok(defined(quality))
}

/// A measure of the similarity of two vectors.
type Similarity = fn(&WordWeights, &WordWeights) -> f64;

fn similarity(arguments: &Arguments<'_>) -> Answer {
    let (mut document, mut query) = (counts(arguments.get("doc")?), counts(arguments.get("query")?));
    let kinds: [(&str, Similarity); 2] = [("cosine", cosine), ("inner", inner)];
    let kind = arguments.choice("kind", &kinds, Some("cosine"))?;
    if let Some(collection) = arguments.optional("collection")? {
        let collection = counts(collection);
        (document, query) = (with_idf(&document, &collection), with_idf(&query, &collection));
    }
    if document.values().chain(query.values()).any(|weight| weight.is_infinite()) {
        return Err(
            "argument `collection`: a count is so small that a weight is beyond the range of numbers"
                .to_owned(),
        );
    }
    Ok(number(kind(&document, &query)))
}

fn counts(counts: BTreeMap<String, NonNegative>) -> WordWeights {
    counts.into_iter().map(|(word, count)| (word, count.0)).collect()
}

/// The graph of `n` and `edges`.
fn graph(arguments: &Arguments<'_>) -> Result<Graph, String> {
    let Count(pages) = arguments.get("n")?;
    if pages > PAGES_MAX {
        return Err(format!("argument `n`: {pages} pages are more than {PAGES_MAX}"));
    }
    let pages = pages as usize;
    let edges: Vec<(Count, Count)> = arguments.get("edges")?;
    let link = |(source, target)| Ok((page("edges", source, pages)?, page("edges", target, pages)?));
    let links: Vec<(u32, u32)> = edges.into_iter().map(link).collect::<Result<_, String>>()?;
    Ok(Graph::from_links(pages, &links))
}

fn page(argument: &str, Count(page): Count, pages: usize) -> Result<u32, String> {
    if page < pages as u64 {
        Ok(page as u32)
    } else {
        Err(format!(
            "argument `{argument}`: there is no page {page}; pages are numbered from 0 and there are {pages}"
        ))
    }
}

impl Argument for Damping {
    fn read(value: &Value) -> Result<Self, String> {
        number_that(|d| (0.0..1.0).contains(&d), "not at least 0 and below 1", value).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::super::calls::{check, check_error};
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn pagerank_answers_at_its_borders() {
        check("pagerank", json!({"n": 0, "edges": [], "d": 0.5}), json!([]));
        check("pagerank", json!({"n": 0, "edges": [], "d": 0.5, "convention": "sum_1"}), json!([]));
        check("pagerank", json!({"n": 1, "edges": [], "d": 0.25, "dangling": "drop"}), json!([0.75]));
        check("pagerank", json!({"n": 2, "edges": [[0, 1], [1, 0]], "d": 0}), json!([1.0, 1.0]));
        check(
            "pagerank",
            json!({"n": 2, "edges": [[0, 1]], "d": 0, "convention": "sum_1"}),
            json!([0.5, 0.5]),
        );
        check_error("pagerank", json!({"n": 1, "edges": [], "d": 1}), "`d`");
        check_error("pagerank", json!({"n": 1, "edges": [], "d": -1e-300}), "`d`");
        check_error("pagerank", json!({"n": 1, "edges": [[0, 1]], "d": 0.5}), "`edges`");
        check_error("pagerank", json!({"n": 1e15, "edges": [], "d": 0.5}), "`n`");
        check_error("pagerank", json!({"n": 1, "edges": [], "d": 0.5, "dangling": "none"}), "`dangling`");
    }

    #[test]
    fn crawl_order_answers_at_its_borders() {
        let edges = [[0, 0], [0, 2], [0, 2]];
        let call = |start: u32, metric: &str, limit: Value| {
            let mut call = json!({"n": 3, "edges": edges, "start": start, "metric": metric});
            call["limit"] = limit;
            call
        };
        check("crawl_order", call(0, "pagerank", json!(null)), json!([0, 2]));
        check("crawl_order", call(1, "backlink", json!(5)), json!([1]));
        check("crawl_order", call(0, "breadth_first", json!(0)), json!([]));
        check_error("crawl_order", call(3, "backlink", json!(null)), "`start`");
        check_error("crawl_order", call(0, "random", json!(null)), "`metric`");
        check_error("crawl_order", json!({"n": 0, "edges": [], "start": 0, "metric": "backlink"}), "`start`");
    }

    #[test]
    fn a_crawl_by_pagerank_is_bounded() {
        let edges: Vec<_> = (1..3_000).map(|page| [0, page]).collect();
        let call = |limit: Value| {
            json!({
                "n": 3_000, "edges": edges, "start": 0, "metric": "pagerank", "limit": limit
            })
        };
        check_error("crawl_order", call(json!(null)), "`limit`");
        check("crawl_order", call(json!(3)), json!([0, 1, 2]));
    }

    #[test]
    fn crawl_quality_answers_at_its_borders() {
        let call = |k: Value, threshold: Value| {
            let mut call = json!({"importance": [1, 2], "visited": [1], "k": k});
            call["threshold"] = threshold;
            call
        };
        check("crawl_quality", call(json!(1), json!(null)), json!(1.0));
        check("crawl_quality", call(json!(2), json!(null)), json!(0.5));
        check("crawl_quality", call(json!(0), json!(null)), json!(null));
        check("crawl_quality", call(json!(null), json!(-1e308)), json!(0.5));
        check("crawl_quality", call(json!(null), json!(3)), json!(null));
        check("crawl_quality", json!({"importance": [], "visited": [], "threshold": 0}), json!(null));
        check_error("crawl_quality", call(json!(3), json!(null)), "`k`");
        check_error("crawl_quality", call(json!(null), json!(null)), "`threshold`");
        check_error("crawl_quality", call(json!(1), json!(1)), "`threshold`");
        check_error("crawl_quality", json!({"importance": [1], "visited": [1], "k": 1}), "`visited`");
    }

    #[test]
    fn similarity_answers_at_its_borders() {
        check("similarity", json!({"doc": {}, "query": {"a": 1}}), json!(0.0));
        check("similarity", json!({"doc": {}, "query": {}, "kind": "inner"}), json!(0.0));
        check("similarity", json!({"doc": {"a": 2}, "query": {"a": 3}, "collection": {"a": 0}}), json!(0.0));
        check(
            "similarity",
            json!({"doc": {"a": 1e308}, "query": {"a": 1e308}, "kind": "inner"}),
            json!("inf"),
        );
        check("similarity", json!({"doc": {"a": 1e308}, "query": {"a": 1e-308}}), json!(1.0));
        check_error(
            "similarity",
            json!({"doc": {"a": 1e308}, "query": {"a": 0}, "collection": {"a": 1e-308}}),
            "weight",
        );
        check_error("similarity", json!({"doc": {"a": -1}, "query": {}}), "`doc`");
    }

    /// Numbers and words that are valid somewhere, and values that are valid nowhere.
    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            (0..6_u32).prop_map(Value::from),
            prop_oneof![Just(json!(null)), Just(json!(true)), Just(json!("a")), Just(json!("pagerank"))],
            prop_oneof![
                Just(json!(-1)),
                Just(json!(0.9999999)),
                Just(json!(1e308)),
                Just(json!(5e-324)),
                Just(json!(1e6))
            ],
        ];
        leaf.prop_recursive(3, 12, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                (0..5_u32, 0..5_u32).prop_map(|(from, to)| json!([from, to])),
                proptest::collection::btree_map("[a-c]", inner, 0..3).prop_map(|map| json!(map)),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_the_arguments_there_is_an_answer(
            function in 0..FUNCTIONS.len(),
            has_graph: bool,
            values in proptest::collection::btree_map(
                prop::sample::select(vec![
                    "n", "edges", "d", "convention", "dangling", "start", "metric", "limit", "importance",
                    "visited", "k", "threshold", "doc", "query", "collection", "kind",
                ]),
                any_value(),
                0..8,
            ),
        ) {
            let graph = json!({"n": 5, "edges": [[0, 1], [1, 4], [4, 4]], "start": 0});
            let mut args = graph.as_object().filter(|_| has_graph).cloned().unwrap_or_default();
            args.extend(values.into_iter().map(|(name, value)| (name.to_owned(), value)));
            let _ = (FUNCTIONS[function].evaluate)(&Arguments::new(&args));
        }
    }
}
