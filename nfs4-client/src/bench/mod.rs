//! One operation at a time, as fast as a server answers it.
//!
//! Each connection has a thread and a session of its own; `depth` calls are under way on it at any time. Requests are
//! encoded as replies come in, and all of one batch leave in one write. The general session is not used: it would be
//! measured too.

mod cpu;
mod op;
mod run;
mod wire;

pub use op::Op;
pub use run::{BenchError, Plan, Report, run};
