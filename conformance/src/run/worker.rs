//! A worker of a run: takes groups from the queue, sends them and judges the answers.
//! With `--fail-fast`, the run ends at the first violation that fails it and is seen again when its requests are sent again.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use parking_lot::Mutex;
use paymaster_client::memory::MemoryPermit;
use paymaster_client::stop::{Reason, Stop};
use paymaster_engine::cases::Group;
use paymaster_engine::rules::{Rule, count, fails_the_run};
use paymaster_engine::session::{NewlyBroken, Recheck, Sent, Session};
use paymaster_engine::spending::Spending;
use paymaster_exchange::{Exchange, Failure};
use tokio::time::Instant;

use crate::run::planning::{GroupQueue, drawn_calls};
use crate::run::sending::{DeliveryError, Doubt, LastRequest, Patience, Sender, Vanished, is_answered};

/// How often a worker that is not needed looks whether it is.
const WAITING: Duration = Duration::from_millis(50);

/// What all workers of a run share.
pub(crate) struct Work {
    pub(crate) sender: Arc<Sender>,
    pub(crate) sessions: Sessions,
    pub(crate) groups: GroupQueue,
    /// Why no more groups are sent, before the plan is done.
    pub(crate) ended: Stop,
    /// How many requests one worker sends before others send too.
    pub(crate) over_one_connection: usize,
    /// When the plan began.
    pub(crate) begun: Instant,
    /// When the plan ends, so that a third of the time is left.
    pub(crate) plan_ends: Instant,
    pub(crate) time_limit: Duration,
    /// Whether the run ends at its first confirmed violation.
    pub(crate) fail_fast: bool,
    /// Whether a violation of what is only recommended fails the run.
    pub(crate) strict: bool,
    pub(crate) progress: Mutex<Progress>,
}

/// How far a run is.
#[derive(Default)]
pub(crate) struct Progress {
    /// How many groups were taken from the plan.
    pub(crate) done: usize,
    /// How many of their requests were answered, or had no answer in time.
    pub(crate) judged: usize,
    /// How long their exchanges took.
    pub(crate) took: Duration,
    /// Whether no more group is to be sent.
    pub(crate) is_over: bool,
    /// The ids of broken rules.
    pub(crate) broken: BTreeSet<&'static str>,
    /// The last request that was answered, and the first one after it that was not.
    pub(crate) last: LastRequests,
    /// When the depth of the plan ends.
    pub(crate) depth_ends: Option<Instant>,
    /// Whether its depth was not sent whole.
    pub(crate) shortened: bool,
}

impl Progress {
    /// Counts a group that was sent, or could not be.
    fn note(&mut self, group: &Arc<Group>, delivered: &Result<Vec<Exchange>, DeliveryError>) {
        self.done += 1;
        self.judged += delivered.as_ref().map_or(0, Vec::len);
        self.took += delivered.iter().flatten().map(|exchange| exchange.took).sum::<Duration>();
        self.last.note(group, delivered.as_deref().unwrap_or_default());
    }
}

/// The sessions in which workers judge. A worker takes one for the time of a judgement, so that there are never more than threads: each
/// keeps examples for every rule.
pub(crate) struct Sessions {
    /// An empty session, which the others are clones of.
    pub(crate) empty: Session,
    pub(crate) idle: Mutex<Vec<Session>>,
}

impl Sessions {
    /// Calls `work` with a session that no other worker uses meanwhile.
    fn with<T>(&self, work: impl FnOnce(&mut Session) -> T) -> T {
        let idle = self.idle.lock().pop();
        let mut session = idle.unwrap_or_else(|| self.empty.clone());
        let result = work(&mut session);
        self.idle.lock().push(session);
        result
    }
}

/// A group with a missing answer, or one that may have been refused for a budget. It is judged at the end, when it is known whether the
/// target had stopped answering or sponsoring.
pub(crate) struct UnansweredGroup {
    group: Arc<Group>,
    exchanges: Vec<Exchange>,
    stamp: u64,
    /// Its place among the requests for a sponsorship, where the target may have stopped sponsoring.
    doubtful: Option<Doubt>,
}

/// How many groups with a timeout are seen to have it again. If every group that was sent again had it again, the others are not sent again.
const TIMEOUTS_CONFIRMED: usize = 3;

