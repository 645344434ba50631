//! Decisions: tokens, sponsorship, required errors (sections 4 and 7).

use super::*;

#[test]
fn quoted_and_unsupported_tokens_are_those_of_the_request() {
    let usdc = fee_quote(USDC, "USDC", 6);
    let dai = fee_quote(DAI, "DAI", 18);
    let answer = |tokens: &[&String], unsupported: Option<&[&str]>| {
        result(&quotes(&tokens.iter().map(|quote| (*quote).clone()).collect::<Vec<_>>(), unsupported))
    };
    assert_eq!(broken(&quote(USDC, &[USDC, DAI]), &answer(&[&usdc], Some(&[]))), ["quote.tokens-quoted"]);
    assert_eq!(broken(&quote(USDC, &[USDC]), &answer(&[&usdc, &dai], Some(&[]))), ["quote.only-requested"]);
    assert_eq!(broken(&quote(NONE, &[USDC]), &answer(&[&usdc], None)), ["quote.unsupported-listed"]);
    assert_eq!(broken(&quote(NONE, &[USDC]), &answer(&[&usdc], Some(&[]))), ["quote.unsupported-listed"]);
    assert_eq!(
        broken(&quote(NONE, &[USDC]), &answer(&[&usdc], Some(&[NONE, DAI]))),
        ["quote.unsupported-only-unsupported"]
    );
    assert_eq!(
        broken(&quote(USDC, &[USDC, NONE]), &answer(&[&usdc], Some(&[NONE, USDC]))),
        ["quote.unsupported-only-unsupported"]
    );
}

#[test]
fn a_target_must_keep_its_reading_of_which_tokens_are_quoted() {
    let requested = |reading, quoted: &[&str]| {
        let mut context = context();
        context.dialect.quoted_tokens = reading;
        let quoted: Vec<String> = quoted.iter().map(|token| quote_of(token)).collect();
        broken_in(&context, &quote(USDC, &[DAI]), Ok(response(&result(&quotes(&quoted, Some(&[]))))))
    };
    let broken = ["quote.tokens-quoted"];
    for (reading, lawful) in [
        (QuotedTokens::Union, &[USDC, DAI][..]),
        (QuotedTokens::List, &[DAI]),
        (QuotedTokens::Preferred, &[USDC]),
    ] {
        for quoted in [&[USDC, DAI][..], &[DAI], &[USDC], &[]] {
            let expected = if quoted == lawful { &[][..] } else { &broken };
            assert_eq!(requested(reading, quoted), expected, "{reading:?} {quoted:?}");
        }
    }
    // A preferred token that is not supported leaves nothing to hold that reading to.
    let mut context = context();
    context.dialect.quoted_tokens = QuotedTokens::Preferred;
    let answer = result(&quotes(&[quote_of(DAI)], Some(&[NONE])));
    assert_eq!(broken_in(&context, &quote(NONE, &[DAI]), Ok(response(&answer))), [""; 0]);
}

/// Sections 2.5 and 4.1 are about both members. One alone, or an empty list, must meet fewer rules.
#[test]
fn without_listed_tokens_only_the_preferred_token_is_required() {
    let answer = |tokens: &[&str], unsupported: Option<&[&str]>| {
        let quoted: Vec<String> = tokens.iter().map(|token| quote_of(token)).collect();
        result(&quotes(&quoted, unsupported))
    };
    let only_preferred = quote(USDC, &[]).replace(",\"tokenList\":[]", "");
    assert_eq!(broken(&only_preferred, &answer(&[], None)), ["quote.tokens-quoted"]);
    fine(&only_preferred, &answer(&[USDC, DAI], None));
    fine(&quote(USDC, &[]), &answer(&[USDC, DAI], Some(&[])));
    let only_list = quote(USDC, &[DAI, NONE]).replace(&format!("\"preferredToken\":\"{USDC}\","), "");
    fine(&only_list, &answer(&[DAI], None));
    assert_eq!(broken(&only_list, &answer(&[USDC, DAI], None)), ["quote.only-requested"]);
    // An empty list leaves the preferred token, unless the listed tokens alone are quoted.
    for (reading, expected) in
        [(QuotedTokens::List, &[][..]), (QuotedTokens::Preferred, &["quote.tokens-quoted"])]
    {
        let mut context = context();
        context.dialect.quoted_tokens = reading;
        let requested = |body: &str| broken_in(&context, &quote(USDC, &[]), Ok(response(body)));
        assert_eq!(requested(&answer(&[], Some(&[]))), expected, "{reading:?}");
        assert_eq!(requested(&answer(&[USDC], Some(&[]))), [""; 0], "{reading:?}");
    }
}

