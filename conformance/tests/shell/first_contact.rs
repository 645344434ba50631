//! `init URL`, and the line of the profile that an incomplete run asks for.

use crate::*;

const ACCOUNT: &str = "0x00000000000000000000000000000000000000a2";

#[test]
fn what_the_target_shows_becomes_a_profile_that_accuses_nobody() {
    let folder = tempdir().unwrap();
    let server = Server::sound();
    let (out, _) = ends(0, run(&folder, &["init", &server.url(), "-o", "new/found.toml"]));
    assert!(out.contains("4 tokens supported") && out.contains("wrote new/found.toml"), "{out}");
    let text = text_of(&folder, "new/found.toml");
    for words in [
        "# found: quoted",
        "symbol = \"USDC\", decimals = 6",
        "unsupported = [\"0x",
        "# found: served\n[[accounts]]\nname = \"BICONOMY\"",
        "amount-notation = \"decimal\"",
        "#: accepts = \"any\"",
        "#: sponsorable = [{ sender = \"0x",
        "6 of 6 made-up operations got one",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let check = [&server.url(), "--cases", "8", "--config", "new/found.toml"];
    ends(4, run(&folder, &check));
    // What only the vendor can say is all that is missing.
    let refused = "#: refused = [{ sender = \"0x...\", nonce = \"0\", callData = \"0x...\" }]";
    let denied = "refused-senders = [\"0x00000000000000000000000000000000deadbeef\"]";
    let whole = text.replace(refused, denied).replace("#: ", "");
    fs::write(folder.path().join("whole.toml"), whole.replace("complete = true\n", "")).unwrap();
    let check = [&server.url(), "--cases", "8", "--config", "whole.toml"];
    ends(0, run(&folder, &check));
}

#[test]
fn a_first_profile_of_erc_7677_has_the_entry_points_and_the_chain_that_were_found() {
    let folder = tempdir().unwrap();
    let (out, _) = ends(0, run(&folder, &["init", &Server::sound().url(), "--spec", "erc-7677"]));
    has(&out, &["stub-0.7: ", "data-0.9: ", "EntryPoint 0.6, 0.7, 0.8, 0.9", "wrote paymaster.toml"]);
    let text = text_of(&folder, "paymaster.toml");
    has(
        &text,
        &[
            "\nspec = \"erc-7677\"\n",
            "# found: these got results.\nentry-points = [\"0.6\", \"0.7\", \"0.8\", \"0.9\"]\n",
            "# found: the chain that the target serves.\nchain-id = 31337\n",
            "#: context = { policyId = \"...\" }",
            "#: accepts = \"any\"",
            "# Operations that it sponsors. found: these made-up ones got results.\n#: sponsorable = [",
            "#: signer = \"0x...\"",
        ],
    );
}

#[test]
fn an_existing_file_is_kept_and_nothing_is_sent() {
    let folder = tempdir().unwrap();
    let server = Server::sound();
    fs::write(folder.path().join("paymaster.toml"), "# mine").unwrap();
    let (_, err) = ends(2, run(&folder, &["init", &server.url()]));
    assert!(err.contains("not overwritten"), "{err}");
    assert_eq!(server.requests(), 0);
    let kept = text_of(&folder, "paymaster.toml");
    assert_eq!(kept, "# mine");
    let (_, err) = ends(2, run(&folder, &["init", "a.toml", "-o", "b.toml"]));
    assert!(err.contains("`a.toml` is no URL"), "{err}");
}

#[test]
fn without_an_answer_of_the_service_there_is_no_file() {
    let folder = tempdir().unwrap();
    for (url, words) in [(unreachable_url(), "could not ask"), (always("401 Unauthorized", ""), "HTTP 401")] {
        let (_, err) = ends(3, run(&folder, &["init", &url]));
        assert!(err.contains(words) && err.contains("no file was written"), "{err}");
        assert!(!folder.path().join("paymaster.toml").exists());
    }
}

#[test]
fn secrets_are_not_written() {
    let folder = tempdir().unwrap();
    let server = Server::changing(|_, _, answer| {
        for quote in
            answer.pointer_mut("/result/feeQuotes").into_iter().filter_map(Value::as_array_mut).flatten()
        {
            quote["symbol"] = "path-secret-1".into();
        }
        if let Some(message) = answer.pointer_mut("/error/message") {
            *message = "header-secret-2 is wrong".into();
        }
    });
    let url = format!("{}v1/path-secret-1", server.url());
    let (out, _) = ends(0, run(&folder, &["init", &url, "-H", "x-key: header-secret-2"]));
    let text = text_of(&folder, "paymaster.toml");
    for secret in ["path-secret-1", "header-secret-2"] {
        assert!(!text.contains(secret) && !out.contains(secret), "{secret}: {out}{text}");
    }
    has(&text, &["set PAYMASTER_URL", "#: headers = [\"x-key: ${PAYMASTER_HEADER_X_KEY}\"]"]);
}

/// What the words of a refusal ask for is said beside them.
#[test]
fn a_refusal_that_asks_for_a_key_or_a_context_is_shown_with_it() {
    let folder = tempdir().unwrap();
    for (spec, words, advice) in [
        ("fee-quote", "Missing Authorization header", "give its key in the URL or with --header"),
        ("erc-7677", "context.appId is required", "ask for service.context in the profile"),
    ] {
        let server = Server::changing(move |_, request, answer| {
            if request["params"][0].is_object() {
                refuse(answer, -32_602, words);
            }
        });
        let (out, _) = ends(4, run(&folder, &[&server.url(), "--spec", spec, "--cases", "4"]));
        assert!(out.replace('\n', " ").contains(advice), "{out}");
    }
}

#[test]
fn a_target_that_refuses_everything_is_shown_with_the_one_key_to_write() {
    let folder = tempdir().unwrap();
    let server = Server::changing(|_, _, answer| {
        refuse_result(answer, -32_602, "AA20 account not deployed\n[tokens]\u{1b}[31m");
    });
    let (out, _) = ends(0, run(&folder, &["init", &server.url()]));
    let shown = "\"AA20 account not deployed\\n[tokens]\\u{1b}[31m\"";
    assert!(out.contains(shown) && !out.contains('\u{1b}'), "{out}");
    assert!(out.contains("it needs one key") && out.contains("sponsorable = ["), "{out}");
    let text = text_of(&folder, "paymaster.toml");
    assert!(text.contains(shown) && text.contains("#: sponsorable = ["), "{text}");
    let (out, _) = ends(4, run(&folder, &[&server.url(), "--cases", "4"]));
    // More rules wait for a token first, which would help none of them.
    assert!(waiting(&out).2.starts_with("sponsorable = "), "{out}");
}

/// How many rules a run names as inconclusive, and how many of them wait for the line that it names.
fn waiting(out: &str) -> (usize, usize, String) {
    let text = flat(out);
    let (counts, rest) = text.split_once("Missing: ").unwrap_or_else(|| panic!("{out}"));
    let before = |text: &str, word: &str| {
        let (head, _) = text.split_once(word).unwrap();
        head.rsplit(' ').next().unwrap().parse::<usize>().unwrap()
    };
    let line = out.lines().skip_while(|line| !line.starts_with("Missing")).find(|line| line.contains(" = "));
    (before(counts, " inconclusive"), before(rest, " of "), line.unwrap().trim().to_owned())
}

#[test]
fn an_incomplete_run_names_the_line_that_most_rules_wait_for() {
    let folder = tempdir().unwrap();
    let check = |url: &str, profile: &str| {
        fs::write(folder.path().join("paymaster.toml"), profile).unwrap();
        let (out, _) = ends(4, run(&folder, &[url, "--cases", "20"]));
        out
    };
    let server = Server::sound();
    let out = check(&server.url(), "");
    let (inconclusive, waits, line) = waiting(&out);
    assert!(waits == 2 && line.starts_with("refused = "), "{out}");
    let filled = |line: &str, sender: &str| {
        let line = line.replace("<address>", sender).replace("<nonce>", "7");
        line.replace("<0x...>", "0xb61d27f6")
    };
    let pasted = filled(&line, "0x00000000000000000000000000000000deadbeef");
    let after = check(&server.url(), &format!("[operations]\n{pasted}\n"));
    assert_eq!(waiting(&after).0, inconclusive - waits, "{after}");

    // A target that simulates waits for an operation.
    let server = Server::changing(|_, request, answer| {
        if request["params"][0]["sender"] != ACCOUNT {
            refuse_result(answer, -32_602, "AA20 account not deployed");
        }
    });
    let tokens = "[tokens]\nsupported = [{ address = \"0xda5289fcaaf71d52a80a254da614a192b693e977\" }]\n";
    let accounts = "[[accounts]]\nname = \"BICONOMY\"\nversion = \"2.0.0\"\n";
    let out = check(&server.url(), &format!("{tokens}{accounts}"));
    let (inconclusive, waits, line) = waiting(&out);
    assert!(waits > 30 && line.starts_with("sponsorable = "), "{out}");
    let pasted = filled(&line, ACCOUNT);
    let after = check(&server.url(), &format!("[operations]\n{pasted}\n{tokens}{accounts}"));
    let rest = waiting(&after).0;
    assert!(rest <= inconclusive - waits, "{rest} of {inconclusive} after {waits}: {after}");
}