fn has_timeout(exchanges: &[Exchange]) -> bool {
    waited(exchanges).next().is_some()
}

/// How long each answer that did not come in time was waited for.
fn waited(exchanges: &[Exchange]) -> impl Iterator<Item = Duration> {
    exchanges.iter().filter_map(|exchange| match exchange.outcome {
        Err(Failure::Timeout { after, .. }) => Some(after),
        _ => None,
    })
}

/// How many requests of a long plan one worker sends before others send too: some services go wrong on a connection after 100 or 200 requests.
/// The others stop waiting for it after [`ALONE`], or where its requests took a second and [`QUICK`] each.
pub(crate) const OVER_ONE_CONNECTION: usize = 256;
const QUICK: Duration = Duration::from_millis(20);
const ALONE: Duration = Duration::from_secs(10);

/// How often a group is sent again whose answers state a limit: the last time after a pause, so that it is not the limit that is judged.
const SENT_FOR_A_LIMIT: usize = 3;

/// Two requests, by their groups and their places in them. Where the target stops answering, one of them may have ended it: it may answer
/// such a request before it ends.
#[derive(Debug, Default)]
pub(crate) struct LastRequests {
    answered: Option<(Arc<Group>, usize)>,
    unanswered: Option<(Arc<Group>, usize)>,
}

impl LastRequests {
    /// Takes the answers to a group; none where it could not be sent.
    fn note(&mut self, group: &Arc<Group>, exchanges: &[Exchange]) {
        let first_unanswered = exchanges.iter().position(|exchange| !is_answered(exchange));
        let answered = first_unanswered.unwrap_or(exchanges.len());
        if let Some(last) = answered.checked_sub(1) {
            *self = Self { answered: Some((Arc::clone(group), last)), unanswered: None };
        }
        if answered < group.members.len() {
            self.unanswered.get_or_insert_with(|| (Arc::clone(group), answered));
        }
    }

    /// Both in a line; none where every request so far was answered, or none was.
    pub(crate) fn in_words(&self) -> Option<String> {
        let (answered, unanswered) = (self.answered.as_ref()?, self.unanswered.as_ref()?);
        let described = |(group, place): &(Arc<Group>, usize)| described(group, *place);
        let (answered, unanswered) = (described(answered), described(unanswered));
        Some(format!(
            "the last request that it answered was of {answered}, and the first without an answer of {unanswered}"
        ))
    }
}

/// How many requests were in flight when the target ended, and what those were that may have ended it, in a line; none where there was none.
pub(crate) fn last_in_words(in_flight: usize, last: &[LastRequest]) -> Option<String> {
    const MOST: usize = 3;
    let (answered, cut): (Vec<_>, Vec<_>) = last.iter().partition(|request| request.answer.is_some());
    let of = match (answered.is_empty(), cut.len() < in_flight) {
        (false, _) => "; answered right before, with a value that none before had: ",
        (true, true) => "; with a value that none before had: ",
        (true, false) => ": ",
    };
    let named = if answered.is_empty() { cut } else { answered };
    let kinds: BTreeSet<String> = named.iter().map(|request| described(&request.group, 0)).collect();
    let more = kinds.len().saturating_sub(MOST);
    let mut named: Vec<String> = kinds.into_iter().take(MOST).collect();
    named.extend((more > 0).then(|| format!("{more} more")));
    let requests = count(in_flight as u128, "request");
    (in_flight > 0).then(|| format!("{requests} in flight then got no answer{of}{}", named.join(", ")))
}

fn described(group: &Group, place: usize) -> String {
    let label = group.members.get(place).map_or("", |member| &*member.label);
    let label = if label.is_empty() { group.relation.about } else { label };
    format!("{} ({label})", group.relation.id)
}

