//! The plain sense of answers: lawful in form, and senseless in content. These rules warn. The last rule, of which a chain decides, fails a run.

use crate::call::{CallParts, quotes};
use crate::rules::requests::decision::sponsors_nothing;
use crate::rules::{SPONSORABLE, TOKENS};
use crate::target::{Context, quoted};
use crate::{lines, relations as related};
use paymaster_engine::cases::Role;
use paymaster_engine::json::amount;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::rules::{
    Advice, ExchangeCheck, Report, Rule, View, for_each_variant, shown, shown_member,
};
use std::collections::BTreeSet;
use std::fmt::{Display, from_fn};

use paymaster_exchange::Simulation;
use paymaster_schemas::{Kind, Mode, kinds, member_validator, validator_for};
use serde_json::Value;

const fn rule(id: &'static str, check: ExchangeCheck) -> Rule {
    lines::in_token_mode(Rule::exchange(id, 5, TOKENS, check))
}

/// A rule about quotes in token mode.
pub(super) const fn of_quotes(id: &'static str, check: ExchangeCheck) -> Rule {
    rule(id, check).exercised_by(
        const { &[&related::CALLS, &related::UNSUPPORTED_IN_QUOTE] },
        &[kinds::QUOTE_ERC20, kinds::SPONSOR_ERC20],
    )
}

/// A rule about results that sponsor in token mode.
const fn of_token_results(id: &'static str, check: ExchangeCheck) -> Rule {
    rule(id, check).exercised_by(const { &[&related::CALLS] }, &[kinds::SPONSOR_ERC20])
}

pub(crate) const RULES: &[Rule] = &[
    of_quotes("plausibility.paymaster-address", paymaster_address)
        .hint("users approve the token for this address: the deployed token paymaster"),
    of_quotes("plausibility.token-price", token_price)
        .hint("look at decimals, at the price feed, and at which quote has which fee"),
    of_quotes("plausibility.exchange-rate", exchange_rate)
        .hint("an exchange rate of 0 makes every operation free"),
    of_quotes("plausibility.one-quote-a-token", one_quote_a_token)
        .hint("a client takes one of two quotes for the same token, and its user pays the other"),
    of_quotes("plausibility.symbol", symbol).hint("wallets show the symbol to their users"),
    of_quotes("plausibility.logo-url", logo_url)
        .hint("wallets load the logo in a page: give an absolute https URL"),
    Rule::exchange("plausibility.gas", 5, SPONSORABLE, gas)
        .hint("an operation with a gas limit of 0 fails on the chain")
        .exercised_by(const { &[&related::CALLS] }, &[]),
    of_token_results("plausibility.pre-verification-gas", pre_verification_gas),
    of_token_results("plausibility.token-data", token_data),
    lines::in_token_mode(
        Rule::group("plausibility.token-data-differs", 4, TOKENS, &related::TOKEN_DATA, token_data_differs)
            .hint("a signature that is the same for every operation covers none of them"),
    ),
    lines::in_token_mode(
        Rule::group("plausibility.fee-of-operation", 1, TOKENS, &related::SAME_ACCOUNT, fee_of_operation)
            .hint("the fees of the operation decide what it costs: is a quote kept by its sender?"),
    ),
    Rule::group("plausibility.data-of-operation", 1, SPONSORABLE, &related::SAME_ACCOUNT, data_of_operation)
        .hint("sign each operation: is a signature kept by sender and nonce?"),
    Rule::group("plausibility.sponsored-data", 1, SPONSORABLE, &related::INIT_CODE, sponsored_data)
        .hint("the sponsorship paymaster pays, also for accounts that do not exist yet")
        .unless(|knowledge| lines::no_token(knowledge).or_else(|| sponsors_nothing(knowledge))),
    Rule::group(
        "plausibility.token-data-of-token-at-once",
        1,
        TOKENS,
        &related::TOKENS_AT_ONCE,
        tokens_at_once,
    )
    .hint("keep nothing of a request where one in another token finds it")
    .of_clause("plausibility.token-data-of-token")
    .unless(one_token)
    .waiting_first(&lines::SUPPORTED_TOKENS)
    .about_mix_ups(),
    Rule::group("plausibility.token-data-of-token", 2, TOKENS, &related::TOKEN_DATA, token_data_of_token)
        .hint("sign the token or its exchange rate, so that the user pays in the token of the request")
        .unless(one_token)
        .waiting_first(&lines::SUPPORTED_TOKENS),
    Rule::exchange(
        "on-chain.accepted",
        3,
        Advice::Look(
            "name operations of accounts on that chain in the profile; look at --rpc-url and --entry-point",
        ),
        accepted,
    )
    .hint("sign for chain, contract and its nonce of the sender, with the gas limits of the answer")
    .unless(no_chain),
];

