//! How content summaries age: recall, precision and divergence.
//!
//! **summary**, section 3. Figures 1, 4 and 7 show complete summaries by age. Figures 2, 3, 5, 6 and 8 show
//! samples, refreshed every T weeks on average by each plan; the curve called Naive refreshes all alike.

use anyhow::Result;
use freshet_text::weeks::evaluation::evaluate;
use freshet_text::weeks::study::{Aged, MEASURES, study};

use super::{DATA, shown};
use crate::figure::chart::{Axis, Chart, Plate, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Verdict};
use crate::report::sources::{Need, Sources};
use crate::report::text_databases::{SAMPLE, TRAINING, TextDatabases};

/// Figure 1.
pub(super) const RECALL: Maker = Maker {
    name: "summary-figure-1",
    title: "Figure 1: recall of complete summaries by age",
    needs: Need::Words,
    make: recall,
};

/// Figures 2 and 3.
pub(super) const RECALL_OF_SAMPLES: Maker = Maker {
    name: "summary-figures-2-3",
    title: "Figures 2 and 3: recall of samples by the time between refreshes",
    needs: Need::Words,
    make: recall_of_samples,
};

/// Figure 4.
pub(super) const PRECISION: Maker = Maker {
    name: "summary-figure-4",
    title: "Figure 4: precision of complete summaries by age",
    needs: Need::Words,
    make: precision,
};

/// Figures 5 and 6.
pub(super) const PRECISION_OF_SAMPLES: Maker = Maker {
    name: "summary-figures-5-6",
    title: "Figures 5 and 6: precision of samples by the time between refreshes",
    needs: Need::Words,
    make: precision_of_samples,
};

/// Figure 7.
pub(super) const DIVERGENCE: Maker = Maker {
    name: "summary-figure-7",
    title: "Figure 7: KL divergence of complete summaries by age",
    needs: Need::Words,
    make: divergence,
};

/// Figure 8.
pub(super) const DIVERGENCE_OF_SAMPLES: Maker = Maker {
    name: "summary-figure-8",
    title: "Figure 8: KL divergence of samples by the time between refreshes",
    needs: Need::Words,
    make: divergence_of_samples,
};

/// Ages in weeks.
const AGES: [usize; 13] = [1, 2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 48, 50];

/// Mean weeks between refreshes.
const BETWEEN: [f64; 8] = [2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0];

/// Indices into [`MEASURES`].
const WEIGHTED_RECALL: usize = 0;
const UNWEIGHTED_RECALL: usize = 1;
const WEIGHTED_PRECISION: usize = 2;
const UNWEIGHTED_PRECISION: usize = 3;
const KL: usize = 4;

fn recall(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let databases = sources.text_databases(progress)?;
    let aged = study(&databases.complete, &AGES);
    let weighted = value(&aged, WEIGHTED_RECALL, 25);
    Ok(Exhibit::new(
        "The share of the current words that an old summary has; weighted by how often each stands. Both \
         fall with age, and the unweighted falls faster: words that come are rare words. Marks bound the \
         95% interval over databases.",
    )
    .text(databases.about())
    .picture(by_age(&aged, &[UNWEIGHTED_RECALL, WEIGHTED_RECALL], "recall"))
    .compare(printed_share("unweighted recall after 1 week", "91%", value(&aged, UNWEIGHTED_RECALL, 1)))
    .compare(printed_share("unweighted recall after 25 weeks", "80%", value(&aged, UNWEIGHTED_RECALL, 25)))
    .compare(falls("both fall with age", &aged, &[UNWEIGHTED_RECALL, WEIGHTED_RECALL]))
    .compare(Comparison::claim(
        "weighted beside unweighted after 25 weeks",
        "higher, but less than 1",
        format!("{:.1}% beside {:.1}%", 100.0 * weighted, 100.0 * value(&aged, UNWEIGHTED_RECALL, 25)),
        value(&aged, UNWEIGHTED_RECALL, 25) < weighted && weighted < 1.0,
    ))
    .command("freshet db study --data DIR/text --out figures"))
}

