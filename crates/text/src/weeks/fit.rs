//! Fits the survival of summaries by the features of their databases: coefficients, baselines, validation.
//!
//! **summary**, section 4.3, Tables 3 and 4: Cox's regression, stratified by the kind of database, for three
//! sets of features (size and τ; κ1 and τ; all three), and a Weibull baseline per stratum by least squares.
//! Validation leaves out one database at a time.
//!
//! # Promises
//! - A set of features that the data do not determine has no model, and the error says why.
//! - The same lives give the same model.
//!
//! # Departures
//! - The text treats lives of one database as independent of each other. They are not: thousands of rows come
//!   from few databases. So we report the standard errors of the jackknife over databases as well.
//! - The text fits the Weibull curve to the baseline of a database of one document, τ = 0 and κ1 = 0, where
//!   no database is. There least squares have nothing to fit. We fit the curve at the mean of the features,
//!   and carry its scale to that point.

use freshet_theory::refresh::survival::weibull::WeibullSurvival;
use freshet_theory::summary::survival_model::Features as Set;
use freshet_theory::survival::baseline::baselines;
use freshet_theory::survival::concordance::concordance;
use freshet_theory::survival::cox::{self, NoMaximum};
use freshet_theory::survival::kaplan_meier::kaplan_meier;
use freshet_theory::survival::lifetime::Lifetime;
use freshet_theory::survival::proportional_hazards::{TimeScale, test_proportional_hazards};
use freshet_theory::survival::risk_sets::Ties;
use freshet_theory::survival::subjects::Subjects;
use freshet_theory::survival::weibull_curve::{SurvivalPoint, fit_weibull_curve};
use serde::{Deserialize, Serialize};

use super::lives::{Features, Life};

/// The sets of features, in the order of the text's tables.
pub const SETS: [Set; 3] = [Set::Size, Set::PastDivergence, Set::All];

/// A fitted coefficient.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Coefficient {
    /// Name of the feature.
    pub name: String,
    /// β.
    pub value: f64,
    /// Its standard error if lives are independent.
    pub standard_error: f64,
    /// Its standard error by the jackknife over databases. `None` with fewer than three.
    pub jackknife_error: Option<f64>,
    /// The probability of an equal or larger trend of the effect over time, if hazards are proportional.
    pub proportional_p: Option<f64>,
}

/// A Weibull baseline of one stratum.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Baseline {
    /// Kind of database.
    pub stratum: String,
    /// ln λ where all features are zero.
    pub log_scale: f64,
    /// γ.
    pub shape: f64,
    /// Number of observed lives.
    pub lives: usize,
    /// Number of those lives that ended.
    pub ended: usize,
    /// Root mean square difference between the curve and the baseline.
    pub misfit: f64,
}

/// The model of one set of features.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct SetFit {
    /// `size`, `past_divergence` or `all`.
    pub set: String,
    /// Its coefficients.
    pub coefficients: Vec<Coefficient>,
    /// Its baselines.
    pub baselines: Vec<Baseline>,
    /// Mean concordance of lives with their risks, each by the model fitted without its database. One half is
    /// chance.
    pub left_out_concordance: Option<f64>,
}

/// The name of a set.
pub fn name_of(set: Set) -> &'static str {
    match set {
        Set::Size => "size",
        Set::PastDivergence => "past_divergence",
        Set::All => "all",
    }
}

/// The features of a set, in order, with τ last.
fn columns_of(set: Set) -> &'static [&'static str] {
    match set {
        Set::Size => &["ln size", "τ"],
        Set::PastDivergence => &["κ1", "τ"],
        Set::All => &["ln size", "κ1", "τ"],
    }
}

/// A life's features, in the order of a set.
fn row_of(set: Set, features: &Features, threshold: f64) -> Vec<f64> {
    match set {
        Set::Size => vec![features.log_size, threshold],
        Set::PastDivergence => vec![features.past_divergence, threshold],
        Set::All => vec![features.log_size, features.past_divergence, threshold],
    }
}