fn no_chain(knowledge: &dyn Knowledge) -> Option<&'static str> {
    (!Context::of(knowledge).on_chain).then_some("no chain is used (--rpc-url, --entry-point)")
}

const ZERO: &str = "0x0000000000000000000000000000000000000000";

/// The result of a call of this pair.
fn result_of<'a>(pair: Kind, view: &'a View<'_>) -> Option<&'a Value> {
    view.valid_call().filter(|call| call.pair == pair)?;
    view.answer.result()
}

/// The paymaster is not the zero address, and is the same in every quote.
fn paymaster_address(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let context = Context::of(knowledge);
    let Some(address) =
        result_of(kinds::QUOTE_ERC20, view).and_then(|result| result["paymasterAddress"].as_str())
    else {
        return;
    };
    let expected = context.quoted.paymaster.as_deref().filter(|first| *first != ZERO);
    let is_known = expected.is_none_or(|first| address.eq_ignore_ascii_case(first));
    report.expect(
        address != ZERO && is_known,
        "/result/paymasterAddress",
        from_fn(|f| match expected {
            Some(first) => write!(f, "{first}, as in the target's first quote"),
            None => f.write_str("an address other than zero"),
        }),
        || address.to_owned(),
    );
}

/// Symbols of tokens that are worth about a dollar.
const DOLLARS: [&str; 8] = ["USDC", "USDT", "DAI", "USDC.e", "USDT.e", "BUSD", "FRAX", "PYUSD"];

/// By which factor prices, rates and fees may differ where they are of the same thing.
const FACTOR: f64 = 100.0;

/// The price of a token stays within two orders of magnitude, that of a stable token near a dollar, and the fee of one operation in dollars is
/// about the same in every token.
fn token_price(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    // A token with few decimals has no smaller fee than its unit.
    let usd = |quote: &Value| {
        quote["maxGasFeeUSD"].as_f64().filter(|usd| *usd > 0.0 && quoted::has_exact_fee(quote))
    };
    let highest = quotes(view).filter_map(|(_, quote)| usd(quote)).fold(0.0, f64::max);
    judge_quotes(view, report, "maxGasFeeUSD", |quote| {
        // What is less than a cent may be rounded.
        let usd = usd(quote).filter(|_| highest >= 0.01)?;
        let expected =
            from_fn(move |f| write!(f, "about as many US dollars as in the other tokens: up to {highest}"));
        Some((usd * FACTOR >= highest, expected, move || usd.to_string()))
    });
    // A wallet approves the fee before it sends the operation: nothing, where rounding left nothing.
    judge_quotes(view, report, "maxGasFee", |quote| {
        let (fee, usd) = (quote["maxGasFee"].as_f64()?, quote["maxGasFeeUSD"].as_f64()?);
        let decimals = amount(&quote["decimal"]).and_then(|decimals| u32::try_from(decimals).ok())?;
        let expected = format!("more than 0 tokens, for {usd} US dollars");
        (usd >= 0.01 && decimals >= 6).then(|| (fee.abs() > 0.0, expected, || "0".to_owned()))
    });
    let context = Context::of(knowledge);
    judge_quotes(view, report, "maxGasFeeUSD", |quote| {
        let price = quoted::price(quote)?;
        let is_dollar = quote["symbol"].as_str().is_some_and(|symbol| DOLLARS.contains(&symbol));
        let first = quote["tokenAddress"].as_str().and_then(|address| context.quoted.price(address));
        let (low, high, source) = match first {
            _ if is_dollar => (0.1, 10.0, "for a token that is worth a dollar"),
            Some(first) => (first / FACTOR, first * FACTOR, "as in the target's first quote for the token"),
            None => return None,
        };
        let expected = from_fn(move |f| {
            write!(f, "maxGasFee at a price from {low:.4} to {high:.4} US dollars, {source}")
        });
        Some(((low..=high).contains(&price), expected, move || format!("a price of {price:.4} US dollars")))
    });
}

