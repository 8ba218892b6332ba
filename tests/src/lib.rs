#![forbid(unsafe_code)]
//! Integration tests, golden bytes and fuzz bodies of the workspace.

pub mod fuzzing;
pub mod golden;
pub mod scale;
pub mod sim;
pub mod wire;
