//! Parallel crawling, as functions of `freshet eval`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroUsize;

use freshet_theory::parallel::{Mode, Plan, parallel_crawl};
use freshet_theory::rank::Graph;
use serde_json::{Map, Value, json};

use super::Function;
use super::answer::{Answer, defined};
use super::arguments::{Argument, Arguments, Count, EXACT_MAX, number_that};

/// The functions of this family.
pub(super) const FUNCTIONS: &[Function] = &[Function {
    name: "parallel_crawl",
    arguments: "nodes, edges, partition, seeds, mode=firewall|cross_over|exchange, batch?, replicated?",
    evaluate: evaluate_parallel_crawl,
}];

/// Maximum of processes times (nodes + edges) in cross-over mode, where each process may download every page:
/// a second or two of work.
const CROSS_OVER_MAX: usize = 10_000_000;

fn evaluate_parallel_crawl(arguments: &Arguments<'_>) -> Answer {
    let nodes = Nodes::read(arguments.get("nodes")?)?;
    let edges: Vec<(String, String)> = arguments.get("edges")?;
    let link = |(from, to): &(String, String)| Ok((nodes.find("edges", from)?, nodes.find("edges", to)?));
    let links: Vec<(u32, u32)> = edges.iter().map(link).collect::<Result<_, String>>()?;
    let partition: BTreeMap<String, ProcessNumber> = arguments.get("partition")?;
    let seeds = process_seeds(arguments.get("seeds")?)?;
    let mode = mode(arguments)?;
    let replicated = nodes.find_all("replicated", &arguments.get_or("replicated", Vec::new())?)?;

    let part = |node: &String| {
        let part = partition.get(node).copied();
        part.ok_or_else(|| format!("argument `partition`: node {node:?} has no process"))
    };
    let parts: Vec<ProcessNumber> = nodes.names.iter().map(part).collect::<Result<_, _>>()?;
    let numbers: BTreeSet<ProcessNumber> = parts.iter().chain(seeds.keys()).copied().collect();
    if mode == Mode::CrossOver
        && numbers.len().saturating_mul(nodes.names.len() + links.len()) > CROSS_OVER_MAX
    {
        return Err(format!(
            "too much work in mode cross_over: processes times nodes and edges are more than {CROSS_OVER_MAX}"
        ));
    }
    let processes: BTreeMap<ProcessNumber, u32> = numbers.iter().copied().zip(0..).collect();
    let owners: Vec<u32> = parts.iter().map(|part| processes[part]).collect();
    let seeds_of =
        |process| seeds.get(process).map_or(Ok(Vec::new()), |seeds| nodes.find_all("seeds", seeds));
    let seeds: Vec<Vec<u32>> = numbers.iter().map(seeds_of).collect::<Result<_, _>>()?;

    let graph = Graph::from_links(nodes.names.len(), &links);
    let crawl = parallel_crawl(&Plan {
        graph: &graph,
        owners: &owners,
        seeds: &seeds,
        replicated: &replicated,
        mode,
    });
    let names =
        |pages: &Vec<u32>| pages.iter().map(|page| nodes.names[*page as usize].as_str()).collect::<Value>();
    let downloads: Map<String, Value> = numbers
        .iter()
        .zip(&crawl.downloads)
        .map(|(process, pages)| (process.0.to_string(), names(pages)))
        .collect();
    Ok(json!({
        "downloads": downloads,
        "coverage": defined(crawl.coverage(nodes.names.len())),
        "overlap": defined(crawl.overlap()),
        "communication": defined(crawl.communication()),
    }))
}

fn mode(arguments: &Arguments<'_>) -> Result<Mode, String> {
    let batch: Option<Count> = arguments.optional("batch")?;
    let at_least_one =
        |Count(batch)| NonZeroUsize::new(batch as usize).ok_or("argument `batch`: 0 is not above zero");
    let batch = batch.map(at_least_one).transpose()?;
    let modes = [
        ("firewall", Mode::Firewall),
        ("cross_over", Mode::CrossOver),
        ("exchange", Mode::Exchange { batch }),
    ];
    arguments.choice("mode", &modes, None)
}

/// The seeds of each process; a process is written as its number.
fn process_seeds(
    seeds: BTreeMap<String, Vec<String>>,
) -> Result<BTreeMap<ProcessNumber, Vec<String>>, String> {
    let process = |(process, seeds): (String, Vec<String>)| {
        let number = process.parse::<i64>().ok().filter(|number| number.to_string() == process);
        let number =
            number.ok_or_else(|| format!("argument `seeds`: {process:?} is no number of a process"))?;
        Ok((ProcessNumber(number), seeds))
    };
    seeds.into_iter().map(process).collect()
}

/// The number of a process: any whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ProcessNumber(i64);

impl Argument for ProcessNumber {
    fn read(value: &Value) -> Result<Self, String> {
        let is_whole = |number: f64| number.fract() == 0.0 && number.abs() <= EXACT_MAX;
        number_that(is_whole, "no whole number", value).map(|number| Self(number as i64))
    }
}

