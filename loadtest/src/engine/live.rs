//! A run while it goes on, on standard error: a block of lines that is redrawn in place on a terminal, and plain lines elsewhere.

use std::io::{self, IsTerminal, Write as _};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use paymaster_settings::output as out;
use paymaster_settings::output::Style;
use paymaster_settings::{Environment, Paint, escape_controls};

use super::state::{Pacing, RunState};
use crate::figures::{Outcome, OutcomeCounts, TimeSlot, WrongAnswers};
use crate::number::per_second;
use crate::text::{count, latency, number, rate, seconds};

/// How often the block is redrawn.
const REDRAW_INTERVAL: Duration = Duration::from_millis(250);
/// How often a plain line is written. The first one comes after this time.
const LINE_INTERVAL: Duration = Duration::from_secs(5);
/// The latencies shown are those of the last seconds.
const RECENT: Duration = Duration::from_secs(5);
/// The width of the bar.
const BAR: usize = 24;
/// Most characters of the words of a wrong answer or a failure.
const WORDS: usize = 160;

/// The rows of the block on the terminal. Another thread may write above it.
static DRAWN: Mutex<usize> = Mutex::new(0);

/// Shows a run, or the discovery before it.
#[derive(Debug)]
pub struct LiveView {
    /// Whether lines are redrawn in place.
    on_terminal: bool,
    paint: Paint,
    shown: Option<Instant>,
    /// The number of answers when the present rate was last computed, and that time after the start.
    before: (u64, Duration),
    rate: f64,
}

impl Default for LiveView {
    fn default() -> Self {
        let environment = Environment::of_process();
        let on_terminal = io::stderr().is_terminal() && environment.get("TERM") != Ok(Some("dumb"));
        Self {
            on_terminal,
            paint: out::paint(&environment, true),
            shown: (!on_terminal).then(Instant::now),
            before: (0, Duration::ZERO),
            rate: 0.0,
        }
    }
}

impl LiveView {
    /// Shows lines, unless the last ones are too new. Elsewhere than on a terminal they are one line.
    pub(crate) fn show(&mut self, lines: impl FnOnce(&mut Self) -> Vec<String>) {
        let interval = if self.on_terminal { REDRAW_INTERVAL } else { LINE_INTERVAL };
        if self.shown.is_some_and(|at| at.elapsed() < interval) {
            return;
        }
        self.shown = Some(Instant::now());
        let lines = lines(self);
        if self.on_terminal {
            // A line that is wider than the terminal is cut there instead of taking two rows.
            draw(&format!("\x1b[?7l{}\x1b[?7h", lines.join("\n")), lines.len());
        } else {
            out::eprint(&format!("{}\n", lines.join("; ")));
        }
    }

    /// The lines of a run.
    pub(super) fn of_run(&mut self, run: &RunState) -> Vec<String> {
        let mut moment = Moment::of(run);
        let since = moment.elapsed.saturating_sub(self.before.1).as_secs_f64();
        if since > 0.5 {
            self.rate = per_second(moment.answers.saturating_sub(self.before.0), since);
            self.before = (moment.answers, moment.elapsed);
        }
        moment.now = self.rate;
        moment.lines(self.on_terminal, self.paint)
    }
}

/// Clears the block, so that the report begins in its place.
impl Drop for LiveView {
    fn drop(&mut self) {
        draw("", 0);
    }
}

/// Replaces the block on the terminal by a text with this many rows below which nothing stands. Without rows, the next block follows below
/// the text. What cannot be written is dropped.
pub(super) fn draw(text: &str, rows: usize) {
    let mut drawn = DRAWN.lock();
    out::eprint(&format!("{}{text}", clear(*drawn)));
    let _ = io::stderr().flush();
    *drawn = rows;
}

/// What clears this many rows, if the cursor stands in the last one.
fn clear(rows: usize) -> String {
    match rows {
        0 => String::new(),
        1 => "\r\x1b[J".to_owned(),
        rows => format!("\r\x1b[{}A\x1b[J", rows - 1),
    }
}

/// A run at one moment.
#[derive(Debug, Default)]
struct Moment {
    phase: Option<&'static str>,
    elapsed: Duration,
    warm_up: Duration,
    length: Duration,
    /// With a request budget: the requests sent, and the budget.
    budget: Option<(u64, u64)>,
    /// Answers so far, with those of the warm-up.
    answers: u64,
    /// Answers per second now.
    now: f64,
    counts: OutcomeCounts,
    judged: u64,
    /// The last seconds.
    recent: TimeSlot,
    /// The first wrong answer, in words.
    wrong: Option<String>,
    /// The most frequent failure, and how often it was seen by the users that saw it most.
    failure: Option<(u64, String)>,
    users: usize,
    /// Users with an iteration in progress.
    busy: usize,
    /// Open model: arrivals that are due and wait for a connection.
    waiting: u64,
}

