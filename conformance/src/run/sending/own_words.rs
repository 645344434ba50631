//! Limits that a target states in words of its own, on requests in a time or in flight. An error is such a limit if copies of a request that
//! was served before get it when many of them are sent at the same time, and no longer when one is sent alone.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use paymaster_engine::session::without_values;
use serde_json::Value;
use tokio::time::Instant;

/// How many requests that were served before are sent first, one after the other, where the request with the error gets it again. It is then
/// sent while nothing else is: most errors are answers, and no limit.
const FIRST: u32 = 3;

/// The pause before it is sent once more, while still nothing else is: a limit on the requests of one sender in a second refuses nobody else.
/// It is kept once for each error. After it, no limit on the requests in a second is reached.
pub(super) const PAUSE_OF_A_SENDER: Duration = Duration::from_millis(1100);

/// How many copies of such a request are sent at the same time, while nothing else is, where one of these gets the error, or the request with the
/// error is served when it is sent again: as many as the run has in flight, and at least so many. And how often, as long as some of the copies
/// get the error and too few to decide. Beside other requests, a target that mixes up what it is sent would give the error to the copies too.
const COPIES: u32 = 24;
const ROUNDS: u32 = 3;

/// How many copies the last check of an error sends at least, until one gets the error, where the error came to the request once and not again. A
/// run of many requests exceeds a limit on the requests in a second, and few copies do not: the check sends as many as the run has sent.
const LAST_COPIES: u32 = 1000;

/// Where the last check would send more copies than this, it sends none, and the error is not judged.
const MOST_COPIES: u32 = 10_000;

/// How often in a row it is served afterwards, at most, until the error counts as a limit.
const MOST_SERVED: u32 = 64;

/// With a greater probability that the copies alone got the error by chance, no limit is concluded.
const BY_CHANCE: f64 = 0.001;

/// The pause before each request afterwards. It is doubled, up to the longest, each time that the error comes again.
const PAUSE: Duration = Duration::from_millis(25);
const LONGEST_PAUSE: Duration = Duration::from_millis(3200);

/// How long a run pauses, in all, in checks that find no limit.
const MOST_PAUSED: Duration = Duration::from_secs(15);

/// After so many checks that found no limit, an error is an answer to its own request.
const SETTLED: u32 = 2;

/// So many checks in which the error did not come again count as one: where a target is slow, its limit is only touched.
const VANISHED_FOR_ONE: u32 = 4;

/// How many different errors of a target are looked at.
const MOST_WORDS: usize = 30;

/// How many different error texts may be absent when the same request is sent again, and still count as limits that were only touched. A target
/// has few limits: with more texts, the errors have another reason.
const MOST_VANISHED: usize = 2;

/// What is known of the errors of a target, by their code and words.
#[derive(Debug, Default)]
pub(crate) struct OwnWords {
    /// How many checks found no limit: one counts as much as `VANISHED_FOR_ONE` in which the error did not come again.
    answers: BTreeMap<String, u32>,
    limits: BTreeSet<String>,
    /// Those that did not come again, or to few requests, and when a check last found that.
    vanished: BTreeMap<String, SystemTime>,
    /// How long checks paused since the last limit was found.
    paused: Duration,
    /// When the last check ended, and how many requests the run had sent by then.
    checked: Option<(Instant, usize)>,
}

impl OwnWords {
    /// Whether the words of an error state a limit.
    pub(super) fn has_limit(&self, error: &Value) -> bool {
        !self.limits.is_empty() && self.limits.contains(&words_of(error))
    }

    /// Whether it is still to be found out whether these words state a limit.
    pub(super) fn is_open(&self, words: &str) -> bool {
        !self.limits.contains(words)
            && self
                .answers
                .get(words)
                .map_or(self.answers.len() < MOST_WORDS, |checks| *checks < VANISHED_FOR_ONE * SETTLED)
    }

    /// Whether the pause of a sender is kept for these words: in their first check, as long as there is time.
    fn takes_pause(&mut self, words: &str) -> bool {
        let takes = !self.answers.contains_key(words) && self.may_pause();
        self.paused += if takes { PAUSE_OF_A_SENDER } else { Duration::ZERO };
        takes
    }

