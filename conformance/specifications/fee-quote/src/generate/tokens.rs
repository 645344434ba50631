//! Token addresses, and the combinations of them in requests (section 2.5).

use proptest::{prelude::BoxedStrategy, test_runner::TestRng};
use serde_json::{Value, json};

use crate::base::Tokens;
use crate::target::{Context, Spelling, Support, is_address};
use paymaster_engine::generate::{RngExt, drawn};

/// The most tokens in a list. Another relation sends longer lists.
const LONGEST_LIST: usize = 8;

/// A fresh address, in lower case or with the checksum of EIP-55: strict parsers refuse any other mix.
pub(super) fn random_address(rng: &mut TestRng) -> String {
    let spelled = fresh(rng);
    spelled.in_some_case(rng)
}

/// An address in lower-case hex, without the 0x.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Token(String);

/// How often, in percent, an address has no letters, so that its spellings are one.
const WITHOUT_LETTERS: u64 = 5;

fn fresh(rng: &mut TestRng) -> Token {
    let digits = rng.hex(20)[2..].to_owned();
    if rng.chance(WITHOUT_LETTERS) {
        return Token(digits.replace(|digit: char| digit.is_ascii_alphabetic(), "7"));
    }
    Token(digits)
}

impl Token {
    /// Lower case or the checksum case of EIP-55. A target that compares addresses as text fails on one of them. Some strict
    /// address parsers refuse all upper case.
    fn in_some_case(&self, rng: &mut TestRng) -> String {
        let lower = format!("0x{}", self.0);
        if rng.below(100) < 50 {
            return lower;
        }
        Spelling::Checksum.write(&lower)
    }

    fn spelled(&self, rng: &mut TestRng) -> Value {
        Value::String(self.in_some_case(rng))
    }
}

/// Addresses that wallets use for a chain's native coin, which is not an ERC-20 token.
pub(crate) const NATIVE_COIN: [&str; 2] =
    ["0x0000000000000000000000000000000000000000", "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"];

/// Well-known tokens of public chains. A service supports those of its own chain at most.
const OF_CHAINS: [&str; 8] = [
    "a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", // USDC of Ethereum
    "dac17f958d2ee523a2206206994597c13d831ec7", // USDT of Ethereum
    "6b175474e89094c44da98b954eedeac495271d0f", // DAI of Ethereum
    "c02aaa39b223fe8d0a0e5c4f27ead9083c756cc2", // WETH of Ethereum
    "3c499c542cef5e3811e1192ce70d8cc03d5c3359", // USDC of Polygon
    "af88d065e77c8cc2239327c5edb3a432268e5831", // USDC of Arbitrum
    "833589fcd6edb6e08f4c7c32d4f71b54bda02913", // USDC of Base
    "8ac76a51cc950d9822d68b83fe1ad97b32cd580d", // USDC of BNB Smart Chain
];

/// Addresses that look like this one: another first digit, another last one, one other digit in the middle, and all others but the first
/// four and the last four, which are what wallets show.
fn near_misses(token: &Token) -> [Token; 4] {
    let digits = &token.0;
    let last = digits.len() - 1;
    let changed = |places: std::ops::RangeInclusive<usize>| {
        let other = |(place, digit)| match (places.contains(&place), digit) {
            (false, digit) => digit,
            (true, '7') => '8',
            (true, _) => '7',
        };
        Token(digits.chars().enumerate().map(other).collect())
    };
    [changed(0..=0), changed(last..=last), changed(19..=19), changed(4..=last - 4)]
}

/// The tokens that requests for a target name.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    supported: Vec<Token>,
    unsupported: Vec<Token>,
    /// Addresses that a careless service takes for tokens of its own: those of the native coin, tokens of other chains, and supported
    /// ones with other digits at some places.
    lookalikes: Vec<Token>,
    unlisted: Support,
}

impl Pool {
    pub(super) fn of(context: &Context) -> Self {
        let known = |support| {
            let addresses = context.tokens_with(support).filter(|address| is_address(address));
            addresses.map(|address| Token(address[2..].to_owned())).collect()
        };
        let supported: Vec<Token> = known(Support::Supported);
        let natives = NATIVE_COIN.iter().map(|address| &address[2..]);
        let lookalikes = natives
            .chain(OF_CHAINS)
            .map(|digits| Token(digits.to_owned()))
            .chain(supported.iter().flat_map(near_misses))
            .filter(|token| context.support(&format!("0x{}", token.0)) == Support::Unsupported)
            .collect();
        Self {
            supported,
            unsupported: known(Support::Unsupported),
            lookalikes,
            unlisted: context.unlisted_tokens,
        }
    }

    fn has_supported(&self) -> bool {
        !self.supported.is_empty() || self.unlisted == Support::Supported
    }

    fn has_others(&self) -> bool {
        !self.unsupported.is_empty() || self.unlisted != Support::Supported
    }

    /// The `tokenInfo` of a quote; none when there are no such tokens.
    pub(super) fn quote(self, tokens: Tokens) -> Option<BoxedStrategy<Value>> {
        let possible = match tokens {
            Tokens::Any => true,
            Tokens::Supported => self.has_supported(),
            Tokens::SomeUnsupported => self.has_others(),
        };
        possible.then(|| {
            drawn(move |rng| match tokens {
                Tokens::Any => self.any_quote(rng),
                Tokens::Supported => self.both_members(rng, Share::All),
                Tokens::SomeUnsupported => {
                    let share = if rng.chance(30) { Share::None } else { Share::Some };
                    self.both_members(rng, share)
                }
            })
        })
    }

