//! Summaries for tests.

use std::time::Duration;

use paymaster_settings::{ShownTarget, output::curl::CurlCommand};

use crate::figures::{Example, Figures, Outcome, Sample, WrongKey};
use crate::results::{LoadModel, RunSummary, judge_all};

const LENGTH: Duration = Duration::from_secs(10);

fn figures(wrong_one_in: u64) -> Figures {
    let mut figures = Figures::default();
    for n in 0..1_000_u64 {
        let outcome = match n {
            n if wrong_one_in > 0 && n % wrong_one_in == 0 => Outcome::Wrong,
            n if wrong_one_in > 0 && n % 100 == 99 => Outcome::Timeout,
            _ => Outcome::Good,
        };
        let label = ["quote-erc20", "journey/quote", "journey/sponsor"][usize::try_from(n % 3).unwrap_or(0)];
        figures.record(&Sample {
            label,
            at: Some(Duration::from_millis(n * 10)),
            latency: Duration::from_micros(900 + n * 3 + if n % 97 == 0 { 20_000 } else { 0 }),
            outcome,
            judged: outcome != Outcome::Timeout,
        });
        if outcome == Outcome::Wrong {
            let key = WrongKey {
                rule: "fee-quote.maxGasFee".to_owned(),
                label: label.to_owned(),
                pointer: "/result/feeQuotes/*/maxGasFee".to_owned(),
            };
            figures.add_wrong(key, || Example {
                expected: "a number of token units".to_owned(),
                actual: "\"0.25\" <b>\u{1b}[31m".to_owned(),
                request: "{\"jsonrpc\":\"2.0\"}".to_owned(),
                status: Some(200),
                response: "{\"jsonrpc\":\"2.0\",\"result\":{}}".to_owned(),
                pointer: "/result/feeQuotes/0/maxGasFee".to_owned(),
            });
        }
    }
    figures
}

fn summary(mut figures: Figures, length: Duration) -> RunSummary {
    figures.series.add_users(10, Duration::ZERO, length);
    let thresholds = judge_all(&["p95<200ms".parse().unwrap()], &figures, length);
    RunSummary {
        began: 1_772_366_400,
        command: "paymaster-loadtest 'http://127.0.0.1:3000/***' -t 'p95<200ms'".to_owned(),
        target: "http://127.0.0.1:3000/***".to_owned(),
        curl: CurlCommand::of(&ShownTarget::default()),
        scenarios: vec!["quote-erc20".to_owned(), "journey".to_owned()],
        model: LoadModel { users: 10, ..LoadModel::default() },
        seed: 1,
        ..RunSummary::new(figures, length)
    }
    .judged(thresholds)
}

/// A run with good answers only.
pub(crate) fn passed() -> RunSummary {
    summary(figures(0), LENGTH)
}

/// A run with wrong answers and timeouts.
pub(crate) fn failed() -> RunSummary {
    summary(figures(25), LENGTH)
}

/// A load that did not begin, because discovery got no answer.
pub(crate) fn not_begun() -> RunSummary {
    RunSummary {
        scenarios: Vec::new(),
        cut_short: Some("no connection: <b>".to_owned()),
        ..summary(Figures::default(), Duration::ZERO)
    }
}

/// One of each.
pub(crate) fn all() -> [RunSummary; 4] {
    [passed(), failed(), unreachable(), not_begun()]
}

/// A run whose target could not be reached.
pub(crate) fn unreachable() -> RunSummary {
    let mut figures = Figures::default();
    figures.record(&Sample {
        label: "quote-erc20",
        at: Some(Duration::ZERO),
        latency: Duration::from_millis(1),
        outcome: Outcome::Transport,
        judged: false,
    });
    figures.failures.insert("no connection: refused".to_owned(), 1);
    summary(figures, LENGTH)
}
