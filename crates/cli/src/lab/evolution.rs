//! `freshet lab evolution`: how recorded pages change.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use freshet_lab::evolution::study::STEPS;
use freshet_lab::evolution::{Study, figures};
use freshet_lab::history::Window;
use freshet_lab::history::crawl::Blur;

use super::answer::{self, Answer};
use super::source::{MassChoice, Source};
use super::{evolution_json, evolution_text, source};
use crate::progress;
use crate::span::parse_days;

/// Study how recorded pages change: how often, how long they live, whether like a Poisson process
///
/// The study of Cho's thesis, chapter 4, on histories of yours. Pages are seen as daily visits would see
/// them, so that several changes of a day are one. All sites are studied together and, where there are
/// several families, each family.
#[derive(Args)]
#[command(after_help = AFTER_HELP, after_long_help = AFTER_LONG_HELP)]
pub(crate) struct EvolutionOptions {
    /// Directory with sites.parquet, pages.parquet and changes.parquet, or the directory of a crawl
    #[arg(long, value_name = "DIR")]
    data: PathBuf,

    /// Sites of this family only, such as git or ota; `all` for every site and each family
    #[arg(long, default_value = "all", value_name = "NAME|all")]
    family: String,

    /// Study the last part of each site's history, of this length; shorter histories are left out [default:
    /// 3y; of a crawl that which holds most pages for longest]
    #[arg(long, value_name = "SPAN", value_parser = parse_days, allow_hyphen_values = true)]
    window: Option<f64>,

    /// What becomes of changes that are part of a sweep over a whole site
    #[arg(long, value_enum, default_value_t = MassChoice::Keep)]
    mass: MassChoice,

    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,

    /// Write SVG figures to this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

const AFTER_HELP: &str = "Examples:
  freshet lab evolution --data histories
  freshet lab evolution --data crawl                        # what the visits of a crawl say, running or not
  freshet lab evolution --data histories --family git --window 1y --mass drop --out figures
`freshet lab evolution --help` explains the tables; `freshet lab history` makes histories.";

const AFTER_LONG_HELP: &str = "\
Tables:
  change interval   days a page was observed over the changes seen: the part of pages in each class. For the \
      crude mean a
                    page of the first class changes every day and one of the last class every year, as in \
                        the thesis
  lifespan          days a page was there: method 1 takes what was seen, method 2 twice that if the life \
      began before
                    the window or went on after it
  half              days until half of the pages that were there at first had changed or gone
  Poisson fit       intervals between changes of pages with about the same rate, against the exponential \
      distribution:
                    their variation (deviation over mean; 1 if exponential, more for bursts), the statistic \
                        of Anderson
                    and Darling and its p-value. A twin of a page has as many changes at random times: what \
                        differs
                    between a page and its twin is not a matter of rates
  estimators        rates estimated from visits at an interval, over the rate counted from all changes: 1 is \
      right

Examples:
  freshet lab evolution --data histories --json > evolution.json
  freshet lab history --synthetic gamma --sites 20 --pages 100 --out model && \
      freshet lab evolution --data model --window 2y";

/// A finished study, for the text and the JSON output.
pub(super) struct Studied<'a> {
    pub(super) options: &'a EvolutionOptions,
    pub(super) study: Study,
    pub(super) window_days: f64,
    /// How exactly the history is known; `Some` only for a crawl's own visits.
    pub(super) blur: Option<Blur>,
}

/// Runs the command.
pub(super) fn run(options: &EvolutionOptions) -> Result<()> {
    let studied = study(options)?;
    answer::print(&match options.json {
        true => Answer::Json(evolution_json::object(&studied)),
        false => Answer::Text(evolution_text::report(&studied)),
    })?;
    let out = options.out.as_deref();
    out.map_or(Ok(()), |directory| answer::write_figures(figures::all(&studied.study), directory))
}

fn study(options: &EvolutionOptions) -> Result<Studied<'_>> {
    let bar = progress::unknown("reading");
    let Source { tables, blur, window_days, .. } = source::read(&options.data, options.window)?;
    bar.finish_and_clear();
    let window = Window {
        family: (options.family != "all").then(|| options.family.clone()),
        days: window_days,
        mass: options.mass.into(),
        pages_per_site_max: None,
    };
    let bar = progress::steps("studying", (Study::groups_max(&tables, &window) * STEPS) as u64);
    let study = Study::of(&tables, &window, &|| bar.inc(1))?;
    bar.finish_and_clear();
    Ok(Studied { options, study, window_days, blur })
}

impl EvolutionOptions {
    pub(super) fn data(&self) -> &Path {
        &self.data
    }

    pub(super) fn family(&self) -> &str {
        &self.family
    }

    pub(super) fn mass(&self) -> MassChoice {
        self.mass
    }
}
