//! The unit of `validUntil`, and answers of gateways: what they prove and what they do not.

use super::*;

/// The time of every answer, in seconds.
const NOW: u64 = 1_795_335_304;

fn answered(request: &str, response: Response) -> Exchange {
    Exchange {
        received: Some(UNIX_EPOCH + Duration::from_secs(NOW)),
        ..Exchange::new(Bytes::from(request.to_owned()), Ok(response), Duration::ZERO)
    }
}

fn page(status: u16) -> Response {
    Response { status, headers: Vec::new(), body: "<html><h1>nginx</h1></html>".into() }
}

fn quoting(times: &[&str]) -> Exchange {
    let each = times.iter().zip([USDC, DAI]);
    let each: Vec<String> =
        each.map(|(until, token)| fee_quote(token, "T", 6).replace("1686847490", until)).collect();
    answered(&quote(USDC, &[USDC, DAI]), response(&result(&quotes(&each, None))))
}

/// How often the rule held, and where it was broken.
fn judged_by(rule: &str, exchange: &Exchange, context: &Context) -> (u64, Vec<String>) {
    let view = View::new(Role::Call, "", exchange, context);
    let judge = Judge::new(vec![SPECIFICATION.find_rule(rule).unwrap()]);
    let judged = judge.views(&[view], None, context).into_iter().next();
    judged.map_or((0, Vec::new()), |judged| {
        let places = judged.report.violations.into_iter().map(|violation| violation.actual);
        (judged.report.held, places.collect())
    })
}

/// How often the unit held, and where it was broken, in a quote with these times after one with these.
fn units(earlier: &[&str], times: &[&str]) -> (u64, Vec<String>) {
    let mut context = context();
    for until in earlier {
        let exchange = quoting(&[until]);
        let body: Value = serde_json::from_slice(&exchange.outcome.as_ref().unwrap().body).unwrap();
        context.quoted.learn(&body["result"], exchange.received);
    }
    judged_by("quote.valid-until-unit", &quoting(times), &context)
}

/// Whether a quote counts as expired that ended so many seconds ago, in a unit of so many nanoseconds.
fn is_expired(ago: i64, unit: u64, date: Option<&str>, took: u64) -> bool {
    let until = u128::from(NOW.checked_add_signed(-ago).unwrap()) * 1_000_000_000 / u128::from(unit);
    let mut exchange = Exchange { took: Duration::from_secs(took), ..quoting(&[&until.to_string()]) };
    let headers = &mut exchange.outcome.as_mut().unwrap().headers;
    headers.extend(date.map(|date| ("date".to_owned(), date.to_owned())));
    let (held, broken) = judged_by("quote.valid-until-future", &exchange, &context());
    assert_eq!(held, u64::from(broken.is_empty()));
    !broken.is_empty()
}

#[test]
fn a_quote_ends_after_the_answer_in_any_unit() {
    // The time of the answer, four minutes later, and ten minutes later.
    let (now, later) = (Some("Sun, 22 Nov 2026 08:15:04 GMT"), Some("Sun, 22 Nov 2026 08:19:04 GMT"));
    let wrong = Some("Sun, 22 Nov 2026 08:25:04 GMT");
    let second = 1_000_000_000;
    for unit in [1, 1_000, 1_000_000, second, 60 * second, 3600 * second, 86_400 * second] {
        assert!(!is_expired(-60, unit, now, 0), "{unit}");
        assert!(!is_expired(0, unit, now, 0), "{unit}");
        assert!(!is_expired(20, unit, now, 0), "{unit}");
        assert!(!is_expired(250, unit, None, 0), "{unit}");
        assert_eq!(is_expired(120, unit, now, 0), unit <= 60 * second, "{unit}");
        assert_eq!(is_expired(7_200, unit, None, 0), unit <= 3600 * second, "{unit}");
    }
    assert!(!is_expired(120, second, now, 100), "the answer came late");
    assert!(is_expired(-60, second, later, 0), "by the clock of the target");
    assert!(!is_expired(-60, second, wrong, 0), "the clock of a gateway is wrong");
    assert!(!is_expired(120, second, Some("yesterday"), 0), "as without a date");
    for until in [1_686_847_490, 60, 20_000] {
        let ago = i64::try_from(NOW).unwrap() - until;
        assert!(is_expired(ago, second, now, 0), "{until}: long ago, or a duration");
    }
}

