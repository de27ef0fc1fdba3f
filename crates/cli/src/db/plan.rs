//! `freshet db plan`: how often each summary is worth a refresh.

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use comfy_table::{Table, presets};
use freshet_text::weeks::contest::{Contest, Schedule};
use freshet_text::weeks::evaluation::{Outcome, evaluate};
use freshet_text::weeks::fit::name_of;
use freshet_text::weeks::from_summary_store::past_divergence;
use freshet_text::weeks::model::{Known, Model, Prediction};
use freshet_text::weeks::plan::{Plan, for_precision, naive, optimal};
use freshet_text::weeks::study::MEASURES;
use freshet_theory::refresh::survival::weibull::WeibullSurvival;
use serde_json::json;

use super::fit::Watch;
use super::home::{Home, documents};
use super::past::{Numbers, Past, parse_numbers};
use crate::plan::quantity::parse_frequency;
use crate::span::parse_days;

/// Plan how often to refresh each summary, on a budget or for a share of refreshes that find a change
///
/// The update intervals that keep most summaries up to date (the text's Problem 1), by the model of `freshet db fit` or, without one, by the
/// published coefficients. Refreshing all alike stands beside it.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct PlanOptions {
    #[command(flatten)]
    pub(super) effort: Effort,

    #[command(flatten)]
    past: Past,

    #[command(flatten)]
    watch: Watch,

    /// With --data: hold plans for these mean intervals against what happened, each database by a model made without it
    #[arg(long, value_name = "WEEKS", value_parser = parse_numbers, requires = "data")]
    evaluate: Option<Numbers>,

    #[command(flatten)]
    home: Home,
}

/// What may be spent, and by which model.
#[derive(Args)]
pub(super) struct Effort {
    /// Each summary this often, on average: 10w
    #[arg(long, value_name = "SPAN", value_parser = parse_days)]
    every: Option<f64>,

    /// Refreshes in all: 200/week
    #[arg(long, value_name = "N/SPAN", conflicts_with = "every")]
    budget: Option<String>,

    /// As often as this share of refreshes finds a change, such as 0.5
    #[arg(long, value_name = "SHARE", conflicts_with_all = ["every", "budget"])]
    precision: Option<f64>,

    /// The divergence, in nats, at which a summary counts as changed; the middle one of the model if nothing is said
    #[arg(long, value_name = "NATS")]
    threshold: Option<f64>,

    /// A saved model instead of the one beside the databases; `published` for the text's
    #[arg(long, value_name = "FILE|published")]
    model: Option<PathBuf>,
}

const AFTER_HELP: &str = "Examples:
  freshet db plan --every 10w
  freshet db plan --budget 200/week --threshold 0.25
  freshet db plan --precision 0.5
  freshet db plan --data tables --evaluate 2,5,10,20,30,40,50
Plans held against the past: naive refreshes all alike, hindsight knows how each database will change, the others are made by a model of that
set of features that has not seen the database.";

/// A plan for the databases of a summary store.
pub(super) struct Planned {
    pub(super) names: Vec<String>,
    pub(super) predictions: Vec<Prediction>,
    pub(super) known: Vec<Known>,
    pub(super) plan: Plan,
    pub(super) naive: Plan,
    pub(super) weeks: f64,
    pub(super) threshold: f64,
    pub(super) origin: String,
}

/// Makes a plan, or holds plans against the past.
pub(crate) fn run(options: &PlanOptions) -> Result<()> {
    if let Some(weeks) = &options.evaluate {
        return hold_against_past(options, &weeks.0);
    }
    if options.past.is_of_tables() {
        bail!(
            "with --data plans are held against the past: say for which mean intervals with --evaluate 2,5,10,20,50"
        );
    }
    let planned = plan(&options.home, &options.effort)?;
    let mut output = io::stdout().lock();
    if options.home.json {
        let lines: Vec<_> = (0..planned.names.len())
            .map(|n| {
                json!({
                    "name": planned.names[n],
                    "interval_weeks": finite(planned.plan.intervals[n]),
                    "scale": planned.predictions[n].scale,
                    "shape": planned.predictions[n].shape,
                    "features": name_of(planned.predictions[n].set),
                })
            })
            .collect();
        let value = json!({
            "model": planned.origin,
            "threshold": planned.threshold,
            "mean_interval_weeks": planned.weeks,
            "up_to_date": planned.plan.survival,
            "update_precision": planned.plan.precision,
            "naive": {"up_to_date": planned.naive.survival, "update_precision": planned.naive.precision},
            "databases": lines,
        });
        writeln!(output, "{value}")?;
        return Ok(());
    }
    writeln!(
        output,
        "by the model {}, a summary counts as changed at {} nats",
        planned.origin, planned.threshold
    )?;
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["database", "refresh every", "documents", "κ1", "λ", "γ", "by"]);
    for n in 0..planned.names.len() {
        let (prediction, known) = (&planned.predictions[n], &planned.known[n]);
        let by =
            if prediction.is_guess { "the usual size: nothing is known" } else { name_of(prediction.set) };
        table.add_row([
            planned.names[n].clone(),
            match finite(planned.plan.intervals[n]) {
                Some(weeks) => format!("{weeks:.1} weeks"),
                None => "never: it is not worth it".to_owned(),
            },
            known.size.map_or("unknown".to_owned(), documents),
            known.past_divergence.map_or(String::new(), |divergence| format!("{divergence:.4}")),
            format!("{:.4}", prediction.scale),
            format!("{:.3}", prediction.shape),
            by.to_owned(),
        ]);
    }
    writeln!(output, "{table}")?;
    let line = |what: &str, plan: &Plan| {
        format!(
            "{what}: {:.1}% of summaries up to date, {:.1}% of refreshes find a change",
            100.0 * plan.survival,
            100.0 * plan.precision
        )
    };
    writeln!(output, "each every {:.1} weeks on average", planned.weeks)?;
    writeln!(output, "{}", line("this plan", &planned.plan))?;
    writeln!(output, "{}", line("all alike", &planned.naive))?;
    Ok(())
}

fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// The plan for all databases that have a summary.
pub(super) fn plan(home: &Home, effort: &Effort) -> Result<Planned> {
    let model = model(home, effort)?;
    let threshold =
        effort.threshold.unwrap_or(model.thresholds.get(model.thresholds.len() / 2).copied().unwrap_or(0.5));
    let store = home.store();
    let (mut names, mut known) = (Vec::new(), Vec::new());
    for name in home.names()? {
        let Some(version) = store.latest(&name)? else { continue };
        known.push(Known {
            stratum: store.database(&name)?.stratum(),
            size: version.facts.size.documents(),
            past_divergence: past_divergence(&store, &name)?,
        });
        names.push(name);
    }
    if names.is_empty() {
        bail!("no database has a summary yet: `freshet db sample NAME` learns one");
    }
    let predictions: Vec<Prediction> = known.iter().map(|known| model.predict(known, threshold)).collect();
    let laws: Vec<WeibullSurvival> = predictions.iter().map(|prediction| prediction.law).collect();
    let (weeks, plan) = match (effort.every, &effort.budget, effort.precision) {
        (Some(days), ..) => (days / 7.0, optimal(&laws, days / 7.0)),
        (_, Some(budget), _) => {
            let per_day = parse_frequency(budget).map_err(anyhow::Error::msg)?.get();
            if per_day <= 0.0 {
                bail!("--budget: it is nothing; write 200/week");
            }
            let weeks = laws.len() as f64 / (7.0 * per_day);
            (weeks, optimal(&laws, weeks))
        }
        (_, _, Some(precision)) => {
            if !(0.0..1.0).contains(&precision) {
                bail!("--precision: {precision} is not a share between 0 and 1");
            }
            match for_precision(&laws, precision) {
                Some(found) => found,
                None => bail!("--precision: summaries change so seldom that no interval reaches {precision}"),
            }
        }
        _ => bail!("say what may be spent: --every 10w, --budget 200/week, or --precision 0.5"),
    };
    let naive = naive(&laws, weeks);
    Ok(Planned { names, predictions, known, plan, naive, weeks, threshold, origin: model.origin })
}

fn model(home: &Home, effort: &Effort) -> Result<Model> {
    match &effort.model {
        Some(path) if path.as_os_str() == "published" => Ok(Model::published()),
        Some(path) => match Model::read(path)? {
            Some(model) => Ok(model),
            None => bail!("there is no model {}", path.display()),
        },
        None => {
            Ok(Model::read(&home.store().directory().join("model.json"))?.unwrap_or_else(Model::published))
        }
    }
}

/// Plans by each set of features and all alike, held against what happened.
fn hold_against_past(options: &PlanOptions, every: &[f64]) -> Result<()> {
    // Summaries may grow as old as the data let them.
    let drifts = options.past.drifts(&options.home, usize::MAX)?;
    let (observation, features, lives) = options.watch.observe(&drifts)?;
    let threshold =
        options.effort.threshold.unwrap_or(observation.thresholds[observation.thresholds.len() / 2]);
    let contest = Contest::of(&drifts, &observation, &features, &lives, threshold);
    let mut output = io::stdout().lock();
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let header = ["T, weeks", "plan"].into_iter().chain(MEASURES.map(|(name, _)| name));
    table.set_header(header.chain(["up to date", "update precision", "predicted", "refreshes per week"]));
    let mut lines = Vec::new();
    for &weeks in every {
        for Schedule { name, intervals, precision } in contest.schedules(weeks) {
            let outcome = evaluate(&drifts, &intervals, options.watch.training, threshold);
            table.add_row(cells(weeks, name, &outcome, precision));
            lines.push(json!({
                "every_weeks": weeks, "plan": name, "means": outcome.means, "up_to_date": outcome.up_to_date,
                "update_precision": outcome.precision, "predicted_precision": precision, "refreshes_per_week": outcome.refreshes,
            }));
        }
    }
    if options.home.json {
        writeln!(output, "{}", serde_json::to_string(&lines)?)?;
        return Ok(());
    }
    writeln!(
        output,
        "{} databases, {}; changed at {threshold} nats; weeks {} on",
        drifts.len(),
        options.past.words(),
        options.watch.training
    )?;
    writeln!(output, "{table}")?;
    Ok(())
}

fn cells(weeks: f64, name: &str, outcome: &Outcome, predicted: Option<f64>) -> Vec<String> {
    let share = |share: Option<f64>| share.map_or(String::new(), |share| format!("{share:.3}"));
    let mut cells = vec![format!("{weeks}"), name.to_owned()];
    cells.extend(outcome.means.iter().map(|mean| format!("{mean:.4}")));
    cells.extend([
        share(Some(outcome.up_to_date)),
        share(outcome.precision),
        share(predicted),
        format!("{:.4}", outcome.refreshes),
    ]);
    cells
}
