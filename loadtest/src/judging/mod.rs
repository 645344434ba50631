//! Judges answers by the rules of the conformance run, fast enough to judge every one of them under load.

mod skeleton;

use paymaster_client::throttling::is_throttled;
use paymaster_exchange::{Exchange, Failure, Response};
use paymaster_judge::{
    cases::case::Role,
    message::answer::Answer,
    rules::{Check, Rule, View, rules},
    session::judge::Judge,
    target::context::Context,
    verdict::finding::{Key, Violation},
};
use paymaster_schemas::Basis;
use serde_json::Value;

use crate::{
    corpus::{Entry, FIRST_ID, Sound},
    figures::outcome::Outcome,
};

/// Which share of answers is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share(f64);

impl Share {
    /// Every answer.
    pub const ALL: Self = Self(1.0);

    /// Reads `10%`, `all` or `none`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let percent = match text.trim() {
            "all" => 100.0,
            "none" => 0.0,
            text => text
                .strip_suffix('%')
                .and_then(|number| number.trim().parse::<f64>().ok())
                .filter(|percent| (0.0..=100.0).contains(percent))
                .ok_or_else(|| format!("`{text}` is no share: write 10%, all or none"))?,
        };
        Ok(Self(percent / 100.0))
    }

    /// The share, from 0 to 1.
    pub fn value(self) -> f64 {
        self.0
    }

    /// Whether answer number `number` is one of them: spread evenly, and exactly so many.
    pub fn takes(self, number: u64) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 requests")]
        let number = number as f64;
        self.0 >= 1.0 || ((number + 1.0) * self.0).floor() > (number * self.0).floor()
    }
}

/// An answer that was looked at.
#[derive(Debug, Default)]
pub struct Seen {
    /// A broken rule.
    pub broken: Option<(&'static Rule, Violation)>,
    /// The code of a JSON-RPC error.
    pub error_code: Option<String>,
    /// What went wrong without an answer.
    pub trouble: Option<String>,
}

/// The judge of a run.
#[derive(Debug)]
pub struct Judging {
    judge: Judge,
    context: Context,
    share: Share,
}

/// What a judge is told of an exchange.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// What was sent.
    pub entry: &'a Entry,
    /// The number of the request, which its id was made of.
    pub number: u64,
    /// The token that went into it.
    pub token: Option<&'a str>,
}

impl Judging {
    /// A judge for a target of which that is known. Rules of what is stated count; `strict` adds those that otherwise warn.
    pub fn new(context: Context, share: Share, strict: bool) -> Self {
        let counts = |rule: &&'static Rule| match rule.basis() {
            Basis::Stated => true,
            basis => strict && !basis.is_observed(),
        };
        // Group rules need exchanges that are related, which a load is not.
        let alone = |rule: &&'static Rule| !matches!(rule.check, Check::Group(..));
        Self {
            judge: Judge::new(rules().filter(counts).filter(alone).collect()),
            context,
            share,
        }
    }

    /// What is known of the target.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// How an exchange ended, and whether it was judged.
    pub fn look(&self, exchange: &Exchange, sent: Sent<'_>, scratch: &mut Vec<u8>) -> (Outcome, bool, Seen) {
        let response = match &exchange.outcome {
            Ok(response) => response,
            Err(failure) => return (ended(failure), false, trouble(failure.to_string())),
        };
        if is_throttled(response) {
            return (Outcome::RateLimited, false, Seen::default());
        }
        let id = (FIRST_ID + sent.number).to_string();
        let mut head = Vec::with_capacity(96);
        head.extend_from_slice(&response.status.to_be_bytes());
        head.extend_from_slice(response.header("content-type").unwrap_or_default().as_bytes());
        head.push(0);
        head.extend_from_slice(sent.token.unwrap_or_default().as_bytes());
        let simple = skeleton::write(&head, &response.body, id.as_bytes(), scratch);
        let judged = self.share.takes(sent.number);
        let known = if judged {
            &sent.entry.sound
        } else {
            &sent.entry.unjudged
        };
        let skeleton = simple.then_some(&scratch[..]);
        if let Some(sound) = skeleton.and_then(|skeleton| known.find(skeleton)) {
            return told(sent.entry, sound, judged);
        }
        if judged {
            self.judge(exchange, sent.entry, skeleton)
        } else {
            unjudged(exchange, response, sent.entry, skeleton)
        }
    }

    fn judge(&self, exchange: &Exchange, entry: &Entry, skeleton: Option<&[u8]>) -> (Outcome, bool, Seen) {
        let view = View::new(Role::Call, "", exchange, &self.context);
        if let Some(what) = view.answer.beyond_reading() {
            return (
                Outcome::Transport,
                false,
                trouble(format!("{what}: more than we read")),
            );
        }
        if view.turned_away() {
            return refused(view.answer.response());
        }
        let views = [view];
        let broken = self
            .judge
            .views(&views, None, &self.context)
            .into_iter()
            .find_map(|judgement| Some((judgement.rule, judgement.violations.into_iter().next()?)));
        if broken.is_some() {
            let seen = Seen {
                broken,
                ..Seen::default()
            };
            return (Outcome::Wrong, true, seen);
        }
        let [view] = &views;
        if view.answer.object().is_none() {
            // No rule asks for more of it: a malformed call that HTTP alone refused.
            return if entry.wants_error {
                (Outcome::Good, true, Seen::default())
            } else {
                refused(view.answer.response())
            };
        }
        let sound = sound(&view.answer);
        if let Some(skeleton) = skeleton {
            entry.sound.learn(skeleton, sound);
        }
        told(entry, sound, true)
    }
}

