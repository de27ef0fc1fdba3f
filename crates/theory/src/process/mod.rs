//! Models of how pages change: processes to compute with and to sample from, and a test of observations.
//!
//! In reading order:
//! - [`change_process`]: the trait of all processes;
//! - [`poisson`]: changes at random with a fixed rate, the model of the texts;
//! - [`gamma_mixed`]: Poisson pages whose rates follow a gamma distribution;
//! - [`gamma_renewal`]: intervals between changes that follow a gamma distribution;
//! - [`weibull`]: intervals between changes that follow a Weibull distribution;
//! - [`exponential_fit`]: whether observed intervals look like those of a Poisson process.

pub mod change_process;
pub mod exponential_fit;
pub mod gamma_mixed;
pub mod gamma_renewal;
pub mod poisson;
pub mod weibull;
