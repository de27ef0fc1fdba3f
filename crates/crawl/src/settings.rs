//! How a crawl is set: plain values, checked by whoever reads them from a user.

use std::path::PathBuf;

use freshet_store::collection::Keep;
use freshet_theory::units::Days;

use crate::change::Definitions;
use crate::page::Canonical;
use crate::policy::PolicyName;
use crate::web::WebSettings;
use crate::web::politeness::PolitenessSettings;

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
    /// Pages to keep at most.
    pub pages_max: usize,
    /// Connections at a time.
    pub connections: usize,
    /// Which page next.
    pub policy: PolicyName,
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
}

/// A page that is visited this often.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// The URL.
    pub url: String,
    /// How often.
    pub every: Days,
}