fn precision(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let databases = sources.text_databases(progress)?;
    let aged = study(&databases.complete, &AGES);
    Ok(Exhibit::new(
        "The share of an old summary's words that are still there. Marks bound the 95% interval over \
         databases. Documentation loses few of its words: its pages are rewritten, where the authors' \
         pages of news were replaced.",
    )
    .text(databases.about())
    .picture(by_age(&aged, &[UNWEIGHTED_PRECISION, WEIGHTED_PRECISION], "precision"))
    .compare(printed_share(
        "unweighted precision after 48 weeks",
        "70%",
        value(&aged, UNWEIGHTED_PRECISION, 48),
    ))
    .compare(falls("both fall with age", &aged, &[UNWEIGHTED_PRECISION, WEIGHTED_PRECISION])))
}

fn divergence(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let databases = sources.text_databases(progress)?;
    let aged = study(&databases.complete, &AGES);
    let (young, old) = (value(&aged, KL, 1), value(&aged, KL, 50));
    Ok(Exhibit::new(
        "How far the distribution of words has drifted, in nats. It grows nearly in proportion to age. Marks \
         bound the 95% interval over databases.",
    )
    .text(databases.about())
    .picture(by_age(&aged, &[KL], "KL divergence, nats"))
    .compare(Comparison::claim(
        "the divergence grows with age",
        "it does",
        format!("{young:.4} nats after 1 week, {old:.4} after 50"),
        young < old,
    ))
    .compare(
        Comparison::statement(
            "a summary that counts as changed",
            "0.5 nats",
            format!(
                "the mean is {old:.3} nats after 50 weeks; here {} nats count as changed",
                databases.threshold
            ),
            Verdict::NotReproducible,
        )
        .noting(DATA),
    ))
}

fn recall_of_samples(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let databases = sources.text_databases(progress)?;
    let (aged, complete) = (study(&databases.sampled, &AGES), study(&databases.complete, &AGES));
    let plans = plans(databases);
    let (first, last) = (value(&aged, UNWEIGHTED_RECALL, 1), value(&aged, UNWEIGHTED_RECALL, 50));
    Ok(Exhibit::new(samples_show(
        "What a sample lacks from the start outweighs what it loses with age. The text saw recall rise again \
         towards a full year, by words of the seasons.",
    ))
    .text(databases.about())
    .picture(by_interval(&plans, &[WEIGHTED_RECALL, UNWEIGHTED_RECALL]))
    .compare(Comparison::claim(
        "unweighted recall of samples beside complete summaries, 1 week old",
        "substantially smaller",
        format!("{first:.3} beside {:.3}", value(&complete, UNWEIGHTED_RECALL, 1)),
        first < value(&complete, UNWEIGHTED_RECALL, 1),
    ))
    .compare(Comparison::claim(
        "it changes with age less than it lacks from the start",
        "the incompleteness of samples prevails",
        format!("1 − {first:.3} lacks at 1 week, {:.3} is lost by 50", first - last),
        first - last < 1.0 - first,
    ))
    .compare(
        Comparison::statement(
            "after some 20 weeks",
            "recall rises again towards a year",
            format!("{:.3} at 20 weeks, {last:.3} at 50", value(&aged, UNWEIGHTED_RECALL, 20)),
            Verdict::NotReproducible,
        )
        .noting("documentation has no words of the seasons"),
    )
    .compare(planned_beside_naive(&plans, UNWEIGHTED_RECALL)))
}

