//! How long a run takes at a limited rate, and what fits into its time limit.

use std::{collections::BTreeMap, fmt, time::Duration};

use crate::run::Suite;
use paymaster_judge::{
    cases::{case::Relation, plan::DEFAULT_CASES, scope::Scope},
    target::context::{Context, Support},
};
use paymaster_schemas::Pair;

/// The number of cases that a longer plan is estimated from.
const SAMPLE: u32 = DEFAULT_CASES;

/// One part in this many is added for pauses, repeated requests and the confirmation of findings.
const RESERVE: u32 = 10;

/// The longest time limit that the command line accepts.
const LONGEST: Duration = Duration::from_hours(24);

/// How many requests a plan has, for any number of cases.
#[derive(Clone, Debug)]
pub(crate) struct Cost {
    /// The requests of each relation and pair in a plan with `cases` cases.
    requests: BTreeMap<(&'static str, Pair), RelationCost>,
    cases: u32,
    scope: Scope,
    /// The requests of a quick run; none where this run is one.
    quick: Option<u64>,
    /// Requests that were sent before the plan.
    before: u64,
}

/// The requests of one relation with base requests of one pair.
#[derive(Clone, Copy, Debug)]
struct RelationCost {
    relation: &'static Relation,
    requests: u64,
}

impl Cost {
    /// The cost of a run whose plan has `cases` cases and whose discovery sent `before` requests.
    pub(crate) fn of(suite: &Suite, context: &Context, seed: u64, cases: u32, before: usize) -> Self {
        let mut cost = Self {
            requests: BTreeMap::new(),
            cases: cases.min(SAMPLE),
            scope: suite.scope.clone(),
            quick: None,
            before: before as u64,
        };
        for group in suite.groups(context, seed, cost.cases) {
            let (relation, Some(pair)) = (group.relation, group.pair) else {
                continue;
            };
            let cost = cost.requests.entry((relation.id, pair)).or_insert(RelationCost {
                relation,
                requests: 0,
            });
            cost.requests += group.members.len() as u64;
        }
        if !suite.scope.is_quick() {
            let quick = suite.scope.clone().quick();
            let groups = (suite.plan)(context, seed, cost.cases).within(&quick);
            let requests: usize = groups.map(|group| group.members.len()).sum();
            cost.quick = Some(cost.before + requests as u64);
        }
        cost
    }

    /// The approximate number of requests of a run with this many cases.
    pub(crate) fn requests(&self, cases: u32) -> u64 {
        let of_plan = self.requests.iter().map(|((_, pair), cost)| {
            let rounds = |cases| self.scope.rounds(cost.relation, *pair, cases);
            let (wanted, made) = (rounds(cases), rounds(self.cases));
            cost.requests * u64::from(wanted) / u64::from(made.max(1))
        });
        self.before + of_plan.sum::<u64>()
    }
}

/// The context that discovery probably ends with: most targets support tokens, and half of a plan concerns them.
pub(crate) fn expected(mut context: Context) -> Context {
    if context.tokens_with(Support::Supported).next().is_none() {
        for digit in ["a", "b", "c"] {
            context.learn_token(&format!("0x{}", digit.repeat(40)), Support::Supported);
        }
        context.learn_unlisted_tokens(Support::Unsupported);
    }
    context
}

/// How long a run takes at a rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The time between two requests.
    pub interval: Duration,
    /// The approximate number of requests.
    pub requests: u64,
    /// The approximate duration.
    pub takes: Duration,
    /// The time limit of the run.
    pub time_limit: Duration,
    /// Whether the run takes longer than the time limit.
    pub too_long: bool,
    /// The largest number of cases that fits into the time limit, where not all fit; none where not even one fits.
    pub cases: Option<u32>,
    /// What a quick run takes; none where this run is one.
    pub quick: Option<QuickRun>,
    /// A time limit that is long enough for all cases, where the present one is not; none where it would be more than a day.
    pub enough: Option<Duration>,
}