    /// Whether a check has found, since that time, that an error of these words does not come again: a limit that was touched once counts once.
    pub(super) fn has_vanished_since(&self, words: &str, time: Option<SystemTime>) -> bool {
        self.vanished.get(words).is_some_and(|found| time.is_some_and(|time| time <= *found))
    }

    /// The requests in a second since the last check, or since the run `began`.
    pub(super) fn rate_since_check(&self, began: Instant, sent: usize) -> f64 {
        let (since, before) = self.checked.unwrap_or((began, 0));
        f64::from(u32::try_from(sent - before).unwrap_or(u32::MAX)) / since.elapsed().as_secs_f64().max(0.001)
    }

    /// Remembers that a check ends now, when the run has sent so many requests.
    pub(super) fn note_checked(&mut self, sent: usize) {
        self.checked = Some((Instant::now(), sent));
    }

    fn note_answer(&mut self, words: &str, has_vanished: bool, is_counted: bool) {
        if has_vanished {
            self.vanished.insert(words.to_owned(), SystemTime::now());
            if self.is_last(words, true) && !is_counted {
                return;
            }
        }
        *self.answers.entry(words.to_owned()).or_default() += weight(has_vanished);
    }

    /// Whether no check follows this one, if it finds no limit.
    fn is_last(&self, words: &str, has_vanished: bool) -> bool {
        let before = self.answers.get(words).copied().unwrap_or_default();
        before + weight(has_vanished) >= VANISHED_FOR_ONE * SETTLED
    }

    /// Whether an error that did not come again may be a limit that was only touched.
    fn may_vanish(&mut self, words: &str) -> bool {
        self.vanished.entry(words.to_owned()).or_insert(SystemTime::UNIX_EPOCH);
        self.vanished.len() <= MOST_VANISHED
    }

    fn may_pause(&self) -> bool {
        self.paused < MOST_PAUSED
    }

    /// The request after a pause.
    fn pause(&mut self, pause: Duration) -> WordsStep {
        self.paused += pause;
        WordsStep::Probe(1, pause)
    }

    fn note_limit(&mut self, words: &str) {
        self.limits.insert(words.to_owned());
        self.paused = Duration::ZERO;
    }
}

/// How much a check counts that finds no limit.
const fn weight(has_vanished: bool) -> u32 {
    if has_vanished { 1 } else { VANISHED_FOR_ONE }
}

/// The code and the words of an error, without the values in them.
pub(super) fn words_of(error: &Value) -> String {
    let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
    format!("{} {}", error.get("code").unwrap_or(&Value::Null), without_values(message))
}

/// Whether the code of an error says that the request itself is wrong, as JSON-RPC defines it: such an error states no limit in words of the target's
/// own. Otherwise a target that mixes up requests in flight, and then misses a member of one, would pass for a target with a limit.
pub(super) fn is_of_the_request(error: &Value) -> bool {
    matches!(error.get("code").and_then(Value::as_i64), Some(-32700 | -32602..=-32600))
}

/// Finds out whether the words of an error state a limit.
#[derive(Debug)]
pub(super) struct WordsCheck {
    words: String,
    /// Whether a request got a result before.
    has_served: bool,
    /// Whether the error did not come again when the same request was sent again, or came to one that was served before, and may be a limit.
    pub(super) has_vanished: bool,
    /// How many copies are sent at the same time.
    copies: u32,
    /// How many are sent in the last check.
    last_copies: u32,
    /// How many requests a second the run sent before the error.
    pub(super) rate: f64,
    /// How many copies were sent, and in which time.
    pub(super) copied: (u32, Duration),
    stage: Stage,
}

/// What was sent last.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// The request that got the error: among others at first, then alone, then alone after a pause.
    Again(Again),
    /// So many requests that were served before, one after the other. None got the error.
    First(u32),
    /// Copies of such a request at the same time. So many got the error, of those that were sent since the first of them.
    Copies { refused: u32, sent: u32 },
    /// The request after pauses, while nothing else was sent. So many of the copies got the error; it was served so often in a row since.
    After { refused: u32, sent: u32, served: u32, pause: Duration },
}

