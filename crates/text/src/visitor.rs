//! Fetches pages of text databases through the crawler's own Web, with its robots rules and politeness.
//!
//! # Promises
//! - No page is requested that the site's robots.txt forbids, and no host more often than politeness allows.
//! - While a crawl runs in the named directory, every request takes one of its turns at the host, and one
//!   visit of its budget.
//! - Requests paid from a share of a budget come no faster than the share allows.
//! - Failures are data, with a reason as text. A host that asks for a pause longer than [`WAIT_MAX`] is not
//!   requested.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use freshet_crawl::clock::Clock;
use freshet_crawl::query_socket::{Borrowed, Loan, borrow_turn};
use freshet_fetch::page::PageUrl;
use freshet_fetch::web::politeness::{Experience, Politeness, Turn};
use freshet_fetch::web::robots::policy::{Before, Chase, GOOD_FOR, RobotsPolicy, Step};
use freshet_fetch::web::{
    Answer, Fetch, PRODUCT_TOKEN, PolitenessSettings, Request, Web, WebError, WebSettings,
};
use freshet_protocol::time::Timestamp;

use crate::interface::plain_urls;
use crate::spending::Spending;

/// Maximum wait for a turn, in wall-clock time. Beyond it the visit fails.
pub const WAIT_MAX: Duration = Duration::from_secs(600);

/// Pause before checking again whether a busy host is free.
const BUSY_WAIT: Duration = Duration::from_millis(20);

/// Maximum number of redirects followed.
const REDIRECTS_MAX: usize = 5;

/// Fetches pages from sites.
pub struct Visitor {
    web: Web,
    clock: Arc<Clock>,
    politeness: Mutex<Politeness>,
    robots: Mutex<HashMap<String, Rules>>,
    /// Directory of a crawl that may be running.
    crawl: Option<PathBuf>,
    spending: Option<Mutex<Spending>>,
}

/// The robots rules of a site.
#[derive(Clone)]
struct Rules {
    policy: RobotsPolicy,
    /// When they expire.
    until: Timestamp,
    /// Why they could not be fetched, if they could not.
    trouble: String,
}

/// A fetched page.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// Its URL, after redirects.
    pub url: PageUrl,
    /// The content type that the server reports.
    pub content_type: Option<String>,
    /// Its bytes, decoded.
    pub body: Bytes,
}

/// Why a page could not be fetched.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum NoArrival {
    /// The site's robots.txt forbids it; the line that does.
    Forbidden(String),
    /// The site answered with this status and no page.
    Status(u16),
    /// Nothing came; the cause.
    Failed(String),
}

impl std::fmt::Display for NoArrival {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Forbidden(rule) => write!(f, "robots.txt forbids it: {rule}"),
            Self::Status(status) => write!(f, "status {status}"),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

impl Visitor {
    /// Creates a visitor with these settings. Must be called and used within a tokio runtime.
    pub fn new(
        web: WebSettings,
        politeness: PolitenessSettings,
        clock: Arc<Clock>,
    ) -> Result<Self, WebError> {
        Ok(Self {
            web: Web::new(web)?,
            clock,
            politeness: Mutex::new(Politeness::new(politeness)),
            robots: Mutex::new(HashMap::new()),
            crawl: None,
            spending: None,
        })
    }

    /// Takes the turns of the crawl in this directory, whenever one runs.
    pub fn beside_crawl(self, directory: PathBuf) -> Self {
        Self { crawl: Some(directory), ..self }
    }

    /// Pays requests from a share of a budget.
    pub fn paid_from(self, spending: Spending) -> Self {
        Self { spending: Some(Mutex::new(spending)), ..self }
    }

    /// The visitor's current time.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Whether requests to this host are refused because it is public and no contact address is configured.
    pub fn needs_contact(&self, host: &str) -> bool {
        self.web.needs_contact(host)
    }

    /// Fetches a page and follows redirects.
    pub async fn visit(&self, url: &PageUrl) -> Result<Arrival, NoArrival> {
        let mut url = url.clone();
        for _ in 0..=REDIRECTS_MAX {
            let response = match self.ask(&url).await?.answer {
                Answer::Response(response) => response,
                Answer::Failed(failure) => return Err(NoArrival::Failed(failure.to_string())),
                Answer::Refused(refusal) => return Err(NoArrival::Failed(refusal.to_string())),
            };
            let header = |name: &str| response.headers.get(name).and_then(|value| value.to_str().ok());
            match response.status {
                200..=299 => {
                    let content_type = header("content-type").map(str::to_owned);
                    return Ok(Arrival { url, content_type, body: response.body });
                }
                301 | 302 | 303 | 307 | 308 => {
                    let next = header("location").and_then(|place| plain_urls().join(&url, place).ok());
                    url = next.ok_or_else(|| NoArrival::Failed("a redirect leads nowhere".to_owned()))?;
                }
                status => return Err(NoArrival::Status(status)),
            }
        }
        Err(NoArrival::Failed(format!("more than {REDIRECTS_MAX} redirects")))
    }

