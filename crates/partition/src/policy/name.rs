//! Policy names: parsing and printing them, and building a policy from its name.
//!
//! A name consists of parts separated by colons. Parts that are left out have a default, the one listed first
//! here:
//!
//! - `round-robin`, `random`: all pages in turn; pages at random
//! - `frequency:ESTIMATOR:ALLOCATION`: `improved`, `naive`, `irregular`, `gamma`; `optimal`, `age`,
//!   `harmonic`, `uniform`, `proportional`, `rank`
//! - `greedy`, `proportional`: a sample of every site first
//! - `adaptive:INTERVAL`: samples until a site is decided; `wald`, `conservative`, `wilson`
//! - `subset:POLICY`: some sites in each cycle, when downloads are few
//! - `link:D:SEED`, `directory:D:SEED`, `cluster:D:SEED`: granularity, by default 3, 1 and 0; `status`, `ha`,
//!   `wha`, `pra`
//! - `mixture:POLICY:POLICY:SHARE`: the second policy's share of the downloads, by default 0.3
//! - `nutch`, `nutch:sync`, `stormcrawler`: schedules of other crawlers; `sync` follows the time of the last
//!   change
//! - `uniform:ORDER`: `fixed`, `random`, `purely-random`
//! - `proportional-rate:ORDER:ESTIMATOR`: in proportion to the rate of change
//! - `optimal:OBJECTIVE:ORDER:ESTIMATOR`: `freshness`, `age`, `harmonic`
//! - `freshet:OBJECTIVE:FORM`: the default policy: `mix`, `changes`, `fresh`, `age`; `cycle`, `steady`, or by
//!   default cycle by cycle at first and then steadily
//!
//! # Promises
//! - Parsing a printed name gives the same name.
//! - The error for an unknown name states the wrong part and the possible choices for it.

use std::fmt;
use std::str::FromStr;

use freshet_theory::neighbourhood::granularity::Granularity;
use freshet_theory::sample::interval::Method;
use freshet_theory::units::{Days, VisitsPerDay};

use super::adaptive::Adaptive;
use super::allocation::Allocation;
use super::considerate::Considerate;
use super::estimates::Estimator;
use super::frequency::{Frequency, Standing};
use super::freshet::{Freshet, Objective, Settings};
use super::intervals::Intervals;
use super::mixture::Mixture;
use super::neighbourhood::{DownloadProbability, Kinship, Neighbourhood};
use super::nutch::Nutch;
use super::random::Random;
use super::round_robin::RoundRobin;
use super::sampling::{Sampling, Spread};
use super::selective::Selective;
use super::steady::{Steady, SteadySettings, VisitOrder};
use super::stormcrawler::StormCrawler;
use super::subset::Subset;
use super::visit::Policy;

/// A parsed policy name.
///
/// # Examples
///
/// ```
/// use freshet_partition::policy::PolicyName;
///
/// // Parts that are left out have a default.
/// let name: PolicyName = "mixture:greedy:round-robin".parse()?;
/// assert_eq!(name.to_string(), "mixture:greedy:round-robin:0.3");
///
/// // A name that is wrong is answered by what could stand in its place.
/// let error = "frequency:imprved".parse::<PolicyName>().expect_err("it is misspelt").to_string();
/// assert!(error.contains("imprved") && error.contains("improved"), "{error}");
/// # Ok::<(), freshet_partition::policy::PolicyNameError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum PolicyName {
    /// A policy of the papers or of another crawler that spends the downloads of a cycle.
    Cycle(CyclePolicy),
    /// A policy of the papers that visits steadily.
    Steady(SteadyPolicy),
    /// The default policy.
    Freshet {
        /// What the copy is kept for.
        objective: Objective,
        /// How it is driven.
        form: Form,
    },
}