/// The names of the pages, and the number of each in the graph.
struct Nodes {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Nodes {
    fn read(names: Vec<String>) -> Result<Self, String> {
        let mut numbers = HashMap::new();
        for (number, name) in (0..).zip(&names) {
            if numbers.insert(name.clone(), number).is_some() {
                return Err(format!("argument `nodes`: {name:?} is listed twice"));
            }
        }
        Ok(Self { names, numbers })
    }

    fn find(&self, argument: &str, name: &str) -> Result<u32, String> {
        self.numbers
            .get(name)
            .copied()
            .ok_or_else(|| format!("argument `{argument}`: there is no node {name:?}"))
    }

    fn find_all(&self, argument: &str, names: &[String]) -> Result<Vec<u32>, String> {
        names.iter().map(|name| self.find(argument, name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Evaluates two pages of two processes, a → b, with these arguments added or replaced.
    fn evaluate(changes: &Value) -> Answer {
        let mut args = json!({
            "nodes": ["a", "b"], "edges": [["a", "b"]], "partition": {"a": 10, "b": 9},
            "seeds": {"10": ["a"]},
            "mode": "exchange",
        });
        let args = args.as_object_mut().expect("an object");
        args.extend(changes.as_object().expect("an object").clone());
        evaluate_parallel_crawl(&Arguments::new(args))
    }

    #[track_caller]
    fn check(changes: &Value, expected: Value) {
        assert_eq!(evaluate(changes), Ok(expected), "{changes}");
    }

    #[track_caller]
    fn check_error(changes: &Value, word: &str) {
        let error = evaluate(changes).expect_err("the call is wrong");
        assert!(error.contains(word), "{error}");
    }

    #[test]
    fn a_process_without_seeds_takes_part() {
        let downloads = json!({"9": ["b"], "10": ["a"]});
        check(
            &json!({}),
            json!({"downloads": downloads, "coverage": 1.0, "overlap": 0.0, "communication": 0.5}),
        );
        let downloads = json!({"-1": [], "9": [], "10": ["a"]});
        let firewall = json!({"mode": "firewall", "seeds": {"10": ["a"], "-1": []}});
        check(
            &firewall,
            json!({"downloads": downloads, "coverage": 0.5, "overlap": 0.0, "communication": 0.0}),
        );
    }

    #[test]
    fn what_is_not_defined_is_null() {
        let downloads = json!({"9": [], "10": []});
        check(
            &json!({"seeds": {}}),
            json!({"downloads": downloads, "coverage": 0.0, "overlap": null, "communication": null}),
        );
        check(
            &json!({"nodes": [], "edges": [], "partition": {}, "seeds": {}}),
            json!({"downloads": {}, "coverage": null, "overlap": null, "communication": null}),
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        check_error(&json!({"partition": {"a": 1}}), "`partition`");
        check_error(&json!({"partition": {"a": 1, "b": 1.5}}), "`partition`");
        check_error(&json!({"seeds": {"1": ["c"]}}), "`seeds`");
        check_error(&json!({"seeds": {"one": ["a"]}}), "`seeds`");
        check_error(&json!({"seeds": {"010": ["a"]}}), "`seeds`");
        check_error(&json!({"edges": [["a", "c"]]}), "`edges`");
        check_error(&json!({"replicated": ["c"]}), "`replicated`");
        check_error(&json!({"nodes": ["a", "b", "a"]}), "`nodes`");
        check_error(&json!({"batch": 0}), "`batch`");
        check_error(&json!({"mode": "none"}), "`mode`");
        check_error(&json!({"mode": null}), "`mode`");
    }

    #[test]
    fn cross_over_mode_is_bounded() {
        let nodes: Vec<_> = (0..4_000).map(|node| node.to_string()).collect();
        let partition: BTreeMap<_, _> = nodes.iter().cloned().zip(0..).collect();
        let call =
            json!({"nodes": nodes, "partition": partition, "edges": [], "seeds": {}, "mode": "cross_over"});
        check_error(&call, "too much work");
    }

    proptest! {
        #[test]
        fn whatever_the_arguments_there_is_an_answer(changes in proptest::collection::btree_map(
            prop::sample::select(vec!["nodes", "edges", "partition", "seeds", "mode", "batch", "replicated"]),
            prop::sample::select(vec![
                json!(null), json!(true), json!(-1), json!(1e308), json!(0.5), json!("cross_over"),
                json!("firewall"), json!([]), json!(["a"]), json!(["b", "a"]),
                json!([["a", "a"], ["b", "a"]]), json!([1]), json!({}),
                json!({"a": 1}), json!({"a": -3, "b": 7}), json!({"7": ["a", "b"]}),
                json!({"-9007199254740993": ["a"]}),
            ]),
            0..6,
        )) {
            let _ = evaluate(&json!(changes));
        }
    }
}
