//! Overload: some targets refuse requests while too many others are in flight. That is lawful, so it breaks no rule.
//!
//! Where a group gets an error answer that may come from overload (see [`sign`]), its bytes are sent again alone: no other request is
//! in flight. Where the error is not seen again, the run goes on with half as many requests at a time, and the group is sent again.
//! Where it is seen again, or only one request at a time is left, it is judged like every other answer.
//!
//! A rare error that has nothing to do with load may not be seen in a few tries alone either. Therefore many copies of the group are sent
//! at the same time, too. An error that no copy gets, and no other group got at the same time, is judged. Where copies get it, their share
//! decides how often the group is sent alone before the error counts as one of overload (see [`times_alone`]).
//!
//! Some targets refuse connections while too many others are open. Where a connection was refused or closed without an answer, and the group
//! is answered alone, connections are opened one after the other and kept: the number that the target takes is the new limit.
//!
//! Each check closes the idle connections, and opens one of its own: an error of a connection shows on a new one only, since a request on a reused connection that
//! the target closed is sent again. Otherwise the copies, which need many connections, would get such an error and the requests alone not.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::sync::{MutexGuard as AsyncGuard, Semaphore, SemaphorePermit, watch};

use paymaster_client::throttling;
use paymaster_engine::{message::answer::Answer, session::unserved::without_values};
use paymaster_exchange::{Exchange, Failure};
use serde_json::Value;

/// How often a group is sent alone before copies of it are sent at the same time.
pub(crate) const TIMES_ALONE: usize = 5;

/// How many errors are expected in the tries alone if load makes no difference. None in spite of that has a probability of `e^-5`, 0.7 %.
const EXPECTED_ALONE: usize = 5;

/// How often a group must be sent alone, without an error, before its error counts as one of overload; none when there was no error under
/// load. `errors` of `copies` that were sent at the same time got one.
pub(crate) fn times_alone(errors: usize, copies: usize) -> Option<usize> {
    (errors > 0).then(|| (EXPECTED_ALONE * copies).div_ceil(errors))
}

/// After this many groups that get an error alone too, that error is no longer taken for one of overload.
const ALONE_TOO: u32 = 3;

/// The most copies of a group that are sent at the same time.
pub(crate) const MOST_COPIES: usize = 32;

/// The limit on requests in flight. It starts with the jobs of the run, and is halved by each overload.
#[derive(Debug)]
pub(crate) struct Concurrency {
    jobs: watch::Sender<usize>,
    slots: Semaphore,
    /// Held while a group is sent alone. Only its holder changes the limit.
    checking: tokio::sync::Mutex<()>,
    /// How often each sign of overload was seen alone too.
    alone_too: Mutex<BTreeMap<String, u32>>,
    /// The errors that speak of a rate limit and have nothing to do with one, without their values.
    no_limits: Mutex<BTreeSet<String>>,
    /// How many groups got a sign of overload and wait to be sent alone.
    suspicious: AtomicUsize,
    overload: Mutex<Option<Overload>>,
}

/// The overload that a run found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Overload {
    /// How many requests are sent at a time from now on.
    pub(crate) jobs: usize,
    /// What the target did when more were in flight, in words.
    pub(crate) sign: String,
    /// How often the limit was halved.
    pub(crate) times: u64,
}

impl fmt::Display for Overload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let requests = if self.jobs == 1 { "request" } else { "requests" };
        write!(f, "{} {requests} at a time; with more, {}", self.jobs, self.sign)
    }
}

/// No other request is in flight while this exists.
pub(crate) struct Alone<'a> {
    concurrency: &'a Concurrency,
    /// The limit before.
    pub(crate) jobs: usize,
    slots: SemaphorePermit<'a>,
    _suspicious: Suspicious<'a>,
    _checking: AsyncGuard<'a, ()>,
}

/// Counts a group as suspicious until it is dropped.
struct Suspicious<'a>(&'a AtomicUsize);

impl Drop for Suspicious<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Concurrency {
    pub(crate) fn new(jobs: usize) -> Self {
        Self {
            jobs: watch::Sender::new(jobs),
            slots: Semaphore::new(jobs),
            checking: tokio::sync::Mutex::default(),
            alone_too: Mutex::default(),
            no_limits: Mutex::default(),
            suspicious: AtomicUsize::new(0),
            overload: Mutex::default(),
        }
    }

