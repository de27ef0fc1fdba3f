//! The effect of a visit on politeness: how a host responded, and how long to pause after trouble.
//!
//! # Promises
//! - A pause after trouble doubles each time in a row, within a quarter more or less, up to its limit.
//! - The same host, seed and number of times give the same pause, whatever happened at other hosts.

use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::super::answer::{Answer, Failure, Fetch, Phase};
use super::super::dates::retry_after;
use super::settings::{PolitenessSettings, millis};

/// How a host responded to a visit, as far as politeness is concerned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Experience {
    /// It responded normally, whatever the content.
    Served,
    /// It asks for fewer requests: 429 or 503, or a `Retry-After`.
    Overloaded(Option<Duration>),
    /// It could not be reached, or a proxy in front of it could not reach it.
    Failed,
    /// No request was sent.
    NotAsked,
}

impl Experience {
    /// Classifies an exchange.
    pub fn of(fetch: &Fetch) -> Self {
        match &fetch.answer {
            Answer::Refused(_) => Self::NotAsked,
            // A shortage on our side says nothing about the host.
            Answer::Failed(Failure::Timeout(Phase::Slot)) => Self::NotAsked,
            // A request may have been sent, and the host is not at fault.
            Answer::Failed(Failure::Defect(_)) => Self::Served,
            Answer::Failed(_) => Self::Failed,
            Answer::Response(response) => {
                let asked = retry_after(&response.headers, fetch.started);
                match (response.status, asked) {
                    (429 | 503, asked) => Self::Overloaded(asked),
                    (403 | 500..=599, Some(asked)) => Self::Overloaded(Some(asked)),
                    (502 | 504 | 520..=529, None) => Self::Failed,
                    _ => Self::Served,
                }
            }
        }
    }
}

/// Milliseconds to pause a host after `times` troubles in a row, including this one.
pub(super) fn pause(first: Duration, times: u16, host: &str, settings: &PolitenessSettings) -> i64 {
    let doublings = u32::from(times.saturating_sub(1)).min(40);
    let doubled = millis(first).saturating_mul(1 << doublings).min(millis(settings.pause_max));
    // From three quarters to five quarters, so that hosts that failed together are not retried together.
    let lot = xxh3_64_with_seed(host.as_bytes(), settings.seed.wrapping_add(times.into()));
    let share = 0.75 + (lot >> 11) as f64 / (1u64 << 53) as f64 / 2.0;
    (doubled as f64 * share) as i64
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use freshet_protocol::time::Timestamp;
    use http::HeaderMap;
    use http::header::RETRY_AFTER;

    use super::*;
    use crate::web::answer::Response;

    #[track_caller]
    fn check(status: u16, asked: Option<&str>, expected: Experience) {
        let headers: HeaderMap =
            asked.into_iter().map(|value| (RETRY_AFTER, value.parse().unwrap())).collect();
        let response = Response {
            status,
            head: vec![],
            headers,
            raw_body: Bytes::new(),
            body: Bytes::new(),
            truncated: None,
        };
        let fetch = Fetch {
            started: Timestamp::from_millis(0),
            address: None,
            request_head: vec![],
            bytes_received: 0,
            elapsed: Duration::ZERO,
            answer: Answer::Response(response),
        };
        assert_eq!(Experience::of(&fetch), expected);
    }

    #[test]
    fn what_a_status_teaches() {
        let ten = Some(Duration::from_secs(10));
        check(200, None, Experience::Served);
        check(404, Some("10"), Experience::Served);
        check(500, None, Experience::Served);
        check(500, Some("10"), Experience::Overloaded(ten));
        check(429, None, Experience::Overloaded(None));
        check(503, Some("10"), Experience::Overloaded(ten));
        check(503, Some("soon"), Experience::Overloaded(None));
        check(502, None, Experience::Failed);
    }

    #[test]
    fn pauses_double_up_to_their_limit() {
        let settings = PolitenessSettings::default();
        let pauses: Vec<_> =
            (1..30).map(|times| pause(Duration::from_secs(10), times, "a.test", &settings)).collect();
        for (doublings, &pause) in (0..).zip(&pauses) {
            let doubled = (10_000i64 << doublings).min(6 * 3_600_000);
            assert!((doubled * 3 / 4..=doubled * 5 / 4).contains(&pause), "{pauses:?}");
        }
        assert_ne!(pauses[0], pause(Duration::from_secs(10), 1, "b.test", &settings));
        assert!(0 < pause(Duration::MAX, u16::MAX, "a.test", &settings));
    }
}
