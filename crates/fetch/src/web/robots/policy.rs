//! The consequences of a response for `robots.txt` (RFC 9309 section 2.3.1).
//!
//! | response | consequence |
//! |---|---|
//! | 2xx | the rules of the file |
//! | 3xx | it is followed, five times, to any host; after that the file is unavailable |
//! | 4xx | the file is unavailable: everything is allowed |
//! | 429, 5xx, no response | the site is unreachable: nothing is allowed, retry later |
//! | an incomplete or undecodable body | as if unreachable: the missing part may forbid something |
//! | unreachable for 30 days | the last known rules; if there are none, everything is allowed |
//!
//! The last line is what RFC 9309 (2.3.1.4) permits and leaves to the crawler: after a reasonably long time,
//! such as 30 days, it may treat the file as unavailable or go on with a cached copy. We use the copy, which
//! says what the owner wanted. Only if there is none, silence counts as consent. A crawl that did not run has
//! not observed that a site is unreachable: the 30 days count only with [`UNREACHABLE_ANSWERS_MIN`] failures
//! in them.
//!
//! # Promises
//! - A site whose `robots.txt` is unreachable is not visited for 30 days.
//! - An unreachable file is retried at growing intervals, up to six hours, for as long as it takes.
//! - A chain of redirects is followed five times and no more; a redirect that cannot be followed makes the
//!   file unavailable.
//!
//! # Departures
//! - 429 asks us to wait and so counts as unreachable; the RFC counts it with 4xx.

use std::time::Duration;

use freshet_protocol::time::{SECONDS_PER_DAY, Timestamp};
use http::header::LOCATION;
use url::{Host, Url};

use super::super::answer::{Answer, Fetch, Response, Truncation};
use super::super::dates::retry_after;
use super::super::request::{Accept, Request};
use super::file::{FILE_BYTES_MAX, Robots};

/// Maximum number of redirects of a `robots.txt` that are followed.
pub const REDIRECTS_MAX: u8 = 5;

/// How long a fetched file is valid: RFC 9309 section 2.4 says a day.
pub const GOOD_FOR: Duration = Duration::from_secs(SECONDS_PER_DAY as u64);

/// How long a site may be unreachable before it is visited without its file.
pub const UNREACHABLE_MAX: Duration = Duration::from_secs(30 * SECONDS_PER_DAY as u64);

/// Minimum number of consecutive failures in that time: a sixth of the 120 retries in 30 days.
pub const UNREACHABLE_ANSWERS_MIN: u32 = 20;

/// Delay of the first retry of an unreachable file; doubled with each failure up to [`RETRY_MAX`].
pub const RETRY_FIRST: Duration = Duration::from_secs(60);

/// Maximum delay before a retry of an unreachable file.
pub const RETRY_MAX: Duration = Duration::from_secs(6 * 3600);

/// What a site allows.
#[derive(Clone, Debug)]
pub enum RobotsPolicy {
    /// Everything: it has no rules.
    AllowAll,
    /// What these rules allow.
    Rules(Robots),
    /// Nothing until this time, when its `robots.txt` is to be requested again.
    Wait(Timestamp),
}

/// What was known of a site before this response.
#[derive(Clone, Debug, Default)]
pub struct Before {
    /// Since when its file has been unreachable; none if it is reachable.
    pub unreachable_since: Option<Timestamp>,
    /// Number of consecutive failures.
    pub failures: u32,
    /// The last known rules.
    pub rules: Option<Robots>,
}

impl RobotsPolicy {
    /// The consequence of the last exchange of a chase.
    pub fn from_fetch(fetch: &Fetch, product_token: &str, before: &Before) -> Self {
        let now = fetch.started;
        match &fetch.answer {
            Answer::Response(response) => match response.status {
                200..=299 if !is_whole(response) => Self::unreachable(now, None, before),
                200..=299 => Self::Rules(Robots::parse(&response.body, product_token)),
                429 | 500..=599 => Self::unreachable(now, retry_after(&response.headers, now), before),
                _ => Self::AllowAll,
            },
            Answer::Failed(_) | Answer::Refused(_) => Self::unreachable(now, None, before),
        }
    }

