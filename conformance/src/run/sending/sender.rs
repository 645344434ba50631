//! Sends the requests of a group and collects the answers, in the order that the group needs and at a pace that the target accepts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};
use std::{iter, mem, slice};

use futures_util::future::join_all;
use parking_lot::Mutex;
use paymaster_client::http::{PooledConnection, Transport};
use paymaster_client::memory::{MemoryLimit, MemoryPermit};
use paymaster_client::network::Protocol;
use paymaster_client::pace::Pace;
use paymaster_client::stop::Stop;
use paymaster_engine::cases::{Group, Member, Order, Role, keeps_idle};
use paymaster_engine::message::{Answer, ParsedRequest};
use paymaster_engine::specification::Specification;
use paymaster_engine::spending::Spending;
use paymaster_exchange::{Body, Exchange, Failure, Stage};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::Instant;

use crate::events::SentExchange;
use crate::run::sending::liveness;
use crate::run::sending::own_words::PAUSE_OF_A_SENDER;
use crate::run::sending::{
    Attempts, Chain, Delivered, Delivery, DeliveryError, Effect, Next, Overload, Patience, Sending, Served,
    Slots, Sponsorships, Step, TargetState, WordsCheck, WordsStep, errors, words_of,
};

/// What the sender reports while it sends.
#[derive(Debug)]
pub(crate) enum Notice {
    /// The run waits for this reason: the target asked for a pause, or else refuses what it served before.
    Waiting { pause: Duration, reason: String, is_asked_for: bool },
    /// The target refused requests while others were in flight: fewer are sent at a time from now on.
    Overloaded(Overload),
    /// An exchange ended. Sent only when a reporter wants exchanges.
    Exchanged(Box<SentExchange>),
}

/// From this pause on, one that looks for a limit is reported.
const NOTICED: Duration = Duration::from_millis(500);

/// A group that is being sent, and within which bounds its answers are read.
#[derive(Clone, Copy)]
struct Outgoing<'a> {
    group: &'a Group,
    sending: Sending,
    share: &'a MemoryPermit,
    patience: Patience,
}

/// What a group asked the target to pay for beyond its own requests, which are sent once, and what was granted to all that was sent of it.
#[derive(Debug, Default)]
struct Sent {
    has_begun: bool,
    reserved: Spending,
    granted: Spending,
}

fn bodies_of(group: &Group) -> impl Iterator<Item = &Body> {
    group.members.iter().map(|member| &member.body)
}

/// Answers with an error that did not come again when the same request was sent again.
#[derive(Debug)]
pub(crate) struct Vanished {
    /// The code and the words of the error, without values.
    pub(crate) words: String,
    pub(crate) group: Group,
    pub(crate) exchanges: Vec<Exchange>,
}

impl Vanished {
    /// Whether an answer has the error.
    pub(crate) fn is_in(&self, exchange: &Exchange) -> bool {
        errors(exchange).into_iter().any(|error| words_of(error) == self.words)
    }
}

/// Sends groups over at most `jobs` connections.
pub(crate) struct Sender {
    pub(crate) transport: Transport,
    pub(crate) stop: Stop,
    pub(crate) pace: Pace,
    /// How many exchanges may run at the same time, unless the target is overloaded by them.
    pub(crate) jobs: usize,
    slots: Slots,
    /// What the exchanges so far have shown of the target.
    pub(crate) target: Mutex<TargetState>,
    /// Whether error answers are checked for overload and outages. Otherwise they are answers like every other.
    pub(crate) checks: bool,
    /// How long a connection is kept idle where a group asks for it.
    pub(crate) idle_time: Duration,
    idle: Mutex<Vec<PooledConnection>>,
    /// Held while it is found out whether the words of an error state a limit: the answers whose error did not come again.
    own_words: tokio::sync::Mutex<Vec<Vanished>>,
    gate: MemoryLimit,
    /// How many complete responses came in HTTP/1.1, and how many in HTTP/2.
    responses: [AtomicU64; 2],
    notices: mpsc::UnboundedSender<Notice>,
    /// Whether every exchange is reported as a [`Notice`].
    pub(crate) reports_exchanges: bool,
    /// Where returned operations are simulated.
    pub(crate) chain: Option<Chain>,
    specification: &'static Specification,
    /// What the target was asked to pay for.
    pub(crate) sponsorships: Mutex<Sponsorships>,
    /// How many requests are in flight, and the most that there were.
    in_flight: AtomicUsize,
    most_in_flight: AtomicUsize,
    /// When the run began.
    began: Instant,
}

