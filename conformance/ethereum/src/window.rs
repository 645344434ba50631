//! The time in which a paymaster's data are valid.

/// When data are valid, in Unix seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub valid_after: u64,
    /// The last second; 0 means no end.
    pub valid_until: u64,
}

/// A century, in seconds. No service means data to be valid for longer, and the present time in milliseconds lies far beyond it.
const CENTURY: u64 = 100 * 366 * 86_400;
/// The last second of the year 9999, in Unix seconds.
const END_OF_9999: u64 = 253_402_300_799;
/// By how much the clock of a service may differ from ours, in seconds.
const CLOCK: u64 = 120;
/// In EntryPoint 0.9, limits that are both above this are numbers of blocks.
const BLOCKS: u64 = 1 << 47;

impl Window {
    /// Whether EntryPoint accepts the data at this time: not before the one limit, and not after the other.
    pub const fn includes(self, now: u64) -> bool {
        now >= self.valid_after && (self.valid_until == 0 || now <= self.valid_until)
    }

    /// The same by a clock that may differ from the service's.
    pub fn includes_about(self, now: u64) -> bool {
        [now.saturating_sub(CLOCK), now, now + CLOCK].into_iter().any(|second| self.includes(second))
    }

    /// Whether both limits can be meant in Unix seconds: the window is not empty, begins within a century after `now`, and ends in a year of four
    /// digits: databases write the last second of 9999 for no end.
    pub const fn is_plausible(self, now: u64) -> bool {
        (self.valid_until == 0 || self.valid_until > self.valid_after)
            && self.valid_until <= END_OF_9999
            && self.valid_after <= now.saturating_add(CENTURY)
    }

    /// Whether EntryPoint 0.9 reads the limits as numbers of blocks.
    pub const fn is_of_blocks(self) -> bool {
        self.valid_after > BLOCKS && self.valid_until > BLOCKS
    }
}

/// How many bytes are zero. They cost less gas than others, so a stub with more of them than the final data makes an estimate too low.
pub fn zero_bytes(bytes: &[u8]) -> usize {
    bytes.iter().map(|byte| usize::from(*byte == 0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_700_000_000;

    #[test]
    fn a_window_includes_its_limits() {
        let window = Window { valid_after: NOW, valid_until: NOW + 300 };
        let times = [NOW - 1, NOW, NOW + 300, NOW + 301];
        assert_eq!(times.map(|now| window.includes(now)), [false, true, true, false]);
        assert!(Window { valid_after: 0, valid_until: 0 }.includes(NOW));
        assert_eq!([NOW - 121, NOW - 120].map(|now| window.includes_about(now)), [false, true]);
    }

    #[test]
    fn milliseconds_and_empty_windows_are_implausible() {
        let plausible = |valid_after, valid_until| Window { valid_after, valid_until }.is_plausible(NOW);
        assert!(plausible(0, 0) && plausible(NOW, NOW + 300) && plausible(0, NOW - 300));
        assert!(!plausible(0, (NOW + 300) * 1_000));
        assert!(plausible(0, END_OF_9999) && !plausible(0, END_OF_9999 + 1));
        assert!(!plausible(NOW * 1_000, 0));
        assert!(!plausible(NOW + 300, NOW));
    }

    #[test]
    fn windows_of_blocks_have_both_flags() {
        let of_blocks = |valid_after, valid_until| Window { valid_after, valid_until }.is_of_blocks();
        assert!(of_blocks(BLOCKS + 1, BLOCKS + 9));
        assert!(!of_blocks(BLOCKS + 1, NOW) && !of_blocks(NOW, BLOCKS + 9));
    }

    #[test]
    fn zero_bytes_are_counted() {
        assert_eq!(zero_bytes(&[0, 1, 0, 16]), 2);
    }
}
