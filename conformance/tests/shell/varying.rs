//! `[operations] vary`: where only listed operations are accepted, rules about nonce, initCode and call data need to know what may vary.

use crate::*;

/// A profile with one listed operation, and these further lines in `[operations]`.
fn listed(more: &str) -> String {
    format!(
        "[operations]\naccepts = \"listed\"\n{more}\n[[operations.sponsorable]]\n\
         sender = \"0x5b38da6a701c568545dcfcb03fcb875f56beddc4\"\nnonce = \"7000\"\ncallData = \"0xb61d27f6\"\n"
    )
}

/// Judges the server by the rules about nonce, initCode and call data; the exit code, and what was printed.
fn judged(url: &str, profile: &str) -> (i32, String) {
    let folder = with_profile(profile);
    let rules = ["--rule", "request.nonce-*", "--rule", "request.init-code", "--rule", "request.call-data"];
    let (code, out, err) = run(&folder, &[&[url, "--cases", "20", "--no-shrink", "-v"], &rules[..]].concat());
    (code, flat(&out) + &err)
}

#[test]
fn rules_about_members_that_vary_apply_and_catch_what_they_are_for() {
    let server = Injected::fault("nonce-above-2-64-refused");
    let (code, out) = judged(&server.url, &listed(""));
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("operations.vary = [\"nonce\"]"), "{out}");
    let (code, out) = judged(&server.url, &listed("vary = [\"nonce\"]"));
    assert_eq!(code, 1, "{out}");
    has(&out, &["breaks request.nonce-uint256", "2 rules do not apply"]);
}

#[test]
fn a_server_that_serves_what_varies_passes_these_rules() {
    let server = Server::sound();
    let all = listed("vary = [\"nonce\", \"initCode\", \"callData\"]");
    let (code, out) = judged(&server.url(), &all);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("3 passed"), "{out}");
}
