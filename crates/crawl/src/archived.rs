//! Conversion of a visit to its WARC records in the Collection: the request, the response and its outcome.
//!
//! The fetch task builds the records when the response will probably be kept whole. Only the writer decides
//! that; it then just has to append them.

use freshet_fetch::web::{self, Answer, Fetch, Response};
use freshet_protocol::ids::PageNumber;
use freshet_store::collection::{Exchange, ExchangeKind, Folding, Truncation};

use crate::visit::{Finding, PageVisit, Visit};

/// Builds the records of a visit in advance, if the writer will probably need them.
pub(crate) fn fold(visit: &mut Visit, folding: &Folding) {
    let Visit::Page(visit) = visit else { return };
    let is_kept_whole = match &visit.finding {
        Finding::New | Finding::Back | Finding::Changed(_) => {
            visit.reading.as_ref().is_some_and(|reading| reading.robots.index)
        }
        Finding::Gone | Finding::Moved { .. } => true,
        Finding::Unchanged | Finding::NotModified | Finding::Failed(_) | Finding::Refused(_) => false,
    };
    if is_kept_whole && let Some(exchange) = exchange(visit, ExchangeKind::Full, None) {
        visit.folded = Some(folding.fold(&exchange));
        let_go_of_bytes(visit);
    }
}

/// Drops the bytes that nothing reads once the records are built. The thread that allocated them frees them,
/// because it needs as much memory for the next page.
fn let_go_of_bytes(visit: &mut PageVisit) {
    let fetches = visit.fetch.iter_mut().chain(&mut visit.second);
    for fetch in fetches {
        if let Answer::Response(response) = &mut fetch.answer {
            (response.raw_body, response.body) = <_>::default();
        }
    }
    if let Some(reading) = &mut visit.reading {
        (reading.blocks, reading.labels) = <_>::default();
    }
}

/// Builds the exchange that the Collection stores for a visit. None if there was no response.
pub(crate) fn exchange(visit: &PageVisit, kind: ExchangeKind, page: Option<PageNumber>) -> Option<Exchange> {
    let fetch = visit.fetch.as_ref()?;
    let response = response(Some(fetch))?;
    let reading = visit.reading.as_ref();
    Some(Exchange {
        page,
        url: visit.url.as_str().to_owned(),
        time: visit.time,
        kind,
        address: fetch.address,
        request_head: fetch.request_head.clone(),
        response_head: response.head.clone(),
        status: response.status,
        body: response.raw_body.clone(),
        truncated: response.truncated.map(truncation),
        millis: u32::try_from(fetch.elapsed.as_millis()).unwrap_or(u32::MAX),
        charset: reading.and_then(|reading| reading.charset).map(|charset| charset.name().to_owned()),
        via: None,
        raw_digest: reading.map(|reading| reading.raw_digest),
        text_digest: reading.map(|reading| reading.text_digest),
        simhash: reading.map(|reading| reading.simhash),
        folded: visit.folded.clone().filter(|_| kind == ExchangeKind::Full),
    })
}

/// Maps a truncation to its WARC name.
fn truncation(cut: web::Truncation) -> Truncation {
    match cut {
        web::Truncation::Size | web::Truncation::DecodedSize | web::Truncation::Bomb => Truncation::Length,
        web::Truncation::Idle | web::Truncation::Slow => Truncation::Time,
        web::Truncation::Closed => Truncation::Disconnect,
        _ => Truncation::Unspecified,
    }
}

/// The response of a fetch, if there was one.
pub(crate) fn response(fetch: Option<&Fetch>) -> Option<&Response> {
    match &fetch?.answer {
        Answer::Response(response) => Some(response),
        _ => None,
    }
}