/// Judges a member of each quote in token mode: whether it holds, what was expected and what came; none where there is nothing to judge.
pub(super) fn judge_quotes<'a, Expected: Display, Actual: FnOnce() -> String>(
    view: &'a View<'_>,
    report: &mut Report,
    member: &str,
    mut judge: impl FnMut(&'a Value) -> Option<(bool, Expected, Actual)>,
) {
    for (index, quote) in quotes(view) {
        if let Some((holds, expected, actual)) = judge(quote) {
            report.expect(holds, format_args!("/result/feeQuotes/{index}/{member}"), expected, actual);
        }
    }
}

/// An exchange rate is above 0, and stays within two orders of magnitude of the token's first one.
fn exchange_rate(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let quoted = &Context::of(knowledge).quoted;
    judge_quotes(view, report, "exchangeRate", |quote| {
        let rate = quoted::rate(quote)?;
        let first = quote["tokenAddress"].as_str().and_then(|address| quoted.rate(address));
        let first = first.filter(|first| rate > 0.0 && *first > 0.0);
        let holds = first.map_or(rate > 0.0, |first| (first / FACTOR..=first * FACTOR).contains(&rate));
        let expected = from_fn(move |f| match first {
            Some(first) => write!(f, "about {first}, as in the target's first quote for the token"),
            None => f.write_str("an exchange rate above 0"),
        });
        Some((holds, expected, move || rate.to_string()))
    });
}

fn one_quote_a_token(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    let mut seen = BTreeSet::new();
    judge_quotes(view, report, "tokenAddress", |quote| {
        let address = quote["tokenAddress"].as_str()?;
        let is_first = seen.insert(address.to_ascii_lowercase());
        Some((is_first, "one quote for each token", move || format!("a second quote for {address}")))
    });
}

fn symbol(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    judge_quotes(view, report, "symbol", |quote| {
        let holds = !quote["symbol"].as_str()?.trim().is_empty();
        Some((holds, "a symbol that is not empty", || shown(&quote["symbol"])))
    });
}

/// A logo URL is absolute, and of a scheme that shows an image.
fn logo_url(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    judge_quotes(view, report, "logoUrl", |quote| {
        let lower = quote["logoUrl"].as_str()?.trim().to_ascii_lowercase();
        let runs = ["javascript:", "vbscript:", "data:text", "data:application", "file:"];
        let is_absolute = validator_for("url").is_some_and(|valid| valid.is_valid(&quote["logoUrl"]));
        let holds = is_absolute && !runs.iter().any(|scheme| lower.starts_with(scheme));
        Some((holds, "an absolute URL of an image", || shown(&quote["logoUrl"])))
    });
}

/// The gas limits of a result that sponsors are above 0, unless the request has 0.
fn gas(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    let (Some(call), Some(result)) = (view.valid_call(), view.answer.result()) else { return };
    if result["paymasterAndData"].as_str().is_none_or(|data| ["0x", ""].contains(&data)) {
        return;
    }
    for name in ["callGasLimit", "verificationGasLimit", "preVerificationGas"] {
        // A target may return the limits of the request.
        let is_requested = amount(&call.operation()[name]).is_some_and(|limit| limit.bits() == 0);
        if let Some(limit) = amount(&result[name]).filter(|_| !is_requested) {
            report.expect(limit.bits() > 0, format_args!("/result/{name}"), "a gas limit above 0", || {
                shown_member(result.get(name))
            });
        }
    }
}

