//! Where profile and target contradict each other from the first answer on, the headline names the line of the profile.

use crate::*;

const USDC: &str = "0xda5289fcaaf71d52a80a254da614a192b693e977";
/// A token that the reference server does not know.
const OTHER: &str = "0x2791bca1f2de4661ed88a30c99a7a9449aa84174";
/// A sender that the reference server does not sponsor.
const DENIED: &str = "0x00000000000000000000000000000000deadbeef";

/// Exit code, headline with what stands on standard error, and the pages.
fn judged(url: &str, profile: &str) -> (i32, String, [String; 2]) {
    let folder = with_profile(profile);
    let reports = ["--report", "html=page.html", "--report", "markdown=page.md"];
    let (code, out, err) = run(&folder, &[&[url, "--cases", "8", "--no-shrink"][..], &reports].concat());
    let read = |name: &str| text_of(&folder, name);
    let heading = out.split("\n\n").next().unwrap_or_default().to_owned();
    (code, flat(&heading) + &err, [read("page.html"), read("page.md")])
}

#[test]
fn a_listed_token_or_operation_that_is_never_served_is_named() {
    let server = Server::sound();
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
            has(below, &[line, place, "cause: "]);
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
