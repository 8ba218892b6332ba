//! An NFSv4.1/4.2 server.
pub mod backend;
