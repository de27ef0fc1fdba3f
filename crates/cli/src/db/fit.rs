//! `freshet db fit`: fits how long summaries last, by the features of their databases.

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use comfy_table::{Table, presets};
use freshet_text::weeks::drift::Drift;
use freshet_text::weeks::fit::{SETS, SetFit, fit_set, name_of, try_feature};
use freshet_text::weeks::lives::{Features, Life, Observation, features, lives};
use freshet_text::weeks::model::Model;

use super::home::Home;
use super::past::{Numbers, Past, parse_numbers};
use crate::plan::quantity::grouped;

/// Fit how long summaries last by size and past change of their databases, and save the model
///
/// Cox's regression stratified by category, with a Weibull baseline for each (the text's section 4, Tables 3
/// and 4). `freshet db plan` and `run` use the saved model; without one they use the published coefficients.
#[derive(Args)]
#[command(after_help = "Examples:\n  freshet db fit\n  freshet db fit --data tables --tau 0.005,0.01,0.02")]
pub(crate) struct FitOptions {
    #[command(flatten)]
    past: Past,

    #[command(flatten)]
    watch: Watch,

    /// Save the model here instead of beside the databases
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    home: Home,
}

/// How lives are observed.
#[derive(Args)]
pub(super) struct Watch {
    /// Thresholds of divergence, in nats, at which a summary counts as changed; chosen from the data if
    /// nothing is said
    #[arg(long, value_name = "NATS", value_parser = parse_numbers)]
    tau: Option<Numbers>,

    /// Weeks from which the features of a database are taken
    #[arg(long, default_value_t = 10, value_name = "WEEKS")]
    pub(super) training: usize,

    /// How far lives look back, in weeks
    #[arg(long, default_value_t = 52, value_name = "WEEKS")]
    pub(super) reach: usize,
}

impl Watch {
    /// The observed lifetimes, with the features of the databases.
    pub(super) fn observe(&self, drifts: &[Drift]) -> Result<(Observation, Vec<Features>, Vec<Life>)> {
        let mut tau = self.tau.as_ref().map(|tau| tau.0.clone());
        if let Some(tau) = &mut tau {
            tau.sort_by(f64::total_cmp);
        }
        let observation = Observation::of(drifts, self.training, Some(self.reach), tau)?;
        let lives = lives(drifts, &observation);
        Ok((observation, features(drifts, self.training), lives))
    }
}

/// Fits and saves a model.
pub(crate) fn run(options: &FitOptions) -> Result<()> {
    let drifts = options.past.drifts(&options.home, options.watch.reach)?;
    let (observation, features, lives) = options.watch.observe(&drifts)?;
    let fits: Vec<Result<SetFit, String>> = SETS.iter().map(|set| fit_set(*set, &features, &lives)).collect();
    let ended = lives.iter().filter(|life| life.lifetime.ended()).count();
    let training = vec![
        format!("{} databases, {}", drifts.len(), options.past.words()),
        format!("features from {} weeks, lives look back {} weeks", observation.training, observation.reach),
        format!(
            "{} lives, {} ended, thresholds {:?} nats",
            grouped(lives.len()),
            grouped(ended),
            observation.thresholds
        ),
    ];
    let mut sizes: Vec<f64> = features.iter().map(|features| features.log_size).collect();
    sizes.sort_by(f64::total_cmp);
    let model = Model {
        origin: "fitted".to_owned(),
        thresholds: observation.thresholds.clone(),
        usual_size: sizes[sizes.len() / 2].exp().round(),
        sets: fits.iter().filter_map(|fit| fit.as_ref().ok().cloned()).collect(),
        training,
    };
    if model.sets.is_empty() {
        let why: Vec<String> = fits.into_iter().filter_map(Result::err).collect();
        bail!("no model can be fitted: {}", why.join("; "));
    }
    let path = options.out.clone().unwrap_or_else(|| options.home.store().directory().join("model.json"));
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    model.save(&path)?;
    let mut output = io::stdout().lock();
    if options.home.json {
        writeln!(output, "{}", serde_json::to_string(&model)?)?;
        return Ok(());
    }
    model.training.iter().try_for_each(|line| writeln!(output, "{line}"))?;
    print(&mut output, &fits, &features, &lives)?;
    writeln!(output, "saved in {}", path.display())?;
    Ok(())
}

fn print(
    output: &mut impl io::Write,
    fits: &[Result<SetFit, String>],
    features: &[Features],
    lives: &[Life],
) -> Result<()> {
    let table = |header: &[&str]| {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_header(header);
        table
    };
    writeln!(
        output,
        "\nCoefficients (as Table 3); concordance of lives left out, by models made without their database"
    )?;
    let mut coefficients = table(&[
        "features",
        "feature",
        "β",
        "standard error",
        "by jackknife",
        "proportional? p",
        "concordance",
    ]);
    for (set, fit) in SETS.iter().zip(fits) {
        match fit {
            Ok(fit) => {
                for (place, coefficient) in fit.coefficients.iter().enumerate() {
                    let first = |text: String| if place == 0 { text } else { String::new() };
                    coefficients.add_row([
                        first(name_of(*set).to_owned()),
                        coefficient.name.clone(),
                        format!("{:.3}", coefficient.value),
                        format!("{:.3}", coefficient.standard_error),
                        coefficient.jackknife_error.map_or(String::new(), |error| format!("{error:.3}")),
                        coefficient.proportional_p.map_or(String::new(), |p| format!("{p:.3}")),
                        first(fit.left_out_concordance.map_or(String::new(), |value| format!("{value:.3}"))),
                    ]);
                }
            }
            Err(why) => _ = coefficients.add_row([name_of(*set).to_owned(), format!("not fitted: {why}")]),
        }
    }
    writeln!(output, "{coefficients}\n\nBaselines (as Table 4)")?;
    let mut baselines = table(&["features", "category", "λ", "γ", "lives", "ended", "misfit"]);
    for fit in fits.iter().flatten() {
        for baseline in &fit.baselines {
            baselines.add_row([
                fit.set.clone(),
                baseline.stratum.clone(),
                format!("{:.4}", baseline.log_scale.exp()),
                format!("{:.3}", baseline.shape),
                grouped(baseline.lives),
                grouped(baseline.ended),
                format!("{:.3}", baseline.misfit),
            ]);
        }
    }
    writeln!(
        output,
        "{baselines}\n\nFeatures that the text tried and dropped, each beside τ: β over its standard error"
    )?;
    let mut dropped = table(&["feature", "β", "z", "z by jackknife"]);
    for (name, _) in &features[0].dropped {
        if let Some((value, z, jackknife)) = try_feature(name, features, lives) {
            dropped.add_row([
                name.clone(),
                format!("{value:.2}"),
                format!("{z:.1}"),
                jackknife.map_or(String::new(), |z| format!("{z:.1}")),
            ]);
        }
    }
    writeln!(output, "{dropped}")?;
    Ok(())
}