    /// Whether this path and query may be visited now.
    pub fn allows(&self, path_and_query: &str) -> bool {
        match self {
            Self::AllowAll => true,
            Self::Rules(robots) => robots.allows(path_and_query),
            Self::Wait(_) => false,
        }
    }

    /// The consequence of an unreachable file, given the previous failures in `before`. `asked` is the
    /// `Retry-After`.
    pub fn unreachable(now: Timestamp, asked: Option<Duration>, before: &Before) -> Self {
        let since = before.unreachable_since.unwrap_or(now);
        let is_long = UNREACHABLE_MAX.as_millis() as i64 <= now.millis_since(since);
        if is_long && UNREACHABLE_ANSWERS_MIN <= before.failures.saturating_add(1) {
            return before.rules.clone().map_or(Self::AllowAll, Self::Rules);
        }
        let doubled = RETRY_FIRST.saturating_mul(1 << before.failures.min(16));
        let wait = asked.unwrap_or(doubled).clamp(RETRY_FIRST, RETRY_MAX);
        Self::Wait(now.plus_millis(wait.as_millis() as i64))
    }
}

/// The chain of requests for a site's `robots.txt`, including redirects. Each request is an exchange like any
/// other and waits for its host's turn.
#[derive(Clone, Debug)]
pub struct Chase {
    at: Url,
    redirects: u8,
}

/// The next step of a chase.
#[derive(Clone, Debug)]
pub enum Step {
    /// Another exchange: see [`Chase::request`].
    Again,
    /// The end: [`RobotsPolicy::from_fetch`] gives the consequence of the last exchange.
    Done,
}

impl Chase {
    /// Starts the chase for a site given as `scheme://host[:port]`; none if that is not a site.
    pub fn new(site: &str) -> Option<Self> {
        let at = Url::parse(site).ok()?.join("/robots.txt").ok()?;
        is_web(&at).then_some(Self { at, redirects: 0 })
    }

    /// The host of the next request, as written in a URL.
    pub fn host(&self) -> &str {
        self.at.host_str().unwrap_or_default()
    }

