//! Processes that follow links into other parts when their own is done download many pages repeatedly.
//!
//! The **thesis**, section 3.7, Figure 3.6: overlap against coverage of the cross-over mode, compared with
//! processes that do not coordinate at all (*independent*, section 3.2), of which the text says only that
//! they must be worse.

use anyhow::Result;
use freshet_theory::parallel::{Mode, Plan, parallel_crawl};

use super::super::thesis_2::performance::{number_of_another_web, on_another_web};
use super::course::coverage_and_overlap;
use super::divided_webs::{Division, seeds, web_graph};
use super::independent;
use crate::figure::chart::{Axis, Chart, Plate, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Exhibit, Table};
use crate::report::sources::{Need, Sources};

/// Figure 3.6.
pub(super) const MAKER: Maker = Maker {
    name: "figure-3.6",
    title: "Figure 3.6: coverage and overlap of the cross-over mode",
    needs: Need::Nothing,
    make,
};

const PROCESSES: [u32; 6] = [2, 4, 8, 16, 32, 64];
const SEEDS: usize = 5;

/// Overlap against coverage.
type Course = Vec<(f64, f64)>;

fn make(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let web = web_graph(sources)?;
    let mut chance = sources.chance("figure-3.6");
    let mut crossed: Vec<(u32, Course)> = Vec::new();
    let mut alone: Vec<(u32, Course)> = Vec::new();
    for processes in PROCESSES {
        let owners = web.owners(Division::SiteHash, processes);
        let seeds = seeds(&owners, processes, SEEDS, &mut chance);
        let plan = Plan {
            graph: &web.graph,
            owners: &owners,
            seeds: &seeds,
            replicated: &[],
            mode: Mode::CrossOver,
        };
        crossed.push((processes, coverage_and_overlap(&parallel_crawl(&plan).downloads, web.pages())));
        let independent = independent::crawl(&web.graph, &seeds);
        alone.push((processes, coverage_and_overlap(&independent.downloads, web.pages())));
        progress(crossed.len() as f64 / PROCESSES.len() as f64);
    }
    let until_overlap = |course: &Course| {
        course
            .iter()
            .take_while(|(_, overlap)| *overlap < 0.01)
            .map(|(coverage, _)| *coverage)
            .fold(0.0, f64::max)
    };
    let at_end = |course: &Course| course[course.len() - 1];
    let mut table = Table::new(
        "How far processes get before they repeat each other, and how much they do in the end",
        [
            "processes",
            "coverage without overlap",
            "final coverage",
            "final overlap",
            "independent: coverage without overlap",
            "independent: final overlap",
        ],
    );
    for ((processes, crossed), (_, alone)) in crossed.iter().zip(&alone) {
        table.row([
            processes.to_string(),
            format!("{:.2}", until_overlap(crossed)),
            format!("{:.2}", at_end(crossed).0),
            format!("{:.2}", at_end(crossed).1),
            format!("{:.2}", until_overlap(alone)),
            format!("{:.2}", at_end(alone).1),
        ]);
    }
    let later = crossed
        .iter()
        .zip(&alone)
        .all(|(crossed, alone)| until_overlap(&crossed.1) >= until_overlap(&alone.1) - 1e-9);
    Ok(Exhibit::new(format!(
        "Overlap is how often pages were downloaded again, per page. Until a process has run out of its own \
         part there is none; then each goes through the parts of all others. Web: {}.",
        web.name
    ))
    .picture(picture(&crossed, &alone))
    .table(table)
    .compare(number_of_another_web(
        "16 processes: coverage without overlap",
        "0.5",
        format!("{:.2}", until_overlap(&crossed[3].1)),
    ))
    .compare(number_of_another_web(
        "4 processes: overlap at a coverage near 1",
        "almost 2.5",
        format!("{:.2} at {:.2}", at_end(&crossed[1].1).1, at_end(&crossed[1].1).0),
    ))
    .compare(on_another_web(
        "overlap of independent processes",
        "would have been worse at the same coverage",
        if later { "begins no later, for any number of processes" } else { "begins later for some" },
        later,
    )))
}

fn picture(crossed: &[(u32, Course)], alone: &[(u32, Course)]) -> String {
    let most = crossed.iter().chain(alone).flat_map(|(_, course)| course).map(|(_, overlap)| *overlap);
    let up = Scale::linear_from_zero([most.fold(1.0, f64::max)]);
    let chart = |title: &str, courses: &[(u32, Course)]| Chart {
        title: title.to_owned(),
        across: Axis::new("coverage", Scale::linear(0.0, 1.0)),
        up: Axis::new("overlap", up),
        series: courses
            .iter()
            .map(|(processes, course)| Series::line(format!("{processes} processes"), course.clone()))
            .collect(),
        notes: Vec::new(),
    };
    Plate {
        heading: "Pages downloaded again".to_owned(),
        columns: 2,
        charts: vec![chart("Figure 3.6: cross-over", crossed), chart("independent", alone)],
    }
    .draw()
}
