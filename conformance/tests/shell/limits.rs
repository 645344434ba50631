//! Targets that limit how many requests they take, and runs that limit themselves.

use hyper::HeaderMap;

use crate::secrets::{artefacts, formats};
use crate::server::whole;
use crate::*;

/// A server that answers so many requests, and then 429 with that Retry-After.
fn answering(most: usize, retry_after: &'static str) -> Server {
    Server::hooked(move |number, _, mut response| {
        if number >= most {
            *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            response.headers_mut().insert("retry-after", retry_after.parse().unwrap());
        }
        response
    })
}

#[test]
fn a_target_that_answered_and_asks_to_wait_beyond_the_time_limit_leaves_a_run_incomplete() {
    let server = answering(800, "3600");
    let (out, _) = ends(4, alone(&[&server.url(), "--jobs", "1"]));
    assert!(out.starts_with("INCOMPLETE"), "{out}");
    let plain = flat(&out);
    has(
        &plain,
        &["cut short: the target limits how many requests it takes: it asked to wait 3600 s (Retry-After)"],
    );
    assert!(out.contains(" passed, "), "what was judged until then is reported: {out}");
    assert!(!out.contains("check that the target is running"), "{out}");
    assert!(plain.contains("fewer --cases"), "{out}");
    assert_eq!(server.requests(), 802, "the refused one, and one that was served before");
}

#[test]
fn a_pause_in_which_the_time_limit_ends_leaves_a_run_incomplete() {
    let server = answering(100, "");
    let arguments = [&server.url(), "--jobs", "1", "--time-limit", "3s"];
    let (out, _) = ends(4, alone(&arguments));
    assert!(out.contains("the time limit of 3 s was reached"), "{out}");
}

#[test]
fn a_target_that_asks_to_wait_without_end_leaves_a_run_incomplete() {
    let folder = tempdir().unwrap();
    let (out, _) = ends(4, run(&folder, &[&answering(300, "0").url(), "--jobs", "1"]));
    assert!(out.contains("answered HTTP 429 to each of 3 requests 8 times"), "{out}");
    let (code, out, err) = run(&folder, &[&answering(0, "0").url(), "--jobs", "1"]);
    assert_eq!(code, 3, "nothing was ever answered: {out}{err}");
}

#[test]
fn a_target_that_asks_to_wait_beyond_the_time_limit_at_once_is_given_up() {
    let (out, _) = ends(3, alone(&[&answering(0, "3600").url()]));
    assert!(out.contains("asked to wait 3600 s"), "{out}");
}

#[test]
fn a_run_at_a_known_rate_says_at_its_start_how_long_it_takes_and_what_fits() {
    let folder = tempdir().unwrap();
    let server = answering(usize::MAX, "");
    let url = server.url();
    for (more, words) in [
        (
            &["--rate", "20", "--time-limit", "1s"][..],
            ", and those that exercise every rule take longer than the time limit of 1 s: --time-limit ",
        ),
        (
            &["--rate", "20", "--time-limit", "2m", "--dry-run"],
            ": this run takes at most 2 min, every rule first, then depth; --time-limit ",
        ),
    ] {
        let arguments = [&[url.as_str()], more].concat();
        let (_, out, err) = run(&folder, &arguments);
        let printed = format!("{err}{out}");
        has(&printed, &["t 20 requests a second, about 4", words]);
    }
    // What was printed at the start to fit does.
    let (_, err) = ends(0, run(&folder, &[&url, "--rate", "2000", "--cases", "4", "--allow-incomplete"]));
    assert_eq!(err.lines().count(), 1, "{err}");
    assert!(err.starts_with("at 2000 requests a second, about "), "{err}");
    assert!(!err.contains("longer"), "{err}");
}

#[test]
fn a_run_that_its_time_limit_ended_says_what_would_fit() {
    let server = answering(usize::MAX, "");
    let url = server.url();
    // Few answers make no rate. A loaded machine may not get to enough of them within the shorter limits; with the longest one the run would
    // still be cut short, on any machine, because its requests need more time at this rate.
    for seconds in ["10", "20", "30", "40"] {
        let (limit, before) = (format!("{seconds}s"), server.requests());
        let (code, out, err) = alone(&[&url, "--rate", "20", "--time-limit", &limit]);
        if code == 3 {
            continue;
        }
        assert_eq!(code, 4, "{out}{err}");
        let plain = flat(&out);
        if !plain.contains(&format!("the time limit of {seconds} s was reached: at ")) {
            continue;
        }
        has(&plain, &["requests a second, about ", "--time-limit "]);
        // The hundred requests that waited for their turn were not sent.
        let (sent, _) = plain.split_once(" requests in ").unwrap();
        let (_, sent) = sent.rsplit_once(' ').unwrap();
        assert!(sent.parse::<usize>().unwrap() < server.requests() - before + 50, "{out}");
        return;
    }
    panic!("no run states the rate that it reached");
}