impl Work {
    /// Sends and judges groups until the queue is empty or the run is stopped. Gives the groups that are still to be judged.
    pub(crate) async fn run(self: Arc<Self>, place: usize) -> Vec<UnansweredGroup> {
        let mut unanswered = Vec::new();
        while self.ended.reason().is_none() {
            let next = async {
                self.turn(place).await?;
                let group = self.next_group().await?;
                let mut share = self.sender.share();
                let (delivered, is_judged) = self.deliver(&group, &mut share).await;
                Some((group, delivered, share, is_judged))
            };
            let Some(next) = self.sender.stop.or_stopped(next).await else { return unanswered };
            // The share is held until the answers are judged.
            let Some((group, delivered, share, is_judged)) = next else {
                self.progress.lock().is_over = true;
                return unanswered;
            };
            self.progress.lock().note(&group, &delivered);
            match delivered {
                Ok(_) if is_judged => {}
                Ok(exchanges) => match self.receive(Arc::clone(&group), exchanges) {
                    Ok(new) => {
                        drop(share);
                        if self.fail_fast && self.confirms(&group, new).await {
                            self.ended.trigger(Reason::FirstViolation);
                        }
                    }
                    Err(later) => unanswered.push(later),
                },
                Err(DeliveryError::Stopped) => return unanswered,
                Err(cause) => {
                    if group.is_depth && matches!(cause, DeliveryError::OverBudget(_)) {
                        self.progress.lock().shortened = true;
                    }
                    self.sessions.with(|session| session.leave_out(&group, cause.to_string()));
                }
            }
            if let Some(cause) = self.sender.target.lock().liveness.hopeless() {
                self.ended.trigger(Reason::GaveUp(cause));
            }
        }
        unanswered
    }

    /// Sends a group, and again where its answers state a limit. Gives whether these are judged already.
    async fn deliver(
        &self,
        group: &Group,
        share: &mut MemoryPermit,
    ) -> (Result<Vec<Exchange>, DeliveryError>, bool) {
        let deliver = async |share: &mut MemoryPermit| {
            self.sender.deliver_within(group, group.relation.order, Patience::Usual, share).await
        };
        let mut delivered = deliver(share).await;
        // What is sent again may come when the limit is reached again.
        for times in 1..=SENT_FOR_A_LIMIT {
            let exchanges = delivered.as_ref().ok();
            let Some(exchanges) = exchanges.filter(|sent| self.may_state_limit(sent)) else { break };
            let is_judged = exchanges.iter().all(is_answered)
                && self.sessions.with(|session| session.judge_if_unbroken(group, exchanges));
            if is_judged {
                return (delivered, true);
            }
            if !self.sessions.with(|session| session.is_broken_by(group, exchanges)) {
                break;
            }
            // The groups that this one waits for may need its memory.
            *share = self.sender.share();
            if !self.sender.states_limit(group, exchanges).await {
                break;
            }
            if times == SENT_FOR_A_LIMIT {
                self.sender.rest().await;
            }
            delivered = deliver(share).await;
        }
        (delivered, false)
    }

    /// Whether exchanges may have an error that states a limit in words of the target's own: a rule may be broken for that reason.
    fn may_state_limit(&self, exchanges: &[Exchange]) -> bool {
        let target = self.sender.target.lock();
        target.has_own_limit(exchanges) || !target.open_words(exchanges).is_empty()
    }

    /// Judges a group that was sent, and gives the places that are newly broken; an error where it is judged at the end of the run.
    pub(crate) fn receive(
        &self,
        group: Arc<Group>,
        exchanges: Vec<Exchange>,
    ) -> Result<Vec<NewlyBroken>, UnansweredGroup> {
        let doubtful = self.sender.sponsorships.lock().doubtful(&exchanges);
        if doubtful.is_none() && exchanges.iter().all(is_answered) {
            return Ok(self.judge(&group, &exchanges));
        }
        let stamp = self.sender.target.lock().liveness.last_stamp();
        Err(UnansweredGroup { group, exchanges, stamp, doubtful })
    }

    /// Judges what discovery sent; gives the groups that are judged at the end of the run.
    pub(crate) fn receive_all(&self, sent: Sent) -> Vec<UnansweredGroup> {
        sent.into_iter()
            .filter_map(|(group, exchanges)| self.receive(Arc::new(group), exchanges).err())
            .collect()
    }

