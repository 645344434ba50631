//! The two methods and the two modes, as they stand on the wire (sections 1, 2.1 and 2.3).

use std::fmt;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

    /// Our short name, as in document names, scenario names and reports: `quote-sponsored`.
    pub const fn name(self) -> &'static str {
        match (self.method, self.mode) {
            (Method::GetFeeQuoteOrData, Mode::Sponsored) => "quote-sponsored",
            (Method::GetFeeQuoteOrData, Mode::Erc20) => "quote-erc20",
            (Method::SponsorUserOperation, Mode::Sponsored) => "sponsor-sponsored",
            (Method::SponsorUserOperation, Mode::Erc20) => "sponsor-erc20",
        }
    }

    /// The schema document of a whole request of this pair.
    pub const fn request_document(self) -> &'static str {
        match (self.method, self.mode) {
            (Method::GetFeeQuoteOrData, Mode::Sponsored) => "quote-sponsored-request",
            (Method::GetFeeQuoteOrData, Mode::Erc20) => "quote-erc20-request",
            (Method::SponsorUserOperation, Mode::Sponsored) => "sponsor-sponsored-request",
            (Method::SponsorUserOperation, Mode::Erc20) => "sponsor-erc20-request",
        }
    }

    /// The schema document of the `result` member of an answer to this pair (sections 2.6, 2.7 and 2.9).
    pub const fn result_document(self) -> &'static str {
        match (self.method, self.mode) {
            (_, Mode::Sponsored) => "sponsored-result",
            (Method::GetFeeQuoteOrData, Mode::Erc20) => "quote-result",
            (Method::SponsorUserOperation, Mode::Erc20) => "token-sponsor-result",
        }
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
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
