//! The log of the command, on standard error.

use std::error::Error;
use std::io;

use tracing::Level;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The name of this program in a filter.
const PROGRAM: &str = "paymaster_reference_server";
/// The events of this program begin with the name of the crate that serves.
const EVENTS: &str = "paymaster_service";

/// The level for this program in a filter: a level, or pairs such as `paymaster_reference_server=debug` with commas between them.
pub(crate) fn level(filter: Option<&str>) -> Result<LevelFilter, Box<dyn Error>> {
    let Some(filter) = filter.filter(|filter| !filter.is_empty()) else {
        return Ok(LevelFilter::INFO);
    };
    let targets: Targets = filter.parse().map_err(|cause| {
        format!("--log (or RUST_LOG) must be off, error, warn, info, debug or a filter of `tracing`: {cause}")
    })?;
    let levels = [Level::TRACE, Level::DEBUG, Level::INFO, Level::WARN, Level::ERROR];
    let mut enabled = levels.into_iter().filter(|level| targets.would_enable(PROGRAM, level));
    Ok(enabled.next().map_or(LevelFilter::OFF, LevelFilter::from))
}

/// Writes the events of this program from now on. Those of libraries are left out: at level trace they show header values.
pub(crate) fn start(level: LevelFilter) {
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_target(false)
        .with_ansi(false)
        .with_filter(Targets::new().with_target(EVENTS, level));
    tracing_subscriber::registry().with(lines).init();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_gives_the_level_of_this_program() {
        for (filter, expected) in [
            ("info", LevelFilter::INFO),
            ("off", LevelFilter::OFF),
            ("DEBUG", LevelFilter::DEBUG),
            ("warn,hyper=trace", LevelFilter::WARN),
            ("info,paymaster_reference_server=off", LevelFilter::OFF),
            ("hyper=debug", LevelFilter::OFF),
        ] {
            assert_eq!(level(Some(filter)).unwrap(), expected, "{filter}");
        }
        assert_eq!(level(None).unwrap(), LevelFilter::INFO);
        assert!(level(Some("a=b=c")).unwrap_err().to_string().contains("--log"));
    }
}