    async fn ask(&self, url: &PageUrl) -> Result<Fetch, NoArrival> {
        let rules = self.rules(url).await?;
        if !rules.policy.allows(url.path_and_query()) {
            return Err(match rules.policy {
                RobotsPolicy::Rules(robots) => {
                    NoArrival::Forbidden(robots.verdict(url.path_and_query()).rule.unwrap_or_default())
                }
                _ => NoArrival::Failed(format!("its robots.txt cannot be had: {}", rules.trouble)),
            });
        }
        self.exchange(&Request::of(url, self.now())).await
    }

    /// Sends one request, in the host's turn.
    async fn exchange(&self, request: &Request) -> Result<Fetch, NoArrival> {
        let address = self.web.address_of(&request.host).await;
        self.pay().await;
        let turn = self.turn(&request.host, address).await?;
        let borrowed = match self.borrow(&request.host, address).await {
            Ok(borrowed) => borrowed,
            Err(why) => {
                locked(&self.politeness).end(turn, Experience::NotAsked, self.now());
                return Err(why);
            }
        };
        let request = Request { started: self.now(), ..request.clone() };
        let fetch = self.web.fetch(&request).await;
        let experience = Experience::of(&fetch);
        if let Some(borrowed) = borrowed {
            borrowed.give_back(experience);
        }
        locked(&self.politeness).end(turn, experience, self.now());
        Ok(fetch)
    }

    /// Waits until the share of the budget has a request left, and spends it.
    async fn pay(&self) {
        let Some(spending) = &self.spending else { return };
        loop {
            let now = self.now();
            let Some(until) = locked(spending).spend(now) else { return };
            tokio::time::sleep(self.clock.wall_time_until(until).max(Duration::from_millis(1))).await;
        }
    }

    /// Takes a turn of the running crawl. `None` if none runs.
    async fn borrow(&self, host: &str, address: Option<IpAddr>) -> Result<Option<Borrowed>, NoArrival> {
        let Some(directory) = self.crawl.clone() else { return Ok(None) };
        let began = tokio::time::Instant::now();
        loop {
            let (directory, host) = (directory.clone(), host.to_owned());
            let asked = tokio::task::spawn_blocking(move || borrow_turn(&directory, &host, address)).await;
            match asked {
                Ok(Ok(Loan::Turn(borrowed))) => return Ok(Some(borrowed)),
                Ok(Ok(Loan::NoCrawl)) => return Ok(None),
                Ok(Ok(Loan::NotYet)) if began.elapsed() < WAIT_MAX => {}
                Ok(Ok(Loan::NotYet)) => return Err(too_long()),
                Ok(Err(error)) => return Err(NoArrival::Failed(format!("the crawl lends no turn: {error}"))),
                Err(_) => {
                    return Err(NoArrival::Failed("the crawl could not be asked for a turn".to_owned()));
                }
            }
        }
    }

    async fn turn(&self, host: &str, address: Option<IpAddr>) -> Result<Turn, NoArrival> {
        let mut waited = Duration::ZERO;
        loop {
            let begun = locked(&self.politeness).begin(host, address, self.now());
            let wait = match begun {
                Ok(turn) => return Ok(turn),
                Err(wait) => wait.until.map_or(BUSY_WAIT, |until| {
                    self.clock.wall_time_until(until).max(Duration::from_millis(1))
                }),
            };
            waited += wait;
            if WAIT_MAX < waited {
                return Err(too_long());
            }
            tokio::time::sleep(wait).await;
        }
    }

    /// The robots rules of a URL's site, fetched if not known.
    async fn rules(&self, url: &PageUrl) -> Result<Rules, NoArrival> {
        let site = url.site();
        if let Some(rules) = locked(&self.robots).get(site)
            && self.now() < rules.until
        {
            return Ok(rules.clone());
        }
        let Some(mut chase) = Chase::new(site) else {
            return Err(NoArrival::Failed("it is no site of the Web".to_owned()));
        };
        let fetch = loop {
            let fetch = self.exchange(&chase.request(self.now())).await?;
            if let Step::Done = chase.take(&fetch) {
                break fetch;
            }
        };
        let trouble = match &fetch.answer {
            Answer::Response(response) => format!("status {}", response.status),
            Answer::Failed(failure) => failure.to_string(),
            Answer::Refused(refusal) => return Err(NoArrival::Failed(refusal.to_string())),
        };
        let policy = RobotsPolicy::from_fetch(&fetch, PRODUCT_TOKEN, &Before::default());
        let until = match &policy {
            RobotsPolicy::Wait(until) => *until,
            RobotsPolicy::AllowAll | RobotsPolicy::Rules(_) => {
                self.now().plus_millis(GOOD_FOR.as_millis() as i64)
            }
        };
        if let RobotsPolicy::Rules(robots) = &policy {
            locked(&self.politeness).set_crawl_delay(url.host(), robots.crawl_delay());
        }
        let rules = Rules { policy, until, trouble };
        locked(&self.robots).insert(site.to_owned(), rules.clone());
        Ok(rules)
    }
}

fn too_long() -> NoArrival {
    NoArrival::Failed("the host wants to be left alone for longer than we wait".to_owned())
}

/// Locks a mutex and ignores poisoning: each critical section is one call, which leaves the value whole even
/// if it panics.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