impl Moment {
    fn of(run: &RunState) -> Self {
        let (clock, elapsed) = (&run.clock, run.clock.elapsed());
        let phase = if elapsed < clock.warm_up {
            Some("warming up")
        } else {
            run.is_draining().then_some("waiting for the last answers")
        };
        let is_open = matches!(run.settings.pacing, Pacing::Open(_));
        let mut moment = Self {
            phase,
            elapsed,
            warm_up: clock.warm_up,
            length: clock.length,
            budget: run.settings.max_requests.map(|most| (run.sent(), most)),
            users: run.users.now(),
            busy: run.busy.load(Ordering::Relaxed),
            waiting: if is_open { run.due.available_permits() as u64 } else { 0 },
            ..Self::default()
        };
        for figures in run.shards() {
            moment.answers += figures.warm_up.answered();
            for label in figures.labels.values() {
                moment.counts.merge(&label.counts);
                moment.judged += label.judged;
            }
            moment.recent.merge(&figures.series.recent(elapsed.saturating_sub(moment.warm_up), RECENT));
            moment.wrong = moment.wrong.or_else(|| figures.wrong.first().map(in_words));
            let most = figures.failures.iter().max_by_key(|(_, times)| **times);
            moment.failure = moment.failure.max(most.map(|(words, times)| (*times, words.clone())));
        }
        moment.answers += moment.counts.answered();
        moment
    }

    /// The lines: of a block with a bar, or the parts of one plain line.
    fn lines(&self, block: bool, paint: Paint) -> Vec<String> {
        let answered = self.counts.answered();
        let overall = per_second(answered, self.elapsed.saturating_sub(self.warm_up).as_secs_f64());
        let waiting = match self.waiting {
            0 => String::new(),
            waiting => format!(", {} waiting for a connection", count(waiting, "arrival")),
        };
        let [p50, p95, p99] = [50.0, 95.0, 99.0].map(|percent| latency(self.recent.percentile(percent)));
        let answers = format!(
            "{} now, {} overall, {} in all, {} of {} busy{waiting}",
            paint.with(Style::Strong, &rate(self.now)),
            rate(overall),
            number(answered),
            number(self.busy as u64),
            count(self.users as u64, "user"),
        );
        let wrong = self.counts.of(Outcome::Wrong);
        let of_judged = format!("{} of {} judged", number(wrong), number(self.judged));
        let judged = match &self.wrong {
            Some(words) if wrong > 0 => {
                format!("{}, first {}", paint.with(Style::Bad, &of_judged), shown(words))
            }
            _ => of_judged,
        };
        let latencies = format!("p50 {p50}, p95 {p95}, p99 {p99} in the last seconds");
        let mut titled = vec![("answers", answers), ("latency", latencies), ("wrong", judged)];
        let failed = self.counts.failures();
        let failed: Vec<String> =
            failed.map(|(outcome, times)| format!("{} {}", number(times), outcome.description())).collect();
        if !failed.is_empty() {
            let words = self.failure.as_ref().map(|(_, words)| format!(", most often {}", shown(words)));
            titled.push(("failed", paint.with(Style::Bad, &failed.join(", ")) + &words.unwrap_or_default()));
        }
        let width = if block { 8 } else { 0 };
        let titled = titled.into_iter().map(|(title, text)| {
            let title = format!("{title} ");
            paint.with(Style::Muted, &format!("{title:<width$}")) + &text
        });
        let first = if block { format!("{} {}", self.bar(), self.time()) } else { self.time() };
        [first].into_iter().chain(titled).collect()
    }

    /// The part of the time or of the requests that is done, whichever is larger.
    fn bar(&self) -> String {
        let part = |done: u128, of: u128| (done * BAR as u128).checked_div(of).unwrap_or_default();
        let of_time = part(self.elapsed.as_millis(), self.length.as_millis());
        let of_requests = self.budget.map_or(0, |(sent, most)| part(sent.into(), most.into()));
        let full = usize::try_from(of_time.max(of_requests)).unwrap_or(BAR).min(BAR);
        format!("[{}{}]", "=".repeat(full), "-".repeat(BAR - full))
    }

