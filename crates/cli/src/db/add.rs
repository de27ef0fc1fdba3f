//! `freshet db add`: adds a text database.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use freshet_crawl::clock::{Clock, Pace};
use freshet_text::database::{Database, Place};
use freshet_text::interface::open_search::{Offer, read_description};
use freshet_text::interface::{Documents, Interface};
use freshet_text::sample::SampleRules;
use freshet_text::visitor::Visitor;
use freshet_text::words::{Language, Wording};

use super::home::Home;
use crate::crawl::manners::Manners;

/// Add a text database: a search interface, a site of the crawl, a directory, or WARC files
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct AddOptions {
    /// What to call it: letters, digits, `.`, `-`, `_`
    name: String,

    #[command(flatten)]
    place: PlaceOptions,

    /// Where a page of results has them: CSS such as 'li.result', or a JSON path such as '$.hits'
    #[arg(long, value_name = "CSS|PATH")]
    results: Option<String>,

    /// Where a page of results says how many documents match: CSS, JSON path, or a regular expression between
    /// slashes
    #[arg(long, value_name = "CSS|PATH|/REGEX/")]
    count: Option<String>,

    /// Where a result has its link, if not in its first link or its `url`
    #[arg(long, value_name = "CSS|PATH")]
    link: Option<String>,

    /// Where a result has its text, if not all over
    #[arg(long, value_name = "CSS|PATH")]
    text: Option<String>,

    /// What a document is: the page that a result links to, or the text that the result shows
    #[arg(long, value_enum, default_value = "linked")]
    documents: DocumentsChoice,

    /// What sort of database it is: those of one sort share a baseline of survival. The top-level domain if
    /// nothing is said
    #[arg(long, value_name = "WORD")]
    category: Option<String>,

    /// Leave out the stop words of this language
    #[arg(long, value_name = "LANGUAGE", value_parser = parse_language)]
    stop_words: Option<Language>,

    /// Cut words to their stems by the rules of this language
    #[arg(long, value_name = "LANGUAGE", value_parser = parse_language)]
    stem: Option<Language>,

    /// Documents in a sample
    #[arg(long, value_name = "N")]
    sample: Option<u32>,

    /// Queries that a sample may ask
    #[arg(long, value_name = "N")]
    queries: Option<u32>,

    /// Words to begin a sample with
    #[arg(long, value_name = "WORDS")]
    start: Option<String>,

    #[command(flatten)]
    manners: Manners,

    #[command(flatten)]
    home: Home,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct PlaceOptions {
    /// The URL of a search; {query} stands for the words, {page} (or {startIndex}) for the number of the page
    /// of results (or of its first)
    #[arg(long, value_name = "URL")]
    search: Option<String>,

    /// An OpenSearch description, a file or a URL; --results is still needed
    #[arg(long, value_name = "FILE|URL")]
    open_search: Option<String>,

    /// A site of the crawl in the same directory: a host, or scheme and host
    #[arg(long, value_name = "SITE")]
    site: Option<String>,

    /// A directory with texts
    #[arg(long, value_name = "PATH")]
    dir: Option<PathBuf>,

    /// A WARC file, or a directory of them
    #[arg(long, value_name = "PATH")]
    warc: Option<PathBuf>,

    /// A description in TOML, such as another database's database.toml
    #[arg(long, value_name = "FILE")]
    toml: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum DocumentsChoice {
    /// What its link leads to, fetched
    Linked,
    /// The text of the result itself
    Shown,
}

const AFTER_HELP: &str = "Examples:
  freshet db add medline --search 'https://example.org/search?q={query}&page={page}' --results 'li.result' \
      --count '/of ([0-9,]+)/'
  freshet db add api --search 'https://example.org/api?q={query}' --results '$.hits[*]' --count '$.total' \
      --text '$.body' --documents shown
  freshet db add docs --site docs.example.org --category org
  freshet db add notes --dir ~/notes --stop-words english --stem english
Then: freshet db sample NAME";

/// Adds a database.
pub(crate) fn run(options: &AddOptions) -> Result<()> {
    let database = describe(options)?;
    database.check()?;
    options.home.store().add(&options.name, &database)?;
    let place = options.home.store().place(&options.name)?;
    let mut output = io::stdout().lock();
    if options.home.json {
        writeln!(output, "{}", serde_json::to_string(&database)?)?;
    } else {
        writeln!(
            output,
            "{} is added; what it is stands in {}. `freshet db sample {0}` learns its summary.",
            options.name,
            place.join("database.toml").display()
        )?;
    }
    Ok(())
}

fn describe(options: &AddOptions) -> Result<Database> {
    let place = &options.place;
    if let Some(path) = &place.toml {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        return Database::from_toml(&text)
            .map_err(|why| anyhow::anyhow!("{} cannot be used: {why}", path.display()));
    }
    let place = if let Some(site) = &place.site {
        Place::Site { site: site.clone() }
    } else if let Some(path) = &place.dir {
        Place::Dir { path: absolute(path)? }
    } else if let Some(path) = &place.warc {
        Place::Warc { path: absolute(path)? }
    } else if let Some(search) = &place.search {
        Place::Search(interface(options, search.clone())?)
    } else if let Some(description) = &place.open_search {
        Place::Search(interface(options, open_search(options, description)?.template)?)
    } else {
        bail!("say where it is: --search, --open-search, --site, --dir, --warc or --toml");
    };
    let usual = SampleRules::default();
    let start_words =
        options.start.iter().flat_map(|words| words.split_whitespace()).map(str::to_lowercase).collect();
    Ok(Database {
        category: options.category.clone(),
        place,
        wording: Wording { stop_words: options.stop_words, stemming: options.stem },
        sample: SampleRules {
            documents: options.sample.unwrap_or(usual.documents),
            queries_max: options.queries.unwrap_or(usual.queries_max),
            start_words,
            ..usual
        },
    })
}

fn interface(options: &AddOptions, search: String) -> Result<Interface> {
    let results = options.results.clone().context(
        "--results is missing: say where the results stand on a page, by CSS such as 'li.result' or a JSON \
         path such as '$.hits[*]'",
    )?;
    Ok(Interface {
        search,
        results,
        link: options.link.clone(),
        text: options.text.clone(),
        count: options.count.clone(),
        documents: match options.documents {
            DocumentsChoice::Linked => Documents::Linked,
            DocumentsChoice::Shown => Documents::Shown,
        },
    })
}

/// What an OpenSearch description offers, read from a file or from the Web.
fn open_search(options: &AddOptions, description: &str) -> Result<Offer> {
    let bytes = if description.contains("://") {
        let url = freshet_fetch::page::Canonical::default()
            .of(description)
            .with_context(|| description.to_owned())?;
        let (web, politeness) = options.manners.settings(&options.home.directory)?;
        let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
        let page = runtime.block_on(async {
            let visitor = Visitor::new(web, politeness, Arc::new(Clock::new(Pace::WALL)))?;
            visitor.visit(&url).await.map_err(|why| anyhow::anyhow!("{url}: {why}"))
        })?;
        page.body.to_vec()
    } else {
        fs::read(description).with_context(|| format!("cannot read {description}"))?
    };
    read_description(&bytes).map_err(|why| anyhow::anyhow!("{description}: {why}"))
}

fn absolute(path: &PathBuf) -> Result<PathBuf> {
    fs::canonicalize(path).with_context(|| format!("cannot read {}", path.display()))
}

fn parse_language(name: &str) -> Result<Language, String> {
    Language::named(name).ok_or_else(|| {
        let known: Vec<_> = Language::ALL.iter().map(|language| language.name()).collect();
        format!("it is not known; these are: {}", known.join(", "))
    })
}