    /// Judges the groups with a missing answer, after the plan. Where the target stopped answering, groups after its last answer are left out.
    ///
    /// A timeout may come from load, on either side, so its group is sent again while nothing else is. Only one that is seen again is judged:
    /// another one shows nothing of the target, and leaves the run incomplete.
    pub(crate) async fn settle(&self, unanswered: &[UnansweredGroup], stopped_answering: bool, seed: u64) {
        let (mut confirmed, mut of_load) = (0, 0);
        let limit = self.sender.transport.limits.timeout;
        let leave_out = |group: &UnansweredGroup, cause| {
            self.sessions.with(|session| session.leave_out(&group.group, cause));
        };
        let is_open = |group: &UnansweredGroup| {
            let doubt = group.doubtful.as_ref();
            doubt.is_some_and(|doubt| self.sender.sponsorships.lock().is_open(doubt))
                && self.sessions.with(|session| session.is_broken_by(&group.group, &group.exchanges))
        };
        if unanswered.iter().any(is_open) {
            self.ask_for_sponsorships(seed).await;
        }
        self.judge_vanished().await;
        for group in unanswered {
            let leave_out_unconfirmed = |what| self.leave_out(what, &group.group, &group.exchanges);
            let leave_out_timeout = |again| leave_out_unconfirmed(format!("no answer in time, and {again}"));
            let after =
                |stamp| self.sender.target.lock().liveness.is_after_last_answer(stamp, self.sender.jobs);
            if stopped_answering && !group.exchanges.iter().all(is_answered) && after(group.stamp) {
                leave_out(group, "the target stopped answering".to_owned());
            } else if let Some(cause) = self.exhausted(group) {
                match self.sender.sponsorships.lock().failure() {
                    Some(failure) => leave_out_unconfirmed(failure.to_owned()),
                    None => leave_out(group, cause),
                }
            } else if waited(&group.exchanges).any(|waited| waited < limit) {
                leave_out_timeout("waited for less than many before it, which had none in the whole time");
            } else if !has_timeout(&group.exchanges) || confirmed == TIMEOUTS_CONFIRMED && of_load == 0 {
                self.judge(&group.group, &group.exchanges);
            } else {
                let again =
                    if confirmed == TIMEOUTS_CONFIRMED { None } else { self.send_again(&group.group).await };
                match again {
                    Some(exchanges) if has_timeout(&exchanges) => {
                        confirmed += 1;
                        self.judge(&group.group, &exchanges);
                    }
                    again => {
                        of_load += 1;
                        let is_sent = again.is_some();
                        leave_out_timeout(if is_sent {
                            "an answer when sent again"
                        } else {
                            "not sent again"
                        });
                    }
                }
            }
        }
    }

    fn leave_out(&self, what: String, group: &Group, exchanges: &[Exchange]) {
        self.sessions.with(|session| session.leave_out_unconfirmed(what, group, exchanges));
    }

    /// Judges each group that got an error once and not again, where another answer of the group breaks a rule. Where the error itself breaks one, the
    /// group is left out: why the error came is not known.
    async fn judge_vanished(&self) {
        for vanished in self.sender.vanished().await {
            let Vanished { words, group, exchanges } = &vanished;
            let is_it = |exchange: &Exchange| vanished.is_in(exchange);
            if self.sessions.with(|session| session.is_broken_by_one(group, exchanges, is_it)) {
                self.leave_out(format!("error {words}, and not when sent again"), group, exchanges);
            } else if self.sessions.with(|session| session.is_broken_by(group, exchanges)) {
                self.judge(group, exchanges);
            }
        }
    }

    /// Sends a group while no other is; none when the run is over.
    async fn send_again(&self, group: &Group) -> Option<Vec<Exchange>> {
        self.sender.stop.or_stopped(self.sender.deliver(group)).await?.ok()
    }

    /// Sends calls that the target may sponsor. Its answers tell a budget that is spent from other refusals.
    async fn ask_for_sponsorships(&self, seed: u64) {
        const MOST: usize = 12;
        /// A specification takes at least a third of the cases for each kind of call.
        const CASES: u32 = 36;
        let context = &self.sessions.empty.context;
        let specification = context.specification();
        let calls = drawn_calls(context, seed, CASES).await;
        let asks = |group: &&Group| {
            group.members.iter().any(|member| Spending::of_body(&member.body, specification).sponsorships > 0)
        };
        for group in calls.iter().filter(asks).take(MOST) {
            if self.send_again(group).await.is_none() {
                return;
            }
        }
    }