/// Whether a request asks for a sponsorship without a token.
fn asks(request: &Value) -> bool {
    let call = |call: &Value| {
        let sponsors = call["method"].as_str().is_some_and(|method| method.starts_with("pm_sponsor"));
        sponsors && call["params"][1]["mode"] != "ERC20"
    };
    request.as_array().map_or_else(|| call(request), |calls| calls.iter().any(call))
}

fn is_granted(answer: &Value) -> bool {
    answer["result"]["paymasterAndData"].as_str().is_some_and(|data| data != "0x")
}

const PROFILE: &str = r#"
[operations]
accepts = "any"
sponsors = "any"
"#;

#[test]
fn a_run_gets_no_more_sponsorships_than_the_profile_allows() {
    for busy in [false, true] {
        let folder = tempdir().unwrap();
        let (asked, granted) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&granted);
        let server = Server::changing(move |_, request, answer| {
            if !asks(request) {
                return;
            }
            // What is busy now and then is sent again, with the rest of its group, and with copies.
            if busy && asked.fetch_add(1, Ordering::SeqCst) % 4 == 3 && answer.is_object() {
                return refuse(answer, -32_000, "server busy");
            }
            let answers =
                answer.as_array().map_or_else(|| vec![&*answer], |answers| answers.iter().collect());
            let granted = answers.into_iter().filter(|answer| is_granted(answer)).count();
            counted.fetch_add(granted, Ordering::SeqCst);
        });
        let profile = format!("{PROFILE}max-sponsorships = 30\nmax-cost = \"0.01 ETH\"\n");
        fs::write(folder.path().join("paymaster.toml"), profile).unwrap();
        let (_, out, err) = run(&folder, &[&server.url(), "--allow-incomplete"]);
        let granted = granted.load(Ordering::SeqCst);
        assert!((20..=30).contains(&granted), "{granted}: {out}");
        let limits = "30 sponsorships worth 0.01 ETH (operations.max-sponsorships";
        assert!(flat(&err).contains(&format!("at most {limits}")), "{err}");
        assert!(flat(&out).contains(&format!("the run may get no more than {limits}")), "{out}");
    }
}

#[test]
fn a_sponsor_that_stops_in_the_middle_is_not_accused() {
    let folder = tempdir().unwrap();
    let granted = AtomicUsize::new(0);
    let server = Server::changing(move |_, request, answer| {
        let answers = match answer {
            Value::Array(answers) => answers.iter_mut().collect(),
            answer => vec![answer],
        };
        for answer in answers.into_iter().filter(|answer| asks(request) && is_granted(answer)) {
            if granted.fetch_add(1, Ordering::SeqCst) >= 150 {
                refuse(answer, -32_000, "the daily budget is used up");
            }
        }
    });
    fs::write(folder.path().join("paymaster.toml"), PROFILE).unwrap();
    let (out, _) = ends(0, run(&folder, &[&server.url(), "--allow-incomplete"]));
    let text = flat(&out);
    assert!(text.contains("the target sponsored ") && text.contains(": a budget, or a failure?"), "{out}");
}