/// preVerificationGas in token mode is an amount. The table has a string and no notation.
fn pre_verification_gas(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    let Some(value) = result_of(kinds::SPONSOR_ERC20, view).map(|result| &result["preVerificationGas"])
    else {
        return;
    };
    if value.is_string() {
        report.expect(
            amount(value).is_some(),
            "/result/preVerificationGas",
            "decimal digits, or a hex quantity",
            || shown(value),
        );
    }
}

/// paymasterAndData in token mode, where it is a hex string: the rule of its row reports another value.
fn token_paymaster_data<'a>(view: &'a View<'_>) -> Option<&'a str> {
    let data = result_of(kinds::SPONSOR_ERC20, view)?.get("paymasterAndData")?;
    let row = member_validator("token-sponsor-result", "paymasterAndData")?;
    data.as_str().filter(|_| row.is_valid(data))
}

/// paymasterAndData in token mode is at least an address: that of the quoted paymaster.
fn token_data(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let context = Context::of(knowledge);
    let Some(data) = token_paymaster_data(view) else { return };
    let address = data.get(..ZERO.len());
    let expected = context.quoted.paymaster.as_deref();
    let holds = address.is_some_and(|address| {
        expected
            .is_none_or(|paymaster| paymaster.len() != ZERO.len() || address.eq_ignore_ascii_case(paymaster))
    });
    report.expect(
        holds,
        "/result/paymasterAndData",
        from_fn(|f| match expected {
            Some(paymaster) => write!(f, "{paymaster} and more: the paymasterAddress of quotes"),
            None => f.write_str("the paymaster's address and more"),
        }),
        || shown(&Value::String(data.to_owned())),
    );
}

/// Data with a signature differs between operations. A paymaster that checks everything on the chain needs no signature: its data, such
/// as its address alone, or its address and the token's, may be the same for every operation.
fn token_data_differs(views: &[View<'_>], _: &dyn Knowledge, report: &mut Report) {
    let in_one_token = views.iter().filter(|view| view.role == Role::Call);
    let all: Option<Vec<&str>> = in_one_token.map(token_paymaster_data).collect();
    let Some((first, others @ [_, ..])) = all.as_deref().and_then(|all| all.split_first()) else { return };
    report.set_member(views.len() - 1);
    let differs = others.iter().any(|other| !other.eq_ignore_ascii_case(first));
    report.expect(
        differs || !may_have_signature(first),
        DATA,
        "another value than for other operations",
        || format!("the same for {} operations: {}", others.len() + 1, shown(&Value::from(*first))),
    );
}

fn one_token(knowledge: &dyn Knowledge) -> Option<&'static str> {
    let is_one = Context::of(knowledge).profile.tokens.supported.len() == 1;
    lines::no_token(knowledge).or(is_one.then_some("the profile names only one supported token"))
}