    /// Waits until the worker at this place is needed. At first one sends alone, so that one connection has many requests. Where the rate is limited,
    /// few groups are sent at a time: many would all end late.
    async fn turn(&self, place: usize) -> Option<()> {
        while place >= self.needed() && !self.progress.lock().is_over && self.ended.reason().is_none() {
            tokio::time::sleep(WAITING).await;
        }
        self.ended.reason().is_none().then_some(())
    }

    /// How many workers are needed. Without a limit of the rate, one at first, and then all. With one, as many as send as much as it permits: twice
    /// as many as exchanges overlap at it, and two more.
    fn needed(&self) -> usize {
        let progress = self.progress.lock();
        let Some(interval) = self.sender.pace.interval() else {
            let requests = u32::try_from(progress.judged).unwrap_or(u32::MAX);
            let is_quick = progress.took < Duration::from_secs(1) + QUICK.saturating_mul(requests);
            let is_alone =
                progress.judged < self.over_one_connection && is_quick && self.begun.elapsed() < ALONE;
            return if is_alone { 1 } else { usize::MAX };
        };
        let took = progress.took.as_micros() / progress.judged.max(1) as u128;
        2 + usize::try_from(2 * took.div_ceil(interval.as_micros().max(1))).unwrap_or(usize::MAX - 2)
    }

    /// The next group to send; none when the plan is done or its time is over. Where the target has a rate limit, groups that are about
    /// broken rules alone are left out of the depth.
    async fn next_group(&self) -> Option<Arc<Group>> {
        loop {
            let group = self.groups.next().await?;
            let now = Instant::now();
            if !group.is_depth {
                if now >= self.plan_ends {
                    self.ended.trigger(Reason::TimeLimit(self.time_limit));
                    return None;
                }
                return Some(group);
            }
            if self.progress.lock().depth_ends.is_some_and(|end| now >= end) {
                self.progress.lock().shortened = true;
                return None;
            }
            if self.sender.pace.interval().is_none() || !self.is_settled(&group) {
                return Some(group);
            }
            self.progress.lock().done += 1;
        }
    }

    /// Whether all rules that a group is mainly about are broken, and were broken again by other groups.
    fn is_settled(&self, group: &Group) -> bool {
        let Some(pair) = group.pair else { return false };
        self.sessions.with(|session| {
            let rules = session.rules().iter().filter(|rule| rule.is_for(group.relation.id, pair));
            let mut rules = rules.peekable();
            rules.peek().is_some() && rules.all(|rule| session.tally.is_broken_often(rule))
        })
    }

    /// Why a group that breaks a rule is left out: the target stopped sponsoring before it.
    fn exhausted(&self, group: &UnansweredGroup) -> Option<String> {
        let cause = self.sender.sponsorships.lock().exhausted(group.doubtful.as_ref()?)?;
        let is_broken = self.sessions.with(|session| session.is_broken_by(&group.group, &group.exchanges));
        is_broken.then_some(cause)
    }

    fn judge(&self, group: &Group, exchanges: &[Exchange]) -> Vec<NewlyBroken> {
        let new = self.sessions.with(|session| session.judge(group, exchanges));
        self.progress.lock().broken.extend(new.iter().map(|new| new.rule.id));
        new
    }

    /// The rules that are broken so far and not in `reported`.
    pub(crate) fn newly_broken(&self, reported: &BTreeSet<&'static str>) -> Vec<&'static Rule> {
        let progress = self.progress.lock();
        let rules = self.sessions.empty.rules().iter().copied();
        rules.filter(|rule| progress.broken.contains(rule.id) && !reported.contains(rule.id)).collect()
    }

    /// Sends the group of new violations again, once for each that fails the run and is not a known failure. Returns whether one is seen
    /// again.
    async fn confirms(&self, group: &Group, new: Vec<NewlyBroken>) -> bool {
        for broken in new {
            let fails = fails_the_run(broken.rule.basis(), self.strict);
            if !fails || self.sessions.empty.known.covers(&broken.key).is_some() {
                continue;
            }
            let Ok(exchanges) = self.sender.deliver(group).await else { return false };
            let recheck = Recheck::new(broken.rule, &*self.sessions.empty.context);
            if recheck.violation_at(&broken.key, group, &exchanges).is_some() {
                return true;
            }
        }
        false
    }
}