impl Sender {
    pub(crate) fn new(
        transport: Transport,
        stop: Stop,
        pace: Pace,
        jobs: usize,
        sponsorships: Sponsorships,
    ) -> (Self, mpsc::UnboundedReceiver<Notice>) {
        let jobs = jobs.clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        let (notices, receiver) = mpsc::unbounded_channel();
        let sender = Self {
            jobs,
            slots: Slots::new(jobs),
            target: Mutex::new(TargetState::new(transport.target.address(), jobs)),
            transport,
            stop,
            pace,
            checks: true,
            idle_time: Duration::ZERO,
            idle: Mutex::default(),
            own_words: tokio::sync::Mutex::default(),
            gate: MemoryLimit::default(),
            responses: Default::default(),
            notices,
            reports_exchanges: false,
            chain: None,
            in_flight: AtomicUsize::default(),
            most_in_flight: AtomicUsize::default(),
            began: Instant::now(),
            specification: sponsorships.specification,
            sponsorships: Mutex::new(sponsorships),
        };
        (sender, receiver)
    }

    /// The most requests that were in flight at a time.
    pub(crate) fn most_in_flight(&self) -> usize {
        self.most_in_flight.load(Ordering::Relaxed)
    }

    /// The HTTP versions of complete responses, and how many came in each.
    pub(crate) fn http_versions(&self) -> impl Iterator<Item = (Protocol, u64)> {
        [Protocol::Http1, Protocol::Http2]
            .into_iter()
            .zip(&self.responses)
            .map(|(protocol, times)| (protocol, times.load(Ordering::Relaxed)))
            .filter(|(_, times)| *times > 0)
    }

    /// The memory share of one group, to be held until its answers are judged.
    pub(crate) fn share(&self) -> MemoryPermit {
        self.gate.permit()
    }

    /// Sends every request of a group; returns one exchange for each, in order. Answers are waited for the whole time.
    pub(crate) async fn deliver(&self, group: &Group) -> Delivered {
        self.deliver_within(group, group.relation.order, Patience::Whole, &mut self.share()).await
    }

    /// Sends groups at the same time. Returns those that were answered; none when the run is over.
    pub(crate) async fn deliver_round(&self, round: Vec<Group>) -> Option<Vec<(Group, Vec<Exchange>)>> {
        let deliver = async {
            let mut delivered = join_all(round.iter().map(|group| self.deliver(group))).await;
            for (group, delivered) in round.iter().zip(&mut delivered) {
                if self.states_limit(group, delivered.as_deref().unwrap_or_default()).await {
                    self.rest().await;
                    *delivered = self.deliver(group).await;
                }
            }
            delivered
        };
        let delivered = self.stop.or_stopped(Box::pin(deliver)).await?;
        let answered = |(group, delivered): (Group, Delivered)| Some((group, delivered.ok()?));
        Some(round.into_iter().zip(delivered).filter_map(answered).collect())
    }

    /// Whether an error that a group got states a limit in words of the target's own, or may state one. Where that is open, the request itself,
    /// and one that got a result before, show it. An error that does not come again, and of which they show nothing, comes by chance, or
    /// from a limit that the run touched only: the first few are not judged, and the run is incomplete.
    pub(crate) async fn states_limit(&self, group: &Group, exchanges: &[Exchange]) -> bool {
        let (open, served, jobs) = {
            let target = self.target.lock();
            (target.open_words(exchanges), target.liveness.answered(Served::WithResult), target.jobs)
        };
        let mut may_be_limit = false;
        for (words, refused) in open {
            let mut vanished = self.own_words.lock().await;
            let came = exchanges.iter().filter_map(|exchange| exchange.received).min();
            let has_vanished = || {
                let own_words = &self.target.lock().comparison.own_words;
                own_words.has_vanished_since(&words, came)
            };
            let find_out = self.find_out(words.clone(), group, (&refused, jobs), served.as_ref());
            if has_vanished() || Box::pin(find_out).await {
                // It is sent again in the plain headers: an error that the headers of a client get comes again with them.
                if exchanges.iter().all(|exchange| exchange.sent_as.is_none()) {
                    vanished.push(Vanished { words, group: group.clone(), exchanges: exchanges.to_vec() });
                }
                may_be_limit = true;
            }
        }
        may_be_limit || self.target.lock().has_own_limit(exchanges)
    }