fn sound(answer: &Answer<'_>) -> Sound {
    match answer.error() {
        Some(error) => Sound::Error(error["code"].as_i64()),
        None => Sound::Result,
    }
}

/// What an answer that breaks no rule counts as.
fn told(entry: &Entry, sound: Sound, judged: bool) -> (Outcome, bool, Seen) {
    let Sound::Error(code) = sound else {
        return (Outcome::Good, judged, Seen::default());
    };
    let seen = Seen {
        error_code: Some(code.map_or_else(|| "none".to_owned(), |code| code.to_string())),
        ..Seen::default()
    };
    let outcome = if entry.wants_error {
        Outcome::Good
    } else {
        Outcome::RpcError
    };
    (outcome, judged, seen)
}

/// Parses an answer that no rule judges, to tell results from errors. The skeleton is kept: an answer like it is not parsed, so
/// that an answer that is not judged costs no more than one that is.
fn unjudged(
    exchange: &Exchange,
    response: &Response,
    entry: &Entry,
    skeleton: Option<&[u8]>,
) -> (Outcome, bool, Seen) {
    let answer = Answer::of(exchange);
    if answer.object().is_none() && response.status != 200 {
        return refused(Some(response));
    }
    let sound = sound(&answer);
    if let Some(skeleton) = skeleton {
        entry.unjudged.learn(skeleton, sound);
    }
    told(entry, sound, false)
}

fn refused(response: Option<&Response>) -> (Outcome, bool, Seen) {
    let status = response.map_or_else(String::new, |response| format!("HTTP {}", response.status));
    (Outcome::Refused, false, trouble(status))
}

fn trouble(words: String) -> Seen {
    Seen {
        trouble: Some(words),
        ..Seen::default()
    }
}

fn ended(failure: &Failure) -> Outcome {
    match failure {
        Failure::Timeout { .. } => Outcome::Timeout,
        Failure::Connect(_) | Failure::TooLarge { .. } | Failure::Broken(_) | Failure::Cut(_) => {
            Outcome::Transport
        }
    }
}

/// The pointer of a violation, array indices as `*`, so that equal ones count together.
pub fn pointer(rule: &Rule, violation: &Violation) -> String {
    Key::of(rule, None, violation).pointer
}

/// The token that the next step of a chain takes from this answer, where it takes one.
pub fn quoted_token_if(response: &Response, chain: &[Entry], step: usize, number: u64) -> Option<String> {
    chain.get(step + 1).filter(|next| next.takes_a_token())?;
    quoted_token(response, number)
}

/// A token of a quote, as the quote spells it: the one of that number, counted round.
pub fn quoted_token(response: &Response, number: u64) -> Option<String> {
    let answer: Value = serde_json::from_slice(&response.body).ok()?;
    let quotes = answer["result"]["feeQuotes"].as_array()?;
    let count = u64::try_from(quotes.len()).ok().filter(|count| *count > 0)?;
    let place = usize::try_from(number % count).ok()?;
    quotes[place]["tokenAddress"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests;
