//! The log of the command, on standard error.

use std::error::Error;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tracing::Level;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The name of this program in a filter.
const PROGRAM: &str = "paymaster_reference_server";
/// The events of this program begin with the name of the crate that serves.
const EVENTS: &str = "paymaster_service";

/// The level for this program in a filter: a level, or pairs such as `paymaster_reference_server=debug` with commas between them.
pub(crate) fn level(filter: Option<&str>) -> Result<LevelFilter, Box<dyn Error>> {
    let Some(filter) = filter.filter(|filter| !filter.is_empty()) else { return Ok(LevelFilter::INFO) };
    let targets: Targets = filter.parse().map_err(|cause| {
        format!("--log (or RUST_LOG) must be off, error, warn, info, debug or a filter of `tracing`: {cause}")
    })?;
    let levels = [Level::TRACE, Level::DEBUG, Level::INFO, Level::WARN, Level::ERROR];
    let mut enabled = levels.into_iter().filter(|level| targets.would_enable(PROGRAM, level));
    Ok(enabled.next().map_or(LevelFilter::OFF, LevelFilter::from))
}

/// Most lines that wait to be written: some megabytes. A reader of standard error that is slower than the server costs lines, never time.
const MOST_WAITING: usize = 16_384;

/// How long lines are gathered for one write: to wake the thread that writes costs more than a line.
const GATHERED: Duration = Duration::from_millis(10);

/// The log of this program. Its lines are written by a thread of its own; the last ones when this is dropped.
pub(crate) struct Log {
    lines: Lines,
    thread: Option<JoinHandle<()>>,
}

/// Writes the events of this program to standard error from now on. Those of libraries are left out: at level trace they show header
/// values.
pub(crate) fn start(level: LevelFilter) -> Log {
    let log = Log::writing(io::stderr());
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(log.lines.clone())
        .with_target(false)
        .with_ansi(false)
        .with_filter(Targets::new().with_target(EVENTS, level));
    tracing_subscriber::registry().with(layer).init();
    log
}

impl Log {
    fn writing(out: impl Write + Send + 'static) -> Self {
        let (sender, waiting) = mpsc::sync_channel(MOST_WAITING);
        let lines = Lines { sender, dropped: Arc::default() };
        let dropped = Arc::clone(&lines.dropped);
        let thread = thread::spawn(move || write_lines(&waiting, &dropped, BufWriter::new(out)));
        Self { lines, thread: Some(thread) }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // An error means that the thread has ended already.
        let _ = self.lines.sender.send(None);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Takes lines for the thread that writes them; `None` ends it.
#[derive(Clone)]
struct Lines {
    sender: SyncSender<Option<Vec<u8>>>,
    /// Lines that found the buffer full and are not written.
    dropped: Arc<AtomicU64>,
}

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.sender.try_send(Some(line.to_vec())).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Lines {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// Writes the lines that wait together, until the end, and says how many were dropped. What cannot be written is lost.
fn write_lines(waiting: &Receiver<Option<Vec<u8>>>, dropped: &AtomicU64, mut out: impl Write) {
    while let Ok(Some(first)) = waiting.recv() {
        thread::sleep(GATHERED);
        let mut next = Some(first);
        let mut is_last = false;
        while let Some(line) = next.take() {
            let _ = out.write_all(&line);
            match waiting.try_recv() {
                Ok(Some(line)) => next = Some(line),
                Ok(None) => is_last = true,
                Err(_) => {}
            }
        }
        let lost = dropped.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let _ = writeln!(out, "{lost} lines of the log were dropped: standard error is read too slowly");
        }
        let _ = out.flush();
        if is_last {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Keeps what is written; the first write waits until the test lets it go on.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn every_line_is_written_at_the_end_and_dropped_ones_are_counted() {
        let kept = Kept::default();
        let held = kept.0.lock().unwrap();
        let mut log = Log::writing(kept.clone());
        let most = 2 * MOST_WAITING + 10_000;
        for number in 0..most {
            log.lines.write_all(format!("line {number}\n").as_bytes()).unwrap();
        }
        drop(held);
        drop(log);
        let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        let written = text.lines().filter(|line| line.starts_with("line ")).count();
        let lost: usize = text
            .lines()
            .filter_map(|line| {
                line.strip_suffix(" lines of the log were dropped: standard error is read too slowly")
            })
            .map(|number| number.parse::<usize>().unwrap())
            .sum();
        assert_eq!((written + lost, lost > 0), (most, true), "{written} {lost}");
    }

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