/// Fits one set of features, with the jackknife and the validation.
pub fn fit_set(set: Set, features: &[Features], lives: &[Life]) -> Result<SetFit, String> {
    let whole = fit_once(set, features, lives)?;
    let without: Vec<Option<SetFit>> = (0..features.len())
        .map(|database| {
            let others: Vec<Life> = lives.iter().filter(|life| life.database != database).cloned().collect();
            fit_once(set, features, &others).ok()
        })
        .collect();
    let fitted: Vec<&SetFit> = without.iter().flatten().collect();
    let mut coefficients = whole.coefficients.clone();
    for (place, coefficient) in coefficients.iter_mut().enumerate() {
        let values: Vec<f64> = fitted.iter().map(|fit| fit.coefficients[place].value).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        coefficient.jackknife_error = (values.len() > 2).then(|| ((n - 1.0) / n * squares).sqrt());
    }
    let left_out_concordance = validate(set, features, lives, &without);
    Ok(SetFit { coefficients, left_out_concordance, ..whole })
}

/// The models of a set fitted without each database in turn. `None` where the fit fails.
pub fn fit_without_each(set: Set, features: &[Features], lives: &[Life]) -> Vec<Option<SetFit>> {
    let without = |database: usize| {
        let others: Vec<Life> = lives.iter().filter(|life| life.database != database).cloned().collect();
        fit_once(set, features, &others).ok()
    };
    (0..features.len()).map(without).collect()
}

/// The Weibull law of one database's own lives, by least squares to their Kaplan-Meier curve: what a plan
/// could know in hindsight. `None` if no life ended, or all ended at one age.
pub fn law_in_hindsight(database: usize, lives: &[Life]) -> Option<WeibullSurvival> {
    let own: Vec<Lifetime> =
        lives.iter().filter(|life| life.database == database).map(|life| life.lifetime).collect();
    if !own.iter().any(|life| life.ended()) {
        return None;
    }
    let curve = kaplan_meier(&own);
    let points: Vec<SurvivalPoint> = curve
        .steps()
        .iter()
        .filter(|step| 0.0 < step.time)
        .map(|step| SurvivalPoint { time: step.time, survival: step.survival })
        .collect();
    if points.len() < 2 {
        return None;
    }
    let (fitted, _) = fit_weibull_curve(&points);
    let is_usable = 0.0 < fitted.shape() && 0.0 < fitted.scale() && fitted.scale().is_finite();
    is_usable.then(|| WeibullSurvival::new(fitted.scale(), fitted.shape()))
}

/// Tests a dropped feature together with τ: its coefficient, that divided by its standard error, and by that
/// of the jackknife.
pub fn try_feature(name: &str, features: &[Features], lives: &[Life]) -> Option<(f64, f64, Option<f64>)> {
    let value = |features: &Features| {
        features.dropped.iter().find(|(other, _)| other == name).map_or(0.0, |(_, value)| *value)
    };
    let fit = |lives: &[Life]| {
        let columns = [
            lives.iter().map(|life| value(&features[life.database])).collect::<Vec<f64>>(),
            lives.iter().map(|life| life.threshold).collect(),
        ];
        let lifetimes: Vec<Lifetime> = lives.iter().map(|life| life.lifetime).collect();
        if !lifetimes.iter().any(|life| life.ended()) {
            return None;
        }
        let subjects = Subjects::stratified(&lifetimes, &columns, &strata_of(features, lives).1);
        cox::fit(&subjects, Ties::Efron).ok().map(|fit| (fit.coefficients[0], fit.standard_errors[0]))
    };
    let (coefficient, error) = fit(lives)?;
    let values: Vec<f64> = (0..features.len())
        .filter_map(|database| {
            fit(&lives.iter().filter(|life| life.database != database).cloned().collect::<Vec<_>>())
        })
        .map(|(value, _)| value)
        .collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let jackknife = ((n - 1.0) / n * values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()).sqrt();
    Some((
        coefficient,
        coefficient / error,
        (values.len() > 2 && jackknife > 0.0).then(|| coefficient / jackknife),
    ))
}

