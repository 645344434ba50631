//! Base requests: valid, in the target's dialect, and made of operations, tokens and accounts of the profile.

use crate::common::group::find_relation;
use crate::*;

const ROUNDS: usize = 150;
const DRAWS: [Draw; 3] = [Draw::Accepted, Draw::Sponsored, Draw::Refused];
const TOKENS: [Tokens; 3] = [Tokens::Any, Tokens::Supported, Tokens::SomeUnsupported];

fn operation(sender: &str) -> Map<String, Value> {
    let operation = json!({ "sender": sender, "nonce": 7, "callData": "0xaabb", "signature": "0x00" });
    operation.as_object().unwrap().clone()
}

fn profile() -> Profile {
    Profile { tokens: letters::tokens(), ..Profile::default() }
}

fn with_unlisted(unlisted: Support, profile: Profile) -> Context {
    let mut context = Context::new(profile);
    context.unlisted_tokens = unlisted;
    context
}

fn contexts() -> Vec<Context> {
    let listed = Operations {
        accepts: Accepts::Listed,
        sponsorable: vec![operation(&address("1")), operation(&address("2"))],
        refused: vec![operation(&address("3"))],
        refused_senders: vec![address("4")],
        ..Operations::default()
    };
    let any = Operations {
        accepts: Accepts::Any,
        refused_senders: vec![address("4")],
        max_call_data_bytes: Some(40),
        ..Operations::default()
    };
    let mut contexts = vec![Context::new(Profile::default()), Context::new(profile())];
    for operations in [listed, any] {
        for amounts in [Amounts::Decimal, Amounts::Hex, Amounts::Mixed] {
            contexts.push(Context::new(Profile {
                operations: operations.clone(),
                accounts: vec![SmartAccount { name: "SAFE".into(), version: "1.4.1".into() }],
                dialect: Pins {
                    jsonrpc_version: Some("2.0.0".into()),
                    sponsored_name: Some("SPONSORSHIP".into()),
                    fee_token_member: Some("tokenAddress".into()),
                    amount_notation: Some(amounts),
                    ..Pins::default()
                },
                ..profile()
            }));
        }
    }
    for unlisted in [Support::Unsupported, Support::Supported] {
        contexts.push(with_unlisted(unlisted, profile()));
        contexts.push(with_unlisted(unlisted, Profile::default()));
    }
    contexts
}