#[test]
fn all_quotes_have_one_unit() {
    const SECONDS: &str = "1795335364";
    const MILLISECONDS: &str = "1795335364000";
    let fine = |held| (held, Vec::<String>::new());
    assert_eq!(units(&[SECONDS], &[SECONDS, SECONDS]), fine(2));
    assert_eq!(units(&[MILLISECONDS], &[MILLISECONDS]), fine(1));
    let mixed = units(&[MILLISECONDS], &[SECONDS]);
    assert_eq!(mixed.1, ["1795335364, which is in seconds"]);
    // The first quote of discovery alone is wrong.
    assert_eq!(units(&[MILLISECONDS, SECONDS, SECONDS], &[SECONDS, SECONDS]), fine(2));
    assert_eq!(units(&[MILLISECONDS, SECONDS, SECONDS], &[MILLISECONDS]).1.len(), 1);
    assert_eq!(
        units(&[MILLISECONDS, SECONDS], &[SECONDS, SECONDS]).1.len(),
        2,
        "as many: the first one counts"
    );
    assert_eq!(units(&[], &[SECONDS, MILLISECONDS]).1.len(), 1, "in one answer");
    assert_eq!(units(&[], &[SECONDS]), fine(0), "there is nothing to compare with");
    assert_eq!(units(&[SECONDS], &["0"]), fine(0));
}

#[test]
fn a_time_far_from_now_proves_no_unit() {
    for far in [
        "1",
        "4294967295",       // the largest number of 32 bits
        "253402300799",     // the end of the year 9999, in seconds
        "281474976710655",  // the largest number of 48 bits, as ERC-4337 packs it
        "8640000000000000", // the last time of JavaScript
        "9007199254740991",
        "18446744073709551615",
    ] {
        assert_eq!(units(&["1795335364"], &[far]), (1, Vec::new()), "{far}");
        assert_eq!(units(&[far], &["1795335364", "1795335364"]).1, [""; 0], "{far}");
    }
    // One day and one year of validity.
    assert_eq!(units(&["1795335364"], &["1795421704", "1826871304"]), (2, Vec::new()));
}

#[test]
fn the_page_of_a_gateway_is_no_answer_to_a_notification() {
    let notification = sponsor("1").replace("\"id\":1,", "");
    for status in [403, 429, 502, 503] {
        assert_eq!(broken_by(&notification, Ok(page(status))), [""; 0], "{status}");
    }
    assert_eq!(broken_by(&notification, Ok(page(200))), ["json-rpc.notification"]);
}

fn watch(clause: &str, exchanges: &[Exchange]) -> Vec<String> {
    let context: Context = context();
    let views = exchanges.iter().map(|exchange| View::new(Role::Call, "", exchange, &context));
    let views: Vec<View<'_>> = views.collect();
    let observer = OBSERVERS.iter().find(|observer| observer.clause == clause).unwrap();
    let mut seen = Vec::new();
    observer.see(&views, &context, &mut seen);
    seen
}

#[test]
fn a_limit_is_what_the_service_refuses_for_its_size() {
    let twice = quote(USDC, &[USDC, USDC]);
    let limits = |response: Response| watch("behaviour.limits", &[answered(&twice, response)]);
    assert_eq!(limits(page(413)), ["a token that is in the list more than once: HTTP 413"]);
    assert_eq!(limits(page(400)), ["a token that is in the list more than once: HTTP 400"]);
    for status in [401, 403, 429, 502, 503, 504] {
        assert_eq!(limits(page(status)), [""; 0], "{status}");
    }
    let no_gas = sponsor("1").replace("\"callGasLimit\":\"50000\"", "\"callGasLimit\":\"0\"");
    let refused = response(ERROR);
    assert_eq!(
        watch("behaviour.limits", &[answered(&no_gas, refused)]),
        ["a gas limit of 0, or above 30000000: refused"]
    );
    let unanswered =
        || Exchange { outcome: Err(Failure::Cut("cut".to_owned())), ..answered(&twice, page(200)) };
    assert_eq!(watch("behaviour.limits", &[unanswered()]), [""; 0], "an outage is no limit");
    let beside = [answered(&sponsor("1"), response(&result(SPONSORED))), unanswered()];
    assert_eq!(watch("behaviour.limits", &beside), ["a token that is in the list more than once: no answer"]);
}
