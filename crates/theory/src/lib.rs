//! The mathematics of keeping a copy of the Web fresh.
//!
//! Every function here is pure and cannot fail: it reads no clock, no file and no random source that it was
//! not given. Requirements on the input are a type ([`units`]) or an assertion at the start of the function.
//! Callers check outside data before they call.
//!
//! The texts are cited by these names:
//! - **thesis**: J. Cho, *Crawling the Web: discovery and maintenance of large-scale Web data*, 2001.
//! - **estimate**: J. Cho and H. Garcia-Molina, *Estimating frequency of change*.
//! - **sample**: J. Cho and A. Ntoulas, *Effective change detection using sampling*.
//! - **neighbours**: Q. Tan et al., change detection by link, directory and cluster neighbourhoods.
//! - **summary**: P. Ipeirotis et al., *Modeling and managing content changes in text databases*.
//!
//! Reading order: [`units`] and [`numerics`] are the ground; [`process`] says how pages change, [`freshness`]
//! what that does to a copy; [`estimate`] learns the rate, [`refresh`] spends the visits, [`plan`] says what
//! a budget buys; [`sample`] and [`neighbourhood`] decide by samples; [`rank`] says what is important,
//! [`partition`] and [`parallel`] who crawls it; [`summary`] and [`survival`] are about text databases.

pub mod estimate;
pub mod freshness;
pub mod neighbourhood;
pub mod numerics;
pub mod parallel;
pub mod partition;
pub mod plan;
pub mod process;
pub mod rank;
pub mod refresh;
pub mod sample;
pub mod summary;
pub mod survival;
pub mod units;
