//! Sampling and its measures, as functions of `freshet eval`.

use std::collections::{BTreeMap, HashMap};

use freshet_theory::sample::adaptive::{Decision, decide_round};
use freshet_theory::sample::interval::{Confidence, Method, changed_fraction_interval};
use freshet_theory::sample::sample_size::{FractionDistribution, rule_of_thumb, stated};
use freshet_theory::sample::simulation::{EqualSites, Policy, Run, simulate};
use freshet_theory::sample::site::{Sample, SampledSite};
use freshet_theory::sample::{change_ratio, fairness, greedy, proportional, two_sites};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use serde_json::{Value, json};

use super::Function;
use super::answer::{Answer, defined, number};
use super::arguments::{Argument, Arguments, Count, Id, NonNegative, number_that};

/// The functions of this family.
pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "allocate_greedy",
        arguments: "sites [{pages, sampled, changed}], budget",
        evaluate: allocate_greedy,
    },
    Function {
        name: "allocate_proportional",
        arguments: "sites [{pages, sampled, changed}], budget",
        evaluate: allocate_proportional,
    },
    Function {
        name: "expected_change_ratio",
        arguments: "pages [2], changed [2], budget, sample, policy=greedy|proportional|round_robin",
        evaluate: expected_change_ratio,
    },
    Function { name: "sample_size", arguments: "n, r, density?, top_mean?, mean?", evaluate: sample_size },
    Function {
        name: "proportion_ci",
        arguments: "changed, sampled, alpha, method?=wald|conservative|wilson",
        evaluate: proportion_ci,
    },
    Function {
        name: "adaptive_step",
        arguments: "sites [{sampled, changed}], top, alpha, method?=conservative|wald|wilson",
        evaluate: adaptive_step,
    },
    Function {
        name: "change_ratio",
        arguments: "changed [bool], weights? [], normalize?=true",
        evaluate: evaluate_change_ratio,
    },
    Function { name: "fairness", arguments: "changed [[id]], visited [[id]]", evaluate: evaluate_fairness },
    Function {
        name: "simulate_policy",
        arguments: "policy=round_robin|proportional|greedy|adaptive|oracle, rho [], pages, budget, \
            sample?=10, alpha?=0.9, cycles?=5, seed?=0, method?=conservative|wald|wilson",
        evaluate: simulate_policy,
    },
];

/// Maximum number of pages that `expected_change_ratio` may sample of a site: more would take over a second
/// to sum.
const EXACT_SAMPLE_MAX: u64 = 1_000_000;

/// Maximum number of samples and downloads of single sites in one `simulate_policy`, over all rounds and
/// cycles: some seconds of work.
const SIMULATED_VISITS_MAX: u128 = 5_000_000;

fn allocate_greedy(arguments: &Arguments<'_>) -> Answer {
    let Count(budget) = arguments.get("budget")?;
    Ok(json!(greedy::allocate(&sampled_sites(arguments)?, budget)))
}

fn allocate_proportional(arguments: &Arguments<'_>) -> Answer {
    let Count(budget) = arguments.get("budget")?;
    let sites = sampled_sites(arguments)?;
    if sites.len() > proportional::SITES_MAX {
        return Err(format!("argument `sites`: more than {} sites", proportional::SITES_MAX));
    }
    Ok(json!(proportional::allocate(&sites, budget)))
}

fn sampled_sites(arguments: &Arguments<'_>) -> Result<Vec<SampledSite>, String> {
    arguments.objects("sites", |site| {
        let (Count(pages), sample) = (site.get("pages")?, sample(site)?);
        if sample.sampled() > pages {
            return Err(format!("`sampled` ({}) is above `pages` ({pages})", sample.sampled()));
        }
        Ok(SampledSite::new(pages, sample))
    })
}

/// Reads `sampled` and `changed`.
fn sample(arguments: &Arguments<'_>) -> Result<Sample, String> {
    let (Count(sampled), Count(changed)) = (arguments.get("sampled")?, arguments.get("changed")?);
    if changed > sampled {
        return Err(format!("`changed` ({changed}) is above `sampled` ({sampled})"));
    }
    Ok(Sample::new(sampled, changed))
}

/// Reads `sampled` and `changed` of a non-empty sample.
fn nonempty_sample(arguments: &Arguments<'_>) -> Result<Sample, String> {
    let sample = sample(arguments)?;
    if sample.sampled() == 0 { Err("`sampled` is not above zero".to_owned()) } else { Ok(sample) }
}

