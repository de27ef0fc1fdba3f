//! `freshet db study`: measures how summaries age.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use comfy_table::{Table, presets};
use freshet_lab::figure::chart::{Axis, Chart, Plate, Series};
use freshet_lab::figure::scale::Scale;
use freshet_text::weeks::study::{Aged, MEASURES, study};
use serde_json::json;

use super::home::Home;
use super::past::{Numbers, Past, parse_numbers};

/// Study how summaries age: recall, precision and divergence of old summaries, with 95% intervals
///
/// The study of the text's section 3 (Figures 1 to 8), on the versions of your databases or on tables.
/// Intervals are over databases.
#[derive(Args)]
#[command(after_help = "Examples:\n  freshet db study\
        \n  freshet db study --data tables --ages 1,10,25,50 --out figures\
        \n  freshet db study --data tables --sample 300")]
pub(crate) struct StudyOptions {
    #[command(flatten)]
    past: Past,

    /// Ages in weeks
    #[arg(long, default_value = "1,2,5,10,15,20,25,30,35,40,45,50", value_name = "WEEKS",
        value_parser = parse_numbers)]
    ages: Numbers,

    /// Write SVG figures to this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    #[command(flatten)]
    home: Home,
}

/// Runs the command.
pub(crate) fn run(options: &StudyOptions) -> Result<()> {
    let ages: Vec<usize> = options.ages.0.iter().map(|age| age.round() as usize).collect();
    let drifts = options.past.drifts(&options.home, ages.iter().copied().max().unwrap_or(1))?;
    let aged = study(&drifts, &ages);
    if let Some(directory) = &options.out {
        draw(&aged, directory)?;
    }
    let mut output = io::stdout().lock();
    if options.home.json {
        let value: Vec<_> = aged
            .iter()
            .map(|aged| {
                let means = MEASURES.iter().zip(&aged.means).map(|((name, _), mean)| {
                    ((*name).to_owned(), json!(mean.map(|mean| [mean.mean, mean.reach])))
                });
                json!({"age_weeks": aged.age, "means": means.collect::<serde_json::Map<_, _>>()})
            })
            .collect();
        writeln!(output, "{}", serde_json::to_string(&value)?)?;
        return Ok(());
    }
    writeln!(
        output,
        "{} databases, {}; mean ± half of the 95% interval over databases",
        drifts.len(),
        options.past.words()
    )?;
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(std::iter::once("weeks old").chain(MEASURES.map(|(name, _)| name)));
    for aged in aged {
        let cell = |mean: &Option<freshet_text::weeks::study::Mean>| {
            mean.map_or(String::new(), |mean| format!("{:.4} ± {:.4}", mean.mean, mean.reach))
        };
        table.add_row(std::iter::once(aged.age.to_string()).chain(aged.means.iter().map(cell)));
    }
    writeln!(output, "{table}")?;
    Ok(())
}

/// Draws two figures by age: recall and precision, and divergence.
fn draw(aged: &[Aged], directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    let oldest = aged.iter().map(|aged| aged.age).max().unwrap_or(1) as f64;
    let series = |place: usize| {
        let points = aged.iter().filter_map(|aged| Some((aged.age as f64, aged.means[place]?.mean)));
        Series::line(MEASURES[place].0, points)
    };
    let lowest = (0..4)
        .flat_map(|place| aged.iter().filter_map(move |aged| aged.means[place]))
        .map(|mean| mean.mean)
        .fold(1.0, f64::min);
    let highest = aged.iter().filter_map(|aged| aged.means[4]).map(|mean| mean.mean).fold(1e-6, f64::max);
    let chart = |title: &str, scale: Scale, series: Vec<Series>| Chart {
        title: title.to_owned(),
        across: Axis::new("age of the summary, weeks", Scale::linear(0.0, oldest)),
        up: Axis::new(title, scale),
        series,
        notes: Vec::new(),
    };
    let shares = chart(
        "recall and precision",
        Scale::linear((lowest * 20.0).floor() / 20.0, 1.0),
        (0..4).map(series).collect(),
    );
    let divergence = chart("KL divergence, nats", Scale::linear(0.0, highest * 1.05), vec![series(4)]);
    let plate =
        Plate { heading: "Summaries grow old".to_owned(), columns: 2, charts: vec![shares, divergence] };
    let path = directory.join("study.svg");
    fs::write(&path, plate.draw()).with_context(|| format!("cannot write {}", path.display()))
}
