//! Tests of the HTTP client over real sockets.
//!
//! - `server`: a server on loopback that does what a test says;
//! - `answers`: well-behaved servers and their responses;
//! - `hostile`: slow, endless, broken or malicious servers;
//! - `closed_doors`: private addresses, which must not be visited;
//! - `connections`: connections are reused, replaced and limited;
//! - `encrypted`: TLS and HTTP/2, and invalid certificates;
//! - `robots_oracles`: our robots.txt matcher compared with two others.

mod answers;
mod closed_doors;
mod connections;
mod encrypted;
mod hostile;
mod robots_oracles;
mod server;