fn fit_once(set: Set, features: &[Features], lives: &[Life]) -> Result<SetFit, String> {
    let lifetimes: Vec<Lifetime> = lives.iter().map(|life| life.lifetime).collect();
    if !lifetimes.iter().any(|life| life.ended()) {
        return Err(
            "no summary changed by more than any threshold: there is nothing to learn from".to_owned()
        );
    }
    let rows: Vec<Vec<f64>> =
        lives.iter().map(|life| row_of(set, &features[life.database], life.threshold)).collect();
    let names = columns_of(set);
    let columns: Vec<Vec<f64>> =
        (0..names.len()).map(|place| rows.iter().map(|row| row[place]).collect()).collect();
    let (strata, numbers) = strata_of(features, lives);
    let subjects = Subjects::stratified(&lifetimes, &columns, &numbers);
    let fit = cox::fit(&subjects, Ties::Efron).map_err(|why| match why {
        NoMaximum::Undetermined { covariate } => {
            format!(
                "`{}` is the same for all lives that can be compared, or follows from the others",
                names[covariate]
            )
        }
        NoMaximum::Unbounded => {
            "the features order the lives perfectly: their effect has no bound".to_owned()
        }
    })?;
    let proportional = test_proportional_hazards(&subjects, &fit, TimeScale::KaplanMeier);
    let coefficients = names.iter().enumerate().map(|(place, name)| Coefficient {
        name: (*name).to_owned(),
        value: fit.coefficients[place],
        standard_error: fit.standard_errors[place],
        jackknife_error: None,
        proportional_p: proportional.as_ref().map(|test| test.covariates[place].p_value),
    });
    let mean: f64 = columns
        .iter()
        .zip(&fit.coefficients)
        .map(|(column, beta)| beta * column.iter().sum::<f64>() / column.len() as f64)
        .sum();
    let mut fitted = Vec::new();
    for baseline in baselines(&subjects, &fit) {
        let of_stratum = || {
            lives
                .iter()
                .zip(&numbers)
                .filter(|(_, number)| **number == baseline.stratum)
                .map(|(life, _)| life)
        };
        let points: Vec<SurvivalPoint> = baseline
            .steps
            .iter()
            .filter(|(time, _)| 0.0 < *time)
            .map(|&(time, hazard)| SurvivalPoint { time, survival: (-(hazard.ln() + mean).exp()).exp() })
            .collect();
        // One point does not determine a curve: the stratum has no baseline of its own.
        if points.len() < 2 {
            continue;
        }
        let (curve, squares) = fit_weibull_curve(&points);
        fitted.push(Baseline {
            stratum: strata[baseline.stratum as usize].clone(),
            log_scale: curve.scale().max(f64::MIN_POSITIVE).ln() - mean,
            shape: curve.shape(),
            lives: of_stratum().count(),
            ended: of_stratum().filter(|life| life.lifetime.ended()).count(),
            misfit: (squares / points.len() as f64).sqrt(),
        });
    }
    if fitted.is_empty() {
        return Err("summaries changed at one age only: there is no curve through one point".to_owned());
    }
    let coefficients = coefficients.collect();
    Ok(SetFit { set: name_of(set).to_owned(), coefficients, baselines: fitted, left_out_concordance: None })
}

/// The names of the strata, and the stratum of each life.
fn strata_of(features: &[Features], lives: &[Life]) -> (Vec<String>, Vec<u32>) {
    let mut names: Vec<String> = features.iter().map(|features| features.stratum.clone()).collect();
    names.sort();
    names.dedup();
    let number = |life: &Life| {
        names.iter().position(|name| *name == features[life.database].stratum).unwrap_or(0) as u32
    };
    let numbers = lives.iter().map(number).collect();
    (names, numbers)
}

