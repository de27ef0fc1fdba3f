//! Survival model of a content summary: how long it can be expected to last, given its database.
//!
//! **summary**, Definition 4, with the coefficients of Tables 3 and 4:
//!
//! > S(t) = exp(−λ t^γ),  λ = λ_dom |D|^β_s exp(β_κ κ1) exp(β_τ τ)
//!
//! with λ_dom and γ of the database's top-level domain, |D| its size, κ1 its mean divergence
//! between summaries one week apart in training, and τ the divergence at which a summary counts as
//! changed. Time is in weeks.
//!
//! # Promises
//! - The published models are the printed ones, for every domain and set of features.
//! - Larger databases, more changeable ones, and lower thresholds have shorter lives under all of them.
//! - No overflow: a λ beyond a double still gives the right survival.
//!
//! # Departures
//! None. A feature that a set leaves out has the coefficient zero.

use crate::survival::weibull_curve::WeibullCurve;

/// A survival model: a Weibull baseline, and the effect of a database's features on its scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurvivalModel {
    /// λ_dom: the scale at size one, divergence zero and threshold zero.
    pub baseline_scale: f64,
    /// γ_dom: the shape.
    pub shape: f64,
    /// β_s, the exponent of the size.
    pub size_coefficient: f64,
    /// β_κ, the coefficient of the past divergence.
    pub past_divergence_coefficient: f64,
    /// β_τ, the coefficient of the threshold.
    pub threshold_coefficient: f64,
}

/// Features of a database, and the threshold of its user.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DatabaseFeatures {
    /// |D|: number of documents; above zero.
    pub size: f64,
    /// κ1: mean divergence between summaries one week apart, in nats.
    pub past_divergence: f64,
    /// τ: divergence at which the summary counts as changed, in nats.
    pub divergence_threshold: f64,
}

impl SurvivalModel {
    /// The survival function of a database's summary.
    ///
    /// Panics unless size and shape are above zero, the baseline scale is at least zero, and every product of
    /// a coefficient and its feature is finite.
    pub fn survival(&self, database: &DatabaseFeatures) -> WeibullCurve {
        assert!(0.0 < database.size);
        assert!(0.0 < self.shape);
        assert!(0.0 <= self.baseline_scale);
        let effects = [
            self.size_coefficient * database.size.ln(),
            self.past_divergence_coefficient * database.past_divergence,
            self.threshold_coefficient * database.divergence_threshold,
        ];
        assert!(effects.iter().all(|effect| effect.is_finite()));
        if self.baseline_scale == 0.0 {
            return WeibullCurve::new(f64::NEG_INFINITY, self.shape);
        }
        // A quarter of each cannot overflow when added, whatever their signs.
        let effect = effects.iter().map(|effect| effect / 4.0).sum::<f64>();
        WeibullCurve::new(self.baseline_scale.ln() + 4.0 * effect, self.shape)
    }
}

/// The sets of features for which the text gives coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Features {
    /// Size and threshold only.
    Size,
    /// Past divergence and threshold only.
    PastDivergence,
    /// All three.
    All,
}

/// The top-level domains for which the text gives a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// .com
    Com,
    /// .edu
    Edu,
    /// .gov
    Gov,
    /// All others, such as .mil, .uk, .dk and .jp.
    Misc,
    /// .org
    Org,
}

