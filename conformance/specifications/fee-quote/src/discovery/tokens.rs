//! Discovery of tokens: which are supported, and which a quote returns.

use crate::{
    base,
    generate::{source::Source, tokens::NATIVE_COIN},
    target::context::Support,
};
use paymaster_engine::cases::case::Group;
use paymaster_schemas::kinds;
use serde_json::{Value, json};

use super::{Discovery, Trial};

/// Token contracts of large chains and their test networks, for a profile that names no tokens: USDC, USDT, DAI and wrapped
/// native tokens.
const WELL_KNOWN_TOKENS: &[&str] = &[
    "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48",
    "0xdac17f958d2ee523a2206206994597c13d831ec7",
    "0x6b175474e89094c44da98b954eedeac495271d0f",
    "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
    "0x2791bca1f2de4661ed88a30c99a7a9449aa84174",
    "0x3c499c542cef5e3811e1192ce70d8cc03d5c3359",
    "0xc2132d05d31c914a87c6611c10748aeb04b58e8f",
    "0xda5289fcaaf71d52a80a254da614a192b693e977",
    "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
    "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
    "0x1c7d4b196cb0c7b01d743fbc6116a902379c7238",
    "0xaf88d065e77c8cc2239327c5edb3a432268e5831",
    "0x0b2c639c533813f4aa9d7837caf62653d097ff85",
];

/// How many invented tokens are requested.
pub(super) const INVENTED_TOKENS: u64 = 3;

/// How many supported tokens are quoted one by one, to learn their symbols and decimals. The others are learned from one long
/// list.
const SINGLE_TOKEN_QUOTES: usize = 8;

/// The most supported tokens in one quote.
const LONGEST_QUOTE: usize = 64;

/// How many quotes have a preferred token that is not in the list.
const READING_QUOTES: usize = 6;

impl Discovery {
    /// Quotes for well-known tokens, and quotes without a list, which may return all tokens.
    pub(super) fn which_tokens(&mut self) -> Vec<Group> {
        if self.context.tokens_with(Support::Supported).next().is_some() {
            return Vec::new();
        }
        let infos = [
            json!({"preferredToken": WELL_KNOWN_TOKENS[0], "tokenList": WELL_KNOWN_TOKENS}),
            json!({"tokenList": WELL_KNOWN_TOKENS}),
            json!({}),
            json!({"tokenList": []}),
        ];
        self.quotes(&infos)
    }

    /// Quotes for invented tokens, and for a preferred token outside the list.
    pub(super) fn unknown_tokens(&mut self) -> Vec<Group> {
        let known: Vec<String> =
            self.context.tokens_with(Support::Supported).take(LONGEST_QUOTE).map(str::to_owned).collect();
        let unknown: Vec<String> = (0..INVENTED_TOKENS).map(|salt| invented_token(self.seed, salt)).collect();
        let mut infos: Vec<Value> = known
            .iter()
            .take(SINGLE_TOKEN_QUOTES)
            .map(|token| json!({"preferredToken": token, "tokenList": [token]}))
            .collect();
        infos.extend([
            json!({"preferredToken": unknown[0], "tokenList": unknown}),
            json!({"preferredToken": NATIVE_COIN[0], "tokenList": NATIVE_COIN}),
        ]);
        if let Some(first) = known.first() {
            let mut list = unknown.clone();
            list.push(first.clone());
            infos.push(json!({"preferredToken": first, "tokenList": list}));
        }
        // With three tokens, two are listed: quotes for only one of the two match no reading.
        let few = &known[..known.len().min(3)];
        if let [only] = few {
            infos.push(json!({"preferredToken": only, "tokenList": unknown}));
            infos.push(json!({"preferredToken": unknown[0], "tokenList": [only]}));
        }
        if few.len() > 1 {
            for turn in 0..READING_QUOTES {
                let mut tokens = few.to_vec();
                tokens.rotate_left(turn % few.len());
                infos.push(json!({"preferredToken": tokens[0], "tokenList": tokens[1..]}));
            }
            infos.push(json!({"preferredToken": known[0], "tokenList": known}));
        }
        self.quotes(&infos)
    }

    /// One quote in token mode for each of these tokenInfo objects.
    fn quotes(&mut self, infos: &[Value]) -> Vec<Group> {
        let wanted = base::any_tokens(kinds::QUOTE_ERC20);
        let mut source = Source::new(self.seed ^ u64::from(self.round), &self.context);
        let requests = infos.iter().filter_map(|info| {
            let mut request = source.base(&wanted)?;
            request["params"][1]["tokenInfo"] = info.clone();
            Some((Trial::plain(wanted.pair, self.context.dialect.clone()), wanted, request))
        });
        let requests = requests.collect();
        self.groups_of(requests)
    }
}

/// An invented token address, derived from the seed.
pub(super) fn invented_token(seed: u64, salt: u64) -> String {
    let mixed = (seed ^ salt.wrapping_add(0x00c0_ffee)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    format!("0x{mixed:016x}{:016x}{:08x}", mixed.rotate_left(23) ^ 0xa5a5, salt + 0xdead_0000)
}
