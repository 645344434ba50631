//! Where profile and target contradict each other from the first answer on, the headline names the line of the profile.

use std::fs;

use tempfile::tempdir;

use crate::{
    flat, run,
    server::{Injected, Server},
};

const USDC: &str = "0xda5289fcaaf71d52a80a254da614a192b693e977";
/// A token that the reference server does not know.
const OTHER: &str = "0x2791bca1f2de4661ed88a30c99a7a9449aa84174";
/// A sender that the reference server does not sponsor.
const DENIED: &str = "0x00000000000000000000000000000000deadbeef";

/// Exit code, headline with what stands on standard error, and the pages.
fn judged(url: &str, profile: &str) -> (i32, String, [String; 2]) {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("paymaster.toml"), profile).unwrap();
    let reports = ["--report", "html=page.html", "--report", "markdown=page.md"];
    let (code, out, err) =
        run(folder.path(), &[&[url, "--cases", "8", "--no-shrink"][..], &reports].concat());
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let heading = out.split("\n\n").next().unwrap_or_default().to_owned();
    (code, flat(&heading) + &err, [read("page.html"), read("page.md")])
}

#[test]
fn a_listed_token_or_operation_that_is_never_served_is_named() {
    let server = Server::hooked(|_, _, response| response);
    let tokens = format!("[tokens]\nsupported = [{{ address = \"{USDC}\" }}, {{ address = \"{OTHER}\" }}]\n");
    let operations = format!(
        "[operations]\nsponsorable = [{{ sender = \"{DENIED}\", nonce = \"1\", callData = \"0x\" }}]\n\
         [[accounts]]\nname = \"BICONOMY\"\nversion = \"2.0.0\"\n"
    );
    for (profile, line) in [(tokens, "tokens.supported[1]"), (operations, "operations.sponsorable[0]")] {
        let (code, out, pages) = judged(&server.url(), &profile);
        assert_eq!(code, 1, "{out}");
        let words =
            format!("either the profile or the target is wrong about {line}, which the target never served");
        assert!(out.contains(&words), "{out}");
        let place = "(paymaster.toml, line 2)";
        for page in pages {
            let below = page.split("contradict each other").nth(1).unwrap();
            assert!(below.contains(line) && below.contains(place), "{below}");
            assert!(below.contains("cause: "), "{below}");
        }
    }
}

#[test]
fn a_fault_of_a_target_that_serves_what_the_profile_lists_is_no_contradiction() {
    let server = Injected::fault("fee-decimal-string");
    let (code, out, pages) =
        judged(&server.url, &format!("[tokens]\nsupported = [{{ address = \"{USDC}\" }}]\n"));
    assert_eq!(code, 1, "{out}");
    assert!(!out.contains("either the profile"), "{out}");
    for page in pages {
        assert!(!page.contains("contradict each other"), "{page}");
    }
}