fn expected_change_ratio(arguments: &Arguments<'_>) -> Answer {
    const POLICIES: [(&str, two_sites::Policy); 3] = [
        ("greedy", two_sites::Policy::Greedy),
        ("proportional", two_sites::Policy::Proportional),
        ("round_robin", two_sites::Policy::RoundRobin),
    ];
    let policy = arguments.choice("policy", &POLICIES, None)?;
    let pages: (Count, Count) = arguments.get("pages")?;
    let changed: (Count, Count) = arguments.get("changed")?;
    let (Count(budget), Count(sample)) = (arguments.get("budget")?, arguments.get("sample")?);
    let mut sites = Vec::with_capacity(2);
    for (Count(pages), Count(changed)) in [(pages.0, changed.0), (pages.1, changed.1)] {
        if changed > pages {
            return Err(format!("argument `changed`: {changed} of {pages} pages"));
        }
        if sample > pages {
            return Err(format!("argument `sample`: a site of {pages} pages has no {sample} to sample"));
        }
        sites.push(two_sites::KnownSite::new(pages, changed));
    }
    if 2 * sample > budget {
        return Err(format!("argument `sample`: 2 * {sample} is above the budget {budget}"));
    }
    if sample > EXACT_SAMPLE_MAX {
        return Err(format!("argument `sample`: {sample} is above {EXACT_SAMPLE_MAX}"));
    }
    let ratio = two_sites::expected_change_ratio([sites[0], sites[1]], budget, sample, policy);
    Ok(defined(ratio))
}

fn sample_size(arguments: &Arguments<'_>) -> Answer {
    let (NonNegative(n), NonNegative(r)) = (arguments.get("n")?, arguments.get("r")?);
    let (top_mean, mean) = (arguments.optional::<f64>("top_mean")?, arguments.optional::<f64>("mean")?);
    let Some(NonNegative(density)) = arguments.optional("density")? else {
        return Ok(number(rule_of_thumb(n, r)));
    };
    let top_mean = top_mean.ok_or("argument `top_mean` is missing: `density` needs it")?;
    let mean = mean.ok_or("argument `mean` is missing: `density` needs it")?;
    if top_mean <= mean {
        return Err(format!("argument `top_mean`: {top_mean} is not above `mean` ({mean})"));
    }
    Ok(number(stated(n, r, FractionDistribution::new(density, top_mean, mean))))
}

fn proportion_ci(arguments: &Arguments<'_>) -> Answer {
    let sample = nonempty_sample(arguments)?;
    let (confidence, method) = (arguments.get("alpha")?, method(arguments, "wald")?);
    let interval = changed_fraction_interval(sample, confidence, method).cut();
    Ok(json!([interval.low, interval.high]))
}

fn adaptive_step(arguments: &Arguments<'_>) -> Answer {
    let samples = arguments.objects("sites", nonempty_sample)?;
    let Count(top) = arguments.get("top")?;
    let (confidence, method) = (arguments.get("alpha")?, method(arguments, "conservative")?);
    let sites = samples.len();
    let top = usize::try_from(top).ok().filter(|top| (1..sites).contains(top)).ok_or_else(|| {
        format!("argument `top`: {top} is not from 1 to below the number of sites ({sites})")
    })?;
    let round = decide_round(&samples, top, confidence, method);
    let word = |decision| match decision {
        Decision::Download => "download",
        Decision::Discard => "discard",
        Decision::Sample => "sample",
    };
    let decisions: Vec<_> = round.decisions.into_iter().map(word).collect();
    Ok(json!({"threshold": round.threshold, "decisions": decisions}))
}

impl Argument for Confidence {
    fn read(value: &Value) -> Result<Self, String> {
        let is_confidence = |alpha: f64| 0.0 < alpha && alpha < 1.0;
        number_that(is_confidence, "not strictly between 0 and 1", value).map(Self::new)
    }
}

/// Reads `method`.
fn method(arguments: &Arguments<'_>, default: &str) -> Result<Method, String> {
    const METHODS: [(&str, Method); 3] =
        [("wald", Method::Wald), ("conservative", Method::Conservative), ("wilson", Method::Wilson)];
    arguments.choice("method", &METHODS, Some(default))
}

