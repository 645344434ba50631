//! How busy we and the machine are: a generator that is the limit measures itself.

use std::{fs, thread::available_parallelism, time::Instant};

use serde::{Deserialize, Serialize};

/// Clock ticks in a second in what Linux tells of processes: the same everywhere.
const TICKS: f64 = 100.0;
/// Above this share of all cores, the generator is the limit.
const FULL: f64 = 0.85;
/// A machine that is busier than this has nothing left to give.
const BUSY: f64 = 0.95;
/// Our part of a busy machine, from which on we are in the way.
const OUR_PART: f64 = 0.3;

/// CPU times at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Vitals {
    taken: Instant,
    own: Option<f64>,
    /// Busy and all time of the machine.
    machine: Option<(f64, f64)>,
}

/// What the generator took of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    /// Its CPU time, in seconds; none where the system does not tell.
    pub cpu_seconds: Option<f64>,
    /// Cores that it may use.
    pub cores: usize,
    /// Its share of all cores, from 0 to 1.
    pub cpu_share: Option<f64>,
    /// How busy the machine was with everything, from 0 to 1.
    pub machine_share: Option<f64>,
}

impl Vitals {
    /// The CPU times of now.
    pub fn now() -> Self {
        Self {
            taken: Instant::now(),
            own: own_seconds(),
            machine: machine_ticks(),
        }
    }

    /// What was used since then.
    pub fn since(self) -> Generator {
        let now = Self::now();
        let cores = available_parallelism().map_or(1, std::num::NonZero::get);
        let wall = now.taken.duration_since(self.taken).as_secs_f64();
        let cpu_seconds = now.own.zip(self.own).map(|(now, then)| now - then);
        #[expect(clippy::cast_precision_loss, reason = "a few cores")]
        let offered = wall * cores as f64;
        Generator {
            cpu_seconds,
            cores,
            cpu_share: cpu_seconds.filter(|_| offered > 0.0).map(|used| used / offered),
            machine_share: now.machine.zip(self.machine).and_then(|(now, then)| {
                let all = now.1 - then.1;
                (all > 0.0).then(|| (now.0 - then.0) / all)
            }),
        }
    }
}

impl Generator {
    /// Why the generator, not the target, may have been the limit; none when nothing says so.
    pub fn warning(&self) -> Option<String> {
        let own = self.cpu_share?;
        if own >= FULL {
            return Some(format!(
                "the generator used {:.0} % of {} cores: it was the limit, not the target; judge a share (--judge 10%), or merge runs of several machines",
                own * 100.0,
                self.cores
            ));
        }
        let machine = self.machine_share?;
        (machine >= BUSY && own >= OUR_PART * machine).then(|| {
            format!(
                "this machine was {:.0} % busy, {:.0} % with the generator: what was measured is the machine; run the generator elsewhere",
                machine * 100.0,
                own * 100.0
            )
        })
    }
}

fn own_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program stands in parentheses and may hold anything; utime and stime are the 12th and 13th after it.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_ascii_whitespace().skip(11);
    let (user, system) = (times.next()?, times.next()?);
    Some((user.parse::<f64>().ok()? + system.parse::<f64>().ok()?) / TICKS)
}

fn machine_ticks() -> Option<(f64, f64)> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<f64> = line
        .split_ascii_whitespace()
        .take(8)
        .map_while(|tick| tick.parse().ok())
        .collect();
    let all: f64 = ticks.iter().sum();
    // Idle and waiting for disks.
    let idle = ticks.get(3)? + ticks.get(4)?;
    Some((all - idle, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generator(cpu_share: f64, machine_share: f64) -> Generator {
        Generator {
            cpu_seconds: Some(1.0),
            cores: 2,
            cpu_share: Some(cpu_share),
            machine_share: Some(machine_share),
        }
    }

    #[test]
    fn a_generator_that_is_the_limit_says_so() {
        for (own, machine, warned) in [
            (0.9, 0.9, true),
            (0.5, 0.99, true),
            (0.1, 0.99, false),
            (0.5, 0.6, false),
        ] {
            assert_eq!(
                generator(own, machine).warning().is_some(),
                warned,
                "{own} {machine}"
            );
        }
        assert_eq!(Generator::default().warning(), None);
    }
}
