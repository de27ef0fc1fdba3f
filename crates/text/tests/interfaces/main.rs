//! Search interfaces on loopback, good and bad, and what a sample learns of them.

mod hostile;
mod json_api;
mod server;
