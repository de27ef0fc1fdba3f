//! Policies and ceilings by name.
//!
//! A policy is named as the crawler names it. The ceilings know the truth, so they exist only here: `oracle` and `oracle:fresh`,
//! `rate-oracle:changes` (also `rate-oracle`) and `rate-oracle:fresh`. An oracle that is driven in short cycles, to set beside
//! a steady policy, is `oracle:steady` or `oracle:fresh:steady`.

use std::fmt;
use std::str::FromStr;

use super::interim::{Form, PolicyName, Setting};
use anyhow::{Result, anyhow, ensure};
use freshet_crawl::policy::Policy;
use freshet_theory::units::Days;

use super::oracle::{Ceiling, Oracle};
use super::rate_oracle::RateOracle;
use super::run::steps_of;
use super::stage::Stage;

/// Who takes part in a contest.
#[derive(Clone, Debug, PartialEq)]
pub enum Contestant {
    /// A policy of the crawler.
    Policy(PolicyName),
    /// Knows every page's mean rate.
    RateOracle(Ceiling),
    /// Sees which pages differ.
    Oracle(Ceiling, Form),
}

impl Contestant {
    /// Every representative policy and all ceilings of cycle policies.
    pub fn all() -> Vec<Self> {
        let policies = PolicyName::all().into_iter().map(Self::Policy);
        let ceilings = [Ceiling::Changes, Ceiling::Fresh];
        let rate_oracles = ceilings.map(Self::RateOracle);
        let oracles = ceilings.map(|ceiling| Self::Oracle(ceiling, Form::Cycle));
        policies.chain(rate_oracles).chain(oracles).collect()
    }

    /// Reads names with commas between them, or `all`. Each may occur once.
    pub fn parse_list(names: &str) -> Result<Vec<Self>> {
        if names.trim() == "all" {
            return Ok(Self::all());
        }
        let mut contestants: Vec<Self> = Vec::new();
        for name in names.split(',').map(str::trim) {
            let contestant: Self = name.parse()?;
            ensure!(!contestants.contains(&contestant), "the policy `{name}` is named twice");
            contestants.push(contestant);
        }
        Ok(contestants)
    }

    /// How it is driven.
    pub fn form(&self) -> Form {
        match self {
            Self::Policy(name) => name.form(),
            Self::RateOracle(_) => Form::Cycle,
            Self::Oracle(_, form) => *form,
        }
    }

    /// Whether a seed makes a difference.
    pub fn has_chance(&self) -> bool {
        !matches!(self, Self::Oracle(..))
    }

    /// Makes it anew, with no page known. A steady policy is told of the short cycles that it is driven in.
    pub fn build<'a>(&self, stage: &'a Stage<'a>, seed: u64) -> Box<dyn Policy + 'a> {
        let steps = steps_of(self.form()) as f64;
        match self {
            Self::Policy(name) => name.build(&Setting {
                cycle: Days::new(stage.setting().cycle_days / steps),
                budget_share: stage.setting().budget / steps,
                seed,
            }),
            Self::RateOracle(ceiling) => Box::new(RateOracle::new(stage, *ceiling, seed)),
            Self::Oracle(ceiling, _) => Box::new(Oracle::new(stage, *ceiling)),
        }
    }
}

/// The names of the ceilings.
const CEILINGS: [(&str, Contestant); 6] = [
    ("rate-oracle:changes", Contestant::RateOracle(Ceiling::Changes)),
    ("rate-oracle:fresh", Contestant::RateOracle(Ceiling::Fresh)),
    ("oracle", Contestant::Oracle(Ceiling::Changes, Form::Cycle)),
    ("oracle:fresh", Contestant::Oracle(Ceiling::Fresh, Form::Cycle)),
    ("oracle:steady", Contestant::Oracle(Ceiling::Changes, Form::Steady)),
    ("oracle:fresh:steady", Contestant::Oracle(Ceiling::Fresh, Form::Steady)),
];

impl FromStr for Contestant {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> Result<Self> {
        let full = if name == "rate-oracle" { "rate-oracle:changes" } else { name };
        if let Some((_, ceiling)) = CEILINGS.iter().find(|(ceiling, _)| *ceiling == full) {
            return Ok(ceiling.clone());
        }
        name.parse::<PolicyName>().map(Self::Policy).map_err(|error| {
            let ceilings = CEILINGS.map(|(ceiling, _)| ceiling).join(", ");
            anyhow!("{error}; the lab also knows the ceilings {ceilings}")
        })
    }
}

impl fmt::Display for Contestant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Policy(name) = self {
            return name.fmt(formatter);
        }
        let (name, _) =
            CEILINGS.iter().find(|(_, ceiling)| ceiling == self).expect("every ceiling has a name");
        formatter.pad(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_they_were_written() {
        for contestant in Contestant::all() {
            let name = contestant.to_string();
            assert_eq!(name.parse::<Contestant>().expect("a name"), contestant, "{name}");
        }
        assert_eq!("rate-oracle".parse::<Contestant>().expect("a name").to_string(), "rate-oracle:changes");
    }

    #[test]
    fn an_unknown_name_is_named_with_the_choices() {
        let error = Contestant::parse_list("oracle,magic").expect_err("no policy").to_string();
        assert!(error.contains("magic") && error.contains("rate-oracle:fresh"), "{error}");
        let error = Contestant::parse_list("oracle,oracle").expect_err("twice").to_string();
        assert!(error.contains("named twice"), "{error}");
        assert!(Contestant::parse_list("").is_err());
    }
}
