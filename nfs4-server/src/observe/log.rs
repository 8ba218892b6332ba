//! Logs on standard error.

use tracing_subscriber::EnvFilter;

use crate::config::LogFormat;

/// Why the log was not started.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The filter is not understood.
    #[error("--log {filter:?}: {error} (accepted: error, warn, info, debug, trace, off, or target=level,…)")]
    Filter {
        /// What was given.
        filter: String,
        /// Why.
        error: tracing_subscriber::filter::ParseError,
    },
    /// Another logger is there.
    #[error("the log was started before")]
    Twice,
}

/// Starts logging for the whole process.
pub fn start(filter: &str, format: LogFormat) -> Result<(), LogError> {
    let parsed =
        EnvFilter::try_new(filter).map_err(|error| LogError::Filter { filter: filter.to_owned(), error })?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(parsed)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()));
    let started = match format {
        LogFormat::Text => builder.with_target(false).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    started.map_err(|_| LogError::Twice)
}