fn bases() -> Vec<Base> {
    let mut bases = Vec::new();
    for pair in kinds::ALL {
        for draw in DRAWS {
            bases.extend(TOKENS.map(|tokens| tokens.in_base(Base { draw, ..Base::accepted(pair) })));
        }
    }
    bases
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Tokens of a request and their place.
fn tokens(request: &Value) -> (Option<&str>, Vec<&str>) {
    let info = &request["params"][1]["tokenInfo"];
    let list = info["tokenList"].as_array().into_iter().flatten();
    (info["preferredToken"].as_str(), list.filter_map(Value::as_str).collect())
}

#[test]
fn every_base_is_valid_whatever_the_pair_the_draw_the_tokens_and_the_profile() {
    for context in contexts() {
        let mut source = Source::new(5, &context);
        for wanted in bases() {
            let validator = validator_for(wanted.pair.request_document).unwrap();
            for _ in 0..ROUNDS {
                let Some(request) = source.base(&wanted) else { break };
                assert!(validator.is_valid(&request), "{wanted:?} {request:#}");
                assert_eq!(keys(&request), ["jsonrpc", "id", "method", "params"]);
                assert_eq!(request["jsonrpc"], json!(context.dialect.jsonrpc_version));
                assert_eq!(request["id"], json!(1));
                assert_eq!(
                    keys(&request["params"][0]),
                    [
                        "sender",
                        "nonce",
                        "initCode",
                        "callData",
                        "callGasLimit",
                        "verificationGasLimit",
                        "preVerificationGas",
                        "maxFeePerGas",
                        "maxPriorityFeePerGas"
                    ]
                );
                let settings = keys(&request["params"][1]);
                let wanted_settings: &[&str] = match wanted.pair {
                    kinds::QUOTE_SPONSORED => &["mode", "calculateGasLimits", "sponsorshipInfo"],
                    kinds::SPONSOR_SPONSORED => {
                        &["mode", "calculateGasLimits", "expiryDuration", "sponsorshipInfo"]
                    }
                    _ => &["mode", "calculateGasLimits", "tokenInfo"],
                };
                assert_eq!(settings, wanted_settings);
            }
        }
    }
}

#[test]
fn a_base_is_missing_only_when_the_profile_has_no_operation_or_token_for_it() {
    let missing = |context: &Context, wanted: Base| Source::new(1, context).base(&wanted).is_none();
    let nothing = Context::default();
    for pair in kinds::ALL {
        assert!(missing(&nothing, Base { draw: Draw::Refused, ..Base::accepted(pair) }));
        assert_eq!(missing(&nothing, Base::accepted(pair)), Mode::of(pair) == Mode::Erc20);
        let others = Tokens::SomeUnsupported.in_base(Base::accepted(pair));
        assert!(!missing(&nothing, others), "{pair}");
    }
    let any = Tokens::Any.in_base(Base::accepted(kinds::QUOTE_ERC20));
    assert!(!missing(&nothing, any));
    for context in &contexts()[2..8] {
        for wanted in bases() {
            assert!(!missing(context, wanted), "{wanted:?}");
        }
    }
    let everything = with_unlisted(Support::Supported, Profile::default());
    assert!(!missing(&everything, Base::accepted(kinds::SPONSOR_ERC20)));
    // Where nothing is sponsored, whatever is accepted is refused.
    for (accepts, sponsors, known) in [
        (Accepts::Any, Sponsors::None, true),
        (Accepts::Any, Sponsors::Any, false),
        (Accepts::Listed, Sponsors::None, false),
        (Accepts::Unknown, Sponsors::None, false),
    ] {
        let context = Context::new(Profile {
            operations: Operations { accepts, sponsors: Some(sponsors), ..Operations::default() },
            ..Profile::default()
        });
        let refused = Base { draw: Draw::Refused, ..Base::accepted(kinds::SPONSOR_SPONSORED) };
        assert_eq!(!missing(&context, refused), known, "{accepts:?} {sponsors:?}");
    }
    let wrong = Context::new(Profile {
        dialect: Pins { jsonrpc_version: Some("3.0".into()), ..Pins::default() },
        ..Profile::default()
    });
    assert!(missing(&wrong, Base::accepted(kinds::QUOTE_SPONSORED)));
}

#[test]
fn drawn_operations_have_the_requested_expectation() {
    for context in &contexts()[2..8] {
        let mut source = Source::new(5, context);
        for wanted in bases() {
            for _ in 0..ROUNDS {
                let request = source.base(&wanted).unwrap();
                let params = &request["params"];
                let expectation = context.expectation(wanted.pair, &params[0], &params[1]);
                let kept = match (wanted.draw, Mode::of(wanted.pair)) {
                    (Draw::Accepted | Draw::Sponsored, _) => expectation.requires_result(),
                    // Where only listed operations are accepted, another one of a refused sender may get an error.
                    (Draw::Refused, Mode::Sponsored) => expectation.forbids_grant(),
                    (Draw::Refused, Mode::Erc20) => expectation == Expectation::Unknown,
                };
                assert!(kept, "{expectation:?} {wanted:?} {request:#}");
            }
        }
    }
}

#[test]
fn drawn_tokens_are_supported_as_requested() {
    for context in contexts() {
        let mut source = Source::new(5, &context);
        for wanted in bases().into_iter().filter(|wanted| Mode::of(wanted.pair) == Mode::Erc20) {
            for _ in 0..ROUNDS {
                let Some(request) = source.base(&wanted) else { break };
                let (preferred, list) = tokens(&request);
                let fee = &request["params"][1]["tokenInfo"][&context.dialect.fee_token_member];
                let named: Vec<&str> = list.into_iter().chain(preferred).chain(fee.as_str()).collect();
                assert!(!named.is_empty(), "{request:#}");
                let supported = |token: &&str| context.support(token) == Support::Supported;
                let quote = wanted.pair == kinds::QUOTE_ERC20;
                match Tokens::of(wanted) {
                    Tokens::Supported => assert!(named.iter().all(supported), "{request:#}"),
                    Tokens::Any if !quote => assert!(named.iter().all(supported), "{request:#}"),
                    Tokens::SomeUnsupported => assert!(!named.iter().all(supported), "{request:#}"),
                    Tokens::Any => {}
                }
                if quote && Tokens::of(wanted) != Tokens::Any {
                    let list = request["params"][1]["tokenInfo"]["tokenList"].as_array();
                    assert!(list.is_some_and(|list| !list.is_empty()), "{request:#}");
                    assert!(preferred.is_some());
                }
            }
        }
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn quotes_show_every_mix_of_tokens() {
    let context = Context::new(profile());
    let mut source = Source::new(5, &context);
    let wanted = Tokens::Any.in_base(Base::accepted(kinds::QUOTE_ERC20));
    let mut seen = BTreeSet::new();
    let (mut both, mut cases) = (0, [0, 0]);
    for _ in 0..600 {
        let request = source.base(&wanted).unwrap();
        let (preferred, list) = tokens(&request);
        let lower: Vec<String> = list.iter().map(|token| token.to_ascii_lowercase()).collect();
        let distinct: BTreeSet<&String> = lower.iter().collect();
        let supported = |token: &str| context.support(token) == Support::Supported;
        match preferred {
            None => seen.insert("only a list"),
            Some(_) if list.is_empty() => seen.insert("only a preferred one"),
            Some(token) if lower.contains(&token.to_ascii_lowercase()) => {
                seen.insert("preferred on the list")
            }
            Some(_) => seen.insert("preferred beside the list"),
        };
        if let Some(token) = preferred {
            seen.insert(if supported(token) { "preferred supported" } else { "preferred unsupported" });
        }
        if !list.is_empty() {
            let count = list.iter().filter(|token| supported(token)).count();
            seen.insert(match count {
                0 => "none on the list supported",
                all if all == list.len() => "all on the list supported",
                _ => "some on the list supported",
            });
            seen.insert(if list.len() == 1 { "one on the list" } else { "several on the list" });
        }
        if distinct.len() < list.len() {
            seen.insert("one repeated");
        }
        // Drawn tokens are distinct, except for deliberate repetitions.
        let known = lower.iter().filter(|token| supported(token));
        if known.clone().count() > known.collect::<BTreeSet<_>>().len() {
            seen.insert("a supported one repeated");
        }
        if let [first, .., last] = &lower[..]
            && !supported(first)
            && supported(last)
        {
            seen.insert("a supported one behind others");
        }
        both += usize::from(preferred.is_some() && !list.is_empty());
        for token in list.iter().chain(&preferred) {
            let digits = &token[2..];
            let upper = digits.bytes().any(|digit| digit.is_ascii_uppercase());
            let small = digits.bytes().any(|digit| digit.is_ascii_lowercase());
            seen.insert(match (upper, small) {
                (true, true) => "checksum case",
                _ => "lower case",
            });
            cases[usize::from(upper)] += 1;
            if context.support(token) == Support::Unknown {
                seen.insert("an unlisted one");
            }
        }
    }
    assert_eq!(seen.len(), 17, "{seen:#?}");
    assert!(both > 300, "rules 3 and 4 speak of both members: {both}");
    let [lower, checksummed] = cases;
    assert!(lower > checksummed / 2 && checksummed > lower / 2, "either case is common: {cases:?}");
}

#[test]
fn with_both_members_the_preferred_token_is_sometimes_in_the_list() {
    let context = Context::new(profile());
    for wanted in [Tokens::Supported, Tokens::SomeUnsupported] {
        let mut source = Source::new(5, &context);
        let base = wanted.in_base(Base::accepted(kinds::QUOTE_ERC20));
        let (mut on, mut first) = (0, BTreeSet::new());
        for _ in 0..ROUNDS {
            let request = source.base(&base).unwrap();
            let (preferred, list) = tokens(&request);
            on += usize::from(list.iter().any(|token| token.eq_ignore_ascii_case(preferred.unwrap())));
            first.insert(list[0].to_ascii_lowercase());
        }
        assert!(on > ROUNDS / 4 && on < ROUNDS * 9 / 10, "{wanted:?}: {on}");
        assert!(first.len() > 2, "{wanted:?}: {first:?}");
    }
}

#[test]
fn addresses_that_look_like_tokens_are_drawn_when_they_are_unsupported() {
    let wanted = Tokens::SomeUnsupported.in_base(Base::accepted(kinds::SPONSOR_ERC20));
    let drawn = |context: &Context| -> BTreeSet<String> {
        let mut source = Source::new(5, context);
        (0..600)
            .map(|_| source.base(&wanted).unwrap())
            .map(|request| {
                let info = &request["params"][1]["tokenInfo"][&context.dialect.fee_token_member];
                info.as_str().unwrap().to_ascii_lowercase()
            })
            .collect()
    };
    let natives = [address("0"), address("e")];
    let one_digit_off = |token: &&String| token[3..41] == "a".repeat(38) && *token != &address("a");
    let digits = |count: usize, digit: &str| digit.repeat(count);
    let others = [
        // The supported token with another digit in the middle, and with its first and last four digits alone.
        format!("0x{}7{}", digits(19, "a"), digits(20, "a")),
        format!("0x{0}{1}{0}", digits(4, "a"), digits(32, "7")),
        // USDC of Ethereum.
        "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48".to_owned(),
    ];
    let tokens = TokenLists {
        supported: vec![Token { address: address("a"), ..Token::default() }],
        unsupported: vec![address("f")],
        complete: false,
    };
    let of = |unlisted| with_unlisted(unlisted, Profile { tokens: tokens.clone(), ..Profile::default() });
    let seen = drawn(&of(Support::Unsupported));
    assert!(natives.iter().all(|native| seen.contains(native)), "{seen:?}");
    assert!(seen.iter().filter(one_digit_off).count() >= 2, "{seen:?}");
    assert!(others.iter().all(|other| seen.contains(other)), "{seen:?}");
    // When unlisted tokens may be supported, one of these may be a token.
    let seen = drawn(&of(Support::Unknown));
    assert!(!natives.iter().any(|native| seen.contains(native)), "{seen:?}");
    assert_eq!(seen.iter().filter(one_digit_off).count(), 0, "{seen:?}");
    assert!(!others.iter().any(|other| seen.contains(other)), "{seen:?}");
}

#[test]
fn the_placeholder_of_the_native_coin_is_sent_in_two_spellings_unless_it_may_be_supported() {
    let tokens = || TokenLists {
        supported: vec![Token { address: address("a"), ..Token::default() }],
        ..TokenLists::default()
    };
    for relation in ["unsupported-fee-token", "unsupported-in-quote"] {
        let sent = |unlisted, coin: &str| {
            let context = with_unlisted(unlisted, Profile { tokens: tokens(), ..Profile::default() });
            let relations = [find_relation(relation)];
            let mut members = Plan::of(&relations, &context, 5, 40).flat_map(|group| group.members);
            members.any(|member| String::from_utf8_lossy(&member.body).contains(coin))
        };
        for coin in [&*address("e"), "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"] {
            assert!(sent(Support::Unsupported, coin), "{relation} {coin}");
            assert!(!sent(Support::Unknown, coin), "{relation} {coin}");
        }
    }
}

#[test]
fn amounts_are_written_in_the_dialect() {
    for (amounts, nonce_hex, limit_hex) in
        [(Amounts::Decimal, false, false), (Amounts::Hex, true, true), (Amounts::Mixed, true, false)]
    {
        let mut context = Context::default();
        context.dialect.amount_notation = amounts;
        let mut source = Source::new(5, &context);
        for _ in 0..ROUNDS {
            let request = source.base(&Base::accepted(kinds::QUOTE_SPONSORED)).unwrap();
            for (member, value) in request["params"][0].as_object().unwrap() {
                let hex = match member.as_str() {
                    "nonce" | "maxFeePerGas" | "maxPriorityFeePerGas" => nonce_hex,
                    "callGasLimit" | "verificationGasLimit" | "preVerificationGas" => limit_hex,
                    _ => continue,
                };
                assert_eq!(value.as_str().unwrap().starts_with("0x"), hex, "{member} {value}");
            }
        }
    }
}

#[test]
fn senders_are_lower_case_or_checksummed_and_fees_lawful() {
    let context = Context::default();
    let mut source = Source::new(5, &context);
    let mut checksummed = 0;
    for _ in 0..ROUNDS {
        let request = source.base(&Base::accepted(kinds::SPONSOR_SPONSORED)).unwrap();
        let operation = &request["params"][0];
        let sender = operation["sender"].as_str().unwrap();
        if sender.bytes().any(|digit| digit.is_ascii_uppercase()) {
            checksummed += 1;
            alloy_primitives::Address::parse_checksummed(sender, None).unwrap();
        }
        let fee = |member: &str| operation[member].as_str().unwrap().parse::<u64>().unwrap();
        assert!(fee("maxPriorityFeePerGas") <= fee("maxFeePerGas"));
        assert!(request["params"][1]["expiryDuration"].as_u64().unwrap() >= 60);
    }
    assert!(checksummed > 0 && checksummed < ROUNDS);
}

#[test]
fn boundary_nonces_are_drawn_only_where_any_operation_is_accepted() {
    let largest = |context: &Context| {
        let mut source = Source::new(5, context);
        let nonce = |request: Value| request["params"][0]["nonce"].as_str().unwrap().len();
        (0..600).map(|_| nonce(source.base(&Base::accepted(kinds::QUOTE_SPONSORED)).unwrap())).max().unwrap()
    };
    assert_eq!(largest(&Context::default()), 3);
    let any = Operations { accepts: Accepts::Any, ..Operations::default() };
    assert_eq!(largest(&Context::new(Profile { operations: any, ..Profile::default() })), 78);
}

#[test]
fn the_same_seed_gives_the_same_bases() {
    let context = Context::new(profile());
    let draws = |seed| {
        let mut source = Source::new(seed, &context);
        bases().iter().map(|wanted| source.base(wanted)).collect::<Vec<_>>()
    };
    assert_eq!(draws(1), draws(1));
    assert_ne!(draws(1), draws(2));
}