    /// How many requests may be in flight.
    pub(crate) fn jobs(&self) -> usize {
        *self.jobs.borrow()
    }

    /// The overload that was found; none when there was none.
    pub(crate) fn overload(&self) -> Option<Overload> {
        lock(&self.overload).clone()
    }

    /// Waits for that many slots, or for as many as there are. Returns them with their number; none when the run is over.
    pub(crate) async fn acquire(&self, wanted: usize) -> Option<(SemaphorePermit<'_>, usize)> {
        if wanted <= 1 {
            return Some((self.slots.acquire().await.ok()?, 1));
        }
        let mut jobs = self.jobs.subscribe();
        loop {
            let width = wanted.min(*jobs.borrow_and_update());
            tokio::select! {
                biased;
                slots = self.slots.acquire_many(permits(width)) => return Some((slots.ok()?, width)),
                // So many slots may not exist any more.
                _ = jobs.changed() => {}
            }
        }
    }

    /// Waits until no other request is in flight, to check a group that got a sign of overload.
    pub(crate) async fn alone(&self) -> Option<Alone<'_>> {
        self.suspicious.fetch_add(1, Ordering::Relaxed);
        let suspicious = Suspicious(&self.suspicious);
        let checking = self.checking.lock().await;
        let jobs = self.jobs();
        Some(Alone {
            concurrency: self,
            jobs,
            slots: self.slots.acquire_many(permits(jobs)).await.ok()?,
            _suspicious: suspicious,
            _checking: checking,
        })
    }

    /// The sign of overload in these exchanges that is worth a check; none when there is none, or only one request is in flight.
    pub(crate) fn suspicion(&self, exchanges: &[Exchange]) -> Option<String> {
        if self.jobs() == 1 {
            return None;
        }
        let sign = exchanges.iter().find_map(sign)?;
        let is_ordinary = self.is_no_limit(&sign)
            || lock(&self.alone_too).get(&sign).is_some_and(|times| *times >= ALONE_TOO);
        (!is_ordinary).then_some(sign)
    }

    /// The rate limit of which the answer to one of these exchanges speaks; none where that error has turned out to be another one.
    pub(crate) fn rate_limit(&self, exchanges: &[Exchange]) -> Option<String> {
        let sign = exchanges.iter().find_map(rate_limit)?;
        (!self.is_no_limit(&sign)).then_some(sign)
    }

    /// Whether an error that speaks of a rate limit has turned out to have nothing to do with one.
    pub(crate) fn is_no_limit(&self, sign: &str) -> bool {
        lock(&self.no_limits).contains(&without_values(sign))
    }
}

impl Alone<'_> {
    /// The sign was seen although no other request was in flight.
    pub(crate) fn seen(self, sign: String) {
        *lock(&self.concurrency.alone_too).entry(sign).or_default() += 1;
    }

    /// The error has nothing to do with a rate or with other requests: it is an answer like every other from now on.
    pub(crate) fn note_no_limit(self, sign: &str) {
        lock(&self.concurrency.no_limits).insert(without_values(sign));
    }

    /// How many groups, this one included, got a sign of overload at the same time. All that were in flight have ended, and wait.
    pub(crate) fn with_sign(&self) -> usize {
        self.concurrency.suspicious.load(Ordering::Relaxed)
    }

    /// The sign was not seen alone: halves the limit. Returns what is known of the overload now.
    pub(crate) fn halve(self, sign: String) -> Overload {
        let jobs = self.jobs / 2;
        self.lower_to(jobs, sign)
    }

    /// Lowers the limit to this one.
    pub(crate) fn lower_to(mut self, jobs: usize, sign: String) -> Overload {
        let jobs = jobs.clamp(1, self.jobs);
        if let Some(surplus) = self.slots.split(self.jobs - jobs) {
            surplus.forget();
        }
        let mut known = lock(&self.concurrency.overload);
        let times = known.as_ref().map_or(0, |known| known.times) + 1;
        let overload = known.insert(Overload { jobs, sign, times }).clone();
        self.concurrency.jobs.send_replace(jobs);
        overload
    }
}

