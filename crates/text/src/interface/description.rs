//! What is said of a search interface.

use freshet_fetch::page::{Canonical, PageUrl};
use serde::{Deserialize, Serialize};

use super::pattern::Pattern;
use super::template::Template;
use crate::error::TextError;

/// How a database is searched.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// The URL of a search: `{query}` stands for the word, `{n}` for the number of the page of results.
    pub search: String,
    /// Where a page of results has them: CSS such as `li.result`, or a JSON path such as `$.hits[*]`.
    pub results: String,
    /// Where a result has its link; the first link in it, or its `url`, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Where a result has its text; all of it, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Where a page of results says how many there are in all: CSS, JSON path, or a regular expression between slashes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<String>,
    /// Whether a document is what its link leads to, or what the result says.
    #[serde(default)]
    pub documents: Documents,
}

/// What the documents of an interface are.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Documents {
    /// What the link of a result leads to: fetched.
    #[default]
    Linked,
    /// The text of the result itself: nothing is fetched.
    Shown,
}

impl Interface {
    /// Says what in the description means nothing.
    pub fn check(&self) -> Result<(), TextError> {
        let template = Template::parse(&self.search).map_err(|why| TextError::description("search", why))?;
        let url = template.url("word", 1, 10);
        plain_urls().of(&url).map_err(|why| TextError::description("search", format!("{url}: {why}")))?;
        let check = |what, text: &str| Pattern::parse(text).map_err(|why| TextError::description(what, why));
        let results = check("results", &self.results)?;
        if matches!(results, Pattern::Regex(_)) {
            return Err(TextError::description(
                "results",
                "results are named by CSS or by a JSON path, not by a regular expression",
            ));
        }
        for (what, text) in [("link", &self.link), ("text", &self.text)] {
            let Some(pattern) = text.as_deref().map(|text| check(what, text)).transpose()? else { continue };
            if matches!(pattern, Pattern::Json(_)) != matches!(results, Pattern::Json(_)) {
                return Err(TextError::description(
                    what,
                    "it must be of the same sort as the results: CSS with CSS, a JSON path with a JSON path",
                ));
            }
        }
        self.count.as_deref().map_or(Ok(()), |count| check("count", count).map(|_| ()))
    }

    /// The host that is asked.
    pub fn host(&self) -> Option<String> {
        Some(self.url("word", 1, 10)?.host().to_owned())
    }

    /// The URL of a page of results, counted from one.
    pub fn url(&self, query: &str, page: u32, results_per_page: u32) -> Option<PageUrl> {
        plain_urls().of(&Template::parse(&self.search).ok()?.url(query, page, results_per_page)).ok()
    }

    /// Whether there is more than one page of results.
    pub fn has_pages(&self) -> bool {
        Template::parse(&self.search).is_ok_and(|template| template.has_pages())
    }
}

/// URLs as they are: a search may need parameters that a crawl drops.
pub(crate) fn plain_urls() -> Canonical {
    Canonical { drop_tracking: false, drop_session_ids: false, drop_parameters: Vec::new() }
}
