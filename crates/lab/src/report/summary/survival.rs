//! How long summaries last, by the features of their databases.
//!
//! **summary**, section 4.3, Tables 3 and 4: coefficients of Cox's regression for three sets of features, and
//! the Weibull baselines.

use anyhow::Result;
use freshet_text::weeks::fit::{Coefficient, SETS, SetFit, fit_set, name_of};
use freshet_text::weeks::model::Model;

use super::{DATA, shown};
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Table, Verdict};
use crate::report::sources::{Need, Sources};
use crate::report::text_databases::{TRAINING, TextDatabases};

/// Table 3.
pub(super) const COEFFICIENTS: Maker = Maker {
    name: "summary-table-3",
    title: "Table 3: coefficients of the Cox model",
    needs: Need::Words,
    make: coefficients,
};

/// Table 4.
pub(super) const BASELINES: Maker = Maker {
    name: "summary-table-4",
    title: "Table 4: Weibull baselines",
    needs: Need::Words,
    make: baselines,
};

fn fits(databases: &TextDatabases, progress: &Progress<'_>) -> Vec<(&'static str, Result<SetFit, String>)> {
    let fit = |(number, set): (usize, &_)| {
        let fit = fit_set(*set, &databases.features, &databases.lives);
        progress((number + 1) as f64 / SETS.len() as f64);
        (name_of(*set), fit)
    };
    SETS.iter().enumerate().map(fit).collect()
}

fn coefficients(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let databases = sources.text_databases(progress)?;
    let published = Model::published();
    let mut table = Table::new(
        format!(
            "{} lives, thresholds {:?} nats, features from {TRAINING} weeks",
            databases.lives.len(),
            databases.observation.thresholds
        ),
        [
            "features",
            "feature",
            "printed β",
            "β",
            "standard error",
            "by jackknife over databases",
            "proportional? p",
        ],
    );
    let mut comparisons = Vec::new();
    for (name, fit) in fits(databases, progress) {
        let fit = match fit {
            Ok(fit) => fit,
            Err(why) => {
                table.row([shown(name), "not fitted", "", "", "", "", &why]);
                continue;
            }
        };
        for coefficient in &fit.coefficients {
            let printed = printed(&published, name, &coefficient.name);
            let optional = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.3}"));
            table.row([
                shown(name).to_owned(),
                coefficient.name.clone(),
                printed.to_string(),
                format!("{:.3}", coefficient.value),
                format!("{:.3}", coefficient.standard_error),
                optional(coefficient.jackknife_error),
                optional(coefficient.proportional_p),
            ]);
            comparisons.push(compared(name, printed, coefficient));
        }
    }
    Ok(Exhibit::new(
        "What makes a summary change sooner: the size of its database, its divergence from week to week in \
         the past (κ1), and a low threshold τ. The coefficients of κ1 and τ are per nat, and a nat is a \
         hundred times as much here as there; their signs are what can be compared. The standard error \
         takes overlapping weeks of one site as independent; the jackknife leaves out one site at a time.",
    )
    .text(databases.about())
    .table(table)
    .compare_all(comparisons)
    .command("freshet db fit --data DIR/text"))
}

/// The coefficient printed in **summary**.
fn printed(published: &Model, set: &str, feature: &str) -> f64 {
    let of_set = published.sets.iter().find(|fit| fit.set == set);
    let coefficient =
        of_set.and_then(|fit| fit.coefficients.iter().find(|coefficient| coefficient.name == feature));
    coefficient.map_or(0.0, |coefficient| coefficient.value)
}

/// Compares the sign of a coefficient with the printed one, as far as the data can tell it.
fn compared(set: &str, printed: f64, coefficient: &Coefficient) -> Comparison {
    let error = coefficient.jackknife_error.unwrap_or(coefficient.standard_error);
    let is_clear = 1.96 * error < coefficient.value.abs();
    let has_sign = printed.signum() == coefficient.value.signum();
    let (verdict, note) = match (has_sign, is_clear) {
        (true, true) => {
            (Verdict::Agrees, "the sign; the size goes with the scale of the divergences".to_owned())
        }
        (true, false) => (
            Verdict::NotReproducible,
            "the sign is the same, but these databases cannot tell it from none".to_owned(),
        ),
        (false, false) => (
            Verdict::NotReproducible,
            "the sign is the other, and these databases cannot tell it from none".to_owned(),
        ),
        (false, true) => (Verdict::Differs, String::new()),
    };
    Comparison::statement(
        format!("{}, features {}", coefficient.name, shown(set)),
        printed.to_string(),
        format!("{:.3} ± {error:.3}", coefficient.value),
        verdict,
    )
    .noting(note)
}

fn baselines(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let databases = sources.text_databases(progress)?;
    let published = Model::published();
    let mut table = Table::new(
        "Printed: five domains. Ours: one stratum, as the sites have no domains of that sort",
        ["features", "domain", "λ", "γ", "misfit"],
    );
    let mut comparisons = Vec::new();
    for set in &published.sets {
        for baseline in &set.baselines {
            table.row([
                shown(&set.set).to_owned(),
                format!("{} (printed)", baseline.stratum),
                format!("{:.4}", baseline.log_scale.exp()),
                format!("{:.3}", baseline.shape),
                String::new(),
            ]);
        }
    }
    for (name, fit) in fits(databases, progress) {
        for baseline in fit.iter().flat_map(|fit| &fit.baselines) {
            table.row([
                shown(name).to_owned(),
                format!("{} (ours)", baseline.stratum),
                format!("{:.4}", baseline.log_scale.exp()),
                format!("{:.3}", baseline.shape),
                format!("{:.4}", baseline.misfit),
            ]);
            let shapes: Vec<f64> = published
                .sets
                .iter()
                .filter(|set| set.set == name)
                .flat_map(|set| set.baselines.iter().map(|baseline| baseline.shape))
                .collect();
            let low = shapes.iter().copied().fold(f64::INFINITY, f64::min);
            let high = shapes.iter().copied().fold(0.0, f64::max);
            comparisons.push(
                Comparison::statement(
                    format!("γ, features {}", shown(name)),
                    format!("{low} to {high}, in four of five domains below 1"),
                    format!("{:.3}", baseline.shape),
                    Verdict::NotReproducible,
                )
                .noting(DATA),
            );
        }
    }
    Ok(Exhibit::new(
        "The survival S(t) = exp(−λ t^γ) of a summary, where all features are zero. γ below one means that a \
         summary that has lasted goes on lasting; about one, that age does not matter. Ours are fitted at \
         the mean of the features, where the data are, and carried to zero: λ there says little, γ does. \
         The misfit is the root mean square of the curve from the baseline.",
    )
    .text(databases.about())
    .table(table)
    .compare_all(comparisons))
}