/// What in an exchange may come from overload, in words: HTTP 429 or 503, a connection that is refused, or closed without an answer, or a
/// JSON-RPC error whose message speaks of overload.
pub(crate) fn sign(exchange: &Exchange) -> Option<String> {
    match &exchange.outcome {
        Err(Failure::Broken(_)) => Some("no answer, and the connection is closed".to_owned()),
        Err(Failure::Connect(cause)) => Some(format!("no connection: {cause}")),
        Err(Failure::Cut(cause)) if cause.contains("reset") => Some("the connection is reset".to_owned()),
        Err(_) => None,
        Ok(response) if throttling::is_overloaded(response) => Some(format!("HTTP {}", response.status)),
        Ok(response) if response.body.len() > LONGEST_ERROR || !has_error(&response.body) => None,
        Ok(_) => {
            let answer = Answer::of(exchange);
            let error = answer.error()?;
            let message = error.get("message")?.as_str()?;
            (speaks_of_overload(message) || speaks_of_rate(error, message)).then(|| in_words(message))
        }
    }
}

/// The JSON-RPC error of an exchange that speaks of a rate limit, in words. None where the HTTP response throttles the request itself.
pub(crate) fn rate_limit(exchange: &Exchange) -> Option<String> {
    let response = exchange.outcome.as_ref().ok()?;
    if response.body.len() > LONGEST_ERROR || !has_error(&response.body) || throttling::is_throttled(response)
    {
        return None;
    }
    let answer = Answer::of(exchange);
    let error = answer.error()?;
    let message = error.get("message")?.as_str()?;
    speaks_of_rate(error, message).then(|| in_words(message))
}

fn in_words(message: &str) -> String {
    format!("the error \"{message}\"")
}

/// Longer answers are not looked at, in bytes.
const LONGEST_ERROR: usize = 2048;

fn has_error(body: &[u8]) -> bool {
    std::str::from_utf8(body).is_ok_and(|body| body.contains("\"error\""))
}

fn speaks_of_overload(message: &str) -> bool {
    has_one_of(message, &["busy", "overload", "too many concurrent", "try again later"])
}

/// Whether an error is one of a rate limit, by its words, by the code of HTTP, or by that of EIP-1474 for an exceeded limit.
fn speaks_of_rate(error: &Value, message: &str) -> bool {
    let code = error.get("code").and_then(Value::as_i64);
    has_one_of(message, &["too many requests", "rate limit", "ratelimit", "throttl", "per second"])
        || code == Some(429)
        || code == Some(-32005) && is_exceeded_limit(message)
}

/// Not the limit of a budget or of gas, which no pause ends.
fn is_exceeded_limit(message: &str) -> bool {
    message.trim().eq_ignore_ascii_case("limit exceeded")
        || has_one_of(message, &["request"]) && has_one_of(message, &["exceeded"])
}

fn has_one_of(message: &str, words: &[&str]) -> bool {
    let message = message.to_ascii_lowercase().replace(['-', '_'], " ");
    words.iter().any(|words| message.contains(words))
}