    /// The answers whose error did not come again, where nothing has shown since that it states a limit.
    pub(crate) async fn vanished(&self) -> Vec<Vanished> {
        let vanished = mem::take(&mut *self.own_words.lock().await);
        let target = self.target.lock();
        vanished.into_iter().filter(|answers| !target.has_own_limit(&answers.exchanges)).collect()
    }

    /// Finds out whether these words state a limit. Where the run ends first, that is not known, and they do not. Gives whether the error did
    /// not come again when the same request was sent again.
    async fn find_out(
        &self,
        words: String,
        group: &Group,
        (refused, jobs): (&Body, usize),
        served: Option<&Body>,
    ) -> bool {
        let mut check = WordsCheck::new(words, served.is_some(), jobs, self.pace.sent());
        check.rate = {
            let target = self.target.lock();
            target.comparison.own_words.rate_since_check(self.began, self.pace.sent())
        };
        let (mut quiet, mut came, mut served) = (None, Vec::new(), served.unwrap_or(refused));
        let mut connections: Vec<PooledConnection> = Vec::new();
        loop {
            let step = check.next(&mut self.target.lock().comparison.own_words, &came);
            let (copies, body, pause) = match step {
                WordsStep::Quiet => {
                    if quiet.is_none() {
                        quiet = self.slots.acquire(usize::MAX).await;
                    }
                    came = Vec::new();
                    continue;
                }
                WordsStep::Over => break,
                WordsStep::Again(pause) => (1, refused, pause),
                WordsStep::Probe(copies, pause) => (copies, served, pause),
            };
            self.note_pause(pause);
            if copies == 1 {
                connections.clear();
            }
            // Copies after copies go over the same ones: as fast as the run's own requests.
            connections.resize_with(copies as usize, PooledConnection::default);
            let probe = async |connection| {
                self.sleep(pause).await?;
                self.probe_over(connection, group, body.clone()).await
            };
            let begun = Instant::now();
            let probes = join_all(connections.iter_mut().map(probe)).await;
            if copies > 1 {
                check.copied = (check.copied.0 + copies, check.copied.1 + begun.elapsed());
            }
            let Ok(probes) = probes.into_iter().collect::<Result<Vec<_>, _>>() else { break };
            came = probes.iter().map(|probe| errors(probe).into_iter().cloned().collect()).collect();
            if matches!(step, WordsStep::Again(_))
                && probes.iter().all(|probe| liveness::served(probe) == Served::WithResult)
            {
                // The limit may be one for requests of this kind alone.
                served = refused;
            }
        }
        self.target.lock().comparison.own_words.note_checked(self.pace.sent());
        if let Some((slots, _)) = quiet {
            self.slots.give_back(slots, self.target.lock().jobs);
        }
        check.has_vanished && self.stop.reason().is_none()
    }

    /// Sends nothing for as long as a limit in words of the target's own takes to pass. What gets the error afterwards does not get it because of other requests.
    pub(crate) async fn rest(&self) {
        if let Some((slots, _)) = self.slots.acquire(usize::MAX).await {
            self.note_pause(PAUSE_OF_A_SENDER);
            // Where the run ends meanwhile, nothing is sent afterwards.
            let _ = self.sleep(PAUSE_OF_A_SENDER).await;
            self.slots.give_back(slots, self.target.lock().jobs);
        }
    }

    fn note_pause(&self, pause: Duration) {
        if pause >= NOTICED {
            let reason = "to see whether an error states a limit".to_owned();
            // The receiver may be gone: the pause is kept all the same.
            let _ = self.notices.send(Notice::Waiting { pause, reason, is_asked_for: false });
        }
    }

    /// Has at most that many requests in flight from now on. Nothing may be in flight.
    pub(crate) fn lower_jobs(&self, jobs: usize) {
        self.slots.lower(jobs);
        let mut target = self.target.lock();
        target.jobs = target.jobs.min(jobs);
    }

    /// Sends a group in this order, within a memory share that the caller holds as long as it keeps the answers. A group that asks for more
    /// sponsorships than the run may still get is not sent.
    pub(crate) async fn deliver_within(
        &self,
        group: &Group,
        order: Order,
        patience: Patience,
        share: &mut MemoryPermit,
    ) -> Delivered {
        let reserved = self.reserve(bodies_of(group))?;
        let mut sent = Sent::default();
        let delivered = self.deliver_often(group, order, patience, share, &mut sent).await;
        let exchanges = delivered.as_deref().unwrap_or_default();
        let mut sponsorships = self.sponsorships.lock();
        let unjudged = sent.granted.minus(sponsorships.granted_by(exchanges));
        sponsorships.settle_unjudged(sent.reserved, unjudged);
        sponsorships.settle(reserved, exchanges);
        delivered
    }