/// A policy that spends the downloads of a cycle, and that can be part of another one.
#[derive(Clone, Debug, PartialEq)]
pub enum CyclePolicy {
    /// All pages in turn.
    RoundRobin,
    /// Pages at random.
    Random,
    /// By the estimated rate of every page.
    Frequency {
        /// How the rate is estimated.
        estimator: Estimator,
        /// How pages are ranked.
        standing: Standing,
    },
    /// Samples, then in proportion to the changed ones.
    Proportional,
    /// Samples, then the sites with the most changed ones.
    Greedy,
    /// Samples in rounds until a site is decided.
    Adaptive {
        /// The confidence interval.
        method: Method,
    },
    /// Some sites in each cycle, when downloads are few.
    Subset(Box<CyclePolicy>),
    /// Samples, and neighbours of some of them.
    Neighbourhood {
        /// What makes pages neighbours.
        kinship: Kinship,
        /// How far neighbours are downloaded, and in which direction.
        granularity: i64,
        /// Which samples have their neighbours downloaded, and how likely.
        download_probability: DownloadProbability,
    },
    /// Two policies that share the downloads.
    Mixture {
        /// The policy that chooses first in a cycle.
        first: Box<CyclePolicy>,
        /// The policy that chooses after it.
        second: Box<CyclePolicy>,
        /// The second policy's share of the downloads, from 0 to 1.
        second_share: f64,
    },
    /// The adaptive schedule of Apache Nutch.
    Nutch {
        /// Whether it follows the time of the last change.
        is_synchronised: bool,
    },
    /// The adaptive schedule of Apache StormCrawler.
    StormCrawler,
    /// The default policy, as a part of another one.
    Freshet(Objective),
}

/// A policy that visits every page at a frequency of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyPolicy {
    /// How often each page is visited, given its rate of change.
    pub allocation: Allocation,
    /// When a page is visited, given how often.
    pub order: VisitOrder,
    /// How the rate is estimated.
    pub estimator: Estimator,
}

/// The parameters from which a policy is built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Length of a cycle; above zero.
    pub cycle: Days,
    /// Downloads per page and cycle; above zero.
    pub budget_share: f64,
    /// Seed of all random draws.
    pub seed: u64,
}

/// How a policy is driven.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// Cycle by cycle, each with the downloads of a cycle.
    Cycle,
    /// With many short cycles, so that a visit happens near its date.
    Steady,
    /// Cycle by cycle at first, then steadily. While all copies have the same age, later visits find more.
    Settling,
}

impl Form {
    /// Number of cycles before the settling form becomes steady.
    pub const SETTLING_CYCLES: u32 = 3;
}

/// Why a string is not a policy name.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PolicyNameError {
    /// A part that is not among the choices.
    #[error("unknown policy {name}: {part} is none of {choices}")]
    UnknownPart {
        /// The whole name.
        name: String,
        /// The wrong part.
        part: String,
        /// The possible choices.
        choices: String,
    },
    /// The name ends too early.
    #[error("unfinished policy {name}: after it must come one of {choices}")]
    Unfinished {
        /// The whole name.
        name: String,
        /// What could follow.
        choices: String,
    },
    /// Too many nested policies.
    #[error("policy {name} has more than {PARTS_MAX} parts")]
    TooLong {
        /// The whole name.
        name: String,
    },
}

/// Maximum number of parts of a name: enough for mixtures of mixtures.
const PARTS_MAX: usize = 32;
/// Default share of the second policy of a mixture: that of the paper.
const SECOND_SHARE: f64 = 0.3;

/// Default interval of the adaptive policy.
const DEFAULT_METHOD: Method = Method::Wald;

/// The names that `all` stands for: a representative of every kind of policy.
const REPRESENTATIVES: [&str; 33] = [
    "round-robin",
    "random",
    "frequency:naive:optimal",
    "frequency:improved:optimal",
    "frequency:improved:age",
    "frequency:improved:proportional",
    "frequency:improved:rank",
    "frequency:irregular:optimal",
    "frequency:gamma:optimal",
    "frequency:gamma:rank",
    "proportional",
    "greedy",
    "adaptive",
    "subset:greedy",
    "link:3:status",
    "directory:0:status",
    "directory:1:status",
    "directory:1:ha",
    "directory:1:wha",
    "directory:1:pra",
    "cluster:0:status",
    "mixture:greedy:round-robin:0.3",
    "nutch",
    "nutch:sync",
    "stormcrawler",
    "uniform:fixed",
    "uniform:random",
    "uniform:purely-random",
    "proportional-rate:fixed",
    "optimal:freshness:fixed",
    "optimal:age:fixed",
    "optimal:harmonic:fixed",
    "optimal:freshness:fixed:gamma",
];

