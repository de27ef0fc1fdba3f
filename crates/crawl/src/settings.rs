//! How a crawl is set: plain values, checked by whoever reads them from a user.

use std::path::PathBuf;

use freshet_fetch::change::Definitions;
use freshet_fetch::page::Canonical;
use freshet_fetch::web::WebSettings;
use freshet_fetch::web::politeness::PolitenessSettings;
use freshet_partition::policy::PolicyName;
use freshet_store::collection::Keep;
use freshet_theory::units::Days;

use crate::hours::Hours;

/// All that a user can set of a crawl.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the crawl keeps its files.
    pub directory: PathBuf,
    /// URLs to begin with: pages, sitemaps, feeds.
    pub seeds: Vec<String>,
    /// Rules for single sites; a site without rules is crawled whole.
    pub sites: Vec<SiteRules>,
    /// Whether sites that are not those of the seeds are crawled too.
    pub follow_other_sites: bool,
    /// Visits per day; none for as many as sites can take.
    pub visits_per_day: Option<f64>,
    /// Bytes per day; none for as many as come.
    pub bytes_per_day: Option<f64>,
    /// Part of the visits that pages never visited may take while there are any, from 0 to 1.
    pub discovery_share: f64,
    /// Part of the visits that go to pages drawn at random, to hold what the crawl believes of its freshness against, from 0 to 1.
    pub audit_share: f64,
    /// Pages to keep at most.
    pub pages_max: usize,
    /// Connections at a time.
    pub connections: usize,
    /// Which page next.
    pub policy: PolicyName,
    /// How much the importance of a page counts in the worth of a visit, from 0 (all pages alike) to 1 (in proportion).
    pub importance_weight: f64,
    /// Words that pages should be about; empty for any.
    pub topic: Vec<String>,
    /// Pages that are visited this often, whatever the policy says.
    pub pins: Vec<Pin>,
    /// What is a change of a page.
    pub change: Definitions,
    /// Whether tracking parameters and session identifiers are dropped from URLs.
    pub clean_urls: bool,
    /// Whether traps are cut.
    pub trap_defence: bool,
    /// How sites are treated.
    pub politeness: PolitenessSettings,
    /// How bytes are fetched.
    pub web: WebSettings,
    /// What is kept of old versions.
    pub keep: Keep,
    /// Shortest and longest intervals between visits; the first rule that matches a page holds for it.
    pub intervals: Vec<IntervalRule>,
    /// How visits are spread over time.
    pub mode: Mode,
    /// When readers see what was found.
    pub publication: Publication,
    /// Length of a batch, and of the time between two collections with shadowing.
    pub cycle: Option<Days>,
    /// Whether the crawl ends when everything known has been visited once.
    pub once: bool,
    /// Seed of all chance.
    pub seed: u64,
}

impl Settings {
    /// How URLs are written.
    pub fn canonical(&self) -> Canonical {
        Canonical {
            drop_tracking: self.clean_urls,
            drop_session_ids: self.clean_urls,
            ..Canonical::default()
        }
    }

    /// How the stores are kept.
    pub fn store(&self) -> freshet_store::store::Settings {
        freshet_store::store::Settings { keep: self.keep, ..freshet_store::store::Settings::default() }
    }
}

/// Rules for one site.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteRules {
    /// Host, or scheme and host; `*.example.org` for all below it.
    pub site: String,
    /// Only paths like these are visited; any if there are none.
    pub include: Vec<String>,
    /// Paths like these are not visited.
    pub exclude: Vec<String>,
    /// Pages to keep at most, breadth-first from the root.
    pub pages_max: Option<usize>,
    /// When the site may be visited; at any time, if none are named.
    pub hours: Option<Hours>,
    /// The part of the visits that the site may take at most.
    pub share_max: Option<f64>,
}

/// How long pages are left alone, at least and at most.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IntervalRule {
    /// The site, as a user writes it; any, if none is named.
    pub site: Option<String>,
    /// A pattern for paths.
    pub path: String,
    /// The shortest interval between two visits.
    pub shortest: Option<Days>,
    /// The longest.
    pub longest: Option<Days>,
}

/// How visits are spread over time (**thesis** 7.2.1).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Mode {
    /// Evenly, without end.
    #[default]
    Steady,
    /// The visits of a whole cycle at once, as fast as politeness allows; then none until the next.
    Batch,
}

/// When readers see what was found (**thesis** 7.2.2).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Publication {
    /// At once.
    #[default]
    InPlace,
    /// All of a cycle at its end: until then the collection of the cycle before.
    Shadow,
}

/// A page that is visited this often.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// The URL.
    pub url: String,
    /// How often.
    pub every: Days,
}
