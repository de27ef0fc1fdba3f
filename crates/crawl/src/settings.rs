//! Settings of a crawl: plain values, checked by the code that reads them from a user.

use std::path::PathBuf;

use freshet_fetch::change::Definitions;
use freshet_fetch::page::Canonical;
use freshet_fetch::web::WebSettings;
use freshet_fetch::web::politeness::PolitenessSettings;
use freshet_partition::policy::PolicyName;
use freshet_store::collection::Keep;
use freshet_theory::units::Days;

use crate::hours::Hours;

/// All settings of a crawl.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Directory of the crawl's files.
    pub directory: PathBuf,
    /// Seed URLs: pages, sitemaps, feeds.
    pub seeds: Vec<String>,
    /// Rules for single sites. A site without rules is crawled whole.
    pub sites: Vec<SiteRules>,
    /// Whether to crawl sites other than those of the seeds.
    pub follow_other_sites: bool,
    /// Visits per day. None: no limit.
    pub visits_per_day: Option<f64>,
    /// Bytes per day. None: no limit.
    pub bytes_per_day: Option<f64>,
    /// Fraction of the visits that may go to pages never visited while there are any, from 0 to 1.
    pub discovery_share: f64,
    /// Fraction of the visits that go to random pages for audits of the estimated freshness, from 0 to 1.
    pub audit_share: f64,
    /// Maximum number of pages to keep.
    pub pages_max: usize,
    /// Maximum number of concurrent connections.
    pub connections: usize,
    /// The policy that chooses pages to visit again.
    pub policy: PolicyName,
    /// How much the importance of a page counts in the value of a visit, from 0 (all pages alike) to 1 (in
    /// proportion).
    pub importance_weight: f64,
    /// Words that pages should be about. Empty: any.
    pub topic: Vec<String>,
    /// Pages that are visited at a fixed interval, whatever the policy says.
    pub pins: Vec<Pin>,
    /// Definitions of change.
    pub change: Definitions,
    /// Whether to drop tracking parameters and session identifiers from URLs.
    pub clean_urls: bool,
    /// Whether to avoid crawler traps.
    pub trap_defence: bool,
    /// Politeness settings.
    pub politeness: PolitenessSettings,
    /// Settings of the HTTP client.
    pub web: WebSettings,
    /// Which old versions are kept.
    pub keep: Keep,
    /// Minimum and maximum intervals between visits. The first rule that matches a page applies.
    pub intervals: Vec<IntervalRule>,
    /// How visits are spread over time.
    pub mode: Mode,
    /// When readers see results.
    pub publication: Publication,
    /// Length of a batch, and of a cycle with shadowing.
    pub cycle: Option<Days>,
    /// Whether the crawl ends when every known page was visited once.
    pub once: bool,
    /// Seed of all random draws.
    pub seed: u64,
}

impl Settings {
    /// Canonicalization of URLs.
    pub fn canonical(&self) -> Canonical {
        Canonical {
            drop_tracking: self.clean_urls,
            drop_session_ids: self.clean_urls,
            ..Canonical::default()
        }
    }

    /// Settings of the stores.
    pub fn store(&self) -> freshet_store::store::Settings {
        freshet_store::store::Settings { keep: self.keep, ..freshet_store::store::Settings::default() }
    }
}

/// Rules for one site.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteRules {
    /// Host, or scheme and host; `*.example.org` for all hosts below it.
    pub site: String,
    /// Visit only paths that match one of these. Empty: any.
    pub include: Vec<String>,
    /// Do not visit paths that match one of these.
    pub exclude: Vec<String>,
    /// Maximum number of pages to keep, breadth-first from the root.
    pub pages_max: Option<usize>,
    /// Hours in which the site may be visited. None: at any time.
    pub hours: Option<Hours>,
    /// Maximum fraction of the visits that the site may take.
    pub share_max: Option<f64>,
}

/// Minimum and maximum interval between two visits to a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IntervalRule {
    /// The site, as a user writes it. None: any site.
    pub site: Option<String>,
    /// A pattern for paths.
    pub path: String,
    /// The minimum interval.
    pub shortest: Option<Days>,
    /// The maximum interval.
    pub longest: Option<Days>,
}

/// How visits are spread over time (**thesis** 7.2.1).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Mode {
    /// Evenly, without end.
    #[default]
    Steady,
    /// All visits of a cycle at once, as fast as politeness allows; then none until the next cycle.
    Batch,
}

/// When readers see results (**thesis** 7.2.2).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Publication {
    /// At once.
    #[default]
    InPlace,
    /// All results of a cycle at its end. Until then the collection of the last cycle.
    Shadow,
}

/// A pin: a page that is visited at a fixed interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// The URL.
    pub url: String,
    /// The interval.
    pub every: Days,
}
