//! `freshet db search`: sends a query to the databases that are most likely to answer it.

use std::io::{self, Write as _};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::Args;
use freshet_crawl::clock::{Clock, Pace};
use freshet_fetch::page::PageUrl;
use freshet_text::database::Place;
use freshet_text::interface::answer::Trouble;
use freshet_text::interface::{Found, Interface, read_answer};
use freshet_text::search::{Returned, merge};
use freshet_text::visitor::Visitor;
use serde_json::json;

use super::home::Home;
use super::select::{Ranking, ranked};
use crate::crawl::manners::Manners;

/// Send a query to the best databases and merge what they return
#[derive(Args)]
#[command(after_help = "Example:\n  freshet db search \"heart disease\" --top 3 --contact me@example.org")]
pub(crate) struct SearchOptions {
    /// The words of the query
    query: String,

    #[command(flatten)]
    ranking: Ranking,

    /// Results in all, at most
    #[arg(long, default_value_t = 10, value_name = "N")]
    limit: usize,

    #[command(flatten)]
    manners: Manners,

    #[command(flatten)]
    home: Home,
}

/// Maximum length of a result's text shown, in characters.
const TEXT_SHOWN: usize = 160;

/// Runs the command.
pub(crate) fn run(options: &SearchOptions) -> Result<()> {
    let store = options.home.store();
    let choices = ranked(&options.home, &options.query, &options.ranking.all())?;
    let (web, politeness) = options.manners.settings(&options.home.directory)?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
    let (returned, troubles) = runtime.block_on(async {
        let visitor = Visitor::new(web, politeness, Arc::new(Clock::new(Pace::WALL)))?;
        let visitor = visitor.beside_crawl(options.home.directory.clone());
        let (mut returned, mut troubles) = (Vec::new(), Vec::new());
        let mut asked = 0;
        for choice in choices {
            if options.ranking.top <= asked {
                break;
            }
            let results = match store.database(&choice.name)?.place {
                Place::Search(interface) => {
                    asked += 1;
                    ask(&visitor, &interface, &options.query).await
                }
                Place::Dir { .. } | Place::Warc { .. } | Place::Site { .. } => {
                    Err("it has no search interface".to_owned())
                }
            };
            match results {
                Ok(results) if results.is_empty() => {
                    troubles.push((choice.name, "it returned nothing".to_owned()));
                }
                Ok(results) => returned.push(Returned { name: choice.name, share: choice.share, results }),
                Err(why) => troubles.push((choice.name, why)),
            }
        }
        anyhow::Ok((returned, troubles))
    })?;
    let hits = merge(returned, options.limit);
    let mut output = io::stdout().lock();
    if options.home.json {
        let lines: Vec<_> = hits
            .iter()
            .map(|hit| {
                json!({
                    "url": hit.found.url.as_ref().map(PageUrl::as_str),
                    "title": hit.found.title,
                    "text": hit.found.text,
                    "databases": hit.databases,
                    "score": hit.score
                })
            })
            .collect();
        let troubles: serde_json::Map<_, _> =
            troubles.into_iter().map(|(name, why)| (name, json!(why))).collect();
        writeln!(output, "{}", json!({"results": lines, "without_results": troubles}))?;
        return Ok(());
    }
    if hits.is_empty() {
        writeln!(output, "nothing was found")?;
    }
    for (rank, hit) in hits.iter().enumerate() {
        let url = hit.found.url.as_ref().map_or("(no link)", |url| url.as_str());
        let text: String = hit.found.text.chars().take(TEXT_SHOWN).collect();
        writeln!(
            output,
            "{}. {} [{}]\n   {url}\n   {text}",
            rank + 1,
            hit.found.title,
            hit.databases.join(", ")
        )?;
    }
    for (name, why) in troubles {
        writeln!(output, "{name}: no results: {why}")?;
    }
    Ok(())
}

/// The first page of results from one database, or why there is none.
async fn ask(visitor: &Visitor, interface: &Interface, query: &str) -> Result<Vec<Found>, String> {
    let url = interface.url(query, 1, 10).ok_or("the query cannot stand in a URL")?;
    if visitor.needs_contact(url.host()) {
        return Err("say with --contact whom its owner may write to".to_owned());
    }
    let page = visitor.visit(&url).await.map_err(|why| why.to_string())?;
    let answer = read_answer(interface, &page.url, page.content_type.as_deref(), &page.body);
    match answer.trouble {
        Some(Trouble::Captcha) => Err("it asks whether we are human".to_owned()),
        Some(Trouble::Unreadable(why)) => Err(why),
        None => Ok(answer.results),
    }
}