/// Section 4.1, rule 3, in every reading of which tokens are quoted.
#[test]
fn only_a_target_that_quotes_the_list_alone_may_leave_the_preferred_token_unlisted() {
    let unlisted = ["quote.unsupported-listed"];
    for (reading, beside_list, in_list) in [
        (QuotedTokens::Union, &unlisted[..], &unlisted[..]),
        (QuotedTokens::List, &[], &unlisted),
        (QuotedTokens::Preferred, &unlisted, &unlisted),
    ] {
        let mut context = context();
        context.dialect.quoted_tokens = reading;
        let answer = result(&quotes(&[quote_of(USDC)], Some(&[])));
        let requested = |request: &str| broken_in(&context, request, Ok(response(&answer)));
        assert_eq!(requested(&quote(NONE, &[USDC])), beside_list, "{reading:?}");
        assert_eq!(requested(&quote(USDC, &[NONE, USDC])), in_list, "{reading:?}");
    }
}

#[test]
fn each_reason_not_to_list_a_token_is_enough() {
    const UNHEARD: &str = "0x2222222222222222222222222222222222222222";
    let wrong = ["quote.unsupported-only-unsupported"];
    // Not requested.
    let answer = result(&quotes(&[quote_of(USDC)], Some(&[UNHEARD])));
    assert_eq!(broken(&quote(USDC, &[USDC]), &answer), wrong);
    // Supported.
    let answer = result(&quotes(&[quote_of(USDC)], Some(&[DAI])));
    assert_eq!(broken(&quote(USDC, &[USDC, DAI]), &answer), ["quote.tokens-quoted", wrong[0]]);
    // Quoted by the same answer, whatever is known of it.
    let quote_of_unheard = fee_quote(UNHEARD, "ANY", 6);
    let answer = result(&quotes(&[quote_of_unheard], Some(&[UNHEARD])));
    let requested = broken_in(&context(), &quote(UNHEARD, &[UNHEARD]), Ok(response(&answer)));
    assert_eq!(requested, wrong);
}

#[test]
fn the_error_code_of_an_unknown_method_breaks_the_endpoint_rule() {
    // What JSON-RPC recommends for the code warns beside it.
    const WARNS: &str = "json-rpc.reserved-codes";
    let not_found = ERROR.replace("-32001", "-32601");
    for request in [sponsor("1"), sponsor_in(USDC), quote(USDC, &[USDC])] {
        assert_eq!(broken(&request, &not_found), ["endpoint.both-methods", WARNS], "{request}");
    }
    // The error for a token that is not supported may have any code.
    assert_eq!(broken(&sponsor_in(NONE), &not_found), [WARNS]);
}

#[test]
fn a_quote_is_required_when_nothing_in_it_may_be_refused() {
    let in_sponsored_mode = sponsor("1")
        .replace("pm_sponsorUserOperation", "pm_getFeeQuoteOrData")
        .replace("\"expiryDuration\":300,", "");
    assert_eq!(broken(&in_sponsored_mode, ERROR), ["quote.sponsored-result"]);
    assert_eq!(broken(&quote(USDC, &[DAI]), ERROR), ["quote.erc20-result"]);
    let only_preferred = quote(USDC, &[]).replace(",\"tokenList\":[]", "");
    let only_list = quote(USDC, &[DAI]).replace(&format!("\"preferredToken\":\"{USDC}\","), "");
    for lawful in [only_preferred, only_list, quote(USDC, &[])] {
        fine(&lawful, ERROR);
    }
}

fn quote_of(token: &str) -> String {
    if token == USDC { fee_quote(USDC, "USDC", 6) } else { fee_quote(DAI, "DAI", 18) }
}

