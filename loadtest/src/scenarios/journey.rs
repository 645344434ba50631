//! What a wallet does: it asks what an operation costs in each token, chooses a token of the answer, and has the same operation
//! sponsored in it. The token is spelled as the quote spells it.

use paymaster_judge::cases::case::Base;
use paymaster_schemas::Pair;
use serde_json::json;

use super::{Chain, Scenario, single::missing};
use crate::corpus::{Draws, Entry, TOKEN_SLOT};

pub(super) fn make(scenario: &Scenario, draws: &mut Draws<'_>) -> Result<Vec<Chain>, String> {
    let (quoting, sponsoring) = (
        Base::accepted(Pair::QUOTE_ERC20),
        Base::accepted(Pair::SPONSOR_ERC20),
    );
    let member = draws.context.dialect.fee_token_member.clone();
    let distinct = draws.distinct();
    let mut chains = Vec::with_capacity(draws.size);
    for _ in 0..draws.size {
        let made = draws.request(&quoting).zip(draws.request(&sponsoring));
        let Some((quote, mut sponsor)) = made else {
            return Err(missing(scenario.id));
        };
        sponsor["params"][0] = quote["params"][0].clone();
        sponsor["params"][1]["tokenInfo"][&member] = json!(TOKEN_SLOT);
        chains.push(vec![
            Entry::new(scenario.labels[0], &quote, distinct),
            Entry::new(scenario.labels[1], &sponsor, distinct),
        ]);
    }
    Ok(chains)
}
