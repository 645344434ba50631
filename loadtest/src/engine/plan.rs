//! Steps of users or rates over time, in the notation of goose's test plans.

use std::{fmt, time::Duration};

use crate::number::{float, whole};

/// Values over time: each step reaches its value in its time, linearly. `100,30s;100,5m` goes to 100 in 30 s and stays for 5 min.
#[derive(Clone, Debug, PartialEq)]
pub struct StepPlan(pub(crate) Vec<(f64, Duration)>);

/// Most users at a time. Each has a connection.
pub const MOST_USERS: usize = 10_000;

impl StepPlan {
    /// Reads steps `VALUE,TIME`, joined by `;`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut steps = Vec::new();
        for step in text.split(';') {
            let parts = step.split_once(',').and_then(|(value, time)| {
                let value: f64 = value.trim().parse().ok()?;
                (value.is_finite() && value >= 0.0).then_some((value.abs(), span(time.trim())?))
            });
            let step = step.trim();
            steps.push(parts.ok_or_else(|| {
                format!("`{step}`: write a step as VALUE,TIME, for example 100,30s, and join steps by ;")
            })?);
        }
        if steps.iter().all(|(value, _)| *value == 0.0) {
            return Err(format!("`{text}`: every step is 0"));
        }
        if steps.iter().all(|(_, time)| time.is_zero()) {
            return Err(format!("`{text}`: the steps take no time"));
        }
        Ok(Self(steps))
    }

    /// The time of all steps.
    pub fn length(&self) -> Duration {
        self.0.iter().map(|(_, time)| *time).sum()
    }

    /// The highest value.
    pub fn highest(&self) -> f64 {
        self.0.iter().map(|(value, _)| *value).fold(0.0, f64::max)
    }

    /// Most users at a time, and the steps as a test plan in the notation of goose, whose times are whole seconds. If the last step has users, the plan goes on for
    /// `slack`, in which the last answers arrive.
    pub fn users(&self, slack: Duration) -> Result<(usize, String), String> {
        let is_number = |value: f64| value.fract() == 0.0 && value <= float(MOST_USERS as u64);
        if let Some((value, _)) = self.0.iter().find(|(value, _)| !is_number(*value)) {
            return Err(format!("`{value}` is not a number of users from 0 to {MOST_USERS}"));
        }
        let users = usize::try_from(whole(self.highest())).unwrap_or(MOST_USERS);
        let plan = match self.0.last() {
            Some((last @ 1.0.., _)) => format!("{self};{last},{}s;0,0s", slack.as_secs() + 1),
            _ => self.to_string(),
        };
        Ok((users, plan))
    }
}

/// The steps as they are read; in whole seconds, as goose wants them.
impl fmt::Display for StepPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = self.0.iter().map(|(value, time)| format!("{value},{}s", time.as_secs()));
        f.write_str(&steps.collect::<Vec<_>>().join(";"))
    }
}

/// A plan for goose that starts `users` users over `ramp` and keeps them for `hold`. Times are rounded up to seconds.
pub fn constant(users: usize, ramp: Duration, hold: Duration) -> String {
    let seconds = |time: Duration| time.as_secs() + u64::from(time.subsec_nanos() > 0);
    format!("{users},{}s;{users},{}s;0,0s", seconds(ramp), seconds(hold))
}

/// Reads a time in goose's notation: `90` (seconds), `30s`, `1h30m`.
fn span(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let (mut total, mut rest) = (0_u64, text);
    for (unit, seconds) in [('h', 3_600), ('m', 60), ('s', 1)] {
        if let Some((number, behind)) = rest.split_once(unit) {
            total = number.parse::<u64>().ok()?.checked_mul(seconds)?.checked_add(total)?;
            rest = behind;
        }
    }
    (rest.is_empty() && !text.is_empty()).then(|| Duration::from_secs(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::unnecessary_wraps, reason = "compared with a result")]
    fn user_plan(users: usize, plan: &str) -> Result<(usize, String), String> {
        Ok((users, plan.to_owned()))
    }

    #[test]
    fn steps_have_the_notation_of_goose() {
        let steps = StepPlan::parse("10, 30s; 100,1m30s;0,5").unwrap();
        assert_eq!(steps.length(), Duration::from_secs(125));
        assert_eq!(steps.users(Duration::from_secs(9)), user_plan(100, "10,30s;100,90s;0,5s"));
        let open_end = StepPlan::parse("10,30s").unwrap().users(Duration::from_secs(9));
        assert_eq!(open_end, user_plan(10, "10,30s;10,10s;0,0s"));
        for plan in [
            "10,30s;100,90s;0,5s",
            "10,30s;10,10s;0,0s",
            &constant(3, Duration::ZERO, Duration::from_millis(1_500)),
        ] {
            assert!(plan.parse::<goose::test_plan::TestPlan>().is_ok(), "{plan}");
        }
    }

    #[test]
    fn an_error_names_the_step() {
        for (text, word) in [
            ("10", "VALUE,TIME"),
            ("10,", "VALUE,TIME"),
            ("10,30s;", "VALUE,TIME"),
            ("x,30s", "VALUE,TIME"),
            ("-1,30s", "VALUE,TIME"),
            ("10,30x", "VALUE,TIME"),
            ("10,5s10m", "VALUE,TIME"),
            ("0,30s", "every step is 0"),
            ("10,0s", "no time"),
        ] {
            let error = StepPlan::parse(text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
        assert!(StepPlan::parse("1.5,30s").unwrap().users(Duration::ZERO).is_err());
        assert!(StepPlan::parse("99999,30s").unwrap().users(Duration::ZERO).is_err());
    }

    #[test]
    fn times_are_rounded_up_to_whole_seconds() {
        assert_eq!(constant(5, Duration::ZERO, Duration::from_millis(1_500)), "5,0s;5,2s;0,0s");
    }
}