fn evaluate_change_ratio(arguments: &Arguments<'_>) -> Answer {
    let changed: Vec<bool> = arguments.get("changed")?;
    let normalize = arguments.get_or("normalize", true)?;
    let Some(weights) = arguments.optional::<Vec<NonNegative>>("weights")? else {
        return Ok(defined(change_ratio::change_ratio(&changed)));
    };
    if weights.len() != changed.len() {
        return Err(format!("argument `weights`: {} for {} downloads", weights.len(), changed.len()));
    }
    let weights: Vec<f64> = weights.into_iter().map(|NonNegative(weight)| weight).collect();
    Ok(defined(if normalize {
        change_ratio::weighted_change_ratio(&changed, &weights)
    } else {
        change_ratio::changed_weight_per_download(&changed, &weights)
    }))
}

fn evaluate_fairness(arguments: &Arguments<'_>) -> Answer {
    let changed: Vec<Vec<Id>> = arguments.get("changed")?;
    let visited: Vec<Vec<Id>> = arguments.get("visited")?;
    if changed.len() != visited.len() {
        return Err(format!(
            "argument `visited`: {} cycles for {} in `changed`",
            visited.len(),
            changed.len()
        ));
    }
    let mut numbers = HashMap::new();
    let mut numbered = |pages: Vec<Id>| -> Vec<usize> {
        pages
            .into_iter()
            .map(|page| {
                let next = numbers.len();
                *numbers.entry(page).or_insert(next)
            })
            .collect()
    };
    let cycles: Vec<_> = changed
        .into_iter()
        .zip(visited)
        .map(|(changed, visited)| fairness::Cycle { changed: numbered(changed), visited: numbered(visited) })
        .collect();
    let fairness::Fairness { by_cycle, visits_by_changes } = fairness::judge(&cycles);
    let revisits: BTreeMap<String, f64> =
        visits_by_changes.into_iter().map(|(changes, visits)| (changes.to_string(), visits)).collect();
    Ok(json!({"fairness": by_cycle, "revisits": revisits}))
}

fn simulate_policy(arguments: &Arguments<'_>) -> Answer {
    let run = simulated_run(arguments)?;
    let rho: Vec<f64> = arguments.get("rho")?;
    if let Some(wrong) = rho.iter().find(|fraction| !(0.0..=1.0).contains(*fraction)) {
        return Err(format!("argument `rho`: {wrong} is no probability"));
    }
    if rho.is_empty() {
        return Err("argument `rho`: no sites".to_owned());
    }
    if rho.len() > proportional::SITES_MAX {
        return Err(format!("argument `rho`: more than {} sites", proportional::SITES_MAX));
    }
    let Count(pages) = arguments.get("pages")?;
    let visits = rho.len() as u128 * u128::from(run.cycles) * u128::from(rounds_max(&run, pages));
    if visits > SIMULATED_VISITS_MAX {
        return Err(format!(
            "sites times rounds of samples times `cycles` is {visits}, above {SIMULATED_VISITS_MAX}"
        ));
    }
    let Count(seed) = arguments.get_or("seed", Count(0))?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Ok(defined(simulate(EqualSites::new(&rho, pages), &run, &mut rng)))
}

fn simulated_run(arguments: &Arguments<'_>) -> Result<Run, String> {
    let adaptive = Policy::Adaptive(
        arguments.get_or("alpha", Confidence::new(0.9))?,
        method(arguments, "conservative")?,
    );
    let policies = [
        ("round_robin", Policy::RoundRobin),
        ("proportional", Policy::Proportional),
        ("greedy", Policy::Greedy),
        ("adaptive", adaptive),
        ("oracle", Policy::Oracle),
    ];
    let policy = arguments.choice("policy", &policies, None)?;
    let Count(budget) = arguments.get("budget")?;
    let Count(sample_size) = arguments.get_or("sample", Count(10))?;
    let Count(cycles) = arguments.get_or("cycles", Count(5))?;
    if matches!(policy, Policy::Adaptive(..)) && sample_size == 0 {
        return Err("argument `sample`: the adaptive policy samples at least one page a round".to_owned());
    }
    Ok(Run { policy, budget, sample_size, cycles })
}