const ESTIMATORS: [(&str, Estimator); 4] = [
    ("naive", Estimator::Naive),
    ("improved", Estimator::Improved),
    ("irregular", Estimator::Irregular),
    ("gamma", Estimator::Gamma),
];
const STANDINGS: [(&str, Standing); 6] = [
    ("uniform", Standing::Overdue(Allocation::Uniform)),
    ("proportional", Standing::Overdue(Allocation::Proportional)),
    ("optimal", Standing::Overdue(Allocation::Freshness)),
    ("age", Standing::Overdue(Allocation::Age)),
    ("harmonic", Standing::Overdue(Allocation::Harmonic)),
    ("rank", Standing::Changed),
];
const METHODS: [(&str, Method); 3] =
    [("wald", Method::Wald), ("conservative", Method::Conservative), ("wilson", Method::Wilson)];
const EAGERNESS: [(&str, DownloadProbability); 4] = [
    ("status", DownloadProbability::Status),
    ("ha", DownloadProbability::History),
    ("wha", DownloadProbability::WeightedHistory),
    ("pra", DownloadProbability::PageRank),
];
const ORDERS: [(&str, VisitOrder); 3] = [
    ("fixed", VisitOrder::Fixed),
    ("random", VisitOrder::Random),
    ("purely-random", VisitOrder::PurelyRandom),
];
const STEADY_OBJECTIVES: [(&str, Allocation); 3] =
    [("freshness", Allocation::Freshness), ("age", Allocation::Age), ("harmonic", Allocation::Harmonic)];
const OBJECTIVES: [(&str, Objective); 4] = [
    ("changes", Objective::Changes),
    ("fresh", Objective::Fresh),
    ("mix", Objective::Mix),
    ("age", Objective::Age),
];

const FORMS: [(&str, Form); 2] = [("cycle", Form::Cycle), ("steady", Form::Steady)];

/// The first part of a name.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CycleHead {
    RoundRobin,
    Random,
    Frequency,
    Proportional,
    Greedy,
    Adaptive,
    Subset,
    Neighbourhood(Kinship),
    Mixture,
    Nutch,
    StormCrawler,
    Freshet,
}

