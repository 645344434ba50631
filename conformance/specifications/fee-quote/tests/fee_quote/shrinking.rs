//! What is simpler is valid, smaller, and still the same request in what counts.

use paymaster_engine::{generate::shrink::weight, json::number::amount};

use crate::*;

fn context() -> Context {
    Context::new(Profile {
        tokens: TokenLists {
            supported: ["a", "b", "c"]
                .map(|digit| Token { address: format!("0x{}", digit.repeat(40)), ..Token::default() })
                .into(),
            unsupported: Vec::new(),
            complete: false,
        },
        operations: Operations { accepts: Accepts::Any, ..Operations::default() },
        // Those that are drawn for a profile that names none.
        accounts: [("BICONOMY", "2.0.0"), ("INFINITISM", "1.0.0")]
            .map(|(name, version)| SmartAccount { name: name.to_owned(), version: version.to_owned() })
            .into(),
        ..Profile::default()
    })
}

fn bases(count: usize) -> Vec<(Kind, Value)> {
    let context = context();
    let mut source = Source::new(9, &context);
    let mut bases = Vec::new();
    for pair in kinds::ALL {
        for _ in 0..count {
            let wanted = Tokens::Any.in_base(Base::accepted(pair));
            bases.push((pair, source.base(&wanted).unwrap()));
        }
    }
    bases
}

/// The only other sender that a smaller request may have.
const PLAIN_SENDER: &str = "0x1000000000000000000000000000000000000001";

fn lower(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_ascii_lowercase()
}

#[test]
fn every_candidate_is_valid_and_smaller_and_keeps_the_fixed_members() {
    for (pair, base) in bases(12) {
        let validator = validator_for(pair.request_document).unwrap();
        let candidates = simpler(Some(pair.request_document), &base, SPECIFICATION.may_change);
        assert!(candidates.len() > 20, "{pair}: {}", candidates.len());
        let weights: Vec<usize> = candidates.iter().map(weight).collect();
        assert!(weights.is_sorted(), "the most drastic first");
        for candidate in &candidates {
            assert!(validator.is_valid(candidate), "{candidate:#}");
            assert!(weight(candidate) < weight(&base));
            for fixed in ["/jsonrpc", "/method", "/id", "/params/1/mode"] {
                assert_eq!(candidate.pointer(fixed), base.pointer(fixed), "{fixed}");
            }
            let sender = &candidate["params"][0]["sender"];
            let is_kept = lower(sender) == lower(&base["params"][0]["sender"]);
            assert!(is_kept || sender == PLAIN_SENDER, "{sender}");
            let (info, known) = (&candidate["params"][1]["tokenInfo"], &base["params"][1]["tokenInfo"]);
            for member in ["preferredToken", "feeTokenAddress"] {
                assert!(info[member].is_null() || lower(&info[member]) == lower(&known[member]));
            }
            for token in info["tokenList"].as_array().into_iter().flatten() {
                let listed = known["tokenList"].as_array().unwrap();
                assert!(listed.iter().any(|known| lower(known) == lower(token)), "{token}");
            }
            let account = "/params/1/sponsorshipInfo/smartAccountInfo";
            for member in ["name", "version"] {
                let pointer = format!("{account}/{member}");
                let now = candidate.pointer(&pointer);
                assert!(now.is_none() || now == base.pointer(&pointer));
            }
        }
    }
}

#[test]
fn candidates_of_generated_messages_are_valid_too() {
    for document in FEE_QUOTE.documents() {
        let strategy = strategy(document.name, &Overrides::new()).unwrap();
        let validator = validator_for(document.name).unwrap();
        let mut runner = runner(2);
        for _ in 0..15 {
            let value = strategy.new_tree(&mut runner).unwrap().current();
            for candidate in simpler(Some(document.name), &value, SPECIFICATION.may_change) {
                assert!(validator.is_valid(&candidate), "{} {candidate}", document.name);
                assert!(weight(&candidate) < weight(&value));
            }
        }
    }
}

#[test]
fn greedy_shrinking_ends_at_the_smallest_request_that_still_fails() {
    // A target that fails whenever the call data is longer than four bytes and two tokens are listed.
    let fails = |request: &Value| {
        let long = request["params"][0]["callData"].as_str().is_some_and(|data| data.len() > 10);
        long && request["params"][1]["tokenInfo"]["tokenList"].as_array().is_some_and(|list| list.len() > 1)
    };
    let mut shrunk_any = false;
    for (pair, base) in
        bases(20).into_iter().filter(|(pair, base)| *pair == kinds::QUOTE_ERC20 && fails(base))
    {
        let priority = if base["params"][0]["maxPriorityFeePerGas"] == "0" { "0" } else { "1" };
        let mut smallest = base;
        let mut steps = 0;
        while let Some(next) =
            simpler(Some(pair.request_document), &smallest, SPECIFICATION.may_change).into_iter().find(fails)
        {
            smallest = next;
            steps += 1;
            assert!(steps < 500);
        }
        let operation = &smallest["params"][0];
        let members = operation.as_object().unwrap();
        assert_eq!(members.len(), 5, "{smallest:#}");
        // Fees of zero may be refused for themselves.
        for (member, least) in [("nonce", "0"), ("maxFeePerGas", "1"), ("maxPriorityFeePerGas", priority)] {
            assert_eq!(operation[member], json!(least), "{smallest:#}");
        }
        assert_eq!(operation["callData"], json!("0x0000000000"), "{smallest:#}");
        let settings = &smallest["params"][1];
        assert_eq!(settings.as_object().unwrap().len(), 2, "{smallest:#}");
        assert_eq!(settings["tokenInfo"]["tokenList"].as_array().unwrap().len(), 2);
        assert!(settings["tokenInfo"]["preferredToken"].is_null());
        shrunk_any = true;
    }
    assert!(shrunk_any);
}

