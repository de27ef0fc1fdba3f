//! Troubles of sites: errors and bad responses, counted by kind.
//!
//! The counts are stored in the record of the site: two varints for each kind, its number and its count.
//!
//! # Promises
//! - What is encoded decodes to the same. Invalid bytes decode to no troubles, never to a panic.

use std::collections::BTreeMap;

use freshet_fetch::web::{Answer, Failure, Fetch, Refusal, Truncation};
use freshet_protocol::codec::{Input, Opaque, put_number, take_number};
use freshet_protocol::ids::SiteNumber;

use super::memory::Memory;
use super::writer_thread::Writer;
use crate::status::TroubleLine;
use crate::visit::{Finding, PageVisit, VisitFailure};

/// A kind of trouble.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Trouble {
    /// The host has no address.
    NoAddress,
    /// No connection could be made.
    CannotConnect,
    /// TLS failed.
    Tls,
    /// The response timed out.
    TimeOut,
    /// The connection broke.
    Broken,
    /// Headers over the limit.
    HugeHeaders,
    /// The response is not HTTP, or its framing is wrong.
    BadHttp,
    /// A body over the limit.
    HugeBody,
    /// A decompression bomb.
    Bomb,
    /// A body that came too slowly.
    SlowBody,
    /// A content encoding that is invalid or unknown.
    BadEncoding,
    /// It led to an address that is not allowed.
    ClosedAddress,
    /// It asked us to slow down (429, 503).
    AskedToSlowDown,
    /// A server error (5xx).
    ServerError,
    /// A bad redirect: to itself, without a target, or an endless chain.
    RedirectLoop,
    /// Validators that claimed that nothing had changed when something had.
    LyingValidators,
    /// More links than the limit.
    TooManyLinks,
    /// A defect of this program.
    Defect,
}

impl Trouble {
    /// All kinds, in the order of their numbers on disk.
    const ALL: [Self; 18] = [
        Self::NoAddress,
        Self::CannotConnect,
        Self::Tls,
        Self::TimeOut,
        Self::Broken,
        Self::HugeHeaders,
        Self::BadHttp,
        Self::HugeBody,
        Self::Bomb,
        Self::SlowBody,
        Self::BadEncoding,
        Self::ClosedAddress,
        Self::AskedToSlowDown,
        Self::ServerError,
        Self::RedirectLoop,
        Self::LyingValidators,
        Self::TooManyLinks,
        Self::Defect,
    ];

    /// Its name, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::NoAddress => "no address",
            Self::CannotConnect => "no connection",
            Self::Tls => "TLS failure",
            Self::TimeOut => "time-out",
            Self::Broken => "broken connection",
            Self::HugeHeaders => "huge headers",
            Self::BadHttp => "bad HTTP",
            Self::HugeBody => "huge body",
            Self::Bomb => "decompression bomb",
            Self::SlowBody => "slow body",
            Self::BadEncoding => "bad encoding",
            Self::ClosedAddress => "closed address",
            Self::AskedToSlowDown => "asked to slow down",
            Self::ServerError => "server error",
            Self::RedirectLoop => "redirect loop",
            Self::LyingValidators => "lying validators",
            Self::TooManyLinks => "too many links",
            Self::Defect => "internal error",
        }
    }

    /// The trouble of a visit to a page: that of its exchange, or else of what the answer says.
    pub(super) fn of_visit(visit: &PageVisit) -> Option<Self> {
        visit.fetch.as_ref().and_then(Self::of).or(match (&visit.finding, &visit.reading) {
            (Finding::Failed(VisitFailure::RedirectsToItself | VisitFailure::RedirectsNowhere(_)), _) => {
                Some(Self::RedirectLoop)
            }
            (_, Some(reading)) if reading.links_left_out > 0 => Some(Self::TooManyLinks),
            _ => None,
        })
    }

    /// The trouble of an exchange, if it had one.
    pub fn of(fetch: &Fetch) -> Option<Self> {
        match &fetch.answer {
            Answer::Failed(failure) => Some(Self::of_failure(failure)),
            Answer::Refused(Refusal::PrivateAddress { .. }) => Some(Self::ClosedAddress),
            Answer::Refused(_) => None,
            Answer::Response(response) => match (response.truncated, response.status) {
                (Some(cut), _) => Some(Self::of_truncation(cut)),
                (None, 429 | 503) => Some(Self::AskedToSlowDown),
                (None, 500..) => Some(Self::ServerError),
                (None, _) => None,
            },
        }
    }

    fn of_failure(failure: &Failure) -> Self {
        match failure {
            Failure::Defect(_) => Self::Defect,
            Failure::Dns(_) => Self::NoAddress,
            Failure::Connect(_) => Self::CannotConnect,
            Failure::Tls(_) => Self::Tls,
            Failure::Timeout(_) => Self::TimeOut,
            Failure::Closed => Self::Broken,
            Failure::HeadTooLarge => Self::HugeHeaders,
            Failure::Protocol(_) => Self::BadHttp,
        }
    }

    fn of_truncation(cut: Truncation) -> Self {
        match cut {
            Truncation::Size | Truncation::DecodedSize => Self::HugeBody,
            Truncation::Bomb => Self::Bomb,
            Truncation::Idle | Truncation::Slow => Self::SlowBody,
            Truncation::Closed => Self::Broken,
            Truncation::Framing => Self::BadHttp,
            Truncation::Undecodable | Truncation::UnknownEncoding => Self::BadEncoding,
        }
    }
}

