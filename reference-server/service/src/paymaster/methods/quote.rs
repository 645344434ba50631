//! The result of `pm_getFeeQuoteOrData` in ERC20 mode (section 4.1).

use std::collections::HashSet;

use alloy_primitives::Address;
use paymaster_schemas::Mode;

use super::{Settings, write_mode};
use crate::message::request::{AddressText, Operation, TokenInfo};
use crate::paymaster::gas::GasLimits;
use crate::paymaster::tokens::PricedToken;

impl Settings {
    /// Appends the result: a fee quote for each token that the request names.
    pub(super) fn write_quotes(
        &self,
        out: &mut Vec<u8>,
        operation: &Operation<'_>,
        info: &TokenInfo<'_>,
        now: u64,
    ) {
        let max_cost = GasLimits::of(operation).max_cost(operation.max_fee_per_gas.0);
        let valid_until = now.saturating_add(self.quote_valid_seconds);

        write_mode(out, Mode::Erc20);
        out.extend_from_slice(br#""paymasterAddress":""#);
        out.extend_from_slice(self.token_paymaster.as_bytes());
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
            for token in self.tokens.all() {
                write(out, token);
            }
        } else {
            let mut distinct = DistinctTokens::default();
            // The preferred token first, then the others in the order of the list, each once.
            for named in info.preferred_token.iter().chain(list) {
                if !distinct.insert(named.address) {
                    continue;
                }
                match self.tokens.get(&named.address) {
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
            out.extend_from_slice(token.text.0.as_bytes());
            out.push(b'"');
        }
        out.extend_from_slice(b"]}");
    }
}

/// A set of tokens: a list while it is short, and a hash set beyond, so that long lists stay cheap.
#[derive(Default)]
struct DistinctTokens {
    few: Vec<Address>,
    many: HashSet<Address>,
}

/// Up to this length, searching the list is faster than hashing.
const FEW: usize = 16;

impl DistinctTokens {
    /// Adds an address; false when the set has it already.
    fn insert(&mut self, address: Address) -> bool {
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