/// Maximum number of rounds in a cycle. Each round of the adaptive policy samples at least one page, and at
/// most all of a site.
fn rounds_max(run: &Run, pages: u64) -> u64 {
    match run.policy {
        Policy::Adaptive(..) => pages.div_ceil(run.sample_size).min(run.budget).max(1),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::super::calls::{call, check, check_error, replace};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn impossible_counts_are_refused() {
        let site = |pages, sampled, changed| json!({"pages": pages, "sampled": sampled, "changed": changed});
        for name in ["allocate_greedy", "allocate_proportional"] {
            check(name, json!({"sites": [], "budget": 3}), json!([]));
            check_error(name, json!({"sites": [site(3, 4, 1)], "budget": 1}), "element 0: `sampled` (4)");
            check_error(name, json!({"sites": [site(3, 1, 2)], "budget": 1}), "`changed` (2)");
            check_error(name, json!({"sites": [site(3, 1, 1)], "budget": -1}), "`budget`");
            check_error(name, json!({"sites": 3, "budget": 1}), "`sites`");
        }
    }

    #[test]
    fn a_change_ratio_needs_room_for_the_samples() {
        let args = |pages, changed, budget, sample, policy: &str| {
            json!({
                "pages": [pages, 10], "changed": [changed, 1], "budget": budget, "sample": sample,
                "policy": policy
            })
        };
        const NAME: &str = "expected_change_ratio";
        check_error(NAME, args(10, 5, 9, 5, "greedy"), "`sample`");
        check_error(NAME, args(10, 5, 9, 5, "round_robin"), "`sample`");
        check_error(NAME, args(4, 2, 20, 5, "greedy"), "`sample`");
        check_error(NAME, args(4, 5, 20, 2, "greedy"), "`changed`");
        check_error(NAME, args(4, 3, 20, 2, "best"), "`policy`");
        check(NAME, args(10, 5, 0, 0, "greedy"), Value::Null);
        check(NAME, args(10, 5, 0, 0, "round_robin"), json!(0.3));
    }

    #[test]
    fn the_density_needs_both_means() {
        check("sample_size", json!({"n": 100, "r": 0.25, "top_mean": 0.1, "mean": 0.5}), json!(5.0));
        check("sample_size", json!({"n": 100, "r": 0.25, "density": null}), json!(5.0));
        check_error("sample_size", json!({"n": 100, "r": 0.25, "density": 1, "mean": 0.5}), "`top_mean`");
        check_error("sample_size", json!({"n": 100, "r": 0.25, "density": 1, "top_mean": 0.5}), "`mean`");
        let equal = json!({"n": 100, "r": 0.25, "density": 1, "top_mean": 0.5, "mean": 0.5});
        check_error("sample_size", equal, "`top_mean`");
        check_error("sample_size", json!({"n": -1, "r": 0.25}), "`n`");
    }

    #[test]
    fn an_interval_needs_a_sample_and_a_confidence() {
        for alpha in [0.0, 1.0, -0.5, 1.5] {
            check_error("proportion_ci", json!({"changed": 1, "sampled": 2, "alpha": alpha}), "`alpha`");
        }
        check_error("proportion_ci", json!({"changed": 0, "sampled": 0, "alpha": 0.9}), "`sampled`");
        check_error("proportion_ci", json!({"changed": 3, "sampled": 2, "alpha": 0.9}), "`changed`");
        check("proportion_ci", json!({"changed": 0, "sampled": 2, "alpha": 0.9}), json!([0.0, 0.0]));
    }

    #[test]
    fn a_threshold_needs_a_site_on_each_side() {
        let sites = json!([{"sampled": 4, "changed": 1}, {"sampled": 4, "changed": 2}]);
        for top in [0, 2, 3] {
            check_error("adaptive_step", json!({"sites": sites, "top": top, "alpha": 0.9}), "`top`");
        }
        let unsampled = json!([{"sampled": 4, "changed": 1}, {"sampled": 0, "changed": 0}]);
        check_error("adaptive_step", json!({"sites": unsampled, "top": 1, "alpha": 0.9}), "`sampled`");
    }

    #[test]
    fn what_is_not_defined_is_null() {
        check("change_ratio", json!({"changed": []}), Value::Null);
        check("change_ratio", json!({"changed": [true], "weights": [0]}), Value::Null);
        check("change_ratio", json!({"changed": [true], "weights": [0], "normalize": false}), json!(0.0));
        check_error("change_ratio", json!({"changed": [true], "weights": [1, 2]}), "`weights`");
        let nothing = json!({"fairness": [null, 1.0], "revisits": {"0": 1.0, "1": 1.0}});
        check("fairness", json!({"changed": [[], ["a"]], "visited": [["b"], ["a"]]}), nothing);
        check("fairness", json!({"changed": [], "visited": []}), json!({"fairness": [], "revisits": {}}));
        check_error("fairness", json!({"changed": [[]], "visited": []}), "`visited`");
        let no_budget = json!({"policy": "greedy", "rho": [0.5], "pages": 10, "budget": 0});
        check("simulate_policy", no_budget, Value::Null);
    }

    #[test]
    fn a_simulation_without_end_is_refused() {
        let args = |policy: &str, pages: f64, cycles: f64, sample: u64| {
            json!({"policy": policy, "rho": [0.5, 0.1], "pages": pages, "budget": pages, "cycles": cycles,
                   "sample": sample})
        };
        check_error("simulate_policy", args("greedy", 10.0, 1e15, 5), "`cycles`");
        check_error("simulate_policy", args("adaptive", 1e15, 5.0, 1), "`cycles`");
        check_error("simulate_policy", args("adaptive", 10.0, 5.0, 0), "`sample`");
        assert!(call("simulate_policy", args("greedy", 1e15, 5.0, 5)).is_ok());
        let rho = |rho: Value| json!({"policy": "oracle", "rho": rho, "pages": 1, "budget": 1});
        check_error("simulate_policy", rho(json!([1.5])), "`rho`");
        check_error("simulate_policy", rho(json!([])), "`rho`");
    }

    /// A valid call of each function.
    fn good_calls() -> Vec<(&'static str, Value)> {
        let sites =
            json!([{"pages": 20, "sampled": 5, "changed": 3}, {"pages": 30, "sampled": 5, "changed": 5}]);
        let allocation = json!({"sites": sites, "budget": 12});
        vec![
            ("allocate_greedy", allocation.clone()),
            ("allocate_proportional", allocation),
            (
                "expected_change_ratio",
                json!({
                    "pages": [20, 30], "changed": [5, 9], "budget": 25, "sample": 3, "policy": "proportional"
                }),
            ),
            ("sample_size", json!({"n": 100, "r": 0.2, "density": 1.2, "top_mean": 0.8, "mean": 0.5})),
            ("proportion_ci", json!({"changed": 7, "sampled": 10, "alpha": 0.9, "method": "wilson"})),
            ("adaptive_step", json!({"sites": sites, "top": 1, "alpha": 0.9, "method": "wald"})),
            ("change_ratio", json!({"changed": [true, false], "weights": [1, 2], "normalize": false})),
            ("fairness", json!({"changed": [["a", "b"], ["c"]], "visited": [["a"], []]})),
            (
                "simulate_policy",
                json!({"policy": "adaptive", "rho": [0.2, 0.9], "pages": 30, "budget": 40, "sample": 3,
                       "alpha": 0.9, "cycles": 2, "seed": 1, "method": "wilson"}),
            ),
        ]
    }

    fn strange_value() -> impl Strategy<Value = Value> {
        prop_oneof![
            prop::sample::select(vec![
                json!(null),
                json!(true),
                json!(-1),
                json!(0),
                json!(1),
                json!(2.5),
                json!(40),
                json!(1e-308),
                json!(5e-324),
                json!(-0.0),
                json!(1e9),
                json!(9_007_199_254_740_992u64),
                json!(1e17),
                json!(1e308),
                json!(-1e308),
                json!(u64::MAX),
                json!(""),
                json!("greedy"),
                json!("oracle"),
                json!([]),
                json!([[]]),
                json!({}),
                json!([{}]),
                json!([1e308, 1e308]),
                json!([0, 0]),
            ]),
            any::<f64>().prop_map(|number| json!(number)),
            (0.0..1.0f64).prop_map(|number| json!(number)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn no_call_is_too_strange(
            changes in prop::collection::vec((1usize..16, strange_value()), 0..4),
        ) {
            for (name, mut args) in good_calls() {
                for (place, value) in &changes {
                    replace(&mut args, &mut place.clone(), value);
                }
                if let Ok(value) = call(name, args.clone()) {
                    let text = value.to_string();
                    prop_assert!(!text.contains("-inf"), "{name} {args} is {text}");
                }
            }
        }
    }

    #[test]
    fn the_good_calls_are_good() {
        for (name, args) in good_calls() {
            assert!(call(name, args).is_ok(), "{name}");
        }
        assert_eq!(good_calls().len(), FUNCTIONS.len());
    }
}
