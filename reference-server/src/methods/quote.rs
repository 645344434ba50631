//! `pm_getFeeQuoteOrData` (section 4.1).

use std::collections::HashSet;

use alloy_primitives::Address;

use super::{Refusal, Request, Settings, write_mode, write_sponsored};
use crate::gas::GasLimits;
use crate::request::{AddressText, Mode, ModeObject, TokenInfo};
use crate::tokens::PricedToken;

/// Appends the result: the sponsorship, or a fee quote for each token that the request names.
pub(crate) fn quote(out: &mut Vec<u8>, settings: &Settings, request: &Request<'_>) -> Result<(), Refusal> {
    match effective_mode(&request.mode) {
        Mode::Sponsored => {
            let Some(info) = request.mode.sponsorship_info else {
                return Err(Refusal::malformed("sponsorshipInfo is missing"));
            };
            // The expiry applies to the other method (section 2.3).
            write_sponsored(out, settings, request, Some(info), None)
        }
        Mode::Erc20 => {
            let Some(info) = request.mode.token_info else {
                return Err(Refusal::malformed("tokenInfo is missing"));
            };
            let info = info.read::<TokenInfo<'_>>().map_err(Refusal::malformed)?;
            write_quotes(out, settings, request, &info);
            Ok(())
        }
    }
}

/// The mode of a quote request. Published clients may leave it out: then token info with something in it asks for quotes.
pub(crate) fn effective_mode(mode: &ModeObject<'_>) -> Mode {
    mode.mode.unwrap_or_else(|| {
        if mode.token_info.is_some_and(|info| !info.is_empty()) {
            Mode::Erc20
        } else {
            Mode::Sponsored
        }
    })
}

fn write_quotes(out: &mut Vec<u8>, settings: &Settings, request: &Request<'_>, info: &TokenInfo<'_>) {
    let max_cost = GasLimits::of(&request.operation).max_cost(request.operation.max_fee_per_gas.0);
    let valid_until = request.world.now.saturating_add(settings.quote_valid_seconds);

    write_mode(out, Mode::Erc20);
    out.extend_from_slice(br#""paymasterAddress":""#);
    out.extend_from_slice(settings.token_paymaster.as_bytes());
    out.extend_from_slice(br#"","feeQuotes":["#);
    let list = info.token_list.as_deref().unwrap_or_default();
    let mut unsupported: Vec<&AddressText<'_>> = Vec::new();
    let mut quotes = 0_usize;
    let mut write = |out: &mut Vec<u8>, token: &PricedToken| {
        if quotes > 0 {
            out.push(b',');
        }
        quotes += 1;
        token.write_quote(out, max_cost, valid_until);
    };
    if info.preferred_token.is_none() && list.is_empty() {
        for token in settings.tokens.all() {
            write(out, token);
        }
    } else {
        let mut seen = Seen::default();
        // The preferred token first, then the others in the client's order, each once.
        for wanted in info.preferred_token.iter().chain(list) {
            if !seen.is_new(wanted.address) {
                continue;
            }
            match settings.tokens.get(&wanted.address) {
                Some(token) => write(out, token),
                None => unsupported.push(wanted),
            }
        }
    }
    out.extend_from_slice(br#"],"unsupportedTokens":["#);
    for (index, token) in unsupported.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        // An address needs no escapes.
        out.push(b'"');
        out.extend_from_slice(token.text.0.as_bytes());
        out.push(b'"');
    }
    out.extend_from_slice(b"]}");
}

/// Which tokens came before: looked through while they are few, hashed when a client sends many.
#[derive(Default)]
struct Seen {
    few: Vec<Address>,
    many: HashSet<Address>,
}

/// Up to here, looking through is quicker than hashing.
const FEW: usize = 16;

impl Seen {
    fn is_new(&mut self, address: Address) -> bool {
        if self.few.contains(&address) {
            return false;
        }
        if self.few.len() < FEW {
            self.few.push(address);
            return true;
        }
        self.many.insert(address)
    }
}