/// The commands and the profile of docs/staging.md, at a server that wants a key.
#[test]
fn the_steps_of_the_page_about_staging_do_what_it_says() {
    const PAGE: &str = include_str!("../../../docs/staging.md");
    const KEY: &str = "k3y-of-staging";
    let folder = tempdir().unwrap();
    let server = Server::hooked(|_, _, mut response| {
        if response.extensions().get::<HeaderMap>().is_none_or(|headers| headers["x-api-key"] != KEY) {
            *response.status_mut() = StatusCode::UNAUTHORIZED;
        }
        response
    });
    let run = |line: &str| {
        let line = line.replace("https://staging.example/rpc", &server.url());
        assert!(PAGE.contains(&line.replace(&server.url(), "https://staging.example/rpc")), "{line}");
        // A shell takes what stands between quotes as one word.
        let words = line.split('\'').enumerate().flat_map(|(place, part)| match place % 2 {
            0 => part.split_whitespace().collect(),
            _ => vec![part],
        });
        let mut command = binary(&folder);
        let (code, out, err) = finish(command.env("STAGING_KEY", KEY).args(words.skip(1)));
        assert!(!format!("{out}{err}").contains(KEY), "{line}: {out}{err}");
        (code, flat(&format!("{err}{out}")))
    };
    let file = folder.path().join("paymaster.toml");
    let (code, text) =
        run("paymaster-conformance init https://staging.example/rpc -H 'x-api-key: ${STAGING_KEY}'");
    assert_eq!(code, 0, "{text}");
    let found = fs::read_to_string(&file).unwrap();
    assert!(found.contains("headers = [\"x-api-key: ${STAGING_KEY}\"]") && !found.contains(KEY), "{found}");

    let (_, profile) = PAGE.split_once("```toml\n").unwrap();
    let (profile, _) = profile.split_once("```").unwrap();
    let profile = profile
        .replace("https://staging.example/rpc", &server.url())
        .replace("requests-per-second = 20", "requests-per-second = 2000")
        .replace("sender = \"0x...\"", "sender = \"0x5b38da6a701c568545dcfcb03fcb875f56beddc4\"")
        .replace("[\"0x...\"]", &format!("[\"{REFUSED}\"]"));
    fs::write(&file, profile).unwrap();
    let (code, text) = run("paymaster-conformance check --dry-run");
    assert_eq!(code, 0, "{text}");
    has(&text, &["Time, requests about supported tokens included: at 2000 requests a second"]);
    let (code, text) =
        run("paymaster-conformance check --quick --allow-incomplete --report junit=paymaster.xml");
    assert_eq!(code, 0, "{text}");
    has(&text, &["at most 200 sponsorships worth 0.02 ETH", "requests in flight at a time: at most "]);
    assert!(!text_of(&folder, "paymaster.xml").contains(KEY));
}

/// A key in a header, from `init` to `check`, at a service that shows it in wrong answers.
#[test]
fn a_key_in_a_header_is_named_where_it_is_missing_or_wrong_and_is_never_shown() {
    const KEY: &str = "k3y-0f-staging";
    for status in [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN] {
        let server = Server::hooked(move |_, _, response| {
            let headers: &HeaderMap = response.extensions().get().unwrap();
            let has_key = headers.get("x-api-key").is_some_and(|key| key == KEY);
            let (mut head, body) = response.into_parts();
            let mut text =
                String::from_utf8(whole(body).into()).unwrap().replace("\"2.0\"", &format!("\"{KEY}\""));
            if !has_key {
                (head.status, text) = (status, "access denied".to_owned());
            }
            Response::from_parts(head, text.into())
        });
        let folder = tempdir().unwrap();
        let run = |key: Option<&str>, arguments: &[&str]| {
            let mut command = binary(&folder);
            command.args(arguments).envs(key.map(|key| ("STAGING_KEY", key)));
            let (code, out, err) = finish(&mut command);
            for (name, text) in artefacts(folder.path(), (out.clone(), err.clone())) {
                assert!(!text.contains(KEY), "{name}: {text}");
            }
            (code, flat(&format!("{out}{err}")))
        };
        let key = "x-api-key: ${STAGING_KEY}";
        let (code, text) = run(Some(KEY), &["init", &server.url(), "-H", key]);
        assert_eq!(code, 0, "{text}");
        let file = folder.path().join("paymaster.toml");
        let found = fs::read_to_string(&file).unwrap();
        let line = format!("headers = [\"{key}\"]");
        assert!(found.contains(&format!("#: {line}")), "{found}");
        fs::write(&file, found.replace(&format!("#: {line}"), &line)).unwrap();

        let sent = server.requests();
        let (code, text) = run(None, &["check"]);
        assert_eq!((code, server.requests()), (2, sent), "{text}");
        assert!(text.contains("the environment variable STAGING_KEY is not set"), "{text}");
        let (code, text) = run(Some("another"), &["check"]);
        assert_eq!(code, 3, "{text}");
        has(&text, &[&format!("HTTP {}", status.as_u16()), "check the key"]);
        let written = formats();
        let mut arguments = vec!["check", "--cases", "12", "--jobs", "4", "-v"];
        arguments.extend(written.iter().map(String::as_str));
        let (code, text) = run(Some(KEY), &arguments);
        assert_eq!(code, 1, "{text}");
        assert!(text.contains("breaks answer.jsonrpc") && text.contains(key), "{text}");
        let replays = folder.path().join("paymaster-replays");
        assert!(replays.read_dir().unwrap().count() > 0, "{text}");
    }
}

