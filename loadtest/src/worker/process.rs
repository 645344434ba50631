//! CPU and memory of this process, for the heartbeats.

use std::fs;

use crate::figures::cpu::CpuTimes;

/// Bytes of a page of memory.
const PAGE: u64 = 4_096;

/// Measures this process from one heartbeat to the next.
#[derive(Debug)]
pub(super) struct ProcessMeter(CpuTimes);

impl Default for ProcessMeter {
    fn default() -> Self {
        Self(CpuTimes::now())
    }
}

impl ProcessMeter {
    /// CPU use since the last call in percent of all cores (a master warns above 90), and memory in bytes. 0 where the system has no
    /// `/proc`.
    pub(super) fn read(&mut self) -> (f64, u64) {
        let usage = std::mem::replace(&mut self.0, CpuTimes::now()).since();
        let percent = usage.cpu_share.unwrap_or_default() * 100.0;
        (percent.clamp(0.0, 100.0), memory().unwrap_or_default())
    }
}

fn memory() -> Option<u64> {
    let sizes = fs::read_to_string("/proc/self/statm").ok()?;
    let resident: u64 = sizes.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(resident * PAGE)
}