fn permits(slots: usize) -> u32 {
    u32::try_from(slots).unwrap_or(u32::MAX)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use bytes::Bytes;
    use paymaster_exchange::Response;
    use serde_json::json;

    use super::*;

    fn exchange(outcome: Result<(u16, &str), Failure>) -> Exchange {
        let outcome = outcome.map(|(status, body)| Response {
            status,
            headers: Vec::new(),
            body: Bytes::copy_from_slice(body.as_bytes()),
        });
        Exchange::new(Bytes::new(), outcome, Duration::ZERO)
    }

    #[test]
    fn errors_that_may_come_from_overload() {
        let error = |message: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32005,"message":"{message}"}}}}"#)
        };
        for (outcome, expected) in [
            (Ok((503, "<html>")), true),
            (Ok((429, "")), true),
            (Ok((500, "<html>")), false),
            (Ok((200, &*error("Server busy"))), true),
            (Ok((503, &*error("no"))), true),
            (Ok((400, &*error("RATE_LIMIT exceeded"))), true),
            (Ok((200, &*error("too many requests"))), true),
            (Ok((200, &*error("limit exceeded"))), true),
            (Ok((200, &*error("unsupported token"))), false),
            (Ok((200, r#"{"result":{"message":"busy"}}"#)), false),
            (Ok((200, r#"{"result":{},"error":{"message":"busy"}}"#)), false),
            (Err(Failure::Broken("closed".to_owned())), true),
            (Err(Failure::Cut("connection reset by peer".to_owned())), true),
            (Err(Failure::Cut("end of file before message length reached".to_owned())), false),
            (Err(Failure::Connect("refused".to_owned())), true),
        ] {
            let exchange = exchange(outcome);
            assert_eq!(sign(&exchange).is_some(), expected, "{exchange:?}");
        }
    }

    #[test]
    fn a_sign_that_is_seen_alone_three_times_is_ordinary() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let concurrency = Concurrency::new(4);
            let broken = [exchange(Err(Failure::Broken(String::new())))];
            for _ in 0..ALONE_TOO {
                let sign = concurrency.suspicion(&broken).unwrap();
                concurrency.alone().await.unwrap().seen(sign);
            }
            assert_eq!(concurrency.suspicion(&broken), None);
            let other = [exchange(Ok((503, "")))];
            assert!(concurrency.suspicion(&other).is_some());
            assert_eq!(concurrency.jobs(), 4);
        });
    }

    #[test]
    fn a_rate_limit_in_the_body_counts_where_http_states_none() {
        let body = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"rate limit exceeded"}}"#;
        for (status, counts) in [(200, true), (400, true), (503, true), (429, false)] {
            assert_eq!(rate_limit(&exchange(Ok((status, body)))).is_some(), counts, "{status}");
        }
        let speaks = |message: &str| {
            let body = json!({ "error": { "code": -32005, "message": message } }).to_string();
            rate_limit(&exchange(Ok((200, &body)))).is_some()
        };
        assert!(speaks("Limit exceeded") && speaks("daily request count exceeded"));
        assert!(!speaks("server busy") && !speaks("spending limit exceeded"));
    }

    #[test]
    fn an_error_that_is_no_limit_is_known_with_other_values_too() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let concurrency = Concurrency::new(4);
            let alone = concurrency.alone().await.unwrap();
            alone.note_no_limit("the error \"rate limit of 0xab1 exceeded\"");
            assert!(concurrency.is_no_limit("the error \"rate limit of 0xcd2 exceeded\""));
            assert!(!concurrency.is_no_limit("the error \"rate limit exceeded\""));
        });
    }

    #[test]
    fn the_rarer_an_error_is_under_load_the_more_often_it_is_looked_for_alone() {
        assert_eq!(times_alone(0, 32), None);
        assert_eq!(times_alone(32, 32), Some(5));
        assert_eq!(times_alone(3, 32), Some(54));
        assert_eq!(times_alone(1, 32), Some(160));
    }

    #[test]
    fn a_check_knows_how_many_groups_wait_for_one() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let concurrency = Arc::new(Concurrency::new(4));
            let alone = concurrency.alone().await.unwrap();
            assert_eq!(alone.with_sign(), 1);
            let other = {
                let concurrency = Arc::clone(&concurrency);
                tokio::spawn(async move { concurrency.alone().await.unwrap().with_sign() })
            };
            tokio::task::yield_now().await;
            assert_eq!(alone.with_sign(), 2);
            drop(alone);
            assert_eq!(other.await.unwrap(), 1);
        });
    }

    #[test]
    fn each_overload_halves_the_limit_and_nobody_waits_for_slots_that_are_gone() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let concurrency = Arc::new(Concurrency::new(5));
            let busy = [exchange(Ok((503, "")))];
            for expected in [2, 1] {
                let sign = concurrency.suspicion(&busy).unwrap();
                let alone = concurrency.alone().await.unwrap();
                // These wait for slots, one of them for more than there will be.
                let waiting = [1, 5].map(|wanted| {
                    let concurrency = Arc::clone(&concurrency);
                    tokio::spawn(async move {
                        let (_slots, width) = concurrency.acquire(wanted).await.unwrap();
                        width
                    })
                });
                tokio::task::yield_now().await;
                assert!(waiting.iter().all(|waiting| !waiting.is_finished()));
                let overload = alone.halve(sign);
                assert_eq!(overload.jobs, expected);
                let [one, many] = waiting;
                assert_eq!((one.await.unwrap(), many.await.unwrap()), (1, expected));
            }
            assert_eq!(concurrency.suspicion(&busy), None, "one request is never too many");
            assert_eq!(
                concurrency.overload(),
                Some(Overload { jobs: 1, sign: "HTTP 503".to_owned(), times: 2 })
            );
        });
    }
}