/// A service that does not answer what comes on a connection that was idle for so long; or it closes such a connection, as every server may.
fn forgetting(after: Duration, closes: bool) -> Server {
    Server::hooked(move |_, _, mut response| {
        let OnConnection { idle, .. } = *response.extensions().get().unwrap();
        match idle >= after {
            true if closes => drop(response.extensions_mut().insert(Closed)),
            true => drop(response.extensions_mut().insert(Unanswered)),
            false => {}
        }
        response
    })
}

#[test]
fn a_service_that_forgets_idle_connections_is_found_with_idle_alone() {
    let folder = with_profile(PROFILE);
    let judged = |server: &Server, more: &[&str]| {
        let url = server.url();
        let arguments =
            [&[url.as_str(), "--cases", "12", "--strict", "--allow-incomplete", "-v"], more].concat();
        let (code, out, err) = run(&folder, &arguments);
        (code, flat(&format!("{out}{err}")))
    };
    let idle = ["--rule", "http.idle-connection", "--timeout", "3s", "--idle", "1500ms"];
    let (code, text) = judged(&forgetting(Duration::from_secs(1), false), &idle);
    assert_eq!(code, 1, "{text}");
    has(&text, &["breaks http.idle-connection", "on the same connection after it was idle"]);
    // A server may close a connection that was idle: what comes on it is sent again on a new one.
    let (code, text) = judged(&forgetting(Duration::from_secs(1), true), &idle);
    assert_eq!(code, 0, "{text}");
    assert!(!text.contains("breaks http.idle-connection") && text.contains("1 rule: 1 passed"), "{text}");
    // No connection of a run is idle for that long by chance.
    let (code, text) = judged(&forgetting(Duration::from_mins(10), false), &[]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("not tried: no connection was kept idle (--idle 5s)"), "{text}");
}

/// Some services go wrong on a connection over which many requests came.
#[test]
fn more_than_200_requests_come_over_one_connection() {
    let server = Server::hooked(|_, _, response| {
        let OnConnection { earlier, .. } = *response.extensions().get().unwrap();
        if earlier < 200 { response } else { response.map(|_| b"{}".as_slice().into()) }
    });
    let (out, err) = ends(1, alone(&[&server.url()]));
    assert!(out.contains("answer.result-or-error"), "{out}{err}");
}

/// One of twenty servers behind a balancer is of another version.
#[test]
fn what_the_connection_decides_is_not_called_concurrency() {
    let server = Server::hooked(|_, _, response| {
        let OnConnection { number, .. } = *response.extensions().get().unwrap();
        if number % 20 < 19 {
            return response;
        }
        response.map(|body| {
            let text = String::from_utf8(whole(body).to_vec()).unwrap();
            text.replace("\"symbol\":", "\"name\":").into()
        })
    });
    for seed in ["1", "2", "3", "4"] {
        let (code, out, err) = alone(&[&server.url(), "--seed", seed]);
        assert!(code == 1 && !flat(&out).contains("in flight; right"), "{out}{err}");
    }
}

/// `exchangeRate` of one token is a text, in quotes for it alone and among others: no member of a request decides.
#[test]
fn what_one_quoted_token_decides_is_one_defect() {
    let server = Server::changing(|_, _, answer| {
        let quotes = answer.pointer_mut("/result/feeQuotes").and_then(Value::as_array_mut);
        for quote in quotes.into_iter().flatten() {
            if quote["tokenAddress"] == "0x27a44456bedb94dbd59d0f0a14fe977c777fc5c3" {
                quote["exchangeRate"] = quote["exchangeRate"].to_string().into();
            }
        }
    });
    let (code, out, err) = alone(&[&server.url()]);
    assert!(code == 1 && flat(&out).contains("1 defect,"), "{out}{err}");
}

