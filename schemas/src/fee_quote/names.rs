//! The two methods and the two modes, as they stand on the wire (sections 1, 2.1 and 2.3).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::kind::{Kind, KindOfCall};

/// One of the two JSON-RPC methods (section 2.1, row `method`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// `pm_getFeeQuoteOrData` (section 4.1).
    GetFeeQuoteOrData,
    /// `pm_sponsorUserOperation` (section 4.2).
    SponsorUserOperation,
}

impl Method {
    /// Both methods, in the order of the specification.
    pub const ALL: [Self; 2] = [Self::GetFeeQuoteOrData, Self::SponsorUserOperation];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::GetFeeQuoteOrData => "pm_getFeeQuoteOrData",
            Self::SponsorUserOperation => "pm_sponsorUserOperation",
        }
    }

    /// The method of a kind of call.
    pub fn of(kind: Kind) -> Self {
        if kind == kinds::QUOTE_SPONSORED || kind == kinds::QUOTE_ERC20 {
            Self::GetFeeQuoteOrData
        } else {
            Self::SponsorUserOperation
        }
    }

    /// The method of that exact name, letter case included.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One of the two paymaster modes (section 2.3, row `mode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
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

    /// The name on the wire, as every sample request and the result tables have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sponsored => "SPONSORED",
            Self::Erc20 => "ERC20",
        }
    }

    /// The mode of a kind of call.
    pub fn of(kind: Kind) -> Self {
        if kind == kinds::QUOTE_ERC20 || kind == kinds::SPONSOR_ERC20 { Self::Erc20 } else { Self::Sponsored }
    }

    /// The mode of that name; `SPONSORSHIP` counts as [`Mode::Sponsored`].
    pub fn from_name(name: &str) -> Option<Self> {
        if name == Self::SPONSORED_ALIAS {
            return Some(Self::Sponsored);
        }
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A method in a mode: the four kinds of call that the service serves (section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pair {
    /// The method called.
    pub method: Method,
    /// The mode asked for.
    pub mode: Mode,
}

impl Pair {
    /// A fee quote in sponsored mode.
    pub const QUOTE_SPONSORED: Self = Self { method: Method::GetFeeQuoteOrData, mode: Mode::Sponsored };
    /// A fee quote in token mode.
    pub const QUOTE_ERC20: Self = Self { method: Method::GetFeeQuoteOrData, mode: Mode::Erc20 };
    /// Sponsoring in sponsored mode.
    pub const SPONSOR_SPONSORED: Self = Self { method: Method::SponsorUserOperation, mode: Mode::Sponsored };
    /// Sponsoring in token mode.
    pub const SPONSOR_ERC20: Self = Self { method: Method::SponsorUserOperation, mode: Mode::Erc20 };
    /// All four, in the order of section 4.
    pub const ALL: [Self; 4] =
        [Self::QUOTE_SPONSORED, Self::QUOTE_ERC20, Self::SPONSOR_SPONSORED, Self::SPONSOR_ERC20];

    /// The method and mode of a kind of call.
    pub fn of(kind: Kind) -> Self {
        Self { method: Method::of(kind), mode: Mode::of(kind) }
    }

    /// The same as a kind of call.
    pub const fn kind(self) -> Kind {
        match (self.method, self.mode) {
            (Method::GetFeeQuoteOrData, Mode::Sponsored) => kinds::QUOTE_SPONSORED,
            (Method::GetFeeQuoteOrData, Mode::Erc20) => kinds::QUOTE_ERC20,
            (Method::SponsorUserOperation, Mode::Sponsored) => kinds::SPONSOR_SPONSORED,
            (Method::SponsorUserOperation, Mode::Erc20) => kinds::SPONSOR_ERC20,
        }
    }
}

/// The four kinds of calls (section 4).
pub mod kinds {
    use super::{Kind, KindOfCall, Pair};

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

    static DESCRIBED: [KindOfCall; 4] = [
        kind(0, "quote-sponsored", Pair::QUOTE_SPONSORED, ["quote-sponsored-request", "sponsored-result"]),
        kind(1, "quote-erc20", Pair::QUOTE_ERC20, ["quote-erc20-request", "quote-result"]),
        kind(
            2,
            "sponsor-sponsored",
            Pair::SPONSOR_SPONSORED,
            ["sponsor-sponsored-request", "sponsored-result"],
        ),
        kind(3, "sponsor-erc20", Pair::SPONSOR_ERC20, ["sponsor-erc20-request", "token-sponsor-result"]),
    ];

    const fn kind(number: u8, name: &'static str, pair: Pair, documents: [&'static str; 2]) -> KindOfCall {
        let selector = Some(("mode", pair.mode.name()));
        let [request_document, result_document] = documents;
        KindOfCall { number, name, method: pair.method.name(), selector, request_document, result_document }
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.kind().name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for method in Method::ALL {
            assert_eq!(Method::from_name(method.name()), Some(method));
        }
        for mode in Mode::ALL {
            assert_eq!(Mode::from_name(mode.name()), Some(mode));
        }
        assert_eq!(Mode::from_name("SPONSORSHIP"), Some(Mode::Sponsored));
        assert_eq!(Mode::from_name("sponsored"), None);
    }
}