const CYCLE_HEADS: [(&str, CycleHead); 14] = [
    ("round-robin", CycleHead::RoundRobin),
    ("random", CycleHead::Random),
    ("frequency", CycleHead::Frequency),
    ("proportional", CycleHead::Proportional),
    ("greedy", CycleHead::Greedy),
    ("adaptive", CycleHead::Adaptive),
    ("subset", CycleHead::Subset),
    ("link", CycleHead::Neighbourhood(Kinship::Link)),
    ("directory", CycleHead::Neighbourhood(Kinship::Directory)),
    ("cluster", CycleHead::Neighbourhood(Kinship::Cluster)),
    ("mixture", CycleHead::Mixture),
    ("nutch", CycleHead::Nutch),
    ("stormcrawler", CycleHead::StormCrawler),
    ("freshet", CycleHead::Freshet),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum OtherHead {
    Uniform,
    ProportionalRate,
    Optimal,
}

const OTHER_HEADS: [(&str, OtherHead); 3] = [
    ("uniform", OtherHead::Uniform),
    ("proportional-rate", OtherHead::ProportionalRate),
    ("optimal", OtherHead::Optimal),
];

impl PolicyName {
    /// Representatives of every kind of policy.
    pub fn all() -> Vec<Self> {
        let named = |name: &&str| name.parse().expect("the representatives have names");
        let of_freshet = OBJECTIVES
            .iter()
            .map(|(_, objective)| Self::Freshet { objective: *objective, form: Form::Settling })
            .chain(
                [Form::Cycle, Form::Steady]
                    .map(|form| Self::Freshet { objective: Objective::default(), form }),
            );
        REPRESENTATIVES.iter().map(named).chain(of_freshet).collect()
    }

    /// The same policy for a crawl, whose copies have all ages from the first day: the settling form becomes
    /// `form` at once.
    pub fn settled(self, form: Form) -> Self {
        match self {
            Self::Freshet { objective, form: Form::Settling } => Self::Freshet { objective, form },
            other => other,
        }
    }

    /// How the policy is driven.
    pub fn form(&self) -> Form {
        match self {
            Self::Freshet { form, .. } => *form,
            Self::Cycle(_) => Form::Cycle,
            Self::Steady(_) => Form::Steady,
        }
    }

    /// Builds the policy, without pages. Panics unless the cycle and the budget share are finite and above
    /// zero.
    pub fn build(&self, setting: &Setting) -> Box<dyn Policy> {
        assert!(setting.cycle.get().is_finite());
        assert!(Days::ZERO < setting.cycle);
        assert!(setting.budget_share.is_finite());
        assert!(0.0 < setting.budget_share);
        match self {
            Self::Cycle(policy) => Box::new(Considerate::new(policy.build(setting))),
            Self::Steady(policy) => Box::new(Considerate::new(Box::new(policy.build(setting)))),
            Self::Freshet { objective, form } => Box::new(freshet(*objective, *form, setting)),
        }
    }
}

impl CyclePolicy {
    fn build(&self, setting: &Setting) -> Box<dyn Selective> {
        let Setting { cycle, seed, .. } = *setting;
        // Policies within a policy use other random draws.
        let part = |policy: &Self, number| {
            policy.build(&Setting { seed: seed.wrapping_mul(31).wrapping_add(number), ..*setting })
        };
        match self {
            Self::RoundRobin => Box::new(RoundRobin::new(seed)),
            Self::Random => Box::new(Random::new(seed)),
            Self::Frequency { estimator, standing } => {
                Box::new(Frequency::new(*estimator, *standing, cycle, seed))
            }
            Self::Proportional => Box::new(Sampling::new(Spread::Proportional, seed)),
            Self::Greedy => Box::new(Sampling::new(Spread::Greedy, seed)),
            Self::Adaptive { method } => Box::new(Adaptive::new(*method, seed)),
            Self::Subset(inner) => Box::new(Subset::new(part(inner, 1), seed)),
            Self::Neighbourhood { kinship, granularity, download_probability } => {
                Box::new(Neighbourhood::new(*kinship, Granularity(*granularity), *download_probability, seed))
            }
            Self::Mixture { first, second, second_share } => {
                Box::new(Mixture::new(part(first, 1), part(second, 2), *second_share))
            }
            Self::Nutch { is_synchronised } => {
                Box::new(Intervals::new(Nutch { is_synchronised: *is_synchronised }, seed))
            }
            Self::StormCrawler => Box::new(Intervals::new(StormCrawler, seed)),
            Self::Freshet(objective) => Box::new(freshet(*objective, Form::Cycle, setting)),
        }
    }
}

fn freshet(objective: Objective, form: Form, setting: &Setting) -> Freshet {
    let Setting { cycle, budget_share, seed } = *setting;
    let oldest_share = Settings::OLDEST_SHARE;
    Freshet::new(Settings { objective, form, cycle, budget_share, oldest_share, seed })
}

impl SteadyPolicy {
    fn build(&self, setting: &Setting) -> Steady {
        let Self { allocation, order, estimator } = *self;
        let visits_per_page = VisitsPerDay::new(setting.budget_share / setting.cycle.get());
        let settings = SteadySettings { allocation, order, estimator, visits_per_page, cycle: setting.cycle };
        Steady::new(settings, setting.seed)
    }
}

impl FromStr for PolicyName {
    type Err = PolicyNameError;

    fn from_str(name: &str) -> Result<Self, PolicyNameError> {
        let mut parts = Parts::new(name)?;
        let policy = parts.policy().ok_or_else(|| parts.error())?;
        if parts.next.is_some() { Err(parts.error()) } else { Ok(policy) }
    }
}

/// Reads the parts of a name from left to right. A part that is missing is `None`, and its possible values
/// are noted for the error.
struct Parts<'a> {
    name: &'a str,
    rest: std::str::Split<'a, char>,
    next: Option<&'a str>,
    /// Possible values of the next part.
    choices: Vec<&'static str>,
}

impl<'a> Parts<'a> {
    fn new(name: &'a str) -> Result<Self, PolicyNameError> {
        let mut rest = name.split(':');
        if rest.clone().nth(PARTS_MAX).is_some() {
            return Err(PolicyNameError::TooLong { name: name.to_string() });
        }
        Ok(Self { name, next: rest.next(), rest, choices: Vec::new() })
    }

