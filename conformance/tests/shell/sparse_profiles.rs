//! Profiles that say little: a server that is within its rights is never reported as broken.

use crate::*;

/// The operation that the profiles below list.
const LISTED: &str = r#"
[[operations.sponsorable]]
sender = "0x5b38da6a701c568545dcfcb03fcb875f56beddc4"
nonce = "7000"
callData = "0xb61d27f6"
"#;

/// Judges the server with such a profile; the exit code, and what was printed.
fn judged(server: &Server, profile: &str) -> (i32, String) {
    let folder = with_profile(profile);
    let (code, out, _) = run(&folder, &[&server.url(), "--cases", "8", "--no-shrink", "-v"]);
    (code, out)
}

/// The account name of a sponsored-mode request.
fn account(request: &Value) -> Option<&str> {
    request["params"][1]["sponsorshipInfo"]["smartAccountInfo"]["name"].as_str()
}

/// A server that refuses every account but this one; with an error, or with a result that does not sponsor.
fn knows_only(name: &'static str, with_an_error: bool) -> Server {
    Server::changing(move |_, request, answer| {
        if account(request).is_some_and(|sent| sent != name) {
            if with_an_error {
                refuse_result(answer, -32_602, "unknown smart account");
            } else if answer["result"]["MODE"] == "SPONSORED" {
                answer["result"]["paymasterAndData"] = json!("0x");
            }
        }
    })
}

#[test]
fn an_account_that_neither_the_profile_names_nor_the_target_serves_may_be_refused() {
    let any = "[operations]\naccepts = \"any\"\nsponsors = \"any\"\n".to_owned();
    let listed = format!("[operations]\naccepts = \"listed\"\n{LISTED}");
    for name in ["BICONOMY", "INFINITISM", "ACME"] {
        for with_an_error in [true, false] {
            let server = knows_only(name, with_an_error);
            for profile in [&any, &listed] {
                let (code, out) = judged(&server, profile);
                assert!([0, 4].contains(&code), "{name} {with_an_error}: {code}\n{profile}\n{out}");
            }
        }
    }
}

#[test]
fn an_account_that_the_profile_names_must_be_served() {
    let server = knows_only("BICONOMY", true);
    let profile =
        "[operations]\naccepts = \"any\"\n[[accounts]]\nname = \"INFINITISM\"\nversion = \"1.0.0\"\n";
    let (code, out) = judged(&server, profile);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("sponsor.sponsored-result"), "{out}");
}

#[test]
fn an_account_that_the_target_served_in_discovery_must_be_served_again() {
    // Discovery is over after some tens of requests; after a hundred the server refuses every account. That it stopped sponsoring may
    // be a used-up budget, and that it stopped quoting is none.
    let server = Server::changing(|number, request, answer| {
        if number >= 100 && account(request).is_some() {
            refuse_result(answer, -32_602, "unknown smart account");
        }
    });
    let (code, out) = judged(&server, "[operations]\naccepts = \"any\"\n");
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("breaks     quote.sponsored-result"), "{out}");
}

#[test]
fn where_operations_are_listed_no_made_up_operation_of_a_refused_sender_is_expected_to_get_a_result() {
    // As a server that simulates: only the listed nonce is one that the chain accepts. The sender is one that the reference
    // server never sponsors.
    let server = Server::changing(|_, request, answer| {
        if request["params"][0]["nonce"] != "7000" {
            refuse_result(answer, -32_602, "AA25 invalid account nonce");
        }
    });
    let refused = "refused-senders = [\"0x00000000000000000000000000000000deadbeef\"]\n";
    let account = "[[accounts]]\nname = \"BICONOMY\"\nversion = \"2.0.0\"\n";
    let profile = format!("[operations]\naccepts = \"listed\"\n{refused}{LISTED}\n{account}");
    let (code, out) = judged(&server, &profile);
    assert!([0, 4].contains(&code), "{code}\n{out}");
}

#[test]
fn an_operation_of_a_refused_sender_is_never_sponsored() {
    let server = Server::sound();
    // The reference server sponsors this sender, which the profile calls refused.
    let refused = "refused-senders = [\"0x000000000000000000000000000000000000beef\"]\n";
    let profile = format!("[operations]\naccepts = \"listed\"\n{refused}{LISTED}");
    let (code, out) = judged(&server, &profile);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("sponsor.refused-gets-0x"), "{out}");
}
