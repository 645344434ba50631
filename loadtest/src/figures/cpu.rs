//! CPU use of the load generator and of its machine. A generator without spare CPU time measures itself, not the target.

use std::{fs, thread::available_parallelism, time::Instant};

use serde::{Deserialize, Serialize};

use crate::number::float;

/// Clock ticks per second in `/proc` of Linux, on every architecture.
const TICKS: f64 = 100.0;
/// From this share of all cores on, the generator is the limit.
const GENERATOR_FULL: f64 = 0.85;
/// From this share of all cores on, the machine is the limit.
const MACHINE_FULL: f64 = 0.95;
/// From this part of the use of a full machine on, the generator is a cause.
const GENERATOR_PART: f64 = 0.3;

/// CPU times at one moment, to compare with a later moment.
#[derive(Clone, Copy, Debug)]
pub struct CpuTimes {
    taken: Instant,
    /// CPU seconds of this process.
    own: Option<f64>,
    /// Busy and total clock ticks of the machine.
    machine: Option<(f64, f64)>,
}

/// CPU use of a load generator during a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GeneratorUsage {
    /// Its CPU time in seconds; `None` where the system has no `/proc`.
    pub cpu_seconds: Option<f64>,
    /// Cores that it may use.
    pub cores: usize,
    /// Its share of all cores, from 0 to 1.
    pub cpu_share: Option<f64>,
    /// The share of all cores that all programs used, from 0 to 1.
    pub machine_share: Option<f64>,
}

impl CpuTimes {
    /// The current CPU times.
    pub fn now() -> Self {
        Self { taken: Instant::now(), own: own_seconds(), machine: machine_ticks() }
    }

    /// The CPU use since these times.
    pub fn since(self) -> GeneratorUsage {
        let now = Self::now();
        let cores = available_parallelism().map_or(1, std::num::NonZero::get);
        let wall = now.taken.duration_since(self.taken).as_secs_f64();
        let cpu_seconds = now.own.zip(self.own).map(|(now, then)| now - then);
        let offered = wall * float(cores as u64);
        GeneratorUsage {
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

impl GeneratorUsage {
    /// Why the generator, not the target, may have been the limit; `None` if it was not.
    pub fn warning(&self) -> Option<String> {
        let own = self.cpu_share?;
        if own >= GENERATOR_FULL {
            return Some(format!(
                "the generator used {:.0} % of {} cores: it was the limit, not the target; judge a share (--judge 10%), or merge runs of several machines",
                own * 100.0,
                self.cores
            ));
        }
        let machine = self.machine_share?;
        (machine >= MACHINE_FULL && own >= GENERATOR_PART * machine).then(|| {
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
    // The program name is in parentheses and may contain any character; utime and stime are the 12th and 13th field after it.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_ascii_whitespace().skip(11);
    let (user, system) = (times.next()?, times.next()?);
    Some((user.parse::<f64>().ok()? + system.parse::<f64>().ok()?) / TICKS)
}

fn machine_ticks() -> Option<(f64, f64)> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<f64> = line.split_ascii_whitespace().take(8).map_while(|tick| tick.parse().ok()).collect();
    let all: f64 = ticks.iter().sum();
    // The fields `idle` and `iowait`.
    let idle = ticks.get(3)? + ticks.get(4)?;
    Some((all - idle, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generator(cpu_share: f64, machine_share: f64) -> GeneratorUsage {
        GeneratorUsage {
            cpu_seconds: Some(1.0),
            cores: 2,
            cpu_share: Some(cpu_share),
            machine_share: Some(machine_share),
        }
    }

    #[test]
    fn a_generator_that_is_the_limit_is_a_warning() {
        for (own, machine, warned) in
            [(0.9, 0.9, true), (0.5, 0.99, true), (0.1, 0.99, false), (0.5, 0.6, false)]
        {
            assert_eq!(generator(own, machine).warning().is_some(), warned, "{own} {machine}");
        }
        assert_eq!(GeneratorUsage::default().warning(), None);
    }
}
