//! How many users work when: goose's test plan, and how long that takes.

use std::{fmt::Write as _, time::Duration};

/// Steps of users, or of anything else that a notation of goose's test plans describes: `100,30s;100,5m;0,10s`.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps(Vec<(f64, Duration)>);

/// Most users: each holds a connection.
pub const MOST_USERS: usize = 10_000;

impl Steps {
    /// Reads steps, each a value and the time to reach it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut steps = Vec::new();
        for step in text.split(';') {
            let parts = step.split_once(',').and_then(|(value, time)| {
                let value: f64 = value.trim().parse().ok()?;
                (value.is_finite() && value >= 0.0).then_some((value, span(time.trim())?))
            });
            steps.push(parts.ok_or_else(|| {
                format!(
                    "`{}`: a step is written VALUE,TIME, as 100,30s; steps are joined by ;",
                    step.trim()
                )
            })?);
        }
        if steps.iter().all(|(value, _)| *value == 0.0) {
            return Err(format!("`{text}`: every step is 0"));
        }
        if steps.iter().all(|(_, time)| time.is_zero()) {
            return Err(format!("`{text}`: it takes no time"));
        }
        Ok(Self(steps))
    }

    /// All steps together.
    pub fn length(&self) -> Duration {
        self.0.iter().map(|(_, time)| *time).sum()
    }

    /// The highest value.
    pub fn highest(&self) -> f64 {
        self.0.iter().map(|(value, _)| *value).fold(0.0, f64::max)
    }

    /// The steps.
    pub fn as_slice(&self) -> &[(f64, Duration)] {
        &self.0
    }

    /// The steps as a plan of users for goose. Its spans are whole seconds. A plan that does not end without users gets time
    /// for the last answers: the end of the run is told by our own clock.
    pub fn users(&self, slack: Duration) -> Result<(usize, String), String> {
        let mut plan = String::new();
        let mut last = 0;
        for (value, time) in &self.0 {
            last = whole(*value)
                .filter(|users| *users <= MOST_USERS)
                .ok_or_else(|| format!("`{value}` is no number of users from 0 to {MOST_USERS}"))?;
            if time.subsec_nanos() > 0 {
                return Err(format!(
                    "{} s: times of users are whole seconds",
                    time.as_secs_f64()
                ));
            }
            let _ = write!(plan, "{last},{}s;", time.as_secs());
        }
        let most = whole(self.highest()).unwrap_or(MOST_USERS);
        if last > 0 {
            let _ = write!(plan, "{last},{}s;0,0s", slack.as_secs() + 1);
        } else {
            plan.pop();
        }
        Ok((most, plan))
    }
}

/// That many users, started over `ramp`, for so long.
pub fn constant(users: usize, ramp: Duration, hold: Duration) -> String {
    let seconds = |time: Duration| time.as_secs() + u64::from(time.subsec_nanos() > 0);
    format!("{users},{}s;{users},{}s;0,0s", seconds(ramp), seconds(hold))
}

fn whole(value: f64) -> Option<usize> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be a small whole number"
    )]
    ((0.0..=1e9).contains(&value) && value.fract() == 0.0).then_some(value as usize)
}

/// A time as goose writes it: `90`, `30s`, `1h30m`.
fn span(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let (mut total, mut rest) = (0_u64, text);
    for (unit, seconds) in [('h', 3_600), ('m', 60), ('s', 1)] {
        if let Some((number, behind)) = rest.split_once(unit) {
            total = number
                .parse::<u64>()
                .ok()?
                .checked_mul(seconds)?
                .checked_add(total)?;
            rest = behind;
        }
    }
    (rest.is_empty() && !text.is_empty()).then(|| Duration::from_secs(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_read_as_goose_reads_them() {
        let steps = Steps::parse("10, 30s; 100,1m30s;0,5").unwrap();
        assert_eq!(steps.length(), Duration::from_secs(125));
        assert_eq!(
            steps.users(Duration::from_secs(9)),
            Ok((100, "10,30s;100,90s;0,5s".to_owned()))
        );
        let open_end = Steps::parse("10,30s").unwrap().users(Duration::from_secs(9));
        assert_eq!(open_end, Ok((10, "10,30s;10,10s;0,0s".to_owned())));
        for plan in [
            "10,30s;100,90s;0,5s",
            "10,30s;10,10s;0,0s",
            &constant(3, Duration::ZERO, Duration::from_millis(1_500)),
        ] {
            assert!(plan.parse::<goose::test_plan::TestPlan>().is_ok(), "{plan}");
        }
    }

    #[test]
    fn what_is_no_plan_is_refused_with_its_step() {
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
            let refusal = Steps::parse(text).unwrap_err();
            assert!(refusal.contains(word), "{text}: {refusal}");
        }
        assert!(Steps::parse("1.5,30s").unwrap().users(Duration::ZERO).is_err());
        assert!(Steps::parse("99999,30s").unwrap().users(Duration::ZERO).is_err());
    }

    #[test]
    fn ramps_and_holds_are_whole_seconds() {
        assert_eq!(
            constant(5, Duration::ZERO, Duration::from_millis(1_500)),
            "5,0s;5,2s;0,0s"
        );
    }
}