    /// The next request.
    pub fn request(&self, started: Timestamp) -> Request {
        let host = match self.at.host() {
            Some(Host::Ipv6(address)) => address.to_string(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let path = match self.at.query() {
            Some(query) => format!("{}?{query}", self.at.path()),
            None => self.at.path().to_owned(),
        };
        let https = self.at.scheme() == "https";
        let port = self.at.port_or_known_default().unwrap_or(80);
        Request { accept: Accept::Text, ..Request::page(https, &host, port, &path, started) }
    }

    /// Processes the result of a request.
    pub fn take(&mut self, fetch: &Fetch) -> Step {
        let Answer::Response(response) = &fetch.answer else { return Step::Done };
        if self.redirects == REDIRECTS_MAX {
            return Step::Done;
        }
        match self.target(response) {
            Some(next) => {
                self.at = next;
                self.redirects += 1;
                Step::Again
            }
            None => Step::Done,
        }
    }

    fn target(&self, response: &Response) -> Option<Url> {
        let is_redirect = matches!(response.status, 301 | 302 | 303 | 307 | 308);
        let location = response.header(&LOCATION).filter(|_| is_redirect)?;
        self.at.join(location).ok().filter(is_web)
    }
}

/// Whether a body contains everything that will be read of it.
pub fn is_whole(response: &Response) -> bool {
    match response.truncated {
        None | Some(Truncation::Size | Truncation::DecodedSize) => true,
        Some(_) => FILE_BYTES_MAX <= response.body.len(),
    }
}

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.has_host()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderMap;
    use http::header::RETRY_AFTER;

    use super::*;
    use crate::web::answer::{Failure, Phase};

    const NOW: Timestamp = Timestamp::from_millis(1_000_000_000);

    fn fetched(answer: Answer) -> Fetch {
        Fetch {
            started: NOW,
            address: None,
            request_head: vec![],
            bytes_received: 0,
            elapsed: Duration::ZERO,
            answer,
        }
    }

    fn answered(status: u16, header: Option<(http::HeaderName, &str)>, body: &'static str) -> Fetch {
        let headers: HeaderMap =
            header.into_iter().map(|(name, value)| (name, value.parse().unwrap())).collect();
        let body = Bytes::from_static(body.as_bytes());
        let response =
            Response { status, head: vec![], headers, raw_body: body.clone(), body, truncated: None };
        fetched(Answer::Response(response))
    }

    fn timed_out() -> Fetch {
        fetched(Answer::Failed(Failure::Timeout(Phase::Connect)))
    }

    #[track_caller]
    fn check(fetch: &Fetch, before: &Before, allows: bool, waits_seconds: Option<i64>) {
        let policy = RobotsPolicy::from_fetch(fetch, "freshet", before);
        assert_eq!(policy.allows("/private"), allows, "{policy:?}");
        let waits =
            if let RobotsPolicy::Wait(until) = policy { Some(until.millis_since(NOW) / 1000) } else { None };
        assert_eq!(waits, waits_seconds);
    }

    #[test]
    fn every_answer_has_its_consequence() {
        let before = Before::default();
        check(&answered(200, None, "user-agent: *\ndisallow: /private"), &before, false, None);
        check(&answered(200, None, ""), &before, true, None);
        check(&answered(404, None, "user-agent: *\ndisallow: /"), &before, true, None);
        check(&answered(403, None, ""), &before, true, None);
        check(&answered(302, None, ""), &before, true, None);
        check(&answered(500, None, ""), &before, false, Some(60));
        check(&answered(429, Some((RETRY_AFTER, "600")), ""), &before, false, Some(600));
        check(&answered(503, Some((RETRY_AFTER, "0")), ""), &before, false, Some(60));
        check(&timed_out(), &before, false, Some(60));
        check(&timed_out(), &Before { failures: 3, ..before.clone() }, false, Some(480));
        check(&timed_out(), &Before { failures: u32::MAX, ..before }, false, Some(6 * 3600));
    }

    #[test]
    fn half_a_file_is_not_believed() {
        let mut fetch = answered(200, None, "user-agent: *\ndisall");
        let Answer::Response(response) = &mut fetch.answer else { unreachable!() };
        response.truncated = Some(Truncation::Closed);
        check(&fetch, &Before::default(), false, Some(60));
    }

    #[test]
    fn after_thirty_days_the_last_rules_count_again() {
        let since = NOW.plus_millis(-30_000 * SECONDS_PER_DAY);
        let mut before = Before { unreachable_since: Some(since), failures: 119, rules: None };
        check(&timed_out(), &before, true, None);
        before.rules = Some(Robots::parse(b"user-agent: *\ndisallow: /private", "freshet"));
        check(&timed_out(), &before, false, None);
        before.unreachable_since = Some(since.plus_millis(1));
        check(&timed_out(), &before, false, Some(6 * 3600));
        // A crawl that did not run for a month has observed little.
        let asleep = Before { unreachable_since: Some(since), failures: 1, rules: None };
        check(&timed_out(), &asleep, false, Some(120));
    }

    #[test]
    fn five_redirects_are_followed_to_any_host() {
        let mut chase = Chase::new("http://a.test:8080").unwrap();
        let mut asked = Vec::new();
        for target in
            ["/r", "https://b.test/x?y#z", "//c.test", "http://[::1]/", "http://d.test/", "http://e.test/"]
        {
            let request = chase.request(NOW);
            asked.push(format!(
                "{} {} {} {}",
                request.https, request.host, request.port, request.path_and_query
            ));
            chase.take(&answered(301, Some((LOCATION, target)), ""));
        }
        let expected = [
            "false a.test 8080 /robots.txt",
            "false a.test 8080 /r",
            "true b.test 443 /x?y",
            "true c.test 443 /",
            "false ::1 80 /",
            "false d.test 80 /",
        ];
        assert_eq!(asked, expected);
        assert!(matches!(chase.take(&answered(301, Some((LOCATION, "/")), "")), Step::Done));
    }

    #[test]
    fn a_redirect_to_nowhere_ends_the_chase() {
        for target in ["ftp://a/", "javascript:x", "http://", "data:,"] {
            let mut chase = Chase::new("http://a.test").unwrap();
            assert!(
                matches!(chase.take(&answered(302, Some((LOCATION, target)), "")), Step::Done),
                "{target}"
            );
        }
        assert!(Chase::new("ftp://a.test").is_none());
        assert!(Chase::new("a.test").is_none());
    }
}
