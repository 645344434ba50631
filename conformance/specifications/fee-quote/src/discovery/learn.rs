//! What discovery learns from the answers of a round.

use crate::{
    SPECIFICATION,
    call::{CallParts, RequestedTokens, quoted_tokens, unsupported_tokens},
    generate::tokens::NATIVE_COIN,
    target::{
        context::{Support, shown_support},
        dialect::QuotedTokens,
        spellings::ServedCapitals,
    },
};
use paymaster_engine::{
    cases::case::Group,
    message::{answer::Answer, request::ParsedRequest},
};
use std::collections::BTreeSet;

use paymaster_exchange::Exchange;
use paymaster_schemas::kinds;
use serde_json::Value;

use super::{
    Discovery,
    tokens::{INVENTED_TOKENS, invented_token},
};

impl Discovery {
    /// Learns from the answers of the round.
    pub(super) fn learn(&mut self, answers: &[(Group, Vec<Exchange>)]) {
        let trials = std::mem::take(&mut self.trials);
        let mut learned = false;
        let mut unknown = Tally::default();
        for (group, exchanges) in answers {
            self.access.see_group(group, exchanges, &self.context);
            // By group number: a request of the round may have no answer.
            let (Some(trial), Some(exchange)) = (trials.get(group.number), exchanges.first()) else {
                continue;
            };
            let answer = Answer::of(exchange);
            let Some(result) = answer.result().filter(|result| result.is_object()) else { continue };
            // The first reading that is served becomes the dialect. Trials begin with the default.
            let decides = self.served.insert(trial.pair) && !learned || self.asks_again;
            if decides && trial.dialect != self.context.dialect {
                let before = std::mem::replace(&mut self.context.dialect, trial.dialect.clone());
                self.replaced = Some((trial.pair, before)).filter(|_| !self.asks_again);
            }
            learned |= decides;
            let ParsedRequest::Call(call) = ParsedRequest::of(&exchange.request, &SPECIFICATION) else {
                continue;
            };
            self.context.served_capitals.learn(&call, result);
            // A target may read such a token as another one: its answer shows nothing else.
            if ServedCapitals::is_unusual(&call) {
                continue;
            }
            self.context.served_accounts.learn(&call, result);
            if let Some(form) = trial.form {
                self.context.served_forms.learn(&call, &self.context.dialect);
                self.context.served_forms.learn_named(trial.pair, form);
            }
            if trial.pair == kinds::QUOTE_ERC20 {
                self.context.quoted.learn(result, exchange.received);
                self.learn_tokens(&call.tokens(), result, &mut unknown);
            }
        }
        if unknown.requested > 0 {
            self.context.learn_unlisted_tokens(if unknown.quoted > 0 {
                Support::Supported
            } else {
                Support::Unsupported
            });
        }
        let reading = self.readings.most();
        if self.context.profile.dialect.quoted_tokens.is_none() && reading != QuotedTokens::Unknown {
            self.context.dialect.quoted_tokens = reading;
        }
    }

    /// Learns of the tokens of one request from its quotes.
    fn learn_tokens(&mut self, tokens: &RequestedTokens<'_>, result: &Value, unknown: &mut Tally) {
        let quoted = quoted_tokens(result);
        if self.round == 4 {
            self.context.facts.learn(result);
        }
        unknown.count(&tokens.quoted(), &quoted, self.seed);
        if let (Some(preferred), Some(list)) = (&tokens.preferred, &tokens.list) {
            let supported = |token: &str| self.context.support(token) == Support::Supported;
            self.readings.count(preferred, list, [&quoted, &unsupported_tokens(result)], supported);
        }
        for coin in NATIVE_COIN.iter().filter(|coin| quoted.contains(**coin)) {
            self.context.learn_token(coin, Support::Supported);
        }
        if self.round == 3 {
            let unsupported = unsupported_tokens(result);
            for (token, support) in shown_support(&tokens.quoted(), &quoted, &unsupported) {
                self.context.learn_token(token, support);
            }
        }
    }
}

/// How invented tokens were treated.
#[derive(Default)]
struct Tally {
    requested: u32,
    quoted: u32,
}

impl Tally {
    fn count(&mut self, requested: &BTreeSet<String>, quoted: &BTreeSet<String>, seed: u64) {
        for salt in 0..INVENTED_TOKENS {
            let token = invented_token(seed, salt);
            self.requested += u32::from(requested.contains(&token));
            self.quoted += u32::from(requested.contains(&token) && quoted.contains(&token));
        }
    }
}