fn precision_of_samples(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let databases = sources.text_databases(progress)?;
    let aged = study(&databases.sampled, &AGES);
    let plans = plans(databases);
    let lost = |measure: usize| value(&aged, measure, 1) - value(&aged, measure, 50);
    Ok(Exhibit::new(samples_show(
        "A sample has no word that was never there, so precision begins at one and falls.",
    ))
    .text(databases.about())
    .picture(by_interval(&plans, &[WEIGHTED_PRECISION, UNWEIGHTED_PRECISION]))
    .compare(printed_share(
        "unweighted precision of samples after 15 weeks",
        "80%",
        value(&aged, UNWEIGHTED_PRECISION, 15),
    ))
    .compare(
        Comparison::statement(
            "precision falls faster than recall",
            "much faster",
            format!(
                "from 1 to 50 weeks precision loses {:.3}, recall {:.3}",
                lost(UNWEIGHTED_PRECISION),
                lost(UNWEIGHTED_RECALL)
            ),
            if lost(UNWEIGHTED_RECALL) < lost(UNWEIGHTED_PRECISION) {
                Verdict::Agrees
            } else {
                Verdict::NotReproducible
            },
        )
        .noting(DATA),
    )
    .compare(planned_beside_naive(&plans, UNWEIGHTED_PRECISION)))
}

fn divergence_of_samples(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let databases = sources.text_databases(progress)?;
    let aged = study(&databases.sampled, &AGES);
    let plans = plans(databases);
    Ok(Exhibit::new(samples_show(
        "The divergence of a sample begins above zero, by what it lacks, and grows as that of complete \
         summaries does.",
    ))
    .text(databases.about())
    .picture(by_interval(&plans, &[KL]))
    .compare(Comparison::claim(
        "the divergence of samples grows with age",
        "it does",
        format!("{:.4} nats after 1 week, {:.4} after 50", value(&aged, KL, 1), value(&aged, KL, 50)),
        value(&aged, KL, 1) < value(&aged, KL, 50),
    ))
    .compare(planned_beside_naive(&plans, KL)))
}

fn samples_show(more: &str) -> String {
    format!(
        "Samples of {SAMPLE} documents, refreshed every T weeks on average: all alike (naive), or by plans \
         that know a database's size, its past divergence or both, each made by a model that has not seen \
         it; hindsight knows how each will change. {more}"
    )
}

/// The mean of a measure at an age; NaN if there is none.
fn value(aged: &[Aged], measure: usize, age: usize) -> f64 {
    let of_age = aged.iter().find(|aged| aged.age == age);
    of_age.and_then(|aged| aged.means[measure]).map_or(f64::NAN, |mean| mean.mean)
}

/// Compares a printed share with ours, which comes from other data.
fn printed_share(quantity: &str, printed: &str, ours: f64) -> Comparison {
    Comparison::statement(quantity, printed, format!("{:.1}%", 100.0 * ours), Verdict::NotReproducible)
        .noting(DATA)
}

fn falls(what: &str, aged: &[Aged], measures: &[usize]) -> Comparison {
    let ends = |measure: &usize| (value(aged, *measure, 1), value(aged, *measure, 50));
    let written: Vec<String> = measures
        .iter()
        .map(|measure| {
            let (first, last) = ends(measure);
            format!("{} from {first:.4} to {last:.4}", MEASURES[*measure].0)
        })
        .collect();
    let holds = measures.iter().map(ends).all(|(first, last)| last < first);
    Comparison::claim(what, "they do", format!("from 1 to 50 weeks {}", written.join(", ")), holds)
}

/// Charts of measures by age, with the bounds of their intervals.
fn by_age(aged: &[Aged], measures: &[usize], title: &str) -> String {
    let mut series = Vec::new();
    for &measure in measures {
        let name = MEASURES[measure].0;
        let points = |side: f64| {
            let point = move |aged: &Aged| {
                let mean = aged.means[measure]?;
                Some((aged.age as f64, mean.mean + side * mean.reach))
            };
            aged.iter().filter_map(point).collect::<Vec<_>>()
        };
        series.push(Series::line(name, points(0.0)));
        let bounds: Vec<(f64, f64)> =
            points(1.0).into_iter().zip(points(-1.0)).flat_map(|(upper, lower)| [upper, lower]).collect();
        series.push(Series::points(format!("{name}: 95% interval"), bounds).like(name));
    }
    let values: Vec<f64> =
        series.iter().flat_map(|series| series.points.iter().map(|point| point.1)).collect();
    Chart {
        title: String::new(),
        across: Axis::new("age of the summary, weeks", Scale::linear(0.0, 50.0)),
        up: Axis::new(title, Scale::linear_over(values)),
        series,
        notes: Vec::new(),
    }
    .draw()
}

