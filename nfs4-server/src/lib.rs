#![deny(unsafe_code)]
//! An NFSv4.1/4.2 server.

pub mod backend;
pub mod config;
pub mod export;
pub mod identity;
pub mod state;