    fn policy(&mut self) -> Option<PolicyName> {
        let Some(head) = self.choice(&OTHER_HEADS) else {
            return Some(match self.cycle_policy()? {
                CyclePolicy::Freshet(objective) => {
                    let form = self.choice(&FORMS).unwrap_or(Form::Settling);
                    PolicyName::Freshet { objective, form }
                }
                policy => PolicyName::Cycle(policy),
            });
        };
        Some(match head {
            OtherHead::Uniform => {
                let order = self.choice(&ORDERS).unwrap_or_default();
                let estimator = Estimator::default();
                PolicyName::Steady(SteadyPolicy { allocation: Allocation::Uniform, order, estimator })
            }
            OtherHead::ProportionalRate => PolicyName::Steady(self.steady(Allocation::Proportional)),
            OtherHead::Optimal => {
                let objective = self.choice(&STEADY_OBJECTIVES).unwrap_or_default();
                PolicyName::Steady(self.steady(objective))
            }
        })
    }

    fn steady(&mut self, allocation: Allocation) -> SteadyPolicy {
        let order = self.choice(&ORDERS).unwrap_or_default();
        let estimator = self.choice(&ESTIMATORS).unwrap_or_default();
        SteadyPolicy { allocation, order, estimator }
    }

    fn cycle_policy(&mut self) -> Option<CyclePolicy> {
        Some(match self.choice(&CYCLE_HEADS)? {
            CycleHead::RoundRobin => CyclePolicy::RoundRobin,
            CycleHead::Random => CyclePolicy::Random,
            CycleHead::Frequency => {
                let estimator = self.choice(&ESTIMATORS).unwrap_or_default();
                let standing = self.choice(&STANDINGS).unwrap_or(Standing::Overdue(Allocation::default()));
                CyclePolicy::Frequency { estimator, standing }
            }
            CycleHead::Proportional => CyclePolicy::Proportional,
            CycleHead::Greedy => CyclePolicy::Greedy,
            CycleHead::Adaptive => {
                CyclePolicy::Adaptive { method: self.choice(&METHODS).unwrap_or(DEFAULT_METHOD) }
            }
            CycleHead::Subset => CyclePolicy::Subset(Box::new(self.cycle_policy()?)),
            CycleHead::Neighbourhood(kinship) => {
                let granularity = self.value("a granularity such as 1", |_| true);
                let granularity = granularity.unwrap_or(default_granularity(kinship));
                let download_probability = self.choice(&EAGERNESS).unwrap_or_default();
                CyclePolicy::Neighbourhood { kinship, granularity, download_probability }
            }
            CycleHead::Mixture => {
                let (first, second) = (Box::new(self.cycle_policy()?), Box::new(self.cycle_policy()?));
                let is_share = |share: &f64| (0.0..=1.0).contains(share);
                let second_share = self.value("a share from 0 to 1", is_share).unwrap_or(SECOND_SHARE);
                CyclePolicy::Mixture { first, second, second_share }
            }
            CycleHead::Nutch => {
                CyclePolicy::Nutch { is_synchronised: self.choice(&[("sync", true)]).unwrap_or_default() }
            }
            CycleHead::StormCrawler => CyclePolicy::StormCrawler,
            CycleHead::Freshet => CyclePolicy::Freshet(self.choice(&OBJECTIVES).unwrap_or_default()),
        })
    }

