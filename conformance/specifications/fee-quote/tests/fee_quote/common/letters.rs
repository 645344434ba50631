//! Tokens whose addresses are one letter each: a, b and c are supported, e and f are not.

use crate::*;

/// The address of that digit, forty times.
pub(crate) fn address(digit: &str) -> String {
    format!("0x{}", digit.repeat(40))
}

pub(crate) fn tokens() -> TokenLists {
    let token = |digit| Token { address: address(digit), ..Token::default() };
    TokenLists {
        supported: ["a", "b", "c"].map(token).into(),
        unsupported: ["e", "f"].map(address).into(),
        complete: false,
    }
}