#[test]
fn symbol_and_decimals_of_a_token_stay_the_same() {
    let mut unnamed = context();
    for token in &mut unnamed.profile.tokens.supported {
        (token.symbol, token.decimals) = (None, None);
    }
    let answered = |context: &Context, symbol, decimal| {
        let answer = result(&quotes(&[fee_quote(USDC, symbol, decimal)], Some(&[])));
        broken_in(context, &quote(USDC, &[USDC]), Ok(response(&answer)))
    };
    assert_eq!(answered(&unnamed, "ANY", 7), [""; 0], "nothing is known of it");
    unnamed.facts.note(&Token {
        address: USDC.to_uppercase().replace("0X", "0x"),
        symbol: Some("USDC".to_owned()),
        decimals: Some(6),
    });
    assert_eq!(answered(&unnamed, "USDC", 6), [""; 0]);
    assert_eq!(answered(&unnamed, "DAI", 6), ["fee-quote.symbol-of-token"]);
    assert_eq!(answered(&unnamed, "USDC", 18), ["fee-quote.decimal-of-token"]);
    // The profile takes precedence over the target's quotes.
    let mut named = context();
    named.facts.note(&Token {
        address: USDC.to_owned(),
        symbol: Some("WRONG".to_owned()),
        decimals: Some(18),
    });
    assert_eq!(answered(&named, "USDC", 6), [""; 0]);
    assert_eq!(answered(&named, "WRONG", 6), ["fee-quote.symbol-of-token"]);
}

#[test]
fn an_address_with_too_many_or_too_few_digits_is_not_a_supported_token() {
    let longer = |token: &str| sponsor_in(&format!("{token}00"));
    assert_eq!(broken(&longer(USDC), &result(TOKEN_SPONSORED)), ["error.token-unsupported"]);
    fine(&longer(USDC), ERROR);
    for piece in [&USDC[..40], "0x27"] {
        assert_eq!(
            broken(&sponsor_in(piece), &result(TOKEN_SPONSORED)),
            ["error.token-unsupported"],
            "{piece}"
        );
        fine(&sponsor_in(piece), ERROR);
    }
    // Where any token is supported, a short address may be one.
    let mut any = context();
    any.unlisted_tokens = Support::Supported;
    let answer = Ok(response(&result(TOKEN_SPONSORED)));
    assert_eq!(broken_in(&any, &sponsor_in(&USDC[..40]), answer), [""; 0]);
    // An address that begins with zeros may be written without them.
    let mut zeros = context();
    zeros.learn_unlisted_tokens(Support::Unsupported);
    zeros.learn_token(&format!("0x{:0>40}", "a1"), Support::Supported);
    let answer = Ok(response(&result(TOKEN_SPONSORED)));
    assert_eq!(broken_in(&zeros, &sponsor_in("0xa1"), answer), [""; 0]);
    // What is written otherwise may be read as an address all the same.
    for lenient in [format!("0x{}{}", "0".repeat(24), &USDC[2..]), format!("{USDC} "), USDC[2..].to_owned()] {
        fine(&sponsor_in(&lenient), &result(TOKEN_SPONSORED));
        fine(&sponsor_in(&lenient), ERROR);
    }
}