    /// Takes the next part if it is one of these.
    fn choice<T: Copy>(&mut self, choices: &[(&'static str, T)]) -> Option<T> {
        self.choices.extend(choices.iter().map(|(name, _)| *name));
        let (_, chosen) = choices.iter().find(|(name, _)| Some(*name) == self.next)?;
        self.advance();
        Some(*chosen)
    }

    /// Takes the next part if it is a valid number.
    fn value<T: FromStr>(&mut self, what: &'static str, is_valid: impl Fn(&T) -> bool) -> Option<T> {
        self.choices.push(what);
        let value = self.next?.parse().ok().filter(is_valid)?;
        self.advance();
        Some(value)
    }

    fn advance(&mut self) {
        self.next = self.rest.next();
        self.choices.clear();
    }

    fn error(&self) -> PolicyNameError {
        let mut choices: Vec<&str> = Vec::new();
        for choice in &self.choices {
            if !choices.contains(choice) {
                choices.push(choice);
            }
        }
        let choices = if choices.is_empty() { "nothing more".to_string() } else { choices.join(", ") };
        let name = self.name.to_string();
        match self.next {
            Some(part) => PolicyNameError::UnknownPart { name, part: format!("{part:?}"), choices },
            None => PolicyNameError::Unfinished { name, choices },
        }
    }
}

/// The granularity that the paper found best.
fn default_granularity(kinship: Kinship) -> i64 {
    match kinship {
        Kinship::Link => 3,
        Kinship::Directory => 1,
        Kinship::Cluster => 0,
    }
}

/// The name of a choice.
fn name_of<T: PartialEq>(choices: &[(&'static str, T)], chosen: &T) -> &'static str {
    let named = choices.iter().find(|(_, choice)| choice == chosen);
    named.expect("every choice has a name").0
}

impl fmt::Display for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycle(policy) => policy.fmt(f),
            Self::Steady(policy) => policy.fmt(f),
            Self::Freshet { objective, form } => {
                CyclePolicy::Freshet(*objective).fmt(f)?;
                FORMS.iter().filter(|(_, known)| known == form).try_for_each(|(name, _)| write!(f, ":{name}"))
            }
        }
    }
}

impl fmt::Display for CyclePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RoundRobin => f.write_str("round-robin"),
            Self::Random => f.write_str("random"),
            Self::Frequency { estimator, standing } => {
                write!(f, "frequency:{}:{}", name_of(&ESTIMATORS, estimator), name_of(&STANDINGS, standing))
            }
            Self::Proportional => f.write_str("proportional"),
            Self::Greedy => f.write_str("greedy"),
            Self::Adaptive { method: DEFAULT_METHOD } => f.write_str("adaptive"),
            Self::Adaptive { method } => write!(f, "adaptive:{}", name_of(&METHODS, method)),
            Self::Subset(inner) => write!(f, "subset:{inner}"),
            Self::Neighbourhood { kinship, granularity, download_probability } => {
                let kinship = name_of(&CYCLE_HEADS, &CycleHead::Neighbourhood(*kinship));
                write!(f, "{kinship}:{granularity}:{}", name_of(&EAGERNESS, download_probability))
            }
            Self::Mixture { first, second, second_share } => {
                write!(f, "mixture:{first}:{second}:{second_share}")
            }
            Self::Nutch { is_synchronised: false } => f.write_str("nutch"),
            Self::Nutch { is_synchronised: true } => f.write_str("nutch:sync"),
            Self::StormCrawler => f.write_str("stormcrawler"),
            Self::Freshet(objective) => write!(f, "freshet:{}", name_of(&OBJECTIVES, objective)),
        }
    }
}

