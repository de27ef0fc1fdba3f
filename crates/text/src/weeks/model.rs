//! Survival model of summaries: fitted and saved, or the published one.
//!
//! **summary**, Definition 4. A prediction uses the best set of features that a database has: all, κ1 alone
//! where its size is unknown, or its size alone where it has no history. A database with neither is assumed
//! to have the usual size, and the prediction says so.
//!
//! # Promises
//! - What is saved is read back. Any bytes are read as a model or refused.
//! - A kind of database that the model does not know gets the baseline with the most lives; in the published
//!   model this is `misc`.

use std::fs;
use std::path::Path;

use freshet_theory::refresh::survival::weibull::WeibullSurvival;
use freshet_theory::summary::survival_model::{Domain, Features as Set, published_model};
use serde::{Deserialize, Serialize};

use super::fit::{Baseline, Coefficient, SETS, SetFit, name_of};
use crate::error::TextError;
use crate::summary_store::write_whole;

/// Range of shapes that a plan can use. A flat baseline has none.
const SHAPES: (f64, f64) = (0.05, 20.0);

/// Maximum ln λ that a plan can use.
const LOG_SCALE_MAX: f64 = 300.0;

/// A survival model of summaries.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Model {
    /// Its origin, as text.
    pub origin: String,
    /// The thresholds that it was fitted for, in nats.
    pub thresholds: Vec<f64>,
    /// |D| assumed for a database of unknown size.
    pub usual_size: f64,
    /// The models, one for each set of features that has one.
    pub sets: Vec<SetFit>,
    /// Its training data, as text.
    pub training: Vec<String>,
}

/// What is known of a database whose survival is predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// Kind of database.
    pub stratum: String,
    /// |D|.
    pub size: Option<f64>,
    /// κ1, in nats.
    pub past_divergence: Option<f64>,
}

/// Predicted survival of a database's summary, and the features it is based on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The survival law, with time in weeks.
    pub law: WeibullSurvival,
    /// λ.
    pub scale: f64,
    /// γ.
    pub shape: f64,
    /// The set of features that was used.
    pub set: Set,
    /// Whether the usual size was assumed because the real one is unknown.
    pub is_guess: bool,
}

impl Model {
    /// The model that the text fitted to 152 databases over 52 weeks.
    pub fn published() -> Self {
        let domains = [
            ("com", Domain::Com),
            ("edu", Domain::Edu),
            ("gov", Domain::Gov),
            ("misc", Domain::Misc),
            ("org", Domain::Org),
        ];
        let fit = |set: Set| {
            let model = published_model(set, Domain::Misc);
            let named = [
                ("ln size", model.size_coefficient),
                ("κ1", model.past_divergence_coefficient),
                ("τ", model.threshold_coefficient),
            ];
            let coefficient = |(name, value): (&str, f64)| Coefficient {
                name: name.to_owned(),
                value,
                standard_error: f64::NAN,
                jackknife_error: None,
                proportional_p: None,
            };
            let baseline = |(stratum, domain): (&str, Domain)| {
                let model = published_model(set, domain);
                Baseline {
                    stratum: stratum.to_owned(),
                    log_scale: model.baseline_scale.ln(),
                    shape: model.shape,
                    lives: 0,
                    ended: 0,
                    misfit: 0.0,
                }
            };
            SetFit {
                set: name_of(set).to_owned(),
                coefficients: named.into_iter().filter(|(_, value)| *value != 0.0).map(coefficient).collect(),
                baselines: domains.into_iter().map(baseline).collect(),
                left_out_concordance: None,
            }
        };
        Self {
            origin: "published: 152 web databases, 52 weeks from October 2002".to_owned(),
            thresholds: vec![0.25, 0.5],
            usual_size: 1000.0,
            sets: SETS.into_iter().map(fit).collect(),
            training: Vec::new(),
        }
    }

    /// Saves the model.
    pub fn save(&self, path: &Path) -> Result<(), TextError> {
        let text = serde_json::to_vec_pretty(self).map_err(|error| TextError::damaged(path, error))?;
        write_whole(path, &text)
    }

