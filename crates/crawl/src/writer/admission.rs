//! Admission: which URLs may become pages: those on the named sites, within their rules, that are not crawler
//! traps.
//!
//! It also sets the priority of a page's first visit: pages near the root and with short paths come before
//! others (**thesis** 2.3, the location metric). In a crawl about a topic, hot pages come before all others
//! (**thesis** 2.5.4, [`freshet_partition::topic`]).

use std::collections::HashSet;

use freshet_fetch::page::scope::names_site;
use freshet_fetch::page::scope::{BadPattern, Pattern, Scope};
use freshet_fetch::page::traps::{Traits, Trap, TrapGuard, Verdict};
use freshet_fetch::page::{Canonical, PageUrl};
use freshet_partition::topic::Topic;
use freshet_protocol::ids::UrlId;
use freshet_protocol::time::Timestamp;
use freshet_store::all_urls::{Reason, UrlRecord};

use crate::settings::{Settings, SiteRules};

/// Decides which URLs may become pages.
#[derive(Debug)]
pub struct Admission {
    canonical: Canonical,
    pages_max: usize,
    follow_other_sites: bool,
    /// Hosts of the seeds.
    hosts: HashSet<String>,
    rules: Vec<(String, Scope)>,
    /// The scope of sites without rules of their own.
    scope: Scope,
    traps: Option<TrapGuard>,
    topic: Option<Topic>,
}

/// Why a URL may not become a page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NotAdmitted {
    /// The reason, one of a fixed set.
    pub reason: Reason,
    /// The reason in a sentence.
    pub detail: String,
}

impl Admission {
    /// Creates it from the rules that a user has set.
    pub fn new(settings: &Settings) -> Result<Self, BadPattern> {
        let rules = settings.sites.iter().map(|rules| Ok((rules.site.clone(), scope(rules)?)));
        Ok(Self {
            canonical: settings.canonical(),
            pages_max: settings.pages_max,
            follow_other_sites: settings.follow_other_sites,
            hosts: HashSet::new(),
            scope: Scope::default(),
            rules: rules.collect::<Result<_, _>>()?,
            traps: settings.trap_defence.then(TrapGuard::default),
            topic: Topic::new(&settings.topic),
        })
    }

    /// Adds the host of a seed: its sites are crawled.
    pub fn add_seed(&mut self, url: &PageUrl) {
        self.hosts.insert(url.host().to_owned());
    }

    /// Whether the host of this URL is that of a seed.
    pub fn is_seeded(&self, url: &PageUrl) -> bool {
        self.hosts.contains(url.host())
    }

    /// Counts a URL that was admitted in an earlier run.
    pub(super) fn replay(&mut self, traits: &Traits) {
        if let Some(traps) = &mut self.traps {
            traps.replay(traits);
        }
    }

    /// Whether a URL may become a page.
    pub fn judge(&mut self, url: &PageUrl, depth: u16, now: Timestamp) -> Result<(), NotAdmitted> {
        let refused = |reason, detail: String| Err(NotAdmitted { reason, detail });
        let rules = self.rules_of(url);
        if rules.is_none() && !self.follow_other_sites && !self.hosts.contains(url.host()) {
            return refused(
                Reason::Scope,
                format!("{} is not one of the sites that are crawled", url.host()),
            );
        }
        if let Err(outside) = rules.unwrap_or(&self.scope).judge(url) {
            return refused(Reason::Rule, outside.to_string());
        }
        if let Some(traps) = &mut self.traps
            && let Verdict::Cut(reason) = traps.judge(url, depth, now)
        {
            return refused(Reason::Trap, reason.to_string());
        }
        Ok(())
    }

    /// Whether the site of a URL may have more pages than `pages`.
    pub fn site_has_room(&self, url: &PageUrl, pages: u32) -> bool {
        self.rules_of(url).is_none_or(|scope| scope.pages_max.is_none_or(|most| pages < most))
    }

    /// Priority of a page's first visit: higher is sooner.
    pub fn priority(&self, id: UrlId, record: &UrlRecord) -> f32 {
        let slashes = record.url.bytes().filter(|byte| *byte == b'/').count().saturating_sub(3) as f32;
        let place = -f32::from(record.depth) - 0.1 * slashes.min(9.0);
        let warmth = |topic: &Topic| topic.warmth(id, &record.anchor, &record.url, record.found_on);
        place + self.topic.as_ref().map_or(0.0, warmth)
    }

    /// The topic of the crawl, if it has one.
    pub fn topic(&self) -> Option<&Topic> {
        self.topic.as_ref()
    }

    /// The topic, to record distances from hot pages.
    pub fn topic_mut(&mut self) -> Option<&mut Topic> {
        self.topic.as_mut()
    }

    /// Canonicalization of URLs.
    pub fn canonical(&self) -> &Canonical {
        &self.canonical
    }

    /// Maximum number of pages to keep.
    pub fn pages_max(&self) -> usize {
        self.pages_max
    }

    /// Number of URLs cut as traps, by kind.
    pub fn traps_cut(&self) -> Vec<(String, u64)> {
        self.traps.as_ref().map_or_else(Vec::new, |traps| {
            Trap::ALL
                .into_iter()
                .map(|trap| (trap.to_string(), traps.cut(trap)))
                .filter(|(_, cut)| *cut > 0)
                .collect()
        })
    }

    /// The rules of a site, if it has any of its own.
    pub fn rules_of(&self, url: &PageUrl) -> Option<&Scope> {
        self.rules.iter().find(|(site, _)| names_site(site, url)).map(|(_, scope)| scope)
    }
}

/// Converts a user's rules to a scope.
fn scope(rules: &SiteRules) -> Result<Scope, BadPattern> {
    let patterns =
        |texts: &[String]| texts.iter().map(|text| Pattern::new(text)).collect::<Result<Vec<_>, _>>();
    let pages_max = rules.pages_max.map(|most| u32::try_from(most).unwrap_or(u32::MAX));
    Ok(Scope {
        include: patterns(&rules.include)?,
        exclude: patterns(&rules.exclude)?,
        pages_max,
        ..Scope::default()
    })
}