/// How the request that got the error is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Again {
    Among,
    Alone,
    AfterPause,
}

/// What to do next in such a check.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WordsStep {
    /// Send the request that got the error, after this pause.
    Again(Duration),
    /// Send so many copies of what was served before, after this pause.
    Probe(u32, Duration),
    /// Wait until nothing else is in flight, and go on.
    Quiet,
    /// The check is over; whether the words state a limit is known.
    Over,
}

impl WordsCheck {
    /// A check of these words in a run that has sent so many requests.
    pub(super) fn new(words: String, has_served: bool, jobs: usize, sent: usize) -> Self {
        let copies = u32::try_from(jobs).unwrap_or(COPIES).max(COPIES);
        let last_copies = u32::try_from(sent).unwrap_or(u32::MAX).max(LAST_COPIES);
        let stage = Stage::Again(Again::Among);
        let copied = (0, Duration::ZERO);
        Self { words, has_served, has_vanished: false, copies, last_copies, rate: 0.0, copied, stage }
    }

    /// Decides what follows from the answers to what was sent, each by its errors; none at first and after `Quiet`.
    pub(super) fn next(&mut self, own_words: &mut OwnWords, came: &[Vec<Value>]) -> WordsStep {
        if came.is_empty() {
            return match &self.stage {
                // Another group has found it out.
                _ if !own_words.is_open(&self.words) => WordsStep::Over,
                Stage::After { pause, .. } => own_words.pause(*pause),
                Stage::Copies { .. } => WordsStep::Probe(self.copies, Duration::ZERO),
                _ => WordsStep::Again(Duration::ZERO),
            };
        }
        let is_refused = |errors: &&Vec<Value>| errors.iter().any(|error| words_of(error) == self.words);
        let refused_now = u32::try_from(came.iter().filter(is_refused).count()).unwrap_or(u32::MAX);
        match &mut self.stage {
            Stage::Again(Again::Alone) if refused_now > 0 && own_words.takes_pause(&self.words) => {
                self.stage = Stage::Again(Again::AfterPause);
                return WordsStep::Again(PAUSE_OF_A_SENDER);
            }
            Stage::Again(Again::Alone | Again::AfterPause) if refused_now > 0 => {}
            Stage::Again(_) if refused_now > 0 && self.has_served => return self.first(0),
            Stage::First(sent) if refused_now == 0 && *sent + 1 < FIRST => {
                let sent = *sent + 1;
                return self.first(sent);
            }
            Stage::Again(_) if refused_now > 0 => return self.again_alone(),
            Stage::First(_) if refused_now == 0 => return self.again_alone(),
            Stage::Again(_) | Stage::First(_) => {
                // Or what was served before got it too: it is no answer to the request itself.
                let stays = matches!(self.stage, Stage::Again(Again::AfterPause));
                self.has_vanished = !stays && own_words.may_vanish(&self.words);
                self.stage = Stage::Copies { refused: 0, sent: 0 };
                return WordsStep::Quiet;
            }
            Stage::Copies { refused, sent } => {
                let before = (*refused, *sent);
                if let Some(step) = self.after_copies(own_words, before, refused_now) {
                    return step;
                }
            }
            Stage::After { served, pause, .. } if refused_now > 0 => {
                if *pause < LONGEST_PAUSE && own_words.may_pause() {
                    (*served, *pause) = (0, *pause * 2);
                    return own_words.pause(*pause);
                }
                self.has_vanished = false;
            }
            Stage::After { refused, sent, served, pause } => {
                *served += 1;
                if by_chance(*refused, *sent, *served) < BY_CHANCE {
                    own_words.note_limit(&self.words);
                    return WordsStep::Over;
                }
                if own_words.may_pause() {
                    return own_words.pause(*pause);
                }
            }
        }
        let is_counted = self.last_copies <= MOST_COPIES && self.is_as_fast();
        own_words.note_answer(&self.words, self.has_vanished, is_counted);
        WordsStep::Over
    }

