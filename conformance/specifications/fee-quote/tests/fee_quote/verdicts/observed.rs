//! What observers record: the fingerprint has what the answers of a target show, and nothing else.

use super::*;

/// A request in a group: its role, its label, its body, and the body of its answer.
type Member<'a> = (Role, &'a str, String, String);

fn watch_in(context: &Context, clause: &str, requested: &[Member<'_>]) -> Vec<String> {
    let exchanges: Vec<Exchange> = requested
        .iter()
        .map(|(_, _, request, answer)| {
            Exchange::new(Bytes::from(request.clone()), Ok(response(answer)), Duration::ZERO)
        })
        .collect();
    let views: Vec<View<'_>> = requested
        .iter()
        .zip(&exchanges)
        .map(|((role, label, ..), exchange)| View::new(*role, label, exchange, context))
        .collect();
    let mut observers = OBSERVERS.iter().filter(|observer| observer.clause == clause);
    let observer = observers.next().expect("the clause has an observer");
    assert!(observers.next().is_none(), "{clause} is watched once");
    let mut seen = Vec::new();
    observer.see(&views, context, &mut seen);
    seen
}

fn watch(clause: &str, requested: &[Member<'_>]) -> Vec<String> {
    watch_in(&known(), clause, requested)
}

fn known() -> Context {
    let mut context = context();
    context.unlisted_tokens = Support::Unsupported;
    context
}

fn call(request: String, answer: impl Into<String>) -> Member<'static> {
    (Role::Call, "", request, answer.into())
}

/// A quote for these tokens, with these listed as unsupported.
fn quoting(tokens: &[&str], unsupported: Option<&[&str]>) -> String {
    let each: Vec<String> = tokens.iter().map(|token| fee_quote(token, "T", 6)).collect();
    result(&quotes(&each, unsupported))
}

const NOTHING: [&str; 0] = [];
const OTHER_SHAPE: &str = r#"{"jsonrpc":"2.0","id":1}"#;

#[test]
fn a_probe_counts_only_when_its_baseline_is_served() {
    let served = result(SPONSORED);
    let clause = "dialect.jsonrpc-version";
    let requested = |baseline: &str, first: &str, second: &str| {
        watch(
            clause,
            &[
                (Role::Baseline, "", sponsor("1"), baseline.to_owned()),
                (Role::Probe, "jsonrpc 2.0", sponsor("1"), first.to_owned()),
                (Role::Probe, "jsonrpc 2.0.0", sponsor("1"), second.to_owned()),
                (Role::Probe, "mode SPONSORED", sponsor("1"), served.clone()),
                (Role::Call, "jsonrpc 2.0", sponsor("1"), served.clone()),
            ],
        )
    };
    assert_eq!(requested(&served, &served, ERROR), ["jsonrpc 2.0: served", "jsonrpc 2.0.0: refused"]);
    assert_eq!(requested(&served, OTHER_SHAPE, &served), ["jsonrpc 2.0.0: served"]);
    assert_eq!(requested(ERROR, &served, &served), NOTHING);
    let without_baseline = [(Role::Probe, "jsonrpc 2.0", sponsor("1"), served.clone())];
    assert_eq!(watch(clause, &without_baseline), NOTHING);
}

#[test]
fn each_probe_counts_for_its_clause() {
    let labels = [
        ("dialect.jsonrpc-version", "jsonrpc 2.0.0"),
        ("dialect.sponsored-name", "mode SPONSORSHIP"),
        ("dialect.fee-token-member", "tokenAddress"),
        ("dialect.amount-notation", "hex amounts"),
        ("behaviour.empty-token-list", "an empty tokenList"),
        ("behaviour.extra-members", "with signature and paymasterAndData"),
        ("behaviour.sponsored-required-fields", "without initCode"),
        ("behaviour.quote-without-mode", "no mode"),
    ];
    let served = result(SPONSORED);
    let mut requested = vec![(Role::Baseline, "", sponsor("1"), served.clone())];
    requested.extend(labels.map(|(_, label)| (Role::Probe, label, sponsor("1"), served.clone())));
    for (clause, label) in labels {
        assert_eq!(watch(clause, &requested), [format!("{label}: served")]);
    }
}

#[test]
fn the_spelling_of_the_mode_member() {
    for (members, answered) in [
        (r#""MODE":"SPONSORED","mode":"SPONSORED""#, "MODE and mode"),
        (r#""MODE":"SPONSORED""#, "MODE"),
        (r#""mode":"SPONSORED""#, "mode"),
        (r#""Mode":"SPONSORED""#, "neither"),
    ] {
        let answer = result(&format!("{{{members}}}"));
        assert_eq!(watch("dialect.mode-member", &[call(sponsor("1"), answer)]), [answered]);
    }
    assert_eq!(watch("dialect.mode-member", &[call(sponsor("1"), ERROR)]), NOTHING);
}

#[test]
fn which_tokens_are_quoted_shows_when_the_preferred_one_is_not_listed() {
    let clause = "dialect.quoted-tokens";
    let requested =
        |quoted: &[&str]| watch(clause, &[call(quote(USDC, &[DAI, NONE]), quoting(quoted, None))]);
    assert_eq!(requested(&[USDC, DAI]), ["the preferred token and the listed ones"]);
    assert_eq!(requested(&[&USDC.to_uppercase().replace("0X", "0x")]), ["the preferred token alone"]);
    assert_eq!(requested(&[DAI]), ["the listed tokens alone"]);
    assert_eq!(requested(&[]), ["neither"]);
    // One on the list, one that is not supported, and a list of those: nothing shows.
    let all = quoting(&[USDC, DAI], None);
    for request in [
        quote(USDC, &[DAI, USDC]),
        quote(&USDC.replace("2791bca1", "2791Bca1"), &[DAI, USDC]),
        quote(NONE, &[DAI]),
        quote(USDC, &[NONE]),
        sponsor_in(USDC),
    ] {
        assert_eq!(watch(clause, &[call(request, all.clone())]), NOTHING);
    }
}

#[test]
fn the_unit_of_valid_until() {
    let of = |until: &str| {
        let answer = quoting(&[USDC], None).replace("1686847490", until);
        watch("behaviour.valid-until-unit", &[call(quote(USDC, &[USDC]), answer)])
    };
    for (until, unit) in [
        ("0", "zero"),
        ("1", "neither: a small number"),
        ("999999999", "neither: a small number"),
        ("1000000000", "seconds"),
        ("99999999999", "seconds"),
        ("100000000000", "milliseconds"),
        ("1686847490123", "milliseconds"),
    ] {
        assert_eq!(of(until), [unit], "{until}");
    }
    assert_eq!(of("\"1686847490\""), NOTHING, "for the row of the table");
}

#[test]
fn unsupported_tokens_when_there_are_none() {
    let clause = "behaviour.unsupported-when-none";
    let request = quote(USDC, &[USDC]);
    let of = |unsupported| watch(clause, &[call(request.clone(), quoting(&[USDC], unsupported))]);
    assert_eq!(of(None), ["absent"]);
    assert_eq!(of(Some(&[])), ["empty"]);
    assert_eq!(of(Some(&[NONE])), ["something else"]);
    let with_others = quote(USDC, &[NONE]);
    assert_eq!(watch(clause, &[call(with_others, quoting(&[USDC], None))]), NOTHING);
    let naming_none = quote(USDC, &[USDC])
        .replace(&format!("\"preferredToken\":\"{USDC}\",\"tokenList\":[\"{USDC}\"]"), "");
    assert_eq!(watch(clause, &[call(naming_none, quoting(&[USDC], None))]), NOTHING);
    assert_eq!(watch(clause, &[call(sponsor("1"), result(SPONSORED))]), NOTHING);
}

#[test]
fn unsupported_tokens_where_one_member_is_absent() {
    let clause = "behaviour.unsupported-without-both";
    let only_list = quote(USDC, &[USDC, NONE]).replace(&format!("\"preferredToken\":\"{USDC}\","), "");
    let of = |unsupported| watch(clause, &[call(only_list.clone(), quoting(&[USDC], unsupported))]);
    assert_eq!(of(Some(&[NONE])), ["listed"]);
    assert_eq!(of(Some(&[])), ["not listed"]);
    assert_eq!(of(None), ["not listed"]);
    for other in [quote(USDC, &[USDC, NONE]), only_list.replace(NONE, DAI)] {
        assert_eq!(watch(clause, &[call(other, quoting(&[USDC], None))]), NOTHING);
    }
}

#[test]
fn the_letter_case_of_token_addresses() {
    let clause = "behaviour.token-letter-case";
    let of = |requested: &str, answered: &str| {
        watch(clause, &[call(quote(requested, &[DAI]), quoting(&[answered], None))])
    };
    let spelled = USDC.replace("2791bca1", "2791Bca1");
    assert_ne!(spelled, USDC);
    assert_eq!(of(&spelled, &spelled), ["as in the request"]);
    assert_eq!(of(&spelled, USDC), ["in a spelling of its own"]);
    assert_eq!(of(USDC, &spelled), NOTHING, "a lower-case request shows nothing");
    let on_the_list = quote(DAI, &[&spelled]);
    assert_eq!(watch(clause, &[call(on_the_list, quoting(&[DAI, &spelled], None))]), ["as in the request"]);
}

#[test]
fn quotes_for_repeated_tokens() {
    let request = quote(USDC, &[USDC, USDC]);
    let requested = |role: Role, label, tokens: &[&str]| {
        watch("behaviour.repeated-tokens", &[(role, label, request.clone(), quoting(tokens, None))])
    };
    let label = "a token asked for twice";
    assert_eq!(requested(Role::Probe, label, &[USDC]), ["quoted 1 times when asked for three times"]);
    assert_eq!(requested(Role::Probe, label, &[USDC, USDC]), ["quoted 2 times when asked for three times"]);
    assert_eq!(requested(Role::Probe, "no mode", &[USDC]), NOTHING);
    assert_eq!(requested(Role::Call, label, &[USDC]), NOTHING);
}

#[test]
fn codes_and_statuses_of_errors() {
    let codes = |request: String| watch("behaviour.error-codes", &[call(request, ERROR)]);
    assert_eq!(codes(sponsor_in(NONE)), ["unsupported token: -32001"]);
    assert_eq!(codes(sponsor_in(USDC)), NOTHING);
    let absent = sponsor_in(USDC).replace(&format!("\"feeTokenAddress\":\"{USDC}\""), "");
    assert_eq!(codes(absent), ["no token: -32001"]);
    assert_eq!(watch("behaviour.error-codes", &[call(sponsor_in(NONE), result(TOKEN_SPONSORED))]), NOTHING);
    let invalid = sponsor_in(NONE).replace("\"sender\"", "\"from\"");
    assert_eq!(codes(invalid), NOTHING, "it is about more than the token");
    assert_eq!(
        watch("behaviour.error-status", &[call(sponsor("1"), ERROR), call(sponsor("1"), result(SPONSORED))]),
        ["HTTP 200"]
    );
}

#[test]
fn gas_limits_beside_those_of_the_request() {
    let clause = "behaviour.gas-limits-returned";
    let of = |request: String, answer: &str| watch(clause, &[call(request, result(answer))]);
    assert_eq!(of(sponsor("1"), SPONSORED), ["calculateGasLimits true: those of the request"]);
    let other = SPONSORED.replace("\"callGasLimit\":50000", "\"callGasLimit\":50001");
    assert_eq!(of(sponsor("1"), &other), ["calculateGasLimits true: others"]);
    let fixed = sponsor("1").replace("\"calculateGasLimits\":true", "\"calculateGasLimits\":false");
    assert_eq!(of(fixed, SPONSORED), ["calculateGasLimits false: those of the request"]);
    let without = sponsor_in(USDC).replace("\"callGasLimit\":\"50000\",", "");
    assert_eq!(of(without, TOKEN_SPONSORED), NOTHING);
    assert_eq!(watch(clause, &[call(quote(USDC, &[USDC]), quoting(&[USDC], None))]), NOTHING);
}

#[test]
fn length_and_constancy_of_the_data() {
    let of =
        |answer: &str| watch("behaviour.paymaster-and-data-layout", &[call(sponsor("1"), result(answer))]);
    assert_eq!(of(SPONSORED), ["SPONSORED mode: 3 bytes"]);
    assert_eq!(of(&SPONSORED.replace("0xabcdef", "0x")), NOTHING);
    let mut quoting = known();
    let quoted = serde_json::json!({ "paymasterAddress": "0x0576A174D229E3cfA37253523E645A78A0C91B57" });
    quoting.quoted.learn(&quoted, None);
    let beside_quotes = |request: String, answer: &str| {
        let requested = [call(request, result(answer))];
        watch_in(&quoting, "behaviour.paymaster-and-data-layout", &requested)
    };
    assert_eq!(
        beside_quotes(sponsor_in(USDC), TOKEN_SPONSORED),
        ["ERC20 mode: 23 bytes, beginning with the quoted paymasterAddress"]
    );
    assert_eq!(
        beside_quotes(sponsor("1"), SPONSORED),
        ["SPONSORED mode: 3 bytes, not beginning with the quoted paymasterAddress"]
    );
    let again = |first: &str, label, second: &str| {
        watch(
            "behaviour.deterministic-data",
            &[
                (Role::Baseline, "", sponsor("1"), first.to_owned()),
                (Role::Call, label, sponsor("1"), second.to_owned()),
            ],
        )
    };
    let served = result(SPONSORED);
    let other = served.replace("0xabcdef", "0xabcdee");
    let refused = served.replace("0xabcdef", "0x");
    let label = "the same request again";
    assert_eq!(again(&served, label, &served), ["the same twice"]);
    assert_eq!(again(&served, label, &other), ["another each time"]);
    assert_eq!(again(&served, "", &other), NOTHING);
    assert_eq!(again(&refused, label, &refused), NOTHING);
    assert_eq!(again(ERROR, label, &served), NOTHING);
    assert_eq!(again(&served, label, ERROR), NOTHING);
}

#[test]
fn answers_to_malformed_parameters() {
    let requested = |role: Role, request: String, answer: &str| {
        watch(
            "behaviour.malformed-params",
            &[(role, "required broken at /params/0", request, answer.to_owned())],
        )
    };
    let malformed = |request: &str| request.replace("\"sender\"", "\"from\"");
    let (sponsoring, quoting) = (malformed(&sponsor_in(USDC)), malformed(&quote(USDC, &[USDC])));
    assert_eq!(requested(Role::Malformed, sponsoring.clone(), ERROR), ["sponsor in token mode: refused"]);
    assert_eq!(
        requested(Role::Malformed, quoting, &result(SPONSORED)),
        ["quote in token mode, required broken at /params/0: let through"]
    );
    assert_eq!(
        requested(Role::Malformed, malformed(&sponsor("1")), "<html>"),
        ["sponsor in sponsored mode: no JSON-RPC answer"]
    );
    assert_eq!(
        requested(Role::Malformed, sponsoring.clone(), OTHER_SHAPE),
        ["sponsor in token mode: no JSON-RPC answer"]
    );
    assert_eq!(requested(Role::Call, sponsoring, ERROR), NOTHING);
    let of = |label: &str, request: String, answer: &str| {
        let requested = [(Role::Malformed, label, request, answer.to_owned())];
        watch("behaviour.malformed-params", &requested)
    };
    let served = result(SPONSORED);
    assert_eq!(
        of("pattern broken at /params/1/tokenInfo/tokenList/12", malformed(&quote(USDC, &[USDC])), &served),
        ["quote in token mode, pattern broken at /params/1/tokenInfo/tokenList/*: let through"]
    );
    assert_eq!(of("an empty object", "{}".to_owned(), &served), ["an empty object: let through"]);
    assert_eq!(of("an empty object", "{}".to_owned(), ERROR), NOTHING);
}

#[test]
fn null_in_place_of_members_and_addresses_in_capitals() {
    let served = result(SPONSORED);
    let requested = |baseline: &str| {
        let from = "0x6fa3c1a0cd5b8ad3d71d5c70f1fe1dc1eaf0c5e1";
        let in_capitals = sponsor("1").replace(from, &from.to_uppercase().replace("0X", "0x"));
        [
            (Role::Baseline, "", sponsor("1"), baseline.to_owned()),
            (Role::Probe, "null as expiryDuration", sponsor("1"), ERROR.to_owned()),
            (Role::Probe, "without expiryDuration", sponsor("1"), served.clone()),
            (Role::Probe, "without webhookData", sponsor("1"), served.replace("0xabcdef", "0x")),
            (Role::Probe, "no mode", sponsor("1"), served.clone()),
            (Role::Variant, "", in_capitals, ERROR.to_owned()),
        ]
    };
    for (clause, values) in [
        (
            "behaviour.optional-members",
            &[
                "null as expiryDuration: refused",
                "without expiryDuration: served",
                "without webhookData: served, with another decision",
            ][..],
        ),
        ("behaviour.addresses-in-capitals", &["sender in capitals: refused"]),
    ] {
        assert_eq!(watch(clause, &requested(&served)), values);
        assert_eq!(watch(clause, &requested(ERROR)), NOTHING);
    }
}
