//! Hex in the letter cases in which clients write it.

use alloy_primitives::{Address, hex};

/// `0x` and hex digits, with these addresses in the letter case of EIP-55 wherever they stand, and all else in lower case.
pub fn checksummed(bytes: &[u8], addresses: &[Address]) -> String {
    let mut text = hex::encode_prefixed(bytes);
    for address in addresses {
        let spelled = address.to_checksum(None);
        for (place, part) in bytes.windows(Address::len_bytes()).enumerate() {
            if part[0] == address[0] && part == address.as_slice() {
                let start = 2 + 2 * place;
                text.replace_range(start..start + spelled.len() - 2, &spelled[2..]);
            }
        }
    }
    text
}

/// Hex digits in capital letters; the prefix `0x` stays.
pub fn in_capitals(hex: &str) -> String {
    in_case(hex, |digit| digit.to_ascii_uppercase())
}

/// Hex digits with each letter in a case of its own. `draw` returns a number below its argument.
pub fn in_mixed_case(hex: &str, draw: &mut dyn FnMut(u64) -> u64) -> String {
    in_case(hex, |digit| if draw(2) == 0 { digit.to_ascii_lowercase() } else { digit.to_ascii_uppercase() })
}

fn in_case(hex: &str, change: impl FnMut(char) -> char) -> String {
    let (prefix, digits) = hex.split_at(if hex.starts_with("0x") { 2 } else { 0 });
    prefix.chars().chain(digits.chars().map(change)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checksummed_wherever_they_stand() {
        let address: Address = "0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789".parse().unwrap();
        let bytes = [&[0xab], address.as_slice(), &[0xcd], address.as_slice()].concat();
        let digits = "5FF137D4b0FDCD49DcA30c7CF57E578a026d2789";
        assert_eq!(checksummed(&bytes, &[address]), format!("0xab{digits}cd{digits}"));
        assert_eq!(checksummed(&bytes, &[]), hex::encode_prefixed(&bytes));
    }

    #[test]
    fn letters_change_and_the_prefix_does_not() {
        assert_eq!(in_capitals("0xabc1"), "0xABC1");
        let mut next = 0;
        let mut alternate = |bound| {
            next += 1;
            next % bound
        };
        assert_eq!(in_mixed_case("0xabcd", &mut alternate), "0xAbCd");
        assert_eq!(in_mixed_case("ABCD", &mut alternate), "AbCd");
    }
}
