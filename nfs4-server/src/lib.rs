#![deny(unsafe_code)]
#![doc = include_str!("../README.md")]

/// A server that decides wrongly on purpose is none.
const _: () = assert!(!nfs4_deleg::server::SEEDABLE, "nfs4-deleg was built with its feature `faults`");

pub mod admin;
pub mod backend;
pub mod cb;
mod compound;
pub mod config;
mod core;
mod deleg;
pub mod export;
pub mod identity;
pub mod net;
pub mod observe;
mod ops;
mod server;
pub mod state;

pub use server::{Server, StartError};