/// Number of occurrences of each kind.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Met(BTreeMap<Trouble, u64>);

impl Met {
    fn decode(bytes: &Opaque) -> Self {
        let mut input = Input::new(&bytes.0);
        let mut met = BTreeMap::new();
        while input.left() > 0 {
            let (Ok(number), Ok(count)) = (take_number(&mut input), take_number(&mut input)) else {
                return Self::default();
            };
            let trouble = usize::try_from(number).ok().and_then(|number| Trouble::ALL.get(number));
            met.extend(trouble.map(|trouble| (*trouble, count)));
        }
        Self(met)
    }

    fn encode(&self) -> Opaque {
        let mut output = Vec::new();
        for (trouble, count) in &self.0 {
            put_number(*trouble as u64, &mut output);
            put_number(*count, &mut output);
        }
        Opaque(output)
    }
}

impl Writer {
    /// Counts a trouble of a site, if there was one.
    pub(super) fn meet(&mut self, site: SiteNumber, trouble: Option<Trouble>) {
        let Some(trouble) = trouble else { return };
        let record = self.site_mut(site);
        let mut met = Met::decode(&record.evidence);
        *met.0.entry(trouble).or_default() += 1;
        record.evidence = met.encode();
    }
}

impl Memory {
    /// The troubles of all sites, most frequent first, at most `limit` lines.
    pub(super) fn met(&self, limit: usize) -> Vec<TroubleLine> {
        let mut lines: Vec<TroubleLine> = self
            .sites
            .iter()
            .filter(|record| !record.evidence.0.is_empty())
            .flat_map(|record| {
                let line = |(trouble, count): (Trouble, u64)| TroubleLine {
                    site: record.site.clone(),
                    what: trouble.words().to_owned(),
                    count,
                };
                Met::decode(&record.evidence).0.into_iter().map(line)
            })
            .collect();
        lines.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.site.cmp(&other.site)));
        lines.truncate(limit);
        lines
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_trouble_stands_at_its_number() {
        for (number, trouble) in Trouble::ALL.into_iter().enumerate() {
            assert_eq!(trouble as usize, number);
        }
    }

    proptest! {
        #[test]
        fn counts_come_back(
            counts in prop::collection::btree_map(0..Trouble::ALL.len(), any::<u64>(), 0..9),
        ) {
            let met = Met(counts.into_iter().map(|(number, count)| (Trouble::ALL[number], count)).collect());
            prop_assert_eq!(Met::decode(&met.encode()), met);
        }

        #[test]
        fn any_bytes_are_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            Met::decode(&Opaque(bytes));
        }
    }
}