    /// Reads a model. `None` if there is no file.
    pub fn read(path: &Path) -> Result<Option<Self>, TextError> {
        let bytes = match fs::read(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(TextError::file("read", path))?,
        };
        let model: Self = serde_json::from_slice(&bytes).map_err(|error| TextError::damaged(path, error))?;
        if model.sets.iter().any(|set| set.baselines.is_empty()) || model.sets.is_empty() {
            return Err(TextError::damaged(path, "it has no baseline"));
        }
        Ok(Some(model))
    }

    /// Predicts the survival of a database's summary, for a threshold in nats.
    pub fn predict(&self, known: &Known, threshold: f64) -> Prediction {
        let wanted = match (known.size, known.past_divergence) {
            (Some(_), Some(_)) => Set::All,
            (None, Some(_)) => Set::PastDivergence,
            (_, None) => Set::Size,
        };
        let (set, fit) = self.nearest(wanted);
        let size = known.size.unwrap_or(self.usual_size).max(1.0);
        let effect = |coefficient: &Coefficient| {
            coefficient.value
                * match coefficient.name.as_str() {
                    "ln size" => size.ln(),
                    "κ1" => known.past_divergence.unwrap_or(0.0),
                    _ => threshold,
                }
        };
        let baseline = fit.baseline(&known.stratum);
        let log_scale = baseline.log_scale + fit.coefficients.iter().map(effect).sum::<f64>();
        let scale = log_scale.clamp(-LOG_SCALE_MAX, LOG_SCALE_MAX).exp();
        let shape = baseline.shape.clamp(SHAPES.0, SHAPES.1);
        let is_guess = set == Set::Size && known.size.is_none();
        Prediction { law: WeibullSurvival::new(scale, shape), scale, shape, set, is_guess }
    }

    /// The model of a set of features, or of one that needs fewer.
    fn nearest(&self, wanted: Set) -> (Set, &SetFit) {
        let order: &[Set] = match wanted {
            Set::All => &[Set::All, Set::PastDivergence, Set::Size],
            Set::PastDivergence => &[Set::PastDivergence, Set::Size, Set::All],
            Set::Size => &[Set::Size, Set::All, Set::PastDivergence],
        };
        let found =
            order.iter().find_map(|set| Some((*set, self.sets.iter().find(|fit| fit.set == name_of(*set))?)));
        found.expect("a model has a set")
    }
}

impl SetFit {
    /// The baseline of a stratum, or the default baseline for unknown ones.
    pub fn baseline(&self, stratum: &str) -> &Baseline {
        let named = |name: &str| self.baselines.iter().find(|baseline| baseline.stratum == name);
        named(stratum)
            .or_else(|| named("misc"))
            .or_else(|| self.baselines.iter().max_by_key(|baseline| baseline.lives))
            .expect("a set has a baseline")
    }
}

#[cfg(test)]
mod tests {
    use freshet_theory::refresh::survival::law::Survival as _;
    use freshet_theory::units::Days;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_published_model_gives_the_curves_of_figure_9() {
        let known = Known { stratum: "gov".to_owned(), size: Some(1000.0), past_divergence: Some(0.1) };
        let prediction = Model::published().predict(&known, 0.5);
        assert!((prediction.scale - 0.077_034_510_911).abs() < 1e-10);
        assert!((prediction.law.survival(Days::new(40.0)) - 0.254_450_459_265).abs() < 1e-9);
        let alone = Known { past_divergence: None, ..known.clone() };
        assert!((Model::published().predict(&alone, 0.5).scale - 0.034_470_134_788_989).abs() < 1e-10);
        let unknown = Known { size: None, past_divergence: None, stratum: "jp".to_owned() };
        assert!(Model::published().predict(&unknown, 0.5).is_guess);
    }

    #[test]
    fn a_model_is_read_as_it_was_saved() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("model.json");
        let mut model = Model::published();
        model.sets.iter_mut().flat_map(|set| &mut set.coefficients).for_each(|c| c.standard_error = 0.5);
        assert_eq!(Model::read(&path).expect("it reads"), None);
        model.save(&path).expect("it is saved");
        assert_eq!(Model::read(&path).expect("it reads"), Some(model));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_bytes_are_a_model_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("model.json");
            fs::write(&path, bytes).expect("written");
            prop_assert!(Model::read(&path).is_err());
        }
    }
}