/// The model that the text fitted to 152 databases over 52 weeks.
pub fn published_model(features: Features, domain: Domain) -> SurvivalModel {
    // Table 3.
    let (size_coefficient, past_divergence_coefficient, threshold_coefficient) = match features {
        Features::Size => (0.179, 0.0, -1.313),
        Features::PastDivergence => (0.0, 8.3, -1.308),
        Features::All => (0.094, 6.762, -1.305),
    };
    // Table 4.
    let (baseline_scale, shape) = match (features, domain) {
        (Features::Size, Domain::Com) => (0.0211, 0.844),
        (Features::Size, Domain::Edu) => (0.0392, 0.578),
        (Features::Size, Domain::Gov) => (0.0193, 0.701),
        (Features::Size, Domain::Misc) => (0.0163, 1.072),
        (Features::Size, Domain::Org) => (0.0239, 0.723),
        (Features::PastDivergence, Domain::Com) => (0.0320, 0.886),
        (Features::PastDivergence, Domain::Edu) => (0.0774, 0.576),
        (Features::PastDivergence, Domain::Gov) => (0.0245, 0.795),
        (Features::PastDivergence, Domain::Misc) => (0.0500, 1.014),
        (Features::PastDivergence, Domain::Org) => (0.0542, 0.715),
        (Features::All, Domain::Com) => (0.0180, 0.901),
        (Features::All, Domain::Edu) => (0.0205, 0.585),
        (Features::All, Domain::Gov) => (0.0393, 0.780),
        (Features::All, Domain::Misc) => (0.0236, 1.050),
        (Features::All, Domain::Org) => (0.0274, 0.724),
    };
    SurvivalModel {
        baseline_scale,
        shape,
        size_coefficient,
        past_divergence_coefficient,
        threshold_coefficient,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOMAINS: [Domain; 5] = [Domain::Com, Domain::Edu, Domain::Gov, Domain::Misc, Domain::Org];
    const FEATURES: [Features; 3] = [Features::Size, Features::PastDivergence, Features::All];

    /// The database of Figure 9.
    const FIGURE_9: DatabaseFeatures =
        DatabaseFeatures { size: 1000.0, past_divergence: 0.1, divergence_threshold: 0.5 };

    #[test]
    fn the_curves_of_figure_9_come_out() {
        // Computed with 50 digits: λ and S at 40 weeks, for com, edu, gov, misc, org.
        let expected = [
            [
                (0.037_684_966_012_832_97, 0.428_345_117_858_536_35),
                (0.070_011_879_985_926_64, 0.554_093_496_057_505_5),
                (0.034_470_134_788_989_4, 0.632_799_865_864_845_9),
                (0.029_112_082_749_250_11, 0.218_989_049_490_318_92),
                (0.042_685_814_583_256_3, 0.540_872_203_308_082_3),
            ],
            [
                (0.038_158_017_876_821_43, 0.367_023_084_764_747_26),
                (0.092_294_705_739_561_82, 0.461_803_699_176_385),
                (0.029_214_732_436_941_407, 0.577_769_926_621_026_1),
                (0.059_621_902_932_533_48, 0.081_164_504_693_527_62),
                (0.064_630_142_778_866_29, 0.405_166_135_088_005_7),
            ],
            [
                (0.035_282_982_096_827_34, 0.375_484_492_055_493_6),
                (0.040_183_396_276_942_25, 0.706_284_134_044_582_6),
                (0.077_034_510_911_406_38, 0.254_450_459_265_004_9),
                (0.046_259_909_860_284_734, 0.108_046_514_910_234_33),
                (0.053_708_539_414_059_404, 0.460_183_228_855_789_66),
            ],
        ];
        for (features, row) in FEATURES.into_iter().zip(expected) {
            for (domain, (scale, survival)) in DOMAINS.into_iter().zip(row) {
                let curve = published_model(features, domain).survival(&FIGURE_9);
                assert!((curve.scale() / scale - 1.0).abs() < 1e-13, "{features:?} {domain:?}");
                assert!((curve.survival_at(40.0) / survival - 1.0).abs() < 1e-12, "{features:?} {domain:?}");
            }
        }
    }

    #[test]
    fn size_and_past_change_shorten_a_life_and_tolerance_lengthens_it() {
        for domain in DOMAINS {
            let scale = |size, past_divergence, divergence_threshold| {
                let database = DatabaseFeatures { size, past_divergence, divergence_threshold };
                published_model(Features::All, domain).survival(&database).scale()
            };
            assert!(scale(2000.0, 0.1, 0.5) > scale(1000.0, 0.1, 0.5));
            assert!(scale(1000.0, 0.2, 0.5) > scale(1000.0, 0.1, 0.5));
            assert!(scale(1000.0, 0.1, 0.6) < scale(1000.0, 0.1, 0.5));
        }
    }

    #[test]
    fn a_scale_beyond_a_double_still_has_its_survival() {
        let model = SurvivalModel {
            baseline_scale: 1.0,
            shape: 2.0,
            size_coefficient: 0.0,
            past_divergence_coefficient: 1.0,
            threshold_coefficient: -1.0,
        };
        let at = |past_divergence, divergence_threshold| {
            model.survival(&DatabaseFeatures { size: 1.0, past_divergence, divergence_threshold })
        };
        let curve = at(1000.0, 0.0);
        assert_eq!(curve.scale(), f64::INFINITY);
        assert!((curve.survival_at((-500f64).exp()) - (-1f64).exp()).abs() < 1e-12);
        assert_eq!(curve.survival_at(0.0), 1.0);
        assert_eq!(curve.survival_at(1.0), 0.0);
        assert_eq!(at(1.7e308, 1.7e308).scale(), 1.0);
        assert_eq!(at(0.0, 1.7e308).survival_at(1e300), 1.0);
    }
}
