//! Survival analysis: how long something lasts, as the text **summary** uses it (sections 4.1 to 4.3).
//!
//! In reading order:
//! - [`lifetime`]: one observed lifetime, ended or censored;
//! - [`kaplan_meier`]: the survival function, without a model;
//! - [`subjects`]: lifetimes with covariates, sorted and scaled once for all that follows;
//! - [`risk_sets`]: one pass over everyone still at risk, the sums on which Cox's regression rests;
//! - [`cox`]: the coefficients of the covariates, and their standard errors;
//! - [`baseline`]: the survival when all covariates are zero;
//! - [`proportional_hazards`]: whether the effect of a covariate stays the same over time;
//! - [`concordance`]: how well a risk score orders the lifetimes;
//! - [`weibull_curve`]: the curve exp(−λ t^γ), and its least-squares fit to a survival function.

pub mod baseline;
pub mod concordance;
pub mod cox;
pub mod kaplan_meier;
pub mod lifetime;
pub mod proportional_hazards;
pub mod risk_sets;
pub mod subjects;
pub mod weibull_curve;