/// What a run with `--quick` takes: every rule is exercised once or twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuickRun {
    /// The approximate number of requests.
    pub requests: u64,
    /// The approximate duration.
    pub takes: Duration,
}

impl Estimate {
    /// Estimates a run with this many cases and at most `budget` requests.
    pub(crate) fn of(
        cost: &Cost,
        cases: u32,
        budget: Option<usize>,
        interval: Duration,
        time_limit: Duration,
    ) -> Self {
        let requests = |cases| {
            let all = cost.requests(cases);
            budget.map_or(all, |budget| all.min(budget as u64))
        };
        let takes = |cases| interval.saturating_mul(u32::try_from(requests(cases)).unwrap_or(u32::MAX));
        let with_reserve = |cases| takes(cases).saturating_add(takes(cases) / RESERVE);
        let fits = |cases| with_reserve(cases) <= time_limit;
        let too_long = !fits(cases);
        let enough = rounded_up(with_reserve(cases));
        Self {
            interval,
            requests: requests(cases),
            takes: takes(cases),
            time_limit,
            too_long,
            cases: most(cases, fits).filter(|_| too_long && !cost.scope.is_quick()),
            quick: cost.quick.map(|requests| QuickRun {
                requests,
                takes: interval.saturating_mul(u32::try_from(requests).unwrap_or(u32::MAX)),
            }),
            enough: Some(enough).filter(|enough| too_long && *enough <= LONGEST),
        }
    }

    /// Requests a second.
    pub fn rate(&self) -> f64 {
        self.interval.as_secs_f64().recip()
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "at {} requests a second, about {} requests take about {}",
            short(self.rate()),
            self.requests,
            span(self.takes)
        )?;
        if self.too_long {
            write!(f, ", longer than the time limit of {}: ", span(self.time_limit))?;
            match (self.cases, self.enough) {
                (Some(cases), Some(enough)) => {
                    write!(f, "--cases {cases} or --time-limit {} fits", argument(enough))?;
                }
                (Some(cases), None) => write!(f, "--cases {cases} fits")?,
                (None, Some(enough)) => write!(f, "--time-limit {} fits", argument(enough))?,
                (None, None) => f.write_str("a higher rate is needed")?,
            }
        }
        let Some(quick) = self.quick.filter(|quick| quick.requests < self.requests) else {
            return Ok(());
        };
        write!(
            f,
            "; --quick takes about {} for about {} requests",
            span(quick.takes),
            quick.requests
        )
    }
}

/// The largest number below `cases` that fits; all smaller ones fit as well.
fn most(cases: u32, fits: impl Fn(u32) -> bool) -> Option<u32> {
    let (mut low, mut high) = (0, cases);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low).filter(|low| *low > 0)
}

/// Whole minutes, or tens of seconds where it is less than a minute.
fn rounded_up(time: Duration) -> Duration {
    let step = if time.as_secs() < 60 { 10 } else { 60 };
    Duration::from_secs((time.as_secs() + 1).next_multiple_of(step))
}

/// A duration in the form that the command line accepts.
fn argument(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds % 60 == 0 => format!("{}m", seconds / 60),
        seconds => format!("{seconds}s"),
    }
}

