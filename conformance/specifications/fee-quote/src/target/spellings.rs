//! The letter case of addresses.
//!
//! Clients write an address in lower case, or with the checksum of EIP-55: a target must take both. In capital letters an address has the
//! same value, but a strict parser refuses it, because its letters are not those of the checksum. So a target
//! may refuse an address in capital letters, until it has served one at the same place of the same kind of request.

use crate::call::{CallParts, quoted_tokens};
use crate::target::by_pair;
use paymaster_engine::message::Call;
use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::Address;
use paymaster_schemas::{Kind, kinds};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A spelling of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// Lower-case letters.
    Lower,
    /// The letter case that EIP-55 computes from the address.
    Checksum,
    /// `0x` and capital letters.
    Capitals,
}

impl Spelling {
    /// Every spelling.
    pub const ALL: [Self; 3] = [Self::Lower, Self::Checksum, Self::Capitals];

    /// The spelling in words: `in lower case`.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Lower => "in lower case",
            Self::Checksum => "with the checksum of EIP-55",
            Self::Capitals => "in capital letters",
        }
    }

    /// The address in this spelling. What is no address stays as it is.
    pub fn write(self, address: &str) -> String {
        let Some(parsed) = parsed(address) else { return address.to_owned() };
        match self {
            Self::Lower => format!("{parsed:#x}"),
            Self::Checksum => parsed.to_checksum(None),
            Self::Capitals => format!("0x{}", address[2..].to_ascii_uppercase()),
        }
    }
}

/// A place of a request that has addresses.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "camelCase", const_into_str)]
pub enum Place {
    /// `sender` of the operation.
    Sender,
    /// `tokenInfo.preferredToken`.
    PreferredToken,
    /// `tokenInfo.tokenList`.
    TokenList,
    /// `tokenInfo.feeTokenAddress`, or its alias.
    #[strum(serialize = "the fee token")]
    FeeToken,
}

impl Place {
    /// The places that requests of that method and mode have.
    pub fn of(pair: Kind) -> &'static [Self] {
        match pair {
            kinds::QUOTE_ERC20 => &[Self::Sender, Self::PreferredToken, Self::TokenList],
            kinds::SPONSOR_ERC20 => &[Self::Sender, Self::FeeToken],
            _ => &[Self::Sender],
        }
    }

    /// The addresses at this place, as they are spelled.
    fn addresses(self, call: &Call) -> Vec<&str> {
        let tokens = call.tokens();
        match self {
            Self::Sender => call.operation()["sender"].as_str().into_iter().collect(),
            Self::PreferredToken => tokens.preferred.into_iter().collect(),
            Self::TokenList => tokens.list.unwrap_or_default(),
            Self::FeeToken => tokens.fee.into_iter().collect(),
        }
    }

    /// The request with the addresses at this place in that spelling; none where that changes nothing. `fee_token` is the name of the
    /// member that holds the fee token.
    pub fn respelled(self, request: &Value, spelling: Spelling, fee_token: &str) -> Option<Value> {
        let mut respelled = request.clone();
        let value = match self {
            Self::Sender => &mut respelled["params"][0]["sender"],
            Self::PreferredToken => &mut respelled["params"][1]["tokenInfo"]["preferredToken"],
            Self::TokenList => &mut respelled["params"][1]["tokenInfo"]["tokenList"],
            Self::FeeToken => &mut respelled["params"][1]["tokenInfo"][fee_token],
        };
        let write = |value: &mut Value| {
            if let Some(text) = value.as_str() {
                *value = json!(spelling.write(text));
            }
        };
        match value {
            Value::Array(items) => items.iter_mut().for_each(write),
            one => write(one),
        }
        (respelled != *request).then_some(respelled)
    }
}

/// At which places the target served addresses in capital letters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServedCapitals {
    #[serde(with = "by_pair")]
    places: BTreeMap<Kind, BTreeSet<Place>>,
    /// Whether a token in capital letters was quoted, or taken as the fee token. A strict target may answer a quote for such a token
    /// and list it as unsupported.
    knows_tokens: bool,
}

