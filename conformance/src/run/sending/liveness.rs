//! Whether the target still answers, from the exchanges that ended so far.

use std::time::Duration;

use paymaster_engine::cases::Group;
use paymaster_engine::message::Answer;
use paymaster_exchange::{Body, Exchange, Failure};

/// After this many unanswered exchanges in a row at the start of a run, the target counts as unreachable.
const UNANSWERED_AT_START: u64 = 3;

/// After this many unanswered exchanges in a row later in the run, a request that was answered before is sent as a probe.
const UNANSWERED_BEFORE_PROBE: u64 = 20;

/// After this many answers in the plan, when none was one of JSON-RPC before either, the run ends.
const OTHER_BEFORE_END: u64 = 50;

/// After this many timeouts, an answer is waited for no longer than a second, or 20 times as long as answers take on average: a target
/// that does not answer one kind of request would take the time of the whole run.
const TIMEOUTS_BEFORE_HASTE: u32 = 16;
const SHORTEST_WAIT: Duration = Duration::from_secs(1);
const TIMES_AN_ANSWER: u32 = 20;

/// For how long an answer is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// For the whole time that an exchange has: that none came is a violation.
    Whole,
    /// Not longer than an answer takes, where many did not come.
    Usual,
}

/// Counts answered and unanswered exchanges.
#[derive(Debug, Default)]
pub(crate) struct Liveness {
    /// The number of exchanges that ended. Its value at the end of an exchange is the stamp of that exchange.
    ended: u64,
    last_answer: u64,
    unanswered: u64,
    timeouts: u32,
    answers: u32,
    took: Duration,
    known_good: Option<(Served, Body)>,
    /// Whether a JSON-RPC answer ever came.
    is_json_rpc: bool,
    /// How many answers were something else before the first one of JSON-RPC, how many of them when the plan began, and what the first was.
    others: u64,
    others_before_plan: u64,
    first_other: Option<String>,
    /// Requests whose connection was closed before an answer, and answered ones with a new value, since the target answered last.
    last: Vec<LastRequest>,
}

/// A request that may have ended the target: it may answer such a request before it ends.
#[derive(Clone, Debug)]
pub(crate) struct LastRequest {
    /// The request alone.
    pub(crate) group: Group,
    /// Its answer; none where its connection was closed before one.
    pub(crate) answer: Option<Exchange>,
    pub(super) stamp: u64,
}

/// How well a request was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Served {
    /// With no JSON-RPC answer, with another HTTP status than 200, or it was not sent in plain headers.
    No,
    /// With a JSON-RPC error.
    WithError,
    /// With a result.
    WithResult,
}

/// What to do after an exchange.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NextStep {
    /// Continue.
    Continue,
    /// End the run: the target has never answered.
    Unreachable,
    /// Send this body, which was answered before, to find out whether the target still answers.
    Probe(Body),
}

impl Liveness {
    /// Counts an exchange that ended.
    pub(crate) fn note(&mut self, exchange: &Exchange) -> NextStep {
        self.ended += 1;
        if is_answered(exchange) {
            (self.last_answer, self.unanswered) = (self.ended, 0);
            self.answers += 1;
            self.took += exchange.took;
            self.note_kind(exchange);
            self.remember(exchange);
            return NextStep::Continue;
        }
        self.unanswered += 1;
        self.timeouts += u32::from(matches!(exchange.outcome, Err(Failure::Timeout { .. })));
        match self.answered(Served::No) {
            _ if self.last_answer == 0 && self.unanswered >= UNANSWERED_AT_START => NextStep::Unreachable,
            Some(body) if self.unanswered.is_multiple_of(UNANSWERED_BEFORE_PROBE) => NextStep::Probe(body),
            _ => NextStep::Continue,
        }
    }

    fn note_kind(&mut self, exchange: &Exchange) {
        if self.is_json_rpc {
            return;
        }
        self.is_json_rpc = Answer::of(exchange).resembles_json_rpc();
        if !self.is_json_rpc {
            self.others += 1;
            self.first_other.get_or_insert_with(|| match &exchange.outcome {
                Ok(response) => format!("HTTP {}", response.status),
                Err(failure) => failure.to_string(),
            });
        }
    }

    /// The plan begins.
    pub(crate) fn begin_plan(&mut self) {
        self.others_before_plan = self.others;
    }

