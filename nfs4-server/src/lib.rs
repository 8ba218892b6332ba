#![deny(unsafe_code)]
//! An NFSv4.1/4.2 server.

pub mod backend;
pub mod cb;
mod compound;
pub mod config;
mod core;
pub mod export;
pub mod identity;
pub mod net;
pub mod observe;
mod ops;
mod server;
pub mod state;

pub use server::{Server, StartError};