impl ServedCapitals {
    /// Adds the result of a call.
    pub fn learn(&mut self, call: &Call, result: &Value) {
        let quoted = quoted_tokens(result);
        for place in Place::of(call.pair) {
            let in_capitals = |address: &&&str| is_in_capitals(address);
            let addresses = place.addresses(call);
            let mut in_capitals = addresses.iter().filter(in_capitals).peekable();
            if in_capitals.peek().is_none() {
                continue;
            }
            self.places.entry(call.pair).or_default().insert(*place);
            self.knows_tokens |= match place {
                Place::Sender => false,
                Place::FeeToken => true,
                Place::PreferredToken | Place::TokenList => {
                    in_capitals.any(|token| quoted.contains(&token.to_ascii_lowercase()))
                }
            };
        }
    }

    /// Whether the target must take every address of a call as it is spelled. `is_of_profile` is true of senders that the profile spells
    /// so.
    pub fn takes(&self, call: &Call, is_of_profile: impl Fn(&str) -> bool) -> bool {
        Place::of(call.pair).iter().all(|place| {
            let is_quoted = matches!(place, Place::PreferredToken | Place::TokenList);
            let served = self.places.get(&call.pair);
            let is_served =
                served.is_some_and(|places| places.contains(place)) && (self.knows_tokens || !is_quoted);
            place.addresses(call).iter().all(|address| {
                is_usual(address)
                    || is_served && is_in_capitals(address)
                    || *place == Place::Sender && is_of_profile(address)
            })
        })
    }

    /// Whether a call has an address in a spelling that a strict parser refuses.
    pub fn is_unusual(call: &Call) -> bool {
        Place::of(call.pair)
            .iter()
            .any(|place| place.addresses(call).iter().any(|address| !is_usual(address)))
    }

    /// The places of a call that have addresses in capital letters.
    pub fn places_of(call: &Call) -> impl Iterator<Item = Place> {
        Place::of(call.pair)
            .iter()
            .copied()
            .filter(|place| place.addresses(call).iter().any(|address| is_in_capitals(address)))
    }
}

fn parsed(text: &str) -> Option<Address> {
    text.strip_prefix("0x")?.parse().ok()
}

/// Whether a strict parser takes the letter case of an address. Other rules judge what is no address.
fn is_usual(text: &str) -> bool {
    // Most addresses are in lower case, and a checksum costs a hash.
    let is_lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
    is_lower || parsed(text).is_none_or(|address| text == address.to_checksum(None))
}

fn is_in_capitals(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let has_lower = digits.bytes().any(|byte| byte.is_ascii_lowercase());
    !has_lower && !is_usual(text) && text == Spelling::Capitals.write(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECKSUM: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"; // from EIP-55
    const IN_CAPITALS: &str = "0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED";
    const LOWER: &str = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed";

    #[test]
    fn an_address_has_three_spellings() {
        for address in [CHECKSUM, IN_CAPITALS, LOWER] {
            let spelled = Spelling::ALL.map(|spelling| spelling.write(address));
            assert_eq!(spelled, [LOWER, CHECKSUM, IN_CAPITALS]);
        }
        assert_eq!(Spelling::Capitals.write("0xabc"), "0xabc");
    }

    #[test]
    fn strict_parsers_take_lower_case_and_the_checksum() {
        let digits = "0x1111111111111111111111111111111111111111";
        // All its letters are capitals in the checksum too.
        let capitals_by_checksum = "0x52908400098527886E0F7030069857D2E4169EE7";
        for usual in [CHECKSUM, LOWER, digits, capitals_by_checksum, "USDC", "0xABC"] {
            assert!(is_usual(usual) && !is_in_capitals(usual), "{usual}");
        }
        let other_mix = CHECKSUM.replace("5aAeb", "5AAeb");
        assert!(!is_usual(&other_mix) && !is_in_capitals(&other_mix));
        assert!(!is_usual(IN_CAPITALS) && is_in_capitals(IN_CAPITALS));
    }
}