    /// Whether the copies came at least as fast as the requests of the run before the error. Slower ones may stay below a limit that the run exceeded.
    fn is_as_fast(&self) -> bool {
        let (copies, took) = self.copied;
        f64::from(copies) >= self.rate * took.as_secs_f64()
    }

    /// What follows when so many more of the copies got the error; none where they show no limit.
    fn after_copies(
        &mut self,
        own_words: &OwnWords,
        (refused, sent): (u32, u32),
        refused_now: u32,
    ) -> Option<WordsStep> {
        let is_first = refused == 0 && refused_now > 0;
        let (refused, sent) =
            (refused + refused_now, if is_first { self.copies } else { sent + self.copies });
        let is_limit = by_chance(refused, sent, MOST_SERVED) < BY_CHANCE;
        let most = match refused {
            0 if own_words.is_last(&self.words, self.has_vanished) && self.last_copies <= MOST_COPIES => {
                self.last_copies
            }
            0 => 0,
            _ => self.copies * ROUNDS,
        };
        self.stage = if is_limit {
            Stage::After { refused, sent, served: 0, pause: PAUSE }
        } else {
            Stage::Copies { refused, sent }
        };
        if is_limit {
            return Some(WordsStep::Quiet);
        }
        (sent < most).then_some(WordsStep::Probe(self.copies, Duration::ZERO))
    }

    fn first(&mut self, sent: u32) -> WordsStep {
        self.stage = Stage::First(sent);
        WordsStep::Probe(1, Duration::ZERO)
    }

    fn again_alone(&mut self) -> WordsStep {
        self.stage = Stage::Again(Again::Alone);
        WordsStep::Quiet
    }
}