impl fmt::Display for SteadyPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = name_of(&ORDERS, &self.order);
        match self.allocation {
            Allocation::Uniform => write!(f, "uniform:{order}")?,
            Allocation::Proportional => write!(f, "proportional-rate:{order}")?,
            objective => write!(f, "optimal:{}:{order}", name_of(&STEADY_OBJECTIVES, &objective))?,
        }
        if self.allocation != Allocation::Uniform && self.estimator != Estimator::default() {
            write!(f, ":{}", name_of(&ESTIMATORS, &self.estimator))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(name: &str, printed: &str) {
        let policy: PolicyName = name.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(policy.to_string(), printed);
        assert_eq!(printed.parse(), Ok(policy));
    }

    #[track_caller]
    fn check_wrong(name: &str, said: &[&str]) {
        let error = name.parse::<PolicyName>().expect_err("no such policy").to_string();
        for part in said {
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn what_is_left_out_has_a_default() {
        check("frequency", "frequency:improved:optimal");
        check("frequency:rank", "frequency:improved:rank");
        check("frequency:gamma", "frequency:gamma:optimal");
        check("link", "link:3:status");
        check("link:2:ha", "link:2:ha");
        check("directory:wha", "directory:1:wha");
        check("cluster:-2", "cluster:-2:status");
        check("mixture:greedy:round-robin", "mixture:greedy:round-robin:0.3");
        check("adaptive:wald", "adaptive");
        check("adaptive:wilson", "adaptive:wilson");
        check("uniform", "uniform:fixed");
        check("proportional-rate:irregular", "proportional-rate:fixed:irregular");
        check("optimal:age", "optimal:age:fixed");
        check("optimal:purely-random:gamma", "optimal:freshness:purely-random:gamma");
        check("freshet", "freshet:mix");
        check("freshet:steady", "freshet:mix:steady");
    }

    #[test]
    fn policies_stand_within_policies() {
        check("subset:greedy", "subset:greedy");
        check("subset:frequency:rank", "subset:frequency:improved:rank");
        check("mixture:directory:round-robin:0.25", "mixture:directory:1:status:round-robin:0.25");
        check("mixture:greedy:directory:0.25", "mixture:greedy:directory:1:status:0.25");
        check("mixture:freshet:round-robin:0.05", "mixture:freshet:mix:round-robin:0.05");
        check("subset:freshet:changes", "subset:freshet:changes");
        check("mixture:mixture:greedy:random:nutch:0.1", "mixture:mixture:greedy:random:0.3:nutch:0.1");
    }

    #[test]
    fn what_is_wrong_is_named_with_the_choices() {
        check_wrong("gready", &["\"gready\"", "greedy", "round-robin", "freshet", "stormcrawler"]);
        check_wrong("", &["\"\"", "greedy"]);
        check_wrong("frequency:imprved", &["\"imprved\"", "improved", "rank"]);
        check_wrong("frequency:improved:best", &["\"best\"", "optimal"]);
        check_wrong("link:2:often", &["\"often\"", "status, ha, wha, pra"]);
        check_wrong("link:far", &["\"far\"", "a granularity", "status"]);
        check_wrong("greedy:2", &["\"2\"", "nothing more"]);
        check_wrong("subset", &["unfinished", "greedy"]);
        check_wrong("mixture:greedy", &["unfinished", "round-robin"]);
        check_wrong("mixture:greedy:random:1.5", &["\"1.5\"", "a share from 0 to 1"]);
        check_wrong("mixture:greedy:random:NaN", &["\"NaN\"", "a share from 0 to 1"]);
        check_wrong("freshet:fast", &["\"fast\"", "changes, fresh, mix, age"]);
        check_wrong("optimal:soon", &["\"soon\"", "freshness", "fixed", "gamma"]);
        check_wrong(&"subset:".repeat(1000), &["more than"]);
    }

    #[test]
    fn the_representatives_are_printed_as_they_are_listed() {
        for (name, policy) in REPRESENTATIVES.iter().zip(PolicyName::all()) {
            assert_eq!(policy.to_string(), *name);
        }
        assert_eq!(PolicyName::all().len(), REPRESENTATIVES.len() + 6);
    }

    #[test]
    fn every_kind_of_policy_stands_among_the_representatives() {
        let names: Vec<String> = PolicyName::all().iter().map(ToString::to_string).collect();
        for head in CYCLE_HEADS.iter().map(|(head, _)| head).chain(OTHER_HEADS.iter().map(|(head, _)| head)) {
            assert!(names.iter().any(|name| name.split(':').next() == Some(head)), "{head}");
        }
    }

    #[test]
    fn only_the_steady_policies_are_driven_steadily() {
        let form = |name: &str| name.parse::<PolicyName>().expect("a name").form();
        assert_eq!(form("uniform"), Form::Steady);
        assert_eq!(form("optimal:age"), Form::Steady);
        assert_eq!(form("nutch"), Form::Cycle);
        assert_eq!(form("freshet"), Form::Settling);
        assert_eq!(form("freshet:fresh:cycle"), Form::Cycle);
        assert_eq!(form("freshet:age:steady"), Form::Steady);
        let settled =
            |name: &str, form| name.parse::<PolicyName>().expect("a name").settled(form).to_string();
        assert_eq!(settled("freshet:age", Form::Steady), "freshet:age:steady");
        assert_eq!(settled("freshet", Form::Cycle), "freshet:mix:cycle");
        assert_eq!(settled("freshet:steady", Form::Cycle), "freshet:mix:steady");
        assert_eq!(settled("nutch", Form::Steady), "nutch");
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_printed_so_that_it_is_read_again(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "greedy", "mixture", "subset", "frequency", "gamma", "rank", "directory", "-2", "ha",
                    "0.5", "nutch",
                    "steady", "sync", "optimal", "age", "random", "link", "1", "freshet", "uniform", "",
                ]),
                1..7,
            ),
        ) {
            if let Ok(policy) = parts.join(":").parse::<PolicyName>() {
                prop_assert_eq!(policy.to_string().parse(), Ok(policy));
            }
        }
    }
}
