//! The two methods and the two modes, as they stand on the wire (sections 1, 2.1 and 2.3).

use serde::{Deserialize, Serialize};

use crate::kind::{Kind, KindOfCall};

/// One of the two paymaster modes (section 2.3, row `mode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::Display, strum::IntoStaticStr)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE", const_into_str)]
pub enum Mode {
    /// A sponsor pays the gas: `SPONSORED`.
    Sponsored,
    /// The user pays in an ERC-20 token: `ERC20`.
    Erc20,
}

impl Mode {
    /// Both modes, in the order of the specification.
    pub const ALL: [Self; 2] = [Self::Sponsored, Self::Erc20];

    /// The other spelling of [`Mode::Sponsored`] that the parameter tables use (section 2.3).
    pub const SPONSORED_ALIAS: &'static str = "SPONSORSHIP";

    /// The mode of a kind of call.
    pub fn of(kind: Kind) -> Self {
        if kind == kinds::QUOTE_ERC20 || kind == kinds::SPONSOR_ERC20 { Self::Erc20 } else { Self::Sponsored }
    }

    /// The mode of that name; `SPONSORSHIP` counts as [`Mode::Sponsored`].
    pub fn from_name(name: &str) -> Option<Self> {
        if name == Self::SPONSORED_ALIAS {
            return Some(Self::Sponsored);
        }
        Self::ALL.into_iter().find(|mode| mode.into_str() == name)
    }
}

/// The four kinds of calls: each method in each mode (section 4).
pub mod kinds {
    use super::{
        Kind, KindOfCall,
        Mode::{self, Erc20, Sponsored},
    };

    /// The method for fee quotes (section 4.1).
    pub const QUOTE: &str = "pm_getFeeQuoteOrData";
    /// The method that sponsors (section 4.2).
    pub const SPONSOR: &str = "pm_sponsorUserOperation";

    /// A fee quote in sponsored mode.
    pub const QUOTE_SPONSORED: Kind = Kind::new(&DESCRIBED[0]);
    /// A fee quote in token mode.
    pub const QUOTE_ERC20: Kind = Kind::new(&DESCRIBED[1]);
    /// Sponsoring in sponsored mode.
    pub const SPONSOR_SPONSORED: Kind = Kind::new(&DESCRIBED[2]);
    /// Sponsoring in token mode.
    pub const SPONSOR_ERC20: Kind = Kind::new(&DESCRIBED[3]);
    /// All four, in the order of section 4.
    pub const ALL: [Kind; 4] = [QUOTE_SPONSORED, QUOTE_ERC20, SPONSOR_SPONSORED, SPONSOR_ERC20];

    // A constant, so that the kinds can be patterns.
    const DESCRIBED: [KindOfCall; 4] = [
        kind(0, "quote-sponsored", QUOTE, Sponsored, ["quote-sponsored-request", "sponsored-result"]),
        kind(1, "quote-erc20", QUOTE, Erc20, ["quote-erc20-request", "quote-result"]),
        kind(2, "sponsor-sponsored", SPONSOR, Sponsored, ["sponsor-sponsored-request", "sponsored-result"]),
        kind(3, "sponsor-erc20", SPONSOR, Erc20, ["sponsor-erc20-request", "token-sponsor-result"]),
    ];

    const fn kind(
        number: u8,
        name: &'static str,
        method: &'static str,
        mode: Mode,
        documents: [&'static str; 2],
    ) -> KindOfCall {
        let [request_document, result_document] = documents;
        let selector = Some(("mode", mode.into_str()));
        KindOfCall { number, name, method, selector, request_document, result_document }
    }

    /// The kind of call with this method and mode; none where the method is neither of the two.
    pub fn of(method: &str, mode: Mode) -> Option<Kind> {
        ALL.into_iter().find(|kind| kind.method == method && Mode::of(*kind) == mode)
    }

    /// Whether a call of this kind asks for fee quotes.
    pub fn is_quote(kind: Kind) -> bool {
        kind.method == QUOTE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for mode in Mode::ALL {
            assert_eq!(Mode::from_name(mode.into_str()), Some(mode));
        }
        assert_eq!(Mode::from_name("SPONSORSHIP"), Some(Mode::Sponsored));
        assert_eq!(Mode::from_name("sponsored"), None);
        for kind in kinds::ALL {
            assert_eq!(kinds::of(kind.method, Mode::of(kind)), Some(kind));
        }
    }
}
