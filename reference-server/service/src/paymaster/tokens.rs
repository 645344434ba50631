//! The supported tokens, and the cost of an operation in each.

use alloy_primitives::{Address, U256};
use serde::{Deserialize, Serialize};

use crate::config::ConfigError;
use crate::paymaster::{Decimal, Ratio, Wide, configured_address, power_of_ten, write_fraction};

/// A supported token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// The address of its contract: `0x` and 40 hex digits. Quotes contain it in this spelling.
    pub address: String,
    /// Its symbol.
    pub symbol: String,
    /// Its number of decimals; at most [`Token::MOST_DECIMALS`].
    pub decimals: u32,
    /// Price of one coin of the chain in whole tokens, such as `"1831.52"`.
    pub rate: String,
    /// Price of one whole token in US dollars, such as `"1.0"`.
    pub usd_price: String,
    /// Premium of the paymaster on the cost, in percent; at most [`Token::HIGHEST_PREMIUM`].
    pub premium_percent: u32,
    /// The absolute URL of its logo.
    pub logo_url: String,
}

impl Token {
    /// Most decimals of a token.
    pub const MOST_DECIMALS: u32 = 36;
    /// Highest premium, in percent.
    pub const HIGHEST_PREMIUM: u32 = 1000;

    /// The tokens of the default configuration: invented prices, and the decimals of real tokens.
    pub fn defaults() -> Vec<Self> {
        let token =
            |address: &str, symbol: &str, decimals, rate: &str, usd_price: &str, premium_percent| Self {
                address: address.to_owned(),
                symbol: symbol.to_owned(),
                decimals,
                rate: rate.to_owned(),
                usd_price: usd_price.to_owned(),
                premium_percent,
                logo_url: format!("https://tokens.example/{}.png", symbol.to_lowercase()),
            };
        vec![
            token("0xda5289fcaaf71d52a80a254da614a192b693e977", "USDC", 6, "1831.52", "1.0", 10),
            token("0x27a44456bedb94dbd59d0f0a14fe977c777fc5c3", "DAI", 18, "1832.075", "0.9997", 12),
            token("0x8eb24319393716668d768dcec29356ae9cffe285", "WBTC", 8, "0.0531", "34491.9", 15),
            token("0x6d0a35c04e2e0e2b3a6f1a0b9c1d5f4c7e8a9b02", "EURS", 2, "1694.3", "1.081", 0),
        ]
    }
}

/// Digits after the point of `maxGasFeeUSD`.
const USD_DECIMALS: u32 = 8;
/// Decimals of the chain's coin, and of `exchangeRate` whatever the decimals of the token are.
const COIN_DECIMALS: u32 = 18;

/// The supported tokens with their prices parsed.
pub(crate) struct TokenTable(Vec<PricedToken>);

impl TokenTable {
    pub(crate) fn new(tokens: &[Token]) -> Result<Self, ConfigError> {
        let mut table = Self(Vec::with_capacity(tokens.len()));
        for token in tokens {
            let priced = PricedToken::new(token)?;
            if table.get(&priced.address).is_some() {
                let wanted = "an address that no other token has";
                return Err(ConfigError::value("tokens.address", wanted, &token.address));
            }
            table.0.push(priced);
        }
        Ok(table)
    }

    /// All tokens, in the order of the configuration.
    pub(crate) fn all(&self) -> &[PricedToken] {
        &self.0
    }

    /// The token at `address`, or none when it is not supported.
    pub(crate) fn get(&self, address: &Address) -> Option<&PricedToken> {
        self.0.iter().find(|token| token.address == *address)
    }
}

/// A supported token, with the parts of a quote that never change precomputed.
pub(crate) struct PricedToken {
    pub(crate) address: Address,
    /// `exchangeRate`: tokens for one coin, scaled by 10^18.
    pub(crate) exchange_rate: U256,
    decimals: u32,
    /// Token units for one wei, premium included.
    units_of_wei: Ratio,
    /// 10^-8 dollars for one token unit.
    usd_of_units: Ratio,
    /// The text of a quote before `maxGasFee`, between its numbers, and after `validUntil`.
    head: String,
    middle: String,
    tail: String,
}

impl PricedToken {
    fn new(token: &Token) -> Result<Self, ConfigError> {
        let address = configured_address("tokens.address", &token.address)?;
        let positive = |key: &str, text: &str| {
            let decimal = Decimal::parse(text).filter(|decimal| !decimal.mantissa.is_zero());
            decimal.ok_or_else(|| ConfigError::value(key, "a positive decimal number", text))
        };
        let rate = positive("tokens.rate", &token.rate)?;
        let price = positive("tokens.usd_price", &token.usd_price)?;
        let Token { symbol, decimals, premium_percent, logo_url, .. } = token;
        for (holds, key, wanted, found) in [
            (!symbol.is_empty(), "tokens.symbol", "a symbol", symbol),
            (*decimals <= Token::MOST_DECIMALS, "tokens.decimals", "at most 36", &decimals.to_string()),
            (
                *premium_percent <= Token::HIGHEST_PREMIUM,
                "tokens.premium_percent",
                "at most 1000",
                &premium_percent.to_string(),
            ),
            (is_url(logo_url), "tokens.logo_url", "an absolute URL", logo_url),
        ] {
            if !holds {
                return Err(ConfigError::value(key, wanted, found));
            }
        }
        let exchange_rate = rate.mantissa * power_of_ten(Decimal::FRACTION_DIGITS - rate.scale);
        // wei / 10^18 coins, times rate / 10^18 tokens, times (100 + premium) / 100, times 10^decimals units.
        let units_of_wei = Ratio::over_power_of_ten(
            exchange_rate * U256::from(100 + token.premium_percent) * power_of_ten(token.decimals),
            2 * COIN_DECIMALS + 2,
        );
        // units / 10^decimals tokens, times price / 10^scale dollars, times 10^8.
        let usd_of_units = Ratio::over_power_of_ten(
            price.mantissa * power_of_ten(USD_DECIMALS),
            token.decimals + price.scale,
        );
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        Ok(Self {
            address,
            exchange_rate,
            decimals: token.decimals,
            units_of_wei,
            usd_of_units,
            head: format!(
                r#"{{"symbol":{},"decimal":{},"tokenAddress":"{}","maxGasFee":"#,
                quoted(&token.symbol),
                token.decimals,
                token.address
            ),
            middle: format!(
                r#","exchangeRate":{exchange_rate},"premiumPercentage":"{}","validUntil":"#,
                token.premium_percent
            ),
            tail: format!(r#","logoUrl":{}}}"#, quoted(&token.logo_url)),
        })
    }

    /// Appends the fee quote (section 2.8) for an operation that costs at most `max_cost` wei. Both fees are rounded up: the
    /// fee in tokens to one unit, the fee in dollars to eight digits.
    pub(crate) fn write_quote(&self, out: &mut Vec<u8>, max_cost: Wide, valid_until: u64) {
        let units = self.units_of_wei.of(max_cost);
        out.extend_from_slice(self.head.as_bytes());
        write_fraction(out, units, self.decimals);
        out.extend_from_slice(br#","maxGasFeeUSD":"#);
        write_fraction(out, self.usd_of_units.of(units), USD_DECIMALS);
        out.extend_from_slice(self.middle.as_bytes());
        crate::paymaster::decimal::write_whole(out, U256::from(valid_until));
        out.extend_from_slice(self.tail.as_bytes());
    }
}

/// Whether `text` is a scheme, a colon, and at least one character, without whitespace.
fn is_url(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, rest)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '.' | '-'))
            && !rest.is_empty()
            && !rest.contains(char::is_whitespace)
    })
}
