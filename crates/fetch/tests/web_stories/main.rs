//! The Web met over real sockets: what servers do, and what becomes of it.
//!
//! - `server`: a server on loopback that does what a test says;
//! - `answers`: honest servers, and the bytes they send;
//! - `hostile`: servers that are slow, endless, broken or malicious;
//! - `closed_doors`: addresses that must not be visited;
//! - `connections`: connections kept, replaced and bounded;
//! - `encrypted`: TLS and HTTP/2, and what is wrong with certificates;
//! - `robots_oracles`: our matcher against two others.

mod answers;
mod closed_doors;
mod connections;
mod encrypted;
mod hostile;
mod robots_oracles;
mod server;
