//! `pm_getFeeQuoteOrData`, and its result in ERC20 mode (section 4.1).

use std::collections::HashSet;

use paymaster_schemas::{Mode, kinds};
use serde_json::Value;

use super::{Given, Refusal, Request, ServedMethod, sponsor::Sponsorship, write_mode};
use crate::message::{AddressText, Operation, RequestError, TokenInfo, pair_of, params};
use crate::paymaster::{GasLimits, PricedToken};

pub(super) const METHOD: ServedMethod = ServedMethod { name: kinds::QUOTE, parse, document };

fn parse(text: &str) -> Result<Box<dyn Request + '_>, RequestError> {
    let (operation, members) = params(text)?;
    Ok(match members.effective_mode(kinds::QUOTE)? {
        Mode::Sponsored => {
            let info = members.sponsorship_info.ok_or("sponsorshipInfo is missing")?.read()?;
            // The expiry applies to the other method (section 2.3).
            Box::new(Sponsorship { operation, info, seconds: None })
        }
        Mode::Erc20 => {
            let info = members.token_info.ok_or("tokenInfo is missing")?.read()?;
            Box::new(Quotes { operation, info })
        }
    })
}

fn document(request: &mut Value) -> &'static str {
    let pair = pair_of(request).unwrap_or(kinds::QUOTE_SPONSORED);
    if let Some(members) = request.pointer_mut("/params/1").and_then(Value::as_object_mut) {
        // The schemas require the mode, which a quote request may omit.
        members.entry("mode").or_insert_with(|| Mode::of(pair).into_str().into());
    }
    pair.request_document
}

/// A request for fee quotes.
struct Quotes<'a> {
    operation: Operation<'a>,
    info: TokenInfo<'a>,
}

impl Request for Quotes<'_> {
    /// A fee quote for each token that the request names.
    fn write_result(&self, out: &mut Vec<u8>, given: Given<'_>) -> Result<(), Refusal> {
        let (Self { operation, info }, Given { settings, now, .. }) = (self, given);
        let max_cost = GasLimits::of(operation).max_cost(operation.max_fee_per_gas.0);
        let valid_until = now.saturating_add(settings.quote_valid_seconds);

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
            let mut distinct = HashSet::new();
            // The preferred token first, then the others in the order of the list, each once.
            for named in info.preferred_token.iter().chain(list) {
                if !distinct.insert(named.address) {
                    continue;
                }
                match settings.tokens.get(&named.address) {
                    Some(token) => write(out, token),
                    None => unsupported.push(named),
                }
            }
        }
        out.extend_from_slice(br#"],"unsupportedTokens":["#);
        for (index, token) in unsupported.into_iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            // An address contains nothing to escape.
            out.push(b'"');
            out.extend_from_slice(token.text.as_bytes());
            out.push(b'"');
        }
        out.extend_from_slice(b"]}");
        Ok(())
    }
}
