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
use super::answer::{Answer, number};
use super::arguments::{Arguments, Count, NonNegative};

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
        arguments: "policy=round_robin|proportional|greedy|adaptive|oracle, rho [], pages, budget, sample?=10, \
                    alpha?=0.9, cycles?=5, seed?=0, method?=conservative|wald|wilson",
        evaluate: simulate_policy,
    },
];

/// Pages that `expected_change_ratio` may sample of a site: the sum over the outcomes takes a second beyond it.
const EXACT_SAMPLE_MAX: u64 = 1_000_000;

/// Samples and downloads of single sites that one `simulate_policy` may take over all rounds and cycles, some seconds.
const SIMULATED_VISITS_MAX: u128 = 20_000_000;

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

/// Reads `sampled` and `changed` of a sample that is not empty.
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
    let (confidence, method) = (confidence(arguments, None)?, method(arguments, "wald")?);
    let interval = changed_fraction_interval(sample, confidence, method).cut();
    Ok(json!([interval.low, interval.high]))
}

fn adaptive_step(arguments: &Arguments<'_>) -> Answer {
    let samples = arguments.objects("sites", nonempty_sample)?;
    let Count(top) = arguments.get("top")?;
    let (confidence, method) = (confidence(arguments, None)?, method(arguments, "conservative")?);
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

/// Reads `alpha`.
fn confidence(arguments: &Arguments<'_>, default: Option<f64>) -> Result<Confidence, String> {
    let alpha = match default {
        Some(default) => arguments.get_or("alpha", default)?,
        None => arguments.get("alpha")?,
    };
    if 0.0 < alpha && alpha < 1.0 {
        Ok(Confidence::new(alpha))
    } else {
        Err(format!("argument `alpha`: {alpha} is not strictly between 0 and 1"))
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
    let changed: Vec<Vec<String>> = arguments.get("changed")?;
    let visited: Vec<Vec<String>> = arguments.get("visited")?;
    if changed.len() != visited.len() {
        return Err(format!(
            "argument `visited`: {} cycles for {} in `changed`",
            visited.len(),
            changed.len()
        ));
    }
    let mut numbers = HashMap::new();
    let mut numbered = |pages: Vec<String>| -> Vec<usize> {
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
    let adaptive = Policy::Adaptive(confidence(arguments, Some(0.9))?, method(arguments, "conservative")?);
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

/// Most rounds that a cycle can take: each round of the adaptive policy samples a page at least, and at most all of a site.
fn rounds_max(run: &Run, pages: u64) -> u64 {
    match run.policy {
        Policy::Adaptive(..) => pages.div_ceil(run.sample_size).min(run.budget).max(1),
        _ => 1,
    }
}

/// A number, or `null` when it is not defined.
fn defined(value: Option<f64>) -> Value {
    value.map_or(Value::Null, number)
}
