//! Documents that are pages of a site of a crawl: as its Collection holds them now, or held them at a moment.
//!
//! While the crawl runs its process holds the stores: then it is asked, page by page, for what it would show anyone. Pages that it no longer keeps are
//! then left out, also of a moment in the past.

use std::path::Path;

use freshet_crawl::counter;
use freshet_crawl::desk::{Answer, PageLine, PageOrder, Question, site_named};
use freshet_crawl::opening::is_crawl;
use freshet_crawl::page::PageUrl;
use freshet_crawl::web::decoded;
use freshet_store::store::{Settings, Store};
use freshet_store::time::Timestamp;

use super::complete::Desk;
use crate::error::TextError;

/// Reads all pages that a site had.
pub(super) fn read_all(
    directory: &Path,
    site: &str,
    at: Option<Timestamp>,
    desk: &mut Desk,
) -> Result<(), TextError> {
    if !is_crawl(directory) {
        return Err(TextError::damaged(directory, "it holds no crawl; `freshet crawl` makes one"));
    }
    if let Some(pages) = pages_of_running(directory, site)? {
        return read_running(directory, &pages, at, desk);
    }
    let store = Store::open(directory, Settings::default())?;
    let reader = store.reader();
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
                desk.take(&url, response.header("content-type"), &body);
            }
            Ok(None) => {}
            Err(error) => desk.pass_over(url.as_str(), error),
        }
    }
    Ok(())
}

/// The pages of a site of the crawl that runs; none if none does.
fn pages_of_running(directory: &Path, site: &str) -> Result<Option<Vec<PageLine>>, TextError> {
    let question =
        Question::Pages { site: Some(site.to_owned()), sort: PageOrder::Importance, limit: usize::MAX };
    match ask(directory, &question)? {
        None => Ok(None),
        Some(Answer::Pages(pages)) if pages.is_empty() => Err(TextError::damaged(
            directory,
            format!("{site} is not a site of this crawl, or none of its pages is kept"),
        )),
        Some(Answer::Pages(pages)) => Ok(Some(pages)),
        Some(_) => {
            Err(TextError::damaged(directory, "the crawl that runs there does not say which pages it has"))
        }
    }
}

fn read_running(
    directory: &Path,
    pages: &[PageLine],
    at: Option<Timestamp>,
    desk: &mut Desk,
) -> Result<(), TextError> {
    for page in pages.iter().filter(|page| page.note != "gone" || at.is_some()) {
        let question = Question::Cat { url: page.url.clone(), at_ms: at.map(Timestamp::millis), text: true };
        match ask(directory, &question)? {
            Some(Answer::Cat(copy)) if copy.content.is_empty() => desk.pass_over(&page.url, "it has no text"),
            Some(Answer::Cat(copy)) => desk.take_text(&format!("{}\n{}", page.title, copy.content)),
            // A page that was never copied is no document.
            Some(_) => {}
            None => {
                return Err(TextError::damaged(
                    directory,
                    "the crawl ended while its pages were read: try again",
                ));
            }
        }
    }
    Ok(())
}

fn ask(directory: &Path, question: &Question) -> Result<Option<Answer>, TextError> {
    counter::ask(directory, question).map_err(TextError::file("ask the crawl in", directory))
}