/// For each mean interval: every plan with the mean of each measure.
type Plans = Vec<(f64, Vec<(&'static str, Vec<f64>)>)>;

fn plans(databases: &TextDatabases) -> Plans {
    let at = |&weeks: &f64| {
        let outcomes = databases.contest.schedules(weeks).into_iter().map(|schedule| {
            let outcome = evaluate(&databases.sampled, &schedule.intervals, TRAINING, databases.threshold);
            (schedule.name, outcome.means)
        });
        (weeks, outcomes.collect())
    };
    BETWEEN.iter().map(at).collect()
}

/// Charts of measures by mean interval, one curve per plan.
fn by_interval(plans: &Plans, measures: &[usize]) -> String {
    let names: Vec<&'static str> = plans[0].1.iter().map(|(name, _)| *name).collect();
    let chart = |&measure: &usize| {
        let curve = |name: &&'static str| {
            let at = |(weeks, of): &(f64, Vec<(&'static str, Vec<f64>)>)| {
                Some((*weeks, of.iter().find(|(other, _)| other == name)?.1[measure]))
            };
            Series::line(shown(name), plans.iter().filter_map(at).collect::<Vec<_>>())
        };
        let series: Vec<Series> = names.iter().map(curve).collect();
        let values: Vec<f64> =
            series.iter().flat_map(|series| series.points.iter().map(|point| point.1)).collect();
        Chart {
            title: MEASURES[measure].0.to_owned(),
            across: Axis::new("T: weeks between refreshes", Scale::linear(0.0, 50.0)),
            up: Axis::new(MEASURES[measure].0, Scale::linear_over(values)),
            series,
            notes: Vec::new(),
        }
    };
    let charts: Vec<Chart> = measures.iter().map(chart).collect();
    Plate { heading: String::new(), columns: charts.len(), charts }.draw()
}

/// Compares plans with refreshing all alike, at mean intervals of 10, 30 and 50 weeks.
fn planned_beside_naive(plans: &Plans, measure: usize) -> Comparison {
    let at = |weeks: f64, name: &str| {
        let of = plans.iter().find(|(other, _)| *other == weeks).map(|(_, of)| of);
        of.and_then(|of| of.iter().find(|(other, _)| *other == name))
            .map_or(f64::NAN, |(_, means)| means[measure])
    };
    let is_better = |one: f64, other: f64| if measure == KL { one < other } else { other < one };
    let written: Vec<String> = [10.0, 30.0, 50.0]
        .map(|weeks| {
            format!(
                "T = {weeks}: naive {:.4}, size {:.4}, κ1 {:.4}",
                at(weeks, "naive"),
                at(weeks, "size"),
                at(weeks, "past_divergence")
            )
        })
        .to_vec();
    let holds =
        [10.0, 30.0, 50.0].iter().all(|weeks| is_better(at(*weeks, "past_divergence"), at(*weeks, "naive")));
    let verdict = if holds { Verdict::Agrees } else { Verdict::NotReproducible };
    Comparison::statement(
        format!("{}: plans by features beside naive", MEASURES[measure].0),
        "all plans significantly better, almost constant whatever T",
        written.join("; "),
        verdict,
    )
    .noting(if holds {
        ""
    } else {
        "these databases are of one kind and drift evenly: there is little to tell apart"
    })
}