#[test]
fn decisions_must_match_the_profile() {
    let served = result(SPONSORED);
    assert_eq!(
        broken(&sponsor("1"), &served.replace("0xabcdef", "0x")),
        ["sponsor.sponsorable-is-sponsored"]
    );
    assert_eq!(broken(&refused("1"), &served), ["sponsor.refused-gets-0x"]);
    assert_eq!(broken(&refused("1"), ERROR), ["error.refusal-is-none"]);
    assert_eq!(broken(&sponsor("1"), ERROR), ["sponsor.sponsored-result"]);
    assert_eq!(broken(&sponsor_in(USDC), ERROR), ["sponsor.erc20-result"]);
    assert_eq!(broken(&quote(USDC, &[USDC]), ERROR), ["quote.erc20-result"]);
    assert_eq!(broken(&sponsor_in(NONE), &result(TOKEN_SPONSORED)), ["error.token-unsupported"]);
    let absent = request("1", "pm_sponsorUserOperation", r#"{"mode":"ERC20","tokenInfo":{}}"#);
    assert_eq!(broken(&absent, &result(TOKEN_SPONSORED)), ["error.token-absent"]);
    for nothing in ["null", "\"\""] {
        let absent = absent.replace("{}", &format!("{{\"feeTokenAddress\":{nothing}}}"));
        assert_eq!(broken(&absent, &result(TOKEN_SPONSORED)), ["error.token-absent"], "{absent}");
        fine(&absent, ERROR);
    }
    for nothing in ["7", "false", "[]", "{\"a\":1}"] {
        let malformed = absent.replace("{}", &format!("{{\"feeTokenAddress\":{nothing}}}"));
        assert_eq!(broken(&malformed, &result(TOKEN_SPONSORED)), ["error.token-absent"]);
    }
    assert_eq!(broken(&sponsor_in("USDC"), &result(TOKEN_SPONSORED)), ["error.token-unsupported"]);
}

#[test]
fn a_listed_operation_needs_a_result_only_exactly_as_listed() {
    let operation: Value = serde_json::from_str(&OPERATION.replace("\"7\"", "\"0x7\"")).unwrap();
    // A member that is not listed is written in the dialect of the target.
    let mut listed = operation.as_object().unwrap().clone();
    listed.remove("callGasLimit");
    let mut context = context();
    context.profile.operations =
        Operations { accepts: Accepts::Listed, sponsorable: vec![listed], ..Operations::default() };
    let as_listed = sponsor("1").replace("\"nonce\":\"7\"", "\"nonce\":\"0x7\"");
    assert_eq!(broken_in(&context, &as_listed, Ok(response(ERROR))), ["sponsor.sponsored-result"]);
    let in_another_notation =
        [sponsor("1"), as_listed.replace("\"0x7\"", "7"), as_listed.replace("\"50000\"", "50000")];
    for request in in_another_notation {
        assert_eq!(broken_in(&context, &request, Ok(response(ERROR))), [""; 0], "{request}");
    }
}

#[test]
fn a_sponsor_request_without_mode_gets_no_result() {
    let without = |request: String, mode: &str| {
        let changed = request.replace(&format!("\"mode\":\"{mode}\","), "");
        assert_ne!(changed, request);
        changed
    };
    let sponsoring = without(sponsor("1"), "SPONSORED");
    let rule = "request.mode-mandatory";
    assert_eq!(broken(&sponsoring, &result(SPONSORED)), [rule]);
    assert_eq!(broken(&without(sponsor_in(USDC), "ERC20"), &result(TOKEN_SPONSORED)), [rule]);
    fine(&sponsoring, &ERROR.replace("-32001", "-32602"));
    // A quote may do without, and another value is another mistake.
    fine(&without(quote(USDC, &[USDC]), "ERC20"), &result(&quotes(&[], Some(&[]))));
    fine(&sponsor("1").replace("\"SPONSORED\"", "\"FREE\""), &result(SPONSORED));
}

#[test]
fn what_is_named_in_capitals_is_judged_where_the_target_takes_capitals() {
    let in_capitals = |address: &str| format!("0x{}", address[2..].to_uppercase());
    let (usdc, dai) = (in_capitals(USDC), in_capitals(DAI));
    let wrong = result(&quotes(&[quote_of(DAI)], Some(&[&usdc])));
    let listed = quote(DAI, &[&usdc]);
    let judged = |context: &Context| broken_in(context, &listed, Ok(response(&wrong)));
    let mut context = context();
    assert_eq!(judged(&context), [""; 0], "a strict parser knows no such token");
    let learn = |context: &mut Context, request: &str, quoted: &[String]| {
        let ParsedRequest::Call(call) = ParsedRequest::of(request.as_bytes(), &SPECIFICATION) else {
            panic!("a call: {request}");
        };
        let result = serde_json::from_str(&quotes(quoted, None)).expect("a result");
        context.served_capitals.learn(&call, &result);
    };
    learn(&mut context, &listed, &[quote_of(DAI)]);
    assert_eq!(judged(&context), [""; 0], "it answers, and knows none");
    learn(&mut context, &quote(&dai, &[USDC]), &[quote_of(DAI), quote_of(USDC)]);
    assert_eq!(
        judged(&context),
        ["quote.tokens-quoted", "quote.unsupported-only-unsupported"],
        "it knows a preferred token in capitals"
    );
    // Another mix of letters is the checksum of no address.
    let mixed = quote(DAI, &[&USDC.replace("2791bca1", "2791Bca1")]);
    assert_eq!(broken_in(&context, &mixed, Ok(response(&wrong))), [""; 0]);
}
