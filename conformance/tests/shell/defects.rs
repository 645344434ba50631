//! What is one defect, and what are two.

use std::collections::BTreeMap;

use crate::*;

/// The defects of a run against this server, as the JSON report has them.
fn defects_of(url: &str) -> Vec<Value> {
    let folder = tempdir().unwrap();
    let arguments = [url, "--cases", "20", "--report", "json=r.json"];
    ends(1, run(&folder, &arguments));
    let report = json_of(&folder, "r.json");
    report["defects"].as_array().unwrap().clone()
}

fn headlines(defects: &[Value]) -> Vec<&str> {
    defects.iter().map(|defect| defect["headline"].as_str().unwrap()).collect()
}

/// A number as a string and a missing member are two things to repair, although both are in every quote.
#[test]
fn two_members_that_are_wrong_in_every_answer_are_two_defects() {
    let server = Server::changing(|_, _, answer| {
        let quotes = answer.pointer_mut("/result/feeQuotes");
        for quote in quotes.and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(quote) = quote.as_object_mut() {
                quote.insert("decimal".to_owned(), "18".into());
                quote.remove("symbol");
            }
        }
    });
    let defects = defects_of(&server.url());
    let headlines = headlines(&defects);
    assert_eq!(headlines.len(), 2, "{headlines:#?}");
    for member in ["decimal", "symbol"] {
        let about = |headline: &&&str| headline.contains(&format!("/{member}, "));
        assert_eq!(headlines.iter().filter(about).count(), 1, "{headlines:#?}");
    }
}

/// An answer that is wrong as a whole breaks many rules and is one thing to repair.
#[test]
fn an_answer_that_is_wrong_as_a_whole_is_one_defect() {
    for wrong in [json!({"result": null}), json!({"result": "0x"}), json!({"result": {}})] {
        let answered = wrong.clone();
        let server = Server::changing(move |_, request, answer| {
            let is_quote =
                request["method"] == "pm_getFeeQuoteOrData" && request["params"][1]["mode"] == "ERC20";
            if is_quote && answer.get("result").is_some() {
                let mut other = answered.clone();
                other["jsonrpc"] = answer["jsonrpc"].clone();
                other["id"] = answer["id"].clone();
                *answer = other;
            }
        });
        let defects = defects_of(&server.url());
        let failing: Vec<Value> = defects.into_iter().filter(|defect| defect["fails"] == true).collect();
        assert_eq!(failing.len(), 1, "{wrong}: {:#?}", headlines(&failing));
    }
}

/// A server that leaves a member out of every 25th answer of each method; of those to requests with call data, where only these are
/// wrong. Each method counts alone, because the findings of both methods are shrunk at the same time.
fn wrong_now_and_then(only_with_call_data: bool) -> Server {
    let (quotes, others) = (AtomicUsize::new(0), AtomicUsize::new(0));
    Server::changing(move |_, request, answer| {
        let is_call = request["params"][0]["callData"] != "0x" || !only_with_call_data;
        let answers = if request["method"] == "pm_getFeeQuoteOrData" { &quotes } else { &others };
        if let Some(result) = answer.get_mut("result").and_then(Value::as_object_mut)
            && is_call
            && answers.fetch_add(1, Ordering::Relaxed).is_multiple_of(25)
        {
            result.remove("callGasLimit");
        }
    })
}

/// What is broken now and then is shown with a small request too: each step is sent often enough. Where the budget is too small for
/// that, the report says so.
#[test]
fn a_finding_by_chance_is_shrunk() {
    let folder = tempdir().unwrap();
    // One request after the other, so that the same one is found each time. Three steps of 25 requests: one member of the group, the
    // plain headers, the smallest request.
    for (budget, only_with_call_data) in [("80", false), ("30", true)] {
        let server = wrong_now_and_then(only_with_call_data);
        let line = format!(
            "{} --rule sponsored-result.callGasLimit --jobs 1 --shrink-requests {budget} --report json=r.json",
            server.url()
        );
        let (out, _) = ends(1, run(&folder, &words(&line)));
        let report = json_of(&folder, "r.json");
        assert_eq!(report["defects"][0]["cause"]["kind"], "chance", "{out}");
        for finding in report["findings"].as_array().unwrap() {
            // Without call data it is never wrong, which takes 74 requests to show.
            assert_eq!(finding["could_be_smaller"], only_with_call_data, "{out}");
            let body = finding["requests"][0]["body"].as_str().unwrap();
            let request: Value = serde_json::from_str(body).unwrap();
            let operation = &request["params"][0];
            let is_zero = ["0", "0x0"].iter().any(|zero| operation["nonce"] == *zero);
            let is_smallest = is_zero && operation["callData"] == "0x";
            assert_eq!(is_smallest, !only_with_call_data, "{body}");
        }
        let says_so = flat(&out).contains("a smaller request may show it too");
        assert_eq!(says_so, only_with_call_data, "{out}");
    }
}

