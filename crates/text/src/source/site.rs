//! Documents from pages of a crawled site, as the Collection holds them now or held them at a moment. The
//! crawl may be running.

use std::path::Path;

use freshet_crawl::opening::is_crawl;
use freshet_crawl::queries::site_named;
use freshet_fetch::page::PageUrl;
use freshet_fetch::web::decoded;
use freshet_protocol::time::Timestamp;
use freshet_store::reader::Reader;

use super::complete::Documents;
use crate::error::TextError;

/// Reads all pages that a site had.
pub(super) fn read_all(
    directory: &Path,
    site: &str,
    at: Option<Timestamp>,
    documents: &mut Documents,
) -> Result<(), TextError> {
    if !is_crawl(directory) {
        return Err(TextError::damaged(directory, "it holds no crawl; `freshet crawl` makes one"));
    }
    let reader = Reader::open(directory)?;
    let Some((number, _)) = site_named(&reader, site)? else {
        return Err(TextError::damaged(directory, format!("{site} is not a site of this crawl")));
    };
    let moment = at.unwrap_or(Timestamp::from_millis(i64::MAX));
    for entry in reader.pages() {
        let (page, record) = entry?;
        let is_there = record.site == number
            && record.admitted <= moment
            && record.discarded.is_none_or(|discarded| moment < discarded)
            && (at.is_some() || !record.gone);
        if !is_there {
            continue;
        }
        let Some(url) = reader.url(record.url)?.and_then(|known| PageUrl::stored(&known.url)) else {
            continue;
        };
        match reader.response_at(page, moment) {
            Ok(Some(response)) => {
                let body = decoded(response.header("content-encoding"), response.body.clone());
                documents.take(&url, response.header("content-type"), &body);
            }
            Ok(None) => {}
            Err(error) => documents.pass_over(url.as_str(), error),
        }
    }
    Ok(())
}
