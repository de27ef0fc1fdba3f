//! Description of a search interface.

use freshet_fetch::page::{Canonical, PageUrl};
use serde::{Deserialize, Serialize};

use super::pattern::Pattern;
use super::template::Template;
use crate::error::TextError;

/// How a database is searched.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// URL template of a search: `{query}` is replaced by the word, `{n}` by the number of the page of
    /// results.
    pub search: String,
    /// Where the results are on a page: CSS such as `li.result`, or a JSON path such as `$.hits[*]`.
    pub results: String,
    /// Where the link of a result is. Defaults to the first link in it, or its `url`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Where the text of a result is. Defaults to all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Where a page of results reports the total number of matches: CSS, a JSON path, or a regular expression
    /// between slashes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<String>,
    /// Whether a document is the page that a result links to, or the text of the result.
    #[serde(default)]
    pub documents: Documents,
}

/// What the documents of an interface are.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Documents {
    /// The page that a result links to. It is fetched.
    #[default]
    Linked,
    /// The text of the result itself. Nothing is fetched.
    Shown,
}

impl Interface {
    /// Reports the first part of the description that is invalid.
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

    /// The host that is queried.
    pub fn host(&self) -> Option<String> {
        Some(self.url("word", 1, 10)?.host().to_owned())
    }

    /// The URL of a page of results. Pages are counted from one.
    pub fn url(&self, query: &str, page: u32, results_per_page: u32) -> Option<PageUrl> {
        plain_urls().of(&Template::parse(&self.search).ok()?.url(query, page, results_per_page)).ok()
    }

    /// Whether the interface can return further pages of results.
    pub fn has_pages(&self) -> bool {
        Template::parse(&self.search).is_ok_and(|template| template.has_pages())
    }
}

/// Leaves URLs as they are: a search may need parameters that a crawl drops.
pub(crate) fn plain_urls() -> Canonical {
    Canonical { drop_tracking: false, drop_session_ids: false, drop_parameters: Vec::new() }
}