    fn reserve<'a>(&self, bodies: impl Iterator<Item = &'a Body>) -> Result<Spending, DeliveryError> {
        self.sponsorships.lock().reserve(bodies).map_err(DeliveryError::OverBudget)
    }

    /// Sends a group until its answers can be judged; counts what it asks for again, and all that is granted.
    async fn deliver_often(
        &self,
        group: &Group,
        order: Order,
        patience: Patience,
        share: &mut MemoryPermit,
        sent: &mut Sent,
    ) -> Delivered {
        let mut delivery = Delivery::new(self.checks);
        let (mut alone, mut open, mut came) = (None, Vec::new(), Vec::new());
        loop {
            let step = self.decide(|target| delivery.next(target, came));
            if !matches!(step, Step::Send(Sending::Alone { kept: true, .. })) {
                open.clear();
            }
            came = match step {
                Step::Done(delivered) => {
                    let target = self.target.lock();
                    return delivered.map(|mut exchanges| {
                        for exchange in &mut exchanges {
                            exchange.refused_value = target.comparison.value(exchange);
                        }
                        exchanges
                    });
                }
                Step::Send(sending @ Sending::Among { .. }) => {
                    if let Some((_, slots)) = alone.take() {
                        let jobs = self.target.lock().jobs;
                        self.slots.give_back(slots, jobs);
                    }
                    self.count(sent, group, 1)?;
                    let came = self.send_among(order, Outgoing { group, sending, share, patience }).await;
                    self.count_granted(sent, slice::from_ref(&came));
                    vec![came]
                }
                Step::Send(sending @ Sending::Alone { copies, kept, after }) => {
                    self.sleep(after).await?;
                    self.count(sent, group, copies)?;
                    let outgoing = Outgoing { group, sending, share, patience };
                    let (connections, delivered) = self.send_copies(copies, outgoing).await;
                    open.extend(connections.into_iter().filter(|_| kept));
                    self.count_granted(sent, &delivered);
                    delivered
                }
                Step::Quiet => {
                    // What the holders of slots may wait for.
                    *share = self.share();
                    if alone.is_none() {
                        let with_excuse = Arc::clone(&self.target.lock().with_excuse);
                        let (slots, _) =
                            self.slots.acquire(usize::MAX).await.ok_or(DeliveryError::Stopped)?;
                        alone = Some((with_excuse, slots));
                    }
                    // Some targets take few connections at a time.
                    self.close_idle();
                    Vec::new()
                }
                Step::Probe(body, after) => {
                    self.sleep(after).await?;
                    vec![self.probe(group, body).await.map(|probe| vec![probe])]
                }
            };
        }
    }

    /// Sends copies of a group at the same time, each over a connection of its own.
    async fn send_copies(
        &self,
        copies: usize,
        outgoing: Outgoing<'_>,
    ) -> (Vec<PooledConnection>, Vec<Delivered>) {
        let copies = (0..copies).map(async |_| {
            let (mut connection, own) = (PooledConnection::default(), self.share());
            let share = if copies == 1 { outgoing.share } else { &own };
            let delivered = self.send_in_turn(&mut connection, Outgoing { share, ..outgoing }).await;
            (connection, delivered)
        });
        join_all(copies).await.into_iter().unzip()
    }

    /// Takes from the limits what these copies of a group ask for: the first one has its part already.
    fn count(&self, sent: &mut Sent, group: &Group, copies: usize) -> Result<(), DeliveryError> {
        let again = copies - usize::from(!mem::replace(&mut sent.has_begun, true));
        let bodies = (0..again).flat_map(|_| bodies_of(group));
        sent.reserved = sent.reserved.plus(self.reserve(bodies)?);
        Ok(())
    }

    fn count_granted(&self, sent: &mut Sent, came: &[Delivered]) {
        let sponsorships = self.sponsorships.lock();
        for exchanges in came.iter().flatten() {
            sent.granted = sent.granted.plus(sponsorships.granted_by(exchanges));
        }
    }

    /// Sends the members of a group while other groups are sent.
    async fn send_among(&self, order: Order, outgoing: Outgoing<'_>) -> Delivered {
        let members = outgoing.group.members.len();
        let wanted = match order {
            Order::Sequential => 1,
            Order::Concurrent => members,
        };
        let (_slots, width) = self.slots.acquire(wanted).await.ok_or(DeliveryError::Stopped)?;
        if width == 1 {
            let mut connection = self.take_connection();
            let exchanges = self.send_in_turn(&mut connection, outgoing).await?;
            self.return_connection(connection);
            return Ok(exchanges);
        }
        let mut exchanges = Vec::with_capacity(members);
        let numbers: Vec<usize> = (0..members).collect();
        for chunk in numbers.chunks(width.min(self.pace.burst())) {
            // At once, so that they overlap at the target.
            self.turns(chunk.len()).await?;
            let sending = chunk.iter().map(|number| async {
                let mut connection = self.take_connection();
                let exchange = self.send(&mut connection, outgoing, *number, true).await;
                self.return_connection(connection);
                exchange
            });
            for exchange in join_all(sending).await {
                exchanges.push(exchange?);
            }
        }
        Ok(exchanges)
    }

    /// Sends the members of a group one after the other, each after the answer to the one before.
    async fn send_in_turn(&self, connection: &mut PooledConnection, outgoing: Outgoing<'_>) -> Delivered {
        let group = outgoing.group;
        let mut exchanges = Vec::with_capacity(group.members.len());
        for (number, member) in group.members.iter().enumerate() {
            if keeps_idle(group.relation) {
                match member.role {
                    Role::Variant => self.sleep(self.idle_time).await?,
                    _ => *connection = PooledConnection::default(),
                }
            }
            let mut exchange = self.send(connection, outgoing, number, false).await?;
            if let (Some(chain), Some(simulation)) = (&self.chain, group.relation.simulation) {
                exchange.on_chain = chain.simulate(&exchange, simulation).await;
            }
            exchanges.push(exchange);
        }
        Ok(exchanges)
    }

    async fn send(
        &self,
        connection: &mut PooledConnection,
        outgoing: Outgoing<'_>,
        number: usize,
        mut has_turn: bool,
    ) -> Result<Exchange, DeliveryError> {
        let mut attempts = Attempts::new(outgoing.sending);
        loop {
            if !mem::take(&mut has_turn) {
                self.turns(1).await?;
            }
            // Exchanges are dropped only when the run is over: none is counted then.
            let in_flight = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
            self.most_in_flight.fetch_max(in_flight, Ordering::Relaxed);
            let exchange = self.exchange(connection, outgoing, number).await;
            self.in_flight.fetch_sub(1, Ordering::Relaxed);
            // A pause counts from the answer that asks for it: the probe below may have waited for the pause of another one.
            let came = Instant::now();
            // What is read of both is kept with them: nobody waits for that at the lock below.
            let _ = (ParsedRequest::read(&exchange.request, self.specification), Answer::of(&exchange));
            self.report(&exchange, outgoing.group, number, &outgoing.group.members[number]);
            if let Some(protocol) = connection.protocol().filter(|_| exchange.outcome.is_ok()) {
                self.responses[protocol as usize].fetch_add(1, Ordering::Relaxed);
            }
            let mut decide = |target: &mut TargetState, probe: Option<&Exchange>| {
                attempts.after(target, &exchange, probe, SystemTime::now())
            };
            let is_closed = connection.closed() > 0 || matches!(exchange.outcome, Err(Failure::Broken(_)));
            let mut next = self.decide(|target| {
                target.closed += connection.closed();
                let next = decide(target, None);
                let is_answered = liveness::is_answered(&exchange);
                if is_answered {
                    target.liveness.note_answered(&exchange.request);
                }
                if is_answered && target.comparison.is_new || is_closed && !is_answered {
                    let answer = is_answered.then(|| exchange.clone());
                    target.liveness.note_last(outgoing.group.alone(number), answer, self.jobs);
                }
                next
            });
            while let Next::Probe(body, after) = next {
                self.sleep(after).await?;
                let probe = self.probe(outgoing.group, body).await?;
                next = self.decide(|target| decide(target, Some(&probe)));
            }
            match next {
                Next::Answered => {
                    self.pace.answered();
                    return Ok(exchange);
                }
                Next::Unclear | Next::Probe(..) => return Ok(exchange),
                Next::Fail(cause) => return Err(cause),
                Next::Reconnect(pause) => self.sleep(pause).await?,
                Next::Pause(pause) => {
                    if self.pace.pause(came, pause, &self.stop)
                        && let Ok(response) = &exchange.outcome
                    {
                        let reason = format!("the target answered {}", response.status);
                        // The receiver may be gone: the pause is kept all the same.
                        let _ = self.notices.send(Notice::Waiting { pause, reason, is_asked_for: true });
                    }
                    if self.stop.reason().is_some() {
                        return Err(DeliveryError::Stopped);
                    }
                }
            }
        }
    }

    async fn exchange(
        &self,
        connection: &mut PooledConnection,
        Outgoing { group, share, patience, .. }: Outgoing<'_>,
        number: usize,
    ) -> Exchange {
        let member = &group.members[number];
        let limit = self.transport.limits.timeout;
        let after = self.target.lock().liveness.wait(patience, limit);
        // A request that ends its connection has one of its own, so that other requests keep theirs. Where the target takes few connections, it
        // has none to spare.
        let mut own = PooledConnection::default();
        let ends = member.sent_as.as_ref().is_some_and(|headers| headers.ends_connection());
        let is_apart = ends
            && self.jobs > 1
            && self.target.lock().overload.is_none()
            && connection.protocol() != Some(Protocol::Http2);
        let connection = if is_apart { &mut own } else { connection };
        let exchange =
            connection.exchange_as(&self.transport, member.body.clone(), member.sent_as.clone(), share);
        if after == limit {
            return exchange.await;
        }
        if let Ok(exchange) = tokio::time::timeout(after, exchange).await {
            return exchange;
        }
        // The answer may still come.
        *connection = PooledConnection::default();
        let failure = Failure::Timeout { waiting_for: Stage::Head, after };
        Exchange {
            sent_as: member.sent_as.clone(),
            ..Exchange::new(member.body.clone(), Err(failure), after)
        }
    }

    /// Calls a state machine, and does what it asks for beside its next step.
    fn decide<T>(&self, machine: impl FnOnce(&mut TargetState) -> T) -> T {
        let mut target = self.target.lock();
        let decision = machine(&mut target);
        for effect in target.effects.drain(..) {
            match effect {
                Effect::Report(notice) => {
                    // The receiver may be gone: what is reported applies all the same.
                    let _ = self.notices.send(notice);
                }
                Effect::SlowDown(waited) => self.pace.refused_for(waited),
                Effect::EndRun(reason) => self.stop.trigger(reason),
            }
        }
        decision
    }

    /// Sends a body that was served before over a new connection, because of what a group got.
    async fn probe(&self, group: &Group, body: Body) -> Result<Exchange, DeliveryError> {
        self.probe_over(&mut PooledConnection::default(), group, body).await
    }

    async fn probe_over(
        &self,
        connection: &mut PooledConnection,
        group: &Group,
        body: Body,
    ) -> Result<Exchange, DeliveryError> {
        self.turns(1).await?;
        let reserved = self.reserve(iter::once(&body))?;
        let exchange = connection.exchange(&self.transport, body).await;
        {
            let mut sponsorships = self.sponsorships.lock();
            let granted = sponsorships.granted_by(slice::from_ref(&exchange));
            sponsorships.settle_unjudged(reserved, granted);
        }
        let probe = Member::plain(Role::Other, "what was served before, again", exchange.request.clone());
        self.report(&exchange, group, group.members.len(), &probe);
        Ok(exchange)
    }

    async fn turns(&self, requests: usize) -> Result<(), DeliveryError> {
        self.pace.turns(requests, &self.stop).await.then_some(()).ok_or(DeliveryError::Stopped)
    }

    pub(crate) async fn sleep(&self, pause: Duration) -> Result<(), DeliveryError> {
        if pause.is_zero() {
            return Ok(());
        }
        self.stop.or_stopped(tokio::time::sleep(pause)).await.ok_or(DeliveryError::Stopped)
    }

    fn report(&self, exchange: &Exchange, group: &Group, number: usize, member: &Member) {
        if !self.reports_exchanges {
            return;
        }
        // The receiver is gone once the run is over.
        let _ = self.notices.send(Notice::Exchanged(Box::new(SentExchange {
            relation: group.relation.id,
            group: group.number,
            member: number,
            role: member.role.into_str(),
            label: member.label.clone(),
            exchange: exchange.with_short_body(),
            ended: SystemTime::now(),
        })));
    }

    /// Closes the connections that no request uses.
    pub(crate) fn close_idle(&self) {
        self.idle.lock().clear();
    }

    fn take_connection(&self) -> PooledConnection {
        self.idle.lock().pop().unwrap_or_default()
    }

    /// Keeps a connection for other groups. There are never more than exchanges at the same time.
    fn return_connection(&self, connection: PooledConnection) {
        let mut idle = self.idle.lock();
        if idle.len() < self.slots.jobs() {
            idle.push(connection);
        }
    }
}