    /// How long an answer is waited for where the whole time of an exchange is this.
    pub(crate) fn wait(&self, patience: Patience, limit: Duration) -> Duration {
        if patience == Patience::Usual && self.timeouts >= TIMEOUTS_BEFORE_HASTE {
            limit.min(SHORTEST_WAIT.max(TIMES_AN_ANSWER * (self.took / self.answers.max(1))))
        } else {
            limit
        }
    }

    /// Why further requests are pointless: the target answers, and none of many answers was one of JSON-RPC.
    pub(crate) fn hopeless(&self) -> Option<String> {
        if self.others < self.others_before_plan + OTHER_BEFORE_END || self.is_json_rpc {
            return None;
        }
        let first = self.first_other.as_deref().unwrap_or_default();
        Some(format!("none of {} answers is one of JSON-RPC: {first}", self.others))
    }

    /// A request that was answered at least so well.
    pub(crate) fn answered(&self, least: Served) -> Option<Body> {
        self.known_good.as_ref().filter(|(served, _)| *served >= least).map(|(_, body)| body.clone())
    }

    /// Whether the target answered anything.
    pub(crate) fn has_answered(&self) -> bool {
        self.answers > 0
    }

    /// The stamp of the exchange that ended last.
    pub(crate) fn last_stamp(&self) -> u64 {
        self.ended
    }

    /// Whether the exchange with this stamp ended after the last answer, when up to `width` exchanges run at a time.
    pub(crate) fn is_after_last_answer(&self, stamp: u64, width: usize) -> bool {
        stamp + width as u64 > self.last_answer
    }

    /// Notes a request, the only one of the group, and its answer, where there was one.
    pub(crate) fn note_last(&mut self, group: Group, answer: Option<Exchange>, width: usize) {
        let (last_answer, width) = (self.last_answer, width as u64);
        self.last.retain(|request| request.stamp + width > last_answer);
        self.last.push(LastRequest { group, answer, stamp: self.ended });
    }

    /// Forgets a request that was answered when it was sent again.
    pub(crate) fn note_answered(&mut self, request: &Body) {
        self.last.retain(|last| last.answer.is_some() || last.group.members[0].body != *request);
    }

    /// What was noted of the last exchanges, when up to `width` run at a time.
    pub(crate) fn last_requests(&self, width: usize) -> Vec<LastRequest> {
        let is_late = |request: &&LastRequest| self.is_after_last_answer(request.stamp, width);
        self.last.iter().filter(is_late).cloned().collect()
    }

    /// Keeps the request that was answered best.
    fn remember(&mut self, exchange: &Exchange) {
        let best = self.known_good.as_ref().map(|(served, _)| *served);
        if best == Some(Served::WithResult) {
            return;
        }
        let served = served(exchange);
        if best < Some(served) {
            self.known_good = Some((served, exchange.request.clone()));
        }
    }
}

/// How well a request was answered.
pub(crate) fn served(exchange: &Exchange) -> Served {
    let answer = Answer::of(exchange);
    let is_ok = answer.response().is_some_and(|response| response.status == 200);
    if exchange.sent_as.is_some() || !is_ok || !answer.is_json_rpc() {
        Served::No
    } else if answer.result().is_some() {
        Served::WithResult
    } else {
        Served::WithError
    }
}