/// A service without this mode: each valid request in it is refused with one message.
fn without(mode: &'static str) -> Server {
    let of_token = |message: &str| message.starts_with("token not supported");
    Server::changing(move |_, request, answer| {
        let (calls, answers) = match (request.as_array(), answer.as_array_mut()) {
            (Some(calls), Some(answers)) => (calls.iter().collect(), answers.iter_mut().collect()),
            _ => (vec![request], vec![answer]),
        };
        for answer in answers {
            let asked = calls.iter().find(|call| call["id"] == answer["id"]);
            let is_valid =
                answer["result"].is_object() || answer["error"]["message"].as_str().is_some_and(of_token);
            if is_valid && asked.is_some_and(|call| call["params"][1]["mode"] == mode) {
                refuse(answer, -32_000, &format!("no {mode} here"));
            }
        }
    })
}

#[test]
fn a_service_of_one_mode_is_judged_by_the_rules_of_that_mode() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("paymaster.toml");
    fs::write(&file, PROFILE.replace("accepts = \"any\"\nsponsors = \"any\"", "")).unwrap();
    let server = without("ERC20");
    let (out, _) = ends(4, run(&folder, &[&server.url()]));
    let line =
        r#"answers): "no ERC20 here": where it does not serve them, write operations.modes = ["SPONSORED"]"#;
    assert!(flat(&out).contains(line), "{out}");
    fs::write(&file, format!("{PROFILE}modes = [\"SPONSORED\"]\nrefused-senders = [\"{REFUSED}\"]\n"))
        .unwrap();
    let (code, out, err) = run(&folder, &[&server.url()]);
    assert!([0, 4].contains(&code), "{out}{err}");
    assert!(!out.contains("no ERC20 here"), "{out}");
    assert!(!flat(&out).contains("tokens.supported"), "no rule waits for a token: {out}");
    fs::write(&file, format!("{PROFILE}modes = [\"ERC20\"]\nrefused-senders = [\"{REFUSED}\"]\n")).unwrap();
    let (code, out, err) = run(&folder, &[&without("SPONSORED").url()]);
    assert!([0, 4].contains(&code), "{out}{err}");
    lacks(&out, &["sponsor.refused-gets-0x", "plausibility.sponsored-data"]);
}

/// What is refused of one mode is seen while the target is asked for its profile.
#[test]
fn a_first_profile_proposes_the_one_mode_that_the_target_serves() {
    let folder = tempdir().unwrap();
    let (out, _) = ends(0, run(&folder, &["init", &without("ERC20").url()]));
    has(&out, &["the commonest refusal, ", "\"no ERC20 here\""]);
    let text = text_of(&folder, "paymaster.toml");
    // Only the vendor can say that it is so for every request: the line is a comment.
    has(
        &text,
        &["requests in mode ERC20 were refused with \"no ERC20 here\".", "\n#: modes = [\"SPONSORED\"]\n"],
    );
}

/// A sender that the server refuses.
const REFUSED: &str = "0x00000000000000000000000000000000deadbeef";

/// A part of the time is kept to send what was found again, at the rate of the run.
#[test]
fn what_a_short_run_at_a_limited_rate_finds_is_sent_again() {
    let folder = with_profile(own_profile());
    let server = Injected::fault("call-data-above-2000-refused");
    let (out, _) = ends(1, run(&folder, &[&server.url, "--rate", "50", "--time-limit", "12s"]));
    has(&out, &["reproduced 3/3"]);
    lacks(&flat(&out), &["not sent again"]);
}

/// Where the profile says that the target takes one request at a time, none in flight beside it are missed.
#[test]
fn a_target_that_takes_one_request_at_a_time_is_judged_so() {
    let folder = with_profile("[target]\nconcurrency = 1\n");
    let server = Server::sound();
    let small = ["--rate", "400", "--cases", "1", "--rule", "answer.id", "--allow-incomplete"];
    let (out, _) = ends(0, run(&folder, &[&[server.url().as_str()], &small[..]].concat()));
    assert!(out.contains("1 rule: 1 passed"), "{out}");
    lacks(&out, &["requests in flight at a time", "no two requests were in flight"]);
}

#[test]
fn answers_that_concurrent_requests_mix_up_are_found_within_a_limited_rate() {
    let server = Injected::fault("answers-cross");
    let arguments =
        [&server.url, "--rate", "200", "--time-limit", "30s", "--rule", "answer.id", "--no-shrink"];
    let (out, _) = ends(1, alone(&arguments));
    has(&out, &["answer.id", "requests in flight at a time: at most "]);
}
