//! How databases are asked: through the crawler's own Web, with its robots rules and its politeness.
//!
//! # Promises
//! - No page is asked for that the site's robots.txt forbids, and no host more often than politeness allows.
//! - While a crawl runs in the directory that was named, every request takes one of its turns at the host, and one visit of its budget.
//! - Requests that are paid from a share of a budget come no faster than the share allows.
//! - What goes wrong is a fact, in words; a host that wants to be left alone for longer than [`WAIT_MAX`] is left alone.

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

/// The longest that a turn is waited for, on the wall; beyond it the visit is given up.
pub const WAIT_MAX: Duration = Duration::from_secs(600);

/// How long to wait before asking again whether a busy host is free.
const BUSY_WAIT: Duration = Duration::from_millis(20);

/// Redirects that are followed.
const REDIRECTS_MAX: usize = 5;

/// Asks sites for pages.
pub struct Visitor {
    web: Web,
    clock: Arc<Clock>,
    politeness: Mutex<Politeness>,
    robots: Mutex<HashMap<String, Rules>>,
    /// The directory of a crawl that may run.
    crawl: Option<PathBuf>,
    spending: Option<Mutex<Spending>>,
}

/// The rules of a site.
#[derive(Clone)]
struct Rules {
    policy: RobotsPolicy,
    /// Until when they are good.
    until: Timestamp,
    /// Why they could not be had, if they could not.
    trouble: String,
}

/// A page that came.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// Where it was found, after redirects.
    pub url: PageUrl,
    /// What it is, as the server says.
    pub content_type: Option<String>,
    /// Its bytes, decoded.
    pub body: Bytes,
}

/// Why no page came.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum NoArrival {
    /// The site's robots.txt forbids it: the line that does.
    Forbidden(String),
    /// The site answered with this status and no page.
    Status(u16),
    /// Nothing came, and why.
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
    /// A visitor with these settings. To be made and used within a tokio runtime.
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

    /// The same, in the turns of the crawl that runs in a directory, whenever one does.
    pub fn beside_crawl(self, directory: PathBuf) -> Self {
        Self { crawl: Some(directory), ..self }
    }

    /// The same, paid from a share of a budget.
    pub fn paid_from(self, spending: Spending) -> Self {
        Self { spending: Some(Mutex::new(spending)), ..self }
    }

    /// The time by which it goes.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Whether a public host could not be asked because nobody can be written to.
    pub fn needs_contact(&self, host: &str) -> bool {
        self.web.needs_contact(host)
    }

    /// A page, redirects followed.
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

    /// One exchange, in the host's turn.
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

    /// A turn of the crawl that runs, if one does.
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

    /// The rules of a URL's site, asked for if they are not known.
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

/// The value of a lock. A thread that panicked holding it left it whole: each use is one call.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
