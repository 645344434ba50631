//! Outages: a gateway answers with HTTP 502 or 503 and no Retry-After while its service restarts, or a limit that states no time refuses
//! requests. Nothing else is sent while a request that was served before shows which it is: where it is served, there is no outage, and
//! nothing waits. Otherwise it is sent again with growing pauses, within a bound. [`Outage`] decides; it neither sleeps nor sends.

use std::time::Duration;

use paymaster_client::throttling;
use paymaster_exchange::Exchange;

/// The first pause. Each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// How many pauses an outage is waited for: 25.5 seconds in all.
const PAUSES: u32 = 8;

/// The same where nothing was served yet, as of a service that starts: 3.1 seconds in all.
const PAUSES_AT_START: u32 = 5;

/// How often one group is sent again after outages.
pub(super) const PER_GROUP: usize = 3;

/// The probes of one outage.
#[derive(Debug)]
pub(super) struct Outage {
    pauses: u32,
    most: u32,
}

/// What to do after a probe.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The first probe was served: the error has another reason.
    NoOutage,
    /// Wait this long, then send the next probe.
    Wait(Duration),
    /// The outage is over after pauses of this sum: what it refused is sent again.
    Over(Duration),
    /// It lasts longer than the bound: the run goes on.
    Lasting,
}

impl Outage {
    /// An outage after requests that were served, or before any was. Where an earlier one was `lasting`, nothing waits again.
    pub(super) fn begin(served_before: bool, lasting: bool) -> Self {
        Self {
            pauses: 0,
            most: match (lasting, served_before) {
                (true, _) => 0,
                (false, true) => PAUSES,
                (false, false) => PAUSES_AT_START,
            },
        }
    }

    /// Decides what to do after a probe that was served or not.
    pub(super) fn after_probe(&mut self, served: bool) -> Step {
        match (served, self.pauses) {
            (true, 0) => Step::NoOutage,
            (true, pauses) => Step::Over(FIRST_PAUSE * (2_u32.pow(pauses) - 1)),
            (false, pauses) if pauses == self.most => Step::Lasting,
            (false, pauses) => {
                self.pauses += 1;
                Step::Wait(FIRST_PAUSE * 2_u32.pow(pauses))
            }
        }
    }
}

/// Whether an answer may come from an outage.
pub(super) fn is_sign(exchange: &Exchange) -> bool {
    let response = exchange.outcome.as_ref();
    response.is_ok_and(|response| matches!(response.status, 502 | 503) && !throttling::is_throttled(response))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps for probes that are not served, up to one that is.
    fn steps(mut outage: Outage, served_at: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        loop {
            let step = outage.after_probe(steps.len() == served_at);
            let ends = !matches!(step, Step::Wait(_));
            steps.push(step);
            if ends {
                return steps;
            }
        }
    }

    #[test]
    fn an_outage_is_waited_for_within_a_bound() {
        let millis = Duration::from_millis;
        assert_eq!(steps(Outage::begin(true, false), 0), [Step::NoOutage]);
        assert_eq!(
            steps(Outage::begin(true, false), 2),
            [Step::Wait(millis(100)), Step::Wait(millis(200)), Step::Over(millis(300))]
        );
        for (served_before, lasting, bound) in [(true, false, 25_500), (false, false, 3_100), (true, true, 0)]
        {
            let steps = steps(Outage::begin(served_before, lasting), usize::MAX);
            let waits = steps.iter().map(|step| match step {
                Step::Wait(pause) => *pause,
                _ => Duration::ZERO,
            });
            assert_eq!(waits.sum::<Duration>(), millis(bound));
            assert_eq!(steps.last(), Some(&Step::Lasting));
        }
    }
}
