//! Where log lines go: to standard error, readable or as JSON.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use super::args::LogFormat;

/// `RUST_LOG` decides; else `level`.
pub(super) fn init(format: LogFormat, level: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(format!("{level},sqlx=warn")));
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colours);
    // A program that set up its own logging keeps it.
    let _ = match format {
        LogFormat::Text => lines.with_target(false).compact().try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
}
