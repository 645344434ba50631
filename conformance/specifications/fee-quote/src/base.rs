//! The base requests of relations, and which tokens they name.

use paymaster_schemas::Kind;

use paymaster_engine::cases::{Base, Draw};

/// Which tokens a base request in token mode names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// Only supported ones, with preferredToken and tokenList both present in a quote.
    Supported,
    /// Quotes: every lawful mix (one, many, repeated, supported and not, preferred inside, outside or absent). Sponsoring: a supported one.
    Any,
    /// At least one that is not supported, with preferredToken and tokenList both present in a quote.
    SomeUnsupported,
}

impl Tokens {
    /// The tokens of a base.
    pub fn of(base: Base) -> Self {
        match base.choice {
            0 => Self::Supported,
            1 => Self::Any,
            _ => Self::SomeUnsupported,
        }
    }

    /// The base with these tokens.
    #[must_use]
    pub const fn in_base(self, base: Base) -> Base {
        Base { choice: self as u8, ..base }
    }
}

/// A base with an operation that should be accepted and any lawful mix of tokens.
pub(crate) const fn any_tokens(pair: Kind) -> Base {
    Tokens::Any.in_base(Base::accepted(pair))
}

/// A base with an operation that should be accepted and an unsupported token.
pub(crate) const fn unsupported_token(pair: Kind) -> Base {
    Tokens::SomeUnsupported.in_base(Base::accepted(pair))
}

/// A base with an operation that is sponsored, when the profile states which are.
pub(crate) const fn sponsored(pair: Kind) -> Base {
    Base { draw: Draw::Sponsored, ..Base::accepted(pair) }
}

/// A base with an operation that is not sponsored.
pub(crate) const fn refused(pair: Kind) -> Base {
    Base { draw: Draw::Refused, ..Base::accepted(pair) }
}