/// Section 4.2, rule 3: the operation and the token are both considered, so data with a signature differs between tokens for one operation.
/// Different data proves nothing: it may have a time or a random number.
fn token_data_of_token(views: &[View<'_>], _: &dyn Knowledge, report: &mut Report) {
    let [first, other, ..] = views else { return };
    let data = [first, other].map(token_paymaster_data);
    if let [Some(first), Some(data)] = data
        && other.role == Role::Variant
    {
        report.set_member(1);
        let holds = !data.eq_ignore_ascii_case(first) || !may_have_signature(first);
        report.expect(holds, DATA, OF_ANOTHER_TOKEN, || the_same(first));
    }
}

/// The fee of another operation of one account and nonce is another one, where that of another account is.
fn fee_of_operation(views: &[View<'_>], _: &dyn Knowledge, report: &mut Report) {
    let fees = views.iter().filter_map(|view| quotes(view).find_map(|(_, quote)| quote.get("maxGasFee")));
    if let [first, elsewhere, other] = fees.collect::<Vec<_>>()[..] {
        report.set_member(2);
        let expected = format!("another fee than {first}, for fees that are a hundred times as high");
        let holds = first != other || first == elsewhere;
        report.expect(holds, "/result/feeQuotes/0/maxGasFee", expected, || "the same".to_owned());
    }
}

/// Data of sponsored mode are not those of the token paymaster, which quotes name, where those of an account that exists are not.
fn sponsored_data(views: &[View<'_>], knowledge: &dyn Knowledge, report: &mut Report) {
    let Some(paymaster) = Context::of(knowledge).quoted.paymaster.as_deref() else { return };
    for_each_variant(views, report, |baseline, view, report| {
        let is_of_token_paymaster = |view: &View<'_>| {
            let is_sponsored = view.valid_call().is_some_and(|call| Mode::of(call.pair) == Mode::Sponsored);
            let data = view.answer.result().filter(|_| is_sponsored)?.get("paymasterAndData")?.as_str()?;
            let address = data.get(..ZERO.len())?;
            Some(address.eq_ignore_ascii_case(paymaster))
        };
        if let (Some(false), Some(is_other)) = (is_of_token_paymaster(baseline), is_of_token_paymaster(view))
        {
            let expected = "data of the sponsorship paymaster, as for an account that exists";
            report.expect(!is_other, "/result/paymasterAndData", expected, || {
                format!("{paymaster} and more: the paymasterAddress of quotes")
            });
        }
    });
}

/// The data of another operation of one account and nonce are others, where those of another account are.
fn data_of_operation(views: &[View<'_>], _: &dyn Knowledge, report: &mut Report) {
    let data = views.iter().filter_map(|view| view.answer.result()?.get("paymasterAndData")?.as_str());
    if let [first, elsewhere, other] = data.collect::<Vec<_>>()[..] {
        report.set_member(2);
        let is_signed = [first, elsewhere].iter().all(|data| may_have_signature(data));
        let holds = !is_signed || !first.eq_ignore_ascii_case(other) || first.eq_ignore_ascii_case(elsewhere);
        let expected = "another value than for another call with other fees";
        report.expect(holds, DATA, expected, || the_same(first));
    }
}

/// Data with a signature differs between tokens that are asked for at the same time.
fn tokens_at_once(views: &[View<'_>], _: &dyn Knowledge, report: &mut Report) {
    let mut known = BTreeSet::new();
    for (place, view) in views.iter().enumerate() {
        if let Some(data) = token_paymaster_data(view) {
            report.set_member(place);
            let holds = known.insert(data) || !may_have_signature(data);
            report.expect(holds, DATA, OF_ANOTHER_TOKEN, || the_same(data));
        }
    }
}

/// Where the data are in a result.
const DATA: &str = "/result/paymasterAndData";
/// What is expected of the data for one operation in two tokens.
const OF_ANOTHER_TOKEN: &str = "another value than for the same operation in another token";

fn the_same(data: &str) -> String {
    format!("the same: {}", shown(&Value::from(data)))
}

/// Whether hex data has room for a signature behind the address of the paymaster, and has no zeros in its place.
fn may_have_signature(data: &str) -> bool {
    /// The digits of the shortest signature: r and s.
    const SIGNATURE: usize = 2 * 64;
    data.len() > ZERO.len() + SIGNATURE
        && data
            .get(data.len() - SIGNATURE..)
            .is_some_and(|end| end.bytes().any(|digit| digit.is_ascii_hexdigit() && digit != b'0'))
}

/// Section 4.2, rule 7: the value goes into the user operation, so the contracts of the chain must accept it. Judged only when a chain is
/// given.
fn accepted(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    match view.on_chain {
        Some(Simulation::Accepted) => report.held(),
        Some(Simulation::Refused(_, reason)) => report.broken(
            "/result/paymasterAndData",
            "a value that the paymaster's contract accepts",
            format!("refused: {reason}"),
        ),
        Some(Simulation::WithinGas | Simulation::Unclear(_)) | None => {}
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn zeros_are_no_signature_whatever_stands_behind_them() {
        let has =
            |end: &str| super::may_have_signature(&format!("0x{}{}{end}", "ab".repeat(20), "00".repeat(65)));
        assert!(!has("") && !has(" ") && has("1b"));
    }
}