    fn time(&self) -> String {
        let elapsed = self.elapsed.min(self.length).as_secs();
        let length = seconds(self.length.as_secs_f64());
        let left = seconds(self.length.saturating_sub(Duration::from_secs(elapsed)).as_secs_f64());
        let text = match self.budget.map(|(sent, most)| (number(sent), number(most))) {
            Some((sent, most)) => format!("{sent} of {most} requests, {elapsed} of at most {length}"),
            None => format!("{elapsed} of {length}, {left} left"),
        };
        self.phase.map_or(text.clone(), |phase| format!("{text}, {phase}"))
    }
}

/// The rule that a wrong answer breaks, and how.
fn in_words(wrong: &WrongAnswers) -> String {
    let (key, example) = (&wrong.key, &wrong.example);
    let place = if key.pointer.is_empty() { String::new() } else { format!(" at {}", key.pointer) };
    format!("{} in {}: expected {}, got {}{place}", key.rule, key.label, example.expected, example.actual)
}

/// Words of the target that are safe to print, in one line.
fn shown(words: &str) -> String {
    escape_controls(&words.chars().take(WORDS).collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn moment() -> Moment {
        let mut moment = Moment {
            elapsed: Duration::from_millis(12_400),
            warm_up: Duration::from_secs(2),
            length: Duration::from_secs(30),
            answers: 24_000,
            now: 2_100.0,
            judged: 20_800,
            users: 10,
            busy: 8,
            ..Moment::default()
        };
        moment.counts = BTreeMap::from([(Outcome::Good, 20_800)]).into();
        let mut series = crate::figures::TimeSeries::default();
        for (second, millis) in [(1, 900), (7, 10), (8, 10)] {
            series.record(Duration::from_secs(second), Outcome::Good, Duration::from_millis(millis));
        }
        moment.recent = series.recent(Duration::from_secs(10), RECENT);
        moment
    }

    #[test]
    fn a_terminal_has_a_block_with_a_bar_and_a_pipe_the_same_words() {
        let mut moment = moment();
        let expected = "\
[=========---------------] 12 of 30 s, 18 s left
answers 2 100/s now, 2 000/s overall, 20 800 in all, 8 of 10 users busy
latency p50 9.96 ms, p95 9.96 ms, p99 9.96 ms in the last seconds
wrong   0 of 20 800 judged";
        assert_eq!(moment.lines(true, Paint::default()).join("\n"), expected);
        let plain = moment.lines(false, Paint::default());
        assert_eq!((&*plain[0], &*plain[3]), ("12 of 30 s, 18 s left", "wrong 0 of 20 800 judged"));

        moment.phase = Some("waiting for the last answers");
        moment.elapsed = Duration::from_secs(40);
        moment.waiting = 1;
        let ends = [(Outcome::Wrong, 7), (Outcome::Timeout, 3), (Outcome::Transport, 2)];
        moment.counts.merge(&BTreeMap::from(ends).into());
        moment.wrong = Some("answer.id in journey/quote: expected 1, got \u{1b}[2J at /id".to_owned());
        moment.failure = Some((3, "no response".to_owned()));
        let expected = "\
[========================] 30 of 30 s, 0 s left, waiting for the last answers
answers 2 100/s now, 548/s overall, 20 807 in all, 8 of 10 users busy, 1 arrival waiting for a connection
latency p50 9.96 ms, p95 9.96 ms, p99 9.96 ms in the last seconds
wrong   7 of 20 800 judged, first answer.id in journey/quote: expected 1, got \\u{1b}[2J at /id
failed  2 transport errors, 3 timeouts, most often no response";
        assert_eq!(moment.lines(true, Paint::default()).join("\n"), expected);
    }

    #[test]
    fn a_budget_of_requests_is_shown_instead_of_the_time_left() {
        let mut moment = moment();
        moment.budget = Some((750, 1_000));
        let first = &moment.lines(true, Paint::default())[0];
        assert_eq!(first, "[==================------] 750 of 1 000 requests, 12 of at most 30 s");
    }

    #[test]
    fn only_colours_add_control_characters_to_the_lines() {
        for (paint, expected) in [(Paint::default(), false), (Paint { colours: true }, true)] {
            let lines = moment().lines(true, paint).concat();
            assert_eq!(lines.chars().any(char::is_control), expected, "{lines:?}");
        }
    }

    #[test]
    fn a_block_is_cleared_from_its_first_row() {
        let cleared = [0, 1, 5].map(clear);
        assert_eq!(cleared, ["", "\r\u{1b}[J", "\r\u{1b}[4A\u{1b}[J"]);
    }
}