/// Mean over thresholds of the concordance of lives with their risks. Only lives of one threshold are
/// compared: across thresholds τ alone would order most pairs.
fn validate(set: Set, features: &[Features], lives: &[Life], without: &[Option<SetFit>]) -> Option<f64> {
    let mut thresholds: Vec<f64> = lives.iter().map(|life| life.threshold).collect();
    thresholds.sort_by(f64::total_cmp);
    thresholds.dedup();
    let mut values = Vec::new();
    for threshold in thresholds {
        let of_threshold: Vec<&Life> = lives.iter().filter(|life| life.threshold == threshold).collect();
        let lifetimes: Vec<Lifetime> = of_threshold.iter().map(|life| life.lifetime).collect();
        // The risk of each life, by the model fitted without its database.
        let risk = |life: &&Life| {
            let fit = without[life.database].as_ref()?;
            let row = row_of(set, &features[life.database], life.threshold);
            Some(
                row.iter()
                    .zip(&fit.coefficients)
                    .map(|(value, coefficient)| value * coefficient.value)
                    .sum::<f64>(),
            )
        };
        let Some(risks) = of_threshold.iter().map(risk).collect::<Option<Vec<f64>>>() else { continue };
        values.extend(concordance(&lifetimes, &risks));
    }
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    use freshet_theory::refresh::survival::law::Survival as _;
    use freshet_theory::units::Days;

    use super::*;

    /// Simulated lives by Definition 4: S = exp(−λ t^γ), λ = e^log_scale |D|^0.2 exp(5 κ1) exp(−3 τ).
    fn made(databases: usize, lives_each: usize, shape: f64) -> (Vec<Features>, Vec<Life>) {
        let mut chance = ChaCha8Rng::seed_from_u64(1);
        let features: Vec<Features> = (0..databases)
            .map(|n| Features {
                name: n.to_string(),
                stratum: if n % 2 == 0 { "com" } else { "org" }.to_owned(),
                log_size: 4.0 + 6.0 * chance.random::<f64>(),
                past_divergence: 0.3 * chance.random::<f64>(),
                dropped: Vec::new(),
            })
            .collect();
        let mut lives = Vec::new();
        for (database, known) in features.iter().enumerate() {
            for n in 0..lives_each {
                let threshold = [0.1, 0.3, 0.5][n % 3];
                let log_scale = -4.0 + 0.2 * known.log_size + 5.0 * known.past_divergence - 3.0 * threshold;
                let time = (-chance.random::<f64>().ln() / log_scale.exp()).powf(1.0 / shape).ceil();
                let lifetime =
                    if time <= 52.0 { Lifetime::ended_at(time) } else { Lifetime::censored_at(52.0) };
                lives.push(Life { database, threshold, lifetime });
            }
        }
        (features, lives)
    }

    #[test]
    fn the_coefficients_of_made_lives_come_out() {
        let (features, lives) = made(60, 60, 0.9);
        let fit = fit_set(Set::All, &features, &lives).expect("it is determined");
        for (coefficient, expected) in fit.coefficients.iter().zip([0.2, 5.0, -3.0]) {
            let error = coefficient.jackknife_error.expect("there are many").max(coefficient.standard_error);
            assert!((coefficient.value - expected).abs() < 4.0 * error, "{coefficient:?}");
        }
        assert_eq!(fit.baselines.len(), 2);
        assert!(
            fit.baselines.iter().all(|baseline| (baseline.shape - 0.9).abs() < 0.12),
            "{:?}",
            fit.baselines
        );
        assert!(
            fit.baselines.iter().all(|baseline| (baseline.log_scale + 4.0).abs() < 0.6),
            "{:?}",
            fit.baselines
        );
        assert!(fit.left_out_concordance.expect("there are pairs") > 0.6);
    }

    #[test]
    fn the_law_of_a_database_comes_out_in_hindsight() {
        let (features, lives) = made(1, 3_000, 0.9);
        let of_one: Vec<Life> = lives.into_iter().filter(|life| life.threshold == 0.3).collect();
        let law = law_in_hindsight(0, &of_one).expect("lives ended");
        let known = &features[0];
        let scale = (-4.0 + 0.2 * known.log_size + 5.0 * known.past_divergence - 0.9f64).exp();
        let survival = (-scale * 10f64.powf(0.9)).exp();
        assert!((law.survival(Days::new(10.0)) - survival).abs() < 0.05);
        assert_eq!(law_in_hindsight(1, &of_one), None);
    }

    #[test]
    fn a_feature_that_is_the_same_everywhere_is_named() {
        let (mut features, lives) = made(6, 30, 1.0);
        features.iter_mut().for_each(|features| features.log_size = 5.0);
        assert!(fit_set(Set::Size, &features, &lives).expect_err("it is not determined").contains("ln size"));
        let censored: Vec<Life> =
            lives.iter().map(|life| Life { lifetime: Lifetime::censored_at(5.0), ..life.clone() }).collect();
        assert!(fit_set(Set::All, &features, &censored).is_err());
    }
}
