//! Sends groups to a target that may be overloaded: an error that concurrency may have caused is checked without other requests in flight.

use std::{sync::atomic::Ordering, time::Duration};

use futures_util::future::join_all;

use crate::run::sending::{
    liveness::{is_answered, is_served},
    outage::{self, Outage, Step},
    overload::{self, MOST_COPIES, TIMES_ALONE},
    sender::{CONNECT_PAUSE, DeliveryError, Notice, OverloadMode, Sender},
};
use paymaster_client::{http::transport::PooledConnection, memory::MemoryPermit};
use paymaster_engine::cases::case::Group;
use paymaster_exchange::{Exchange, Failure, KEPT};

/// The pause before a request that shows whether the target has a rate limit.
const QUIET: Duration = Duration::from_secs(2);

/// How many further connections must be refused until the number of open ones counts as the limit of the target: once may be chance.
const REFUSED_AGAIN: u32 = 2;

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
            let exchanges = self.deliver_through_outages(group, share, OverloadMode::Watch).await?;
            let Some(sign) = self.concurrency.suspicion(&exchanges) else {
                if self.is_throttled(&exchanges) {
                    break;
                }
                return Ok(exchanges);
            };
            let is_refused = !exchanges.iter().all(is_answered);
            // Long answers are not kept, and their memory is freed before all slots are acquired: the holders of slots may wait for it.
            let short = exchanges.iter().all(has_short_body).then_some(exchanges);
            *share = self.share();
            match self.check_alone(group, share, jobs, (sign, is_refused)).await? {
                AloneResult::SameError(exchanges) if self.is_throttled(&exchanges) => break,
                AloneResult::SameError(exchanges) => return Ok(exchanges),
                AloneResult::Chance => match short.filter(|short| !self.must_be_repeated(short)) {
                    Some(exchanges) => return Ok(exchanges),
                    None => break,
                },
                AloneResult::FewerJobs => {}
            }
        }
        let exchanges = self.deliver_through_outages(group, share, OverloadMode::Ignore).await?;
        match self.concurrency.rate_limit(&exchanges) {
            Some(sign) => {
                drop(exchanges);
                *share = self.share();
                self.check_rate_limit(group, share, &sign).await
            }
            None => Ok(exchanges),
        }
    }

    /// Sends a group, and again after an outage of the target.
    async fn deliver_through_outages(
        &self,
        group: &Group,
        share: &MemoryPermit,
        mode: OverloadMode,
    ) -> Result<Vec<Exchange>, DeliveryError> {
        for _ in 0..outage::PER_GROUP {
            let known = self.outages.load(Ordering::Relaxed);
            let exchanges = self.deliver_once(group, share, mode).await?;
            // Long answers hold memory for which the holders of slots may wait.
            let may_wait = self.checks_overload && exchanges.iter().all(has_short_body);
            let refused = exchanges.iter().find(|exchange| outage::is_sign(exchange));
            match refused.filter(|_| may_wait) {
                Some(refused) if self.outage_is_over(refused, known).await? => {}
                _ => return Ok(exchanges),
            }
        }
        self.deliver_once(group, share, mode).await
    }

    /// Finds out whether there is an outage, and waits for its end, within a bound. True if it is over. `known` outages were over when the
    /// refused request was sent.
    async fn outage_is_over(&self, refused: &Exchange, known: u64) -> Result<bool, DeliveryError> {
        let _alone = self.alone().await?;
        if self.outages.load(Ordering::Relaxed) > known {
            return Ok(true);
        }
        let served_before = self.liveness.served();
        let is_lasting = self.lasting_outage.load(Ordering::Relaxed);
        let mut outage = Outage::begin(served_before.is_some(), is_lasting);
        let body = served_before.unwrap_or_else(|| refused.request.clone());
        loop {
            if !self.pace.turn(&self.stop).await {
                return Err(DeliveryError::Stopped);
            }
            let mut connection = PooledConnection::default();
            let probe = connection.exchange(&self.transport, body.clone()).await;
            self.liveness.note(&probe);
            let step = outage.after_probe(is_served(&probe));
            self.lasting_outage.store(step == Step::Lasting, Ordering::Relaxed);
            match step {
                Step::NoOutage | Step::Lasting => return Ok(false),
                Step::Over(waited) => {
                    self.outages.fetch_add(1, Ordering::Relaxed);
                    self.pace.refused_for(waited);
                    return Ok(true);
                }
                Step::Wait(pause) => {
                    let status = probe.outcome.ok().map(|response| response.status);
                    // The pause applies even when the receiver is gone.
                    let _ = self.notices.send(Notice::Outage { pause, status });
                    tokio::select! {
                        () = self.stop.stopped() => return Err(DeliveryError::Stopped),
                        () = tokio::time::sleep(pause) => {}
                    }
                }
            }
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
        let alone = self.alone().await?;
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
        let status = exchanges.iter().find_map(|exchange| exchange.outcome.as_ref().ok());
        self.note_throttled_group(status.map_or(429, |response| response.status));
        Err(DeliveryError::Throttled)
    }

    /// Whether an answer throttles its request, or a request could not be sent.
    fn must_be_repeated(&self, exchanges: &[Exchange]) -> bool {
        let unsent = |exchange: &Exchange| matches!(exchange.outcome, Err(Failure::Connect(_)));
        self.is_throttled(exchanges) || exchanges.iter().any(unsent)
    }

    fn is_throttled(&self, exchanges: &[Exchange]) -> bool {
        exchanges.iter().any(|exchange| self.is_throttled_without_time(exchange))
    }

    /// Sends a group that got an error of overload at this number of jobs again while no other request is in flight.
    async fn check_alone(
        &self,
        group: &Group,
        share: &MemoryPermit,
        jobs: usize,
        (sign, is_refused): (String, bool),
    ) -> Result<AloneResult, DeliveryError> {
        let alone = self.alone().await?;
        if alone.jobs < jobs {
            // The check of another group has lowered the limit meanwhile.
            return Ok(AloneResult::FewerJobs);
        }
        if is_refused {
            // The target may need a moment until it has noticed that connections are closed.
            tokio::time::sleep(CONNECT_PAUSE).await;
        }
        if let Some(exchanges) = self.error_alone(group, share, TIMES_ALONE).await? {
            alone.seen(sign);
            return Ok(AloneResult::SameError(exchanges));
        }
        if is_refused && let Some(connections) = self.most_connections(group, jobs).await? {
            let overload = alone.lower_to(connections, sign);
            let _ = self.notices.send(Notice::Overloaded(overload));
            return Ok(AloneResult::FewerJobs);
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

    /// How many connections the target takes at a time, where these are fewer than `jobs`. Each is opened while the ones before are open.
    async fn most_connections(&self, group: &Group, jobs: usize) -> Result<Option<usize>, DeliveryError> {
        let mut open = Vec::new();
        while open.len() < jobs {
            let mut refused = 0;
            let connection = loop {
                let mut connection = PooledConnection::default();
                let delivered =
                    self.deliver_over(&mut connection, group, &self.share(), OverloadMode::Alone).await;
                match delivered {
                    Ok(exchanges) if exchanges.iter().all(is_answered) => break Some(connection),
                    Err(DeliveryError::Stopped) => return Err(DeliveryError::Stopped),
                    _ if refused == REFUSED_AGAIN => break None,
                    _ => refused += 1,
                }
            };
            match connection {
                Some(connection) => open.push(connection),
                None => return Ok(Some(open.len()).filter(|most| *most > 0)),
            }
        }
        Ok(None)
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
            let exchanges = self.deliver_to_check(group, &self.share(), OverloadMode::UnderLoad).await?;
            Ok(has_sign(&exchanges))
        });
        let signs: Vec<bool> = join_all(sending).await.into_iter().collect::<Result<_, _>>()?;
        Ok((signs.into_iter().filter(|sign| *sign).count(), copies))
    }
}

fn has_sign(exchanges: &[Exchange]) -> bool {
    exchanges.iter().any(|exchange| overload::sign(exchange).is_some())
}

fn has_short_body(exchange: &Exchange) -> bool {
    let response = exchange.outcome.as_ref();
    response.map_or(true, |response| response.body.len() <= KEPT)
}