#[test]
fn an_accepted_request_with_an_account_is_accepted_when_shrunk() {
    let context = context();
    for (pair, base) in bases(5) {
        for candidate in simpler(Some(pair.request_document), &base, SPECIFICATION.may_change) {
            let info = &candidate["params"][1]["sponsorshipInfo"];
            let account = &info["smartAccountInfo"];
            let named = account["name"].is_string() && account["version"].is_string();
            let operation = &candidate["params"][0];
            let fee = |name: &str| amount(&operation[name]);
            let is_ordinary = fee("maxPriorityFeePerGas") <= fee("maxFeePerGas");
            let expected = if is_ordinary && (Mode::of(pair) == Mode::Erc20 || named) {
                Expectation::Accepted
            } else {
                Expectation::Unknown
            };
            let params = &candidate["params"];
            assert_eq!(context.expectation(pair, &params[0], &params[1]), expected);
        }
    }
}

#[test]
fn without_a_schema_candidates_are_only_smaller() {
    let base = json!({
        "jsonrpc": "2.0", "id": 1, "method": "eth_chainId",
        "params": [{ "sender": "0xAB" }, { "mode": "x" }, [1, 2]]
    });
    let candidates = simpler(None, &base, SPECIFICATION.may_change);
    assert!(!candidates.is_empty());
    for candidate in candidates {
        assert!(weight(&candidate) < weight(&base));
        for kept in ["jsonrpc", "id", "method"] {
            assert_eq!(candidate[kept], base[kept]);
        }
        assert_eq!(candidate["params"][1], base["params"][1]);
        assert_eq!(lower(&candidate["params"][0]["sender"]), "0xab");
    }
    assert!(simpler(None, &json!(null), SPECIFICATION.may_change).is_empty());
}

#[test]
fn proptest_shrinks_by_the_same_steps() {
    let strategy = strategy("user-operation", &Overrides::new().always("/initCode")).unwrap();
    let outcome = runner(4).run(&strategy, |operation| {
        let short = operation["callData"].as_str().is_some_and(|data| data.len() < 30);
        if short { Ok(()) } else { Err(proptest::test_runner::TestCaseError::fail("long")) }
    });
    let Err(TestError::Fail(_, smallest)) = outcome else { panic!("{outcome:?}") };
    assert!(validator_for("user-operation").unwrap().is_valid(&smallest));
    assert_eq!(smallest.as_object().unwrap().len(), 5, "{smallest}");
    assert_eq!(smallest["callData"], json!(format!("0x{}", "0".repeat(28))), "{smallest}");
}

/// A snapshot that shows the effect of a change of shrinking: one candidate a line, by its difference.
#[test]
fn candidates_for_typed_requests_match_their_snapshots() {
    let mut quote = sample::sponsor_request("pm_getFeeQuoteOrData");
    let tokens: Vec<String> = ["a", "B", "c", "d", "e"].map(|digit| format!("0x{}", digit.repeat(40))).into();
    quote["params"][1] = json!({
        "mode": "ERC20",
        "calculateGasLimits": true,
        "tokenInfo": { "preferredToken": tokens[1], "tokenList": tokens },
    });
    let mut sponsor = sample::sponsor_request("pm_sponsorUserOperation");
    sponsor["params"][0]["callData"] = json!("0xb61d27f6000000");
    sponsor["params"][0]["nonce"] = json!("0x1f");
    sponsor["params"][1]["sponsorshipInfo"]["webhookData"] =
        json!({ "a": { "b": [1, 2.5, null, true, "text", {}] }, "c/d": "x" });
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    for (document, base) in [("quote-erc20-request", quote), ("sponsor-sponsored-request", sponsor)] {
        let lines: Vec<String> = simpler(Some(document), &base, SPECIFICATION.may_change)
            .iter()
            .map(|candidate| {
                let mut differences = Vec::new();
                compare("", &base, candidate, &mut differences);
                differences.join("; ")
            })
            .collect();
        settings.bind(|| insta::assert_snapshot!(document, lines.join("\n")));
    }
}

/// Where `now` differs from `was`.
fn compare(pointer: &str, was: &Value, now: &Value, differences: &mut Vec<String>) {
    match (was, now) {
        (Value::Object(was), Value::Object(now)) if !now.is_empty() || was.is_empty() => {
            for (name, member) in was {
                let pointer = format!("{pointer}/{name}");
                match now.get(name) {
                    None => differences.push(format!("{pointer} gone")),
                    Some(now) => compare(&pointer, member, now, differences),
                }
            }
        }
        (Value::Array(was), Value::Array(now)) if was.len() == now.len() => {
            for (place, (was, now)) in was.iter().zip(now).enumerate() {
                compare(&format!("{pointer}/{place}"), was, now, differences);
            }
        }
        _ if was == now => {}
        _ => differences.push(format!("{pointer} {now}")),
    }
}

#[test]
fn only_the_first_and_last_item_of_a_long_list_are_removed_one_by_one() {
    for (length, expected) in [(2_u64, 2), (16, 16), (17, 2), (40, 2)] {
        let list: Value = (100..100 + length).map(Value::from).collect();
        let one_less: Vec<Value> = simpler(None, &list, SPECIFICATION.may_change)
            .into_iter()
            .filter(|candidate| candidate.as_array().is_some_and(|items| items.len() as u64 == length - 1))
            .collect();
        assert_eq!(one_less.len(), expected, "{length}");
        for candidate in one_less.iter().filter(|_| expected == 2) {
            let items = candidate.as_array().unwrap();
            let ends = (items[0] == 100, items[items.len() - 1] == 100 + length - 1);
            assert!(ends == (true, false) || ends == (false, true), "{candidate}");
        }
    }
}
