//! Sends groups to a target that may be overloaded: an error that concurrency may have caused is checked without other requests in flight.

use std::time::Duration;

use futures_util::future::join_all;

use crate::run::sending::{
    liveness::is_answered,
    overload::{self, MOST_COPIES, TIMES_ALONE},
    sender::{DeliveryError, Notice, OverloadMode, Sender},
};
use paymaster_client::{http::transport::PooledConnection, memory::MemoryPermit};
use paymaster_exchange::{Exchange, KEPT};
use paymaster_judge::cases::case::Group;

/// The pause before a request that shows whether the target has a rate limit.
const QUIET: Duration = Duration::from_secs(2);

/// The result of sending a group alone.
enum AloneResult {
    /// No error: fewer requests are sent at a time now.
    FewerJobs,
    /// The same kind of error.
    SameError(Vec<Exchange>),
    /// No error, alone or under load: the first answers are judged.
    Chance,
}

impl Sender {
    /// As [`Sender::deliver`], within a memory share that the caller holds as long as it keeps the answers.
    pub(crate) async fn deliver_within(
        &self,
        group: &Group,
        share: &mut MemoryPermit,
    ) -> Result<Vec<Exchange>, DeliveryError> {
        while self.checks_overload && self.concurrency.jobs() > 1 {
            let jobs = self.concurrency.jobs();
            let exchanges = self.deliver_once(group, share, OverloadMode::Watch).await?;
            let Some(sign) = self.concurrency.suspicion(&exchanges) else {
                if self.is_throttled(&exchanges) {
                    break;
                }
                return Ok(exchanges);
            };
            // Long answers are not kept, and their memory is freed before all slots are acquired: the holders of slots may wait for it.
            let short = exchanges.iter().all(has_short_body).then_some(exchanges);
            *share = self.share();
            match self.check_alone(group, share, jobs, sign).await? {
                AloneResult::SameError(exchanges) if self.is_throttled(&exchanges) => break,
                AloneResult::SameError(exchanges) => return Ok(exchanges),
                AloneResult::Chance => match short.filter(|short| !self.is_throttled(short)) {
                    Some(exchanges) => return Ok(exchanges),
                    None => break,
                },
                AloneResult::FewerJobs => {}
            }
        }
        let exchanges = self.deliver_once(group, share, OverloadMode::Ignore).await?;
        match self.concurrency.rate_limit(&exchanges) {
            Some(sign) => {
                drop(exchanges);
                *share = self.share();
                self.check_rate_limit(group, share, &sign).await
            }
            None => Ok(exchanges),
        }
    }

    /// Sends a group again that got an error of a rate limit in spite of pauses, after a pause in which nothing is sent. An error that it
    /// gets again, while another request is answered, has nothing to do with a rate.
    async fn check_rate_limit(
        &self,
        group: &Group,
        share: &MemoryPermit,
        sign: &str,
    ) -> Result<Vec<Exchange>, DeliveryError> {
        let alone = self.concurrency.alone().await.ok_or(DeliveryError::Stopped)?;
        if self.concurrency.is_no_limit(sign) {
            // The check of another group has shown it meanwhile.
            drop(alone);
            return self.deliver_once(group, share, OverloadMode::Ignore).await;
        }
        tokio::time::sleep(QUIET).await;
        let exchanges = self.deliver_to_check(group, share, OverloadMode::Alone).await?;
        if !self.is_throttled(&exchanges) {
            return Ok(exchanges);
        }
        let answered = match self.liveness.known_good() {
            Some(body) => {
                let other = PooledConnection::default().exchange(&self.transport, body).await;
                is_answered(&other) && overload::rate_limit(&other).is_none()
            }
            None => false,
        };
        if answered {
            alone.note_no_limit(sign);
            return Ok(exchanges);
        }
        let status = exchanges
            .iter()
            .find_map(|exchange| exchange.outcome.as_ref().ok());
        self.note_throttled_group(status.map_or(429, |response| response.status));
        Err(DeliveryError::Throttled)
    }

    fn is_throttled(&self, exchanges: &[Exchange]) -> bool {
        exchanges
            .iter()
            .any(|exchange| self.is_throttled_without_time(exchange))
    }

    /// Sends a group that got an error of overload at this number of jobs again while no other request is in flight.
    async fn check_alone(
        &self,
        group: &Group,
        share: &MemoryPermit,
        jobs: usize,
        sign: String,
    ) -> Result<AloneResult, DeliveryError> {
        let alone = self.concurrency.alone().await.ok_or(DeliveryError::Stopped)?;
        if alone.jobs < jobs {
            // The check of another group has lowered the limit meanwhile.
            return Ok(AloneResult::FewerJobs);
        }
        if let Some(exchanges) = self.error_alone(group, share, TIMES_ALONE).await? {
            alone.seen(sign);
            return Ok(AloneResult::SameError(exchanges));
        }
        let (errors, copies) = match self.errors_under_load(group, jobs).await? {
            (0, _) if alone.with_sign() > 1 => (alone.with_sign(), jobs),
            under_load => under_load,
        };
        let Some(times) = overload::times_alone(errors, copies) else {
            return Ok(AloneResult::Chance);
        };
        let more = times.saturating_sub(TIMES_ALONE);
        if let Some(exchanges) = self.error_alone(group, share, more).await? {
            alone.seen(sign);
            return Ok(AloneResult::SameError(exchanges));
        }
        let overload = alone.halve(sign);
        // The limit applies even when the receiver is gone.
        let _ = self.notices.send(Notice::Overloaded(overload));
        Ok(AloneResult::FewerJobs)
    }

    /// Sends a group up to this many times, each after the end of the one before. Returns the first exchanges with an error of overload.
    async fn error_alone(
        &self,
        group: &Group,
        share: &MemoryPermit,
        times: usize,
    ) -> Result<Option<Vec<Exchange>>, DeliveryError> {
        for _ in 0..times {
            let exchanges = self.deliver_to_check(group, share, OverloadMode::Alone).await?;
            if has_sign(&exchanges) {
                return Ok(Some(exchanges));
            }
        }
        Ok(None)
    }

    /// Sends as many copies of a group as there are jobs at the same time. Returns how many of them got an error of overload, and how
    /// many there were. The caller holds all slots.
    async fn errors_under_load(&self, group: &Group, jobs: usize) -> Result<(usize, usize), DeliveryError> {
        let copies = jobs.min(MOST_COPIES);
        let sending = (0..copies).map(|_| async {
            let exchanges = self
                .deliver_to_check(group, &self.share(), OverloadMode::UnderLoad)
                .await?;
            Ok(has_sign(&exchanges))
        });
        let signs: Vec<bool> = join_all(sending).await.into_iter().collect::<Result<_, _>>()?;
        Ok((signs.into_iter().filter(|sign| *sign).count(), copies))
    }
}

fn has_sign(exchanges: &[Exchange]) -> bool {
    exchanges
        .iter()
        .any(|exchange| overload::sign(exchange).is_some())
}

fn has_short_body(exchange: &Exchange) -> bool {
    let response = exchange.outcome.as_ref();
    response.map_or(true, |response| response.body.len() <= KEPT)
}