/// `45 s`, `7 min`, `2 h 5 min`.
fn span(time: Duration) -> String {
    let (seconds, minutes) = (time.as_secs(), (time.as_secs() + 30) / 60);
    match minutes {
        _ if seconds < 120 => format!("{} s", time.as_secs_f64().round()),
        0..120 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

/// A rate with its significant digits.
fn short(rate: f64) -> String {
    let digits = match rate {
        10.0.. => return format!("{rate:.0}"),
        1.0.. => 1,
        _ => 3,
    };
    let text = format!("{rate:.digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Suite;
    use paymaster_judge::cases::plan::plan;

    const LIMIT: Duration = Duration::from_mins(5);

    fn context() -> Context {
        expected(Context::default())
    }

    fn cost() -> Cost {
        Cost::of(&Suite::standard(), &context(), 1, DEFAULT_CASES, 30)
    }

    #[test]
    fn the_cost_of_a_plan_is_known_from_its_beginning() {
        let cost = cost();
        for cases in [20, 60, DEFAULT_CASES] {
            let groups = plan(&context(), 1, cases);
            let real = 30 + groups.iter().map(|group| group.members.len() as u64).sum::<u64>();
            let estimated = cost.requests(cases);
            assert!(
                estimated.abs_diff(real) * 100 <= real * 3,
                "{cases}: {estimated} {real}"
            );
        }
    }

    #[test]
    fn a_quick_run_costs_what_its_plan_has() {
        let quick = Suite {
            scope: Scope::default().quick(),
            ..Suite::standard()
        };
        let context = context();
        let groups = quick.groups(&context, 1, DEFAULT_CASES);
        let real = 30 + groups.map(|group| group.members.len() as u64).sum::<u64>();
        assert_eq!(cost().quick, Some(real));
        let of_quick = Cost::of(&quick, &context, 1, DEFAULT_CASES, 30);
        assert_eq!((of_quick.requests(DEFAULT_CASES), of_quick.quick), (real, None));
    }

    #[test]
    fn an_estimate_that_is_too_long_names_what_fits() {
        let cost = cost();
        let estimate = |millis, budget| {
            let interval = Duration::from_millis(millis);
            Estimate::of(&cost, DEFAULT_CASES, budget, interval, LIMIT)
        };
        let slow = estimate(100, None);
        assert!(slow.too_long);
        let cases = slow.cases.unwrap();
        for (cases, time_limit, too_long) in [
            (cases, LIMIT, false),
            (cases + 1, LIMIT, true),
            (DEFAULT_CASES, slow.enough.unwrap(), false),
        ] {
            let again = Estimate::of(&cost, cases, None, slow.interval, time_limit);
            assert_eq!(again.too_long, too_long, "{again}");
        }
        let fast = estimate(10, None);
        assert_eq!((fast.too_long, fast.cases, fast.enough), (false, None, None));
        assert!(!estimate(100, Some(1_000)).too_long, "a budget bounds the time");
        let hopeless = estimate(100_000, None);
        assert_eq!(
            (hopeless.too_long, hopeless.cases, hopeless.enough),
            (true, None, None)
        );
    }

    #[test]
    fn estimates_in_words() {
        let estimate = |millis, cases, enough| Estimate {
            interval: Duration::from_millis(millis),
            requests: 4_000,
            takes: Duration::from_millis(4_000 * millis),
            time_limit: LIMIT,
            too_long: enough > 0,
            cases,
            quick: (millis == 2_000).then_some(QuickRun {
                requests: 400,
                takes: Duration::from_secs(800),
            }),
            enough: Some(Duration::from_secs(enough)).filter(|_| enough > 0),
        };
        for (estimate, words) in [
            (
                estimate(10, None, 0),
                "at 100 requests a second, about 4000 requests take about 40 s",
            ),
            (
                estimate(105, Some(80), 480),
                "at 9.5 requests a second, about 4000 requests take about 7 min, longer than the time limit of 5 min: \
                 --cases 80 or --time-limit 8m fits",
            ),
            (
                estimate(2_000, None, 9_000),
                "at 0.5 requests a second, about 4000 requests take about 2 h 13 min, longer than the time limit of 5 min: \
                 --time-limit 150m fits; --quick takes about 13 min for about 400 requests",
            ),
        ] {
            assert_eq!(estimate.to_string(), words);
        }
        assert_eq!(argument(rounded_up(Duration::from_millis(8_200))), "10s");
        assert_eq!(argument(rounded_up(Duration::from_mins(1))), "2m");
    }
}