    /// The token that a sponsorship is paid in; none when there is no such token.
    pub(super) fn fee_token(self, tokens: Tokens) -> Option<BoxedStrategy<Value>> {
        let supported = tokens != Tokens::SomeUnsupported;
        let possible = if supported { self.has_supported() } else { self.has_others() };
        possible.then(|| {
            drawn(move |rng| {
                let token = if supported { self.supported_one(rng) } else { self.other_one(rng) };
                token.spelled(rng)
            })
        })
    }

    fn supported_one(&self, rng: &mut TestRng) -> Token {
        if self.supported.is_empty() { fresh(rng) } else { rng.pick(&self.supported).clone() }
    }

    /// A token that is not known to be supported: a listed one, or an invented one unless unlisted tokens are supported.
    fn other_one(&self, rng: &mut TestRng) -> Token {
        let invent = self.unlisted != Support::Supported && rng.chance(50);
        if self.unsupported.is_empty() || invent {
            if !self.lookalikes.is_empty() && rng.chance(60) {
                return rng.pick(&self.lookalikes).clone();
            }
            fresh(rng)
        } else {
            rng.pick(&self.unsupported).clone()
        }
    }

    /// Distinct supported ones.
    fn several_supported(&self, rng: &mut TestRng, count: usize) -> Vec<Token> {
        if self.supported.is_empty() {
            return (0..count).map(|_| fresh(rng)).collect();
        }
        let mut all = self.supported.clone();
        shuffle(rng, &mut all);
        all.truncate(count);
        all
    }

    /// Distinct tokens, of which this share is supported when the pool has such tokens.
    fn mix(&self, rng: &mut TestRng, share: Share) -> Vec<Token> {
        // Lists of one token, of a few and of many are equally likely.
        let most = *rng.pick(&[1, 4, LONGEST_LIST]);
        let count = rng.count(1, most);
        let (supported, others) = match (self.has_supported(), self.has_others(), share) {
            (true, _, Share::All) | (true, false, _) => (true, 0),
            (true, true, Share::Some) => (true, rng.count(1, LONGEST_LIST - count.min(LONGEST_LIST - 1))),
            (false, _, _) | (_, true, Share::None) => (false, count),
        };
        let mut list = if supported { self.several_supported(rng, count) } else { Vec::new() };
        for _ in 0..others {
            let other = self.other_one(rng);
            if !list.contains(&other) {
                list.push(other);
            }
        }
        shuffle(rng, &mut list);
        list
    }

    /// Both members: the preferred one may be on the list or not.
    fn both_members(&self, rng: &mut TestRng, share: Share) -> Value {
        let mut tokens = self.mix(rng, share);
        let preferred = tokens.swap_remove(0);
        if tokens.is_empty() || rng.chance(50) {
            let at = rng.count(0, tokens.len());
            tokens.insert(at, preferred.clone());
        }
        let list: Vec<Value> = tokens.iter().map(|token| token.spelled(rng)).collect();
        json!({ "preferredToken": preferred.spelled(rng), "tokenList": list })
    }

    /// Every lawful mix.
    fn any_quote(&self, rng: &mut TestRng) -> Value {
        let supported = *rng.pick(&[Share::All, Share::All, Share::Some, Share::Some, Share::None]);
        let shape = rng.below(20);
        let mut tokens = self.mix(rng, supported);
        if shape == 0 {
            return json!({ "preferredToken": tokens[0].spelled(rng) });
        }
        if shape == 1 {
            let preferred = tokens[0].spelled(rng);
            let list = if rng.chance(50) { json!([]) } else { json!([preferred]) };
            return json!({ "preferredToken": preferred, "tokenList": list });
        }
        if shape <= 5 {
            repeat_one(rng, &mut tokens);
            let list: Vec<Value> = tokens.iter().map(|token| token.spelled(rng)).collect();
            return json!({ "tokenList": list });
        }
        let preferred = if rng.chance(50) {
            rng.pick(&tokens).clone()
        } else {
            let other = *rng.pick(&[Share::All, Share::None]);
            self.mix(rng, other).swap_remove(0)
        };
        repeat_one(rng, &mut tokens);
        let list: Vec<Value> = tokens.iter().map(|token| token.spelled(rng)).collect();
        json!({ "preferredToken": preferred.spelled(rng), "tokenList": list })
    }
}

/// Which of the tokens of a request are supported.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Share {
    All,
    Some,
    None,
}

/// Sometimes a token is in the list twice.
fn repeat_one(rng: &mut TestRng, tokens: &mut Vec<Token>) {
    if rng.chance(20) {
        let again = rng.pick(tokens).clone();
        let at = rng.count(0, tokens.len());
        tokens.insert(at, again);
    }
}

fn shuffle<T>(rng: &mut impl RngExt, items: &mut [T]) {
    for end in (1..items.len()).rev() {
        let other = rng.count(0, end);
        items.swap(end, other);
    }
}