/// The probability that all the errors are among the copies, if they come by chance to them and to what was `served` afterwards.
fn by_chance(refused: u32, sent: u32, served: u32) -> f64 {
    let share = |number| f64::from(sent.saturating_sub(number)) / f64::from(sent + served - number);
    (0..refused).map(share).product()
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, slice};

    use serde_json::json;

    use super::*;

    /// Runs a check against a target: whether it refuses the request again, and the copy with this number after so many pauses. Gives the
    /// pauses in milliseconds, and whether the words state a limit.
    fn check(
        own_words: &mut OwnWords,
        again: bool,
        is_refused: impl Fn(u32, usize) -> bool,
    ) -> (Vec<u128>, bool) {
        check_after(0, own_words, again, is_refused)
    }

    /// The same in a run that has sent so many requests.
    fn check_after(
        sent: usize,
        own_words: &mut OwnWords,
        again: bool,
        is_refused: impl Fn(u32, usize) -> bool,
    ) -> (Vec<u128>, bool) {
        let error = json!({ "code": -32097, "message": "plan used up: 30 of 30" });
        let mut check = WordsCheck::new(words_of(&error), true, 1, sent);
        let (mut pauses, mut came) = (Vec::new(), Vec::new());
        loop {
            came = match check.next(own_words, &came) {
                WordsStep::Again(_) if again => vec![vec![error.clone()]],
                WordsStep::Again(_) => vec![Vec::new()],
                WordsStep::Probe(copies, pause) => {
                    pauses.extend((!pause.is_zero()).then_some(pause.as_millis()));
                    let answer = |number| {
                        if is_refused(number, pauses.len()) { vec![error.clone()] } else { Vec::new() }
                    };
                    (0..copies).map(answer).collect()
                }
                WordsStep::Quiet => Vec::new(),
                WordsStep::Over => return (pauses, own_words.limits.contains(&check.words)),
            };
        }
    }

    #[test]
    fn words_state_a_limit_where_what_was_served_gets_them_at_once_and_not_after_pauses() {
        let check = |is_refused: fn(u32, usize) -> bool| check(&mut OwnWords::default(), true, is_refused);
        assert_eq!(check(|_, pauses| pauses == 0), (vec![25; 3], true));
        assert_eq!(check(|_, pauses| pauses < 3), (vec![25, 50, 100, 100, 100], true));
        let (pauses, is_limit) = check(|copy, pauses| pauses == 0 && copy < 15);
        assert!(is_limit && pauses.len() > 3, "fewer errors are more often chance: {pauses:?}");
        assert!(!check(|copy, pauses| pauses == 0 && copy < 1).1, "they may come by chance");
        assert!(!check(|_, _| true).1, "an error that stays is no limit");
    }

    #[test]
    fn checks_that_find_no_limit_pause_for_a_bounded_time_in_all() {
        let mut own_words = OwnWords::default();
        let paused = |own_words: &mut OwnWords, until| {
            let (pauses, is_limit) = check(own_words, true, |_, pauses| pauses < until);
            (pauses.iter().sum::<u128>(), is_limit)
        };
        let stays = usize::MAX;
        let (first, _) = paused(&mut own_words, stays);
        assert_eq!(paused(&mut own_words, stays), (first, false));
        own_words.answers.clear();
        assert!(paused(&mut own_words, stays).0 < first, "{:?}", own_words.paused);
        own_words.answers.clear();
        assert!(!paused(&mut own_words, 0).1, "no time is left to look");
        let mut own_words = OwnWords::default();
        for _ in 0..9 {
            own_words.limits.clear();
            assert!(paused(&mut own_words, 5).1, "what finds a limit is not counted");
        }
    }

    #[test]
    fn words_state_a_limit_where_the_request_itself_is_served_again_and_a_few_copies_are_not() {
        let is_limit = |of_copies: u32| {
            let is_refused = |copy, pauses| pauses == 0 && copy < of_copies;
            check(&mut OwnWords::default(), false, is_refused).1
        };
        assert!(is_limit(5), "eight in flight, with 24 at the same time");
        assert!(!is_limit(1) && !is_limit(0), "an error by chance is an answer");
        let (mut own_words, sent) = (OwnWords::default(), Cell::new(0));
        for number in 0..=VANISHED_FOR_ONE * SETTLED {
            let is_open = own_words.is_open("-32097 plan used up: of");
            assert_eq!(is_open, number < VANISHED_FOR_ONE * SETTLED, "{:?}", own_words.answers);
            sent.set(0);
            check(&mut own_words, false, |_, _| {
                sent.set(sent.get() + 1);
                false
            });
            let is_last = number + 1 == VANISHED_FOR_ONE * SETTLED;
            assert_eq!(sent.get() >= LAST_COPIES, is_last, "check {number} sent {}", sent.get());
        }
    }

    #[test]
    fn the_last_check_finds_a_limit_that_only_many_requests_touch() {
        let is_limit = |share: fn(u32) -> bool| {
            let (mut own_words, sent) = (OwnWords::default(), Cell::new(0));
            for _ in 1..VANISHED_FOR_ONE * SETTLED {
                check(&mut own_words, false, |_, _| false);
            }
            let is_refused = |_, pauses| {
                sent.set(sent.get() + 1);
                pauses == 0 && sent.get() > 700 && share(sent.get())
            };
            check(&mut own_words, false, is_refused).1
        };
        assert!(is_limit(|_| true), "of copies that come at once after a burst");
        assert!(is_limit(|number| number % 5 == 0), "of a few more than are served in the time");
        assert!(!is_limit(|number| number % 50 == 0), "they may come by chance");
    }

    #[test]
    fn the_last_check_sends_as_many_copies_as_the_run_has_sent_or_there_is_none() {
        // The limit is found, the words are still open, and how many requests showed it.
        let last = |sent: usize, touched_by: u32| {
            let (mut own_words, copies) = (OwnWords::default(), Cell::new(0));
            for _ in 1..VANISHED_FOR_ONE * SETTLED {
                check(&mut own_words, false, |_, _| false);
            }
            let is_refused = |_, pauses| {
                copies.set(copies.get() + 1);
                pauses == 0 && copies.get() > touched_by
            };
            let (_, is_limit) = check_after(sent, &mut own_words, false, is_refused);
            (is_limit, own_words.is_open("-32097 plan used up: of"), copies.get() > LAST_COPIES)
        };
        assert_eq!(last(2000, 1500), (true, false, true));
        assert_eq!(last(2000, 2500), (false, false, true), "it is an answer");
        assert_eq!(last(20_000, 1500), (false, true, false), "it may be a limit, and is not looked for");
    }

    #[test]
    fn copies_that_come_more_slowly_than_the_requests_of_the_run_show_nothing() {
        for (rate, is_open) in [(500.0, false), (700.0, true)] {
            let mut own_words = OwnWords::default();
            for _ in 1..VANISHED_FOR_ONE * SETTLED {
                check(&mut own_words, false, |_, _| false);
            }
            let words = words_of(&json!({ "code": -32097, "message": "plan used up: 30 of 30" }));
            let mut check = WordsCheck::new(words.clone(), true, 1, 0);
            (check.rate, check.copied) = (rate, (1200, Duration::from_secs(2)));
            let mut came = Vec::new();
            while let step = check.next(&mut own_words, &came)
                && step != WordsStep::Over
            {
                came = if step == WordsStep::Quiet { Vec::new() } else { vec![Vec::new()] };
            }
            assert_eq!(own_words.is_open(&words), is_open, "600 copies a second, {rate} requests");
        }
    }

    #[test]
    fn a_limit_of_one_sender_shows_after_a_pause_by_the_request_itself() {
        let error = json!({ "code": -32005, "message": "cooldown of this sender" });
        let (refused, served) = (vec![error.clone()], Vec::new());
        let mut own_words = OwnWords::default();
        let mut check = WordsCheck::new(words_of(&error), true, 1, 0);
        let mut next = |came: &[Vec<Value>]| check.next(&mut own_words, came);
        assert_eq!(next(&[]), WordsStep::Again(Duration::ZERO));
        next(slice::from_ref(&refused));
        for _ in 0..FIRST {
            next(slice::from_ref(&served)); // another sender
        }
        assert_eq!(next(&[]), WordsStep::Again(Duration::ZERO), "alone");
        assert_eq!(next(slice::from_ref(&refused)), WordsStep::Again(PAUSE_OF_A_SENDER));
        assert_eq!(next(slice::from_ref(&served)), WordsStep::Quiet);
        assert_eq!(next(&[]), WordsStep::Probe(COPIES, Duration::ZERO));
        next(&vec![refused; 24]);
        let mut steps = (0..9).map(|_| next(slice::from_ref(&served)));
        assert!(steps.any(|step| step == WordsStep::Over));
        assert!(own_words.has_limit(&error));
    }

    #[test]
    fn an_error_that_others_do_not_get_is_looked_at_twice_with_few_requests() {
        let (mut own_words, sent) = (OwnWords::default(), Cell::new(0));
        let words = words_of(&json!({ "code": -32097, "message": "plan used up: 7 of 30" }));
        for number in 0..=SETTLED {
            assert_eq!(own_words.is_open(&words), number < SETTLED);
            let is_refused = |_, _| {
                sent.set(sent.get() + 1);
                false
            };
            assert_eq!(check(&mut own_words, true, is_refused), (Vec::new(), false));
        }
        assert_eq!(sent.get(), SETTLED * FIRST, "beside the request itself, twice each time");
    }

    #[test]
    fn an_error_about_the_request_itself_is_no_limit_of_the_target() {
        let is = |code: i64| is_of_the_request(&json!({ "code": code, "message": "no sender" }));
        assert!([-32700, -32600, -32601, -32602].into_iter().all(is));
        assert!(![-32603, -32000, -32097, 429].into_iter().any(is));
    }

    #[test]
    fn errors_in_many_wordings_that_do_not_come_again_are_no_limits() {
        let mut own_words = OwnWords::default();
        let mut vanishes = |message: &str| {
            let words = words_of(&json!({ "code": -32602, "message": message }));
            let mut check = WordsCheck::new(words, true, 1, 0);
            assert_eq!(check.next(&mut own_words, &[]), WordsStep::Again(Duration::ZERO));
            check.next(&mut own_words, &[Vec::new()]);
            check.has_vanished
        };
        let wordings = ["no sender", "no nonce", "no sender", "no call data", "no chain"];
        assert_eq!(wordings.map(&mut vanishes), [true, true, true, false, false]);
    }
}
