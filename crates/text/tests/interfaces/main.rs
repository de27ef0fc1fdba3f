//! Samples of good and bad search interfaces on loopback.

mod hostile;
mod json_api;
mod server;