/// A target that takes an operation once only refuses the same bytes: that shows nothing, and new ones do.
#[test]
fn what_a_target_takes_once_only_is_sent_again_as_new() {
    let folder = tempdir().unwrap();
    let seen = Mutex::new(BTreeSet::new());
    let server = Server::changing(move |_, request, answer| {
        let operation = &request["params"][0];
        let is_new = seen.lock().unwrap().insert(format!("{}{}", operation["sender"], operation["nonce"]));
        if answer.pointer("/result/feeQuotes").is_none() {
        } else if is_new {
            answer["result"]["feeQuotes"] = Value::Null;
        } else {
            refuse_result(answer, -32_000, "taken before");
        }
    });
    let (out, _) =
        ends(1, run(&folder, &[&server.url(), "--cases", "4", "--rule", "quote-result.feeQuotes"]));
    has(&out, &["\nDEFECT 1", "reproduced 3/3 with new ids and nonces"]);
}

/// A smaller request that gets another error shows another reason.
#[test]
fn shrinking_keeps_the_error_that_was_seen() {
    let folder = with_profile(
        "[operations]\naccepts = \"any\"\nsponsors = \"any\"\n[[accounts]]\nname = \"BICONOMY\"\nversion = \"2.0.0\"\n",
    );
    let server = Server::changing(|_, request, answer| {
        let nonce = &request["params"][0]["nonce"];
        if request["method"] == "pm_sponsorUserOperation" {
            let is_first = ["0", "0x0"].iter().any(|zero| nonce == zero);
            let (code, message) =
                if is_first { (-32_602, "nonce: too small") } else { (-32_011, "the store is read only") };
            refuse_result(answer, code, message);
        }
    });
    let (out, _) =
        ends(1, run(&folder, &[&server.url(), "--cases", "4", "--rule", "sponsor.sponsored-result"]));
    has(&out, &["\nDEFECT 1", "the store is read only"]);
    assert!(!out.contains("too small"), "{out}");
}

/// A target refuses a token that it does not support, as it must, and serves it from then on: the refusal was right, and no limit that was touched.
#[test]
fn an_error_that_is_due_is_judged_although_it_does_not_come_again() {
    const UNSUPPORTED: &str = "0x1111111111111111111111111111111111111111";
    let folder = with_profile(format!(
        "[tokens]\nunsupported = [\"{UNSUPPORTED}\"]\n[operations]\naccepts = \"any\"\n"
    ));
    let was_asked = AtomicBool::new(false);
    let server = Server::changing(move |_, request, answer| {
        let token = &request["params"][1]["tokenInfo"]["feeTokenAddress"];
        let is_it = request["method"] == "pm_sponsorUserOperation" && *token == UNSUPPORTED;
        if is_it && answer.get("error").is_some() && was_asked.swap(true, Ordering::SeqCst) {
            *answer = json!({"jsonrpc": answer["jsonrpc"], "id": answer["id"], "result": {
                "MODE": "ERC20", "mode": "ERC20", "paymasterAndData": format!("0x{}", "12".repeat(120)),
                "preVerificationGas": "50000", "verificationGasLimit": 100_000, "callGasLimit": 60_000,
            }});
        }
    });
    let (out, _) =
        ends(1, run(&folder, &[&server.url(), "--jobs", "1", "--rule", "error.token-unsupported"]));
    assert!(!flat(&out).contains("cause every request with"), "{out}");
    assert!(!flat(&out).contains("not when sent again"), "{out}");
}

/// A target that keeps an answer under everything but the nonce: another request of the sender does not show it.
#[test]
fn what_the_same_request_with_another_nonce_leaves_behind_is_not_blamed_on_the_sender() {
    let folder = tempdir().unwrap();
    let seen = Mutex::new(BTreeMap::new());
    let server = Server::changing(move |_, request, answer| {
        let mut call = request["params"].clone();
        let nonce = call[0]["nonce"].take();
        let first = seen
            .lock()
            .unwrap()
            .entry(format!("{}{call}", request["method"]))
            .or_insert(nonce.clone())
            .clone();
        if first != nonce && answer["result"]["MODE"] == "SPONSORED" {
            answer["result"]["callGasLimit"] = "many".into();
        }
    });
    let rules = ["--rule", "sponsored-result.callGasLimit", "--rule", "request.nonce-uint256"];
    let (out, _) = ends(1, run(&folder, &[&[server.url().as_str()], &rules[..]].concat()));
    has(&flat(&out), &["cause only after the same request with another nonce; right when sent alone"]);
}