/// Whether the target sent an answer, complete or not.
pub(crate) fn is_answered(exchange: &Exchange) -> bool {
    matches!(&exchange.outcome, Ok(_) | Err(Failure::TooLarge { .. } | Failure::Cut(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use paymaster_engine::cases::{Member, Role, plan::Plan};
    use paymaster_exchange::{Response, Stage};
    use paymaster_fee_quote::target::context::Context;

    fn exchange(answered: bool) -> Exchange {
        Exchange::new(
            "{}",
            if answered {
                Ok(Response { status: 500, headers: Vec::new(), body: "".into() })
            } else {
                Err(Failure::Broken("gone".to_owned()))
            },
            Duration::ZERO,
        )
    }

    #[test]
    fn an_unreachable_target_is_noticed_at_once_and_one_that_stops_answering_later() {
        let mut liveness = Liveness::default();
        assert_eq!(liveness.note(&exchange(false)), NextStep::Continue);
        assert_eq!(liveness.note(&exchange(false)), NextStep::Continue);
        assert_eq!(liveness.note(&exchange(false)), NextStep::Unreachable);
        assert_eq!(liveness.note(&exchange(true)), NextStep::Continue);
        for _ in 1..UNANSWERED_BEFORE_PROBE {
            assert_eq!(liveness.note(&exchange(false)), NextStep::Continue);
        }
        assert_eq!(liveness.note(&exchange(false)), NextStep::Probe("{}".into()));
        assert!(liveness.is_after_last_answer(5, 1));
        assert!(!liveness.is_after_last_answer(3, 1));
        assert!(liveness.is_after_last_answer(4, 2));
    }

    #[test]
    fn a_request_that_is_answered_when_it_is_sent_again_was_not_cut() {
        let any = Plan::new(&Context::default(), 1, 1).next().expect("a plan has groups");
        let [again, last] = ["again", "last"].map(|body| {
            let members = vec![Member::plain(Role::Call, "", body)];
            Group { members, ..any.clone() }
        });
        let mut liveness = Liveness::default();
        for group in [&again, &last] {
            liveness.note(&exchange(false));
            liveness.note_last(group.clone(), None, 2);
        }
        assert_eq!(liveness.last_requests(2).len(), 2);
        liveness.note_answered(&again.members[0].body);
        let [left] = &liveness.last_requests(2)[..] else { panic!("one was answered, one was not") };
        assert_eq!(left.group.members[0].body, last.members[0].body);
        for _ in 0..4 {
            liveness.note(&exchange(true));
        }
        assert_eq!(liveness.last_requests(2).len(), 0, "the target answered afterwards");
    }

    fn answered(status: u16, body: &'static str, request: &'static str) -> Exchange {
        let mut exchange = exchange(true);
        exchange.request = request.into();
        exchange.outcome =
            exchange.outcome.map(|response| Response { status, body: body.into(), ..response });
        exchange
    }

    #[test]
    fn after_many_timeouts_an_answer_is_waited_for_20_times_as_long_as_one_takes() {
        let limit = Duration::from_secs(10);
        let mut liveness = Liveness::default();
        let waited_for = |after| Err(Failure::Timeout { waiting_for: Stage::Head, after });
        liveness.note(&Exchange { took: Duration::from_millis(20), ..exchange(true) });
        for _ in 0..TIMEOUTS_BEFORE_HASTE {
            assert_eq!(liveness.wait(Patience::Usual, limit), limit);
            liveness.note(&Exchange { outcome: waited_for(limit), ..exchange(false) });
        }
        assert_eq!(liveness.wait(Patience::Usual, limit), SHORTEST_WAIT);
        liveness.note(&Exchange { took: Duration::from_millis(280), ..exchange(true) });
        assert_eq!(liveness.wait(Patience::Usual, limit), Duration::from_secs(3));
        assert_eq!(liveness.wait(Patience::Whole, limit), limit);
        liveness.note(&Exchange { took: Duration::from_secs(3), ..exchange(true) });
        assert_eq!(liveness.wait(Patience::Usual, limit), limit);
    }

    #[test]
    fn fifty_answers_of_the_plan_that_are_none_of_json_rpc_end_the_run() {
        for (last, is_hopeless) in [
            (r#"{"status":"ok"}"#, true),
            (r#"{"result":"ok"}"#, true),
            (r#"{"result":{}}"#, false),
            (r#"{"jsonrpc":"2.0"}"#, false),
        ] {
            let mut liveness = Liveness::default();
            for _ in 0..63 {
                liveness.note(&answered(200, "<html>", "discovery"));
            }
            liveness.begin_plan();
            for _ in 0..49 {
                liveness.note(&answered(200, "<html>", "plan"));
                assert_eq!(liveness.hopeless(), None);
            }
            liveness.note(&answered(200, last, "plan"));
            assert_eq!(liveness.hopeless().is_some(), is_hopeless, "{last}");
        }
    }

    #[test]
    fn the_request_that_was_answered_best_is_remembered() {
        let mut liveness = Liveness::default();
        for (status, body, request, served) in [
            (503, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "unavailable", None),
            (200, r#"{"jsonrpc":"2.0","id":1,"error":{}}"#, "error", Some("error")),
            (200, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "result", Some("result")),
            (200, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "later", Some("result")),
        ] {
            liveness.note(&answered(status, body, request));
            assert_eq!(liveness.answered(Served::WithError).as_deref(), served.map(str::as_bytes));
        }
    }
}
