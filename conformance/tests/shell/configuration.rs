//! Flags, environment and file.

use crate::*;

#[test]
fn wrong_usage_is_2_and_says_what_is_wrong() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("typo.toml"), "[target]\nulr = \"http://127.0.0.1:1/\"\n").unwrap();
    for (arguments, said) in [
        (&["--no-such-flag"][..], "no-such-flag"),
        (&["http://127.0.0.1:1/", "--cases", "many"], "many"),
        (&["http://127.0.0.1:1/", "--cases", "0"], "at least 1"),
        (&["http://127.0.0.1:1/", "--jobs", "0"], "from 1 to"),
        (&["http://127.0.0.1:1/", "--timeout", "soon"], "10s"),
        (&["http://127.0.0.1:1/", "--rule", "answer.idd"], "did you mean `answer.id`?"),
        (&["https://127.0.0.1:1/", "--cacert", "gone.pem"], "--cacert gone.pem: "),
        (&["127.0.0.1:1"], "scheme"),
        (&["http://127.0.0.1:99999/"], "port"),
        (&["http://127.0.0.1:1/", "-H", "novalue"], "Name: value"),
        (&["http://127.0.0.1:1/", "-H", "x: ${NOT_SET_HERE}"], "NOT_SET_HERE is not set"),
        (&["http://127.0.0.1:1/", "--config", "gone.toml"], "gone.toml"),
        (&["--config", "typo.toml"], "did you mean `url`?"),
        (&["explain", "answer.idd"], "did you mean `answer.id`?"),
        (&["chek", "http://127.0.0.1:1/"], "there is no command `chek` (did you mean `check`?)"),
        (&["rulse"], "did you mean `rules`?"),
        (&["check.test"], "no scheme"),
        (&["selftest", "--only", "wrong-id"], "matches `wrong-id` (did you mean `"),
        (&["selftest", "--only", "stub-signature-cut"], "with --rpc-url and --server-config only"),
        (&["selftest", "--rpc-url", "http://127.0.0.1:1"], "wants --server-config PATH"),
        (&["replay", "gone.json"], "gone.json"),
    ] {
        let (code, out, err) = run(&folder, arguments);
        assert_eq!(code, 2, "{arguments:?}: {out}{err}");
        assert!(err.contains(said), "{arguments:?}: {err}");
    }
}

#[test]
fn a_profile_of_erc_7677_with_a_wrong_value_is_2_and_says_what_to_write() {
    let folder = tempdir().unwrap();
    for (profile, said) in [
        ("[service]\ncontext = \"policy\"\n", "service.context is no object: write a table, such as "),
        ("[contract]\nsigner = \"0x12\"\n", "contract.signer is no address: write 0x and 40 hex digits"),
        (
            "[service]\nentry-points = [\"0.7\", \"0x12\"]\n",
            "service.entry-points[1] is no version of EntryPoint: write 0.6, 0.7, 0.8 or 0.9",
        ),
    ] {
        fs::write(folder.path().join("paymaster.toml"), profile).unwrap();
        let (out, err) = ends(2, run(&folder, &["http://127.0.0.1:1/", "--spec", "erc-7677"]));
        assert!(err.contains(&format!("paymaster.toml: {said}")) && out.is_empty(), "{out}{err}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_without_end_is_2() {
    for arguments in [
        &["--config", "/dev/zero", "--dry-run"][..],
        &["--known-failing", "/dev/zero", "--dry-run"],
        &["https://127.0.0.1:1/", "--cacert", "/dev/zero"],
    ] {
        let (code, out, err) = alone(arguments);
        assert_eq!(code, 2, "{arguments:?}: {out}{err}");
        assert!(err.contains("/dev/zero: the file has more than"), "{arguments:?}: {err}");
    }
}

#[test]
fn flags_are_above_the_environment_and_that_above_the_file() {
    let folder = tempdir().unwrap();
    let server = Server::sound();
    let (gone, url) = (unreachable_url(), server.url());
    let file = |url: &str| {
        let text =
            format!("[target]\nurl = \"{url}\"\n[run]\nseed = 5\nallow-incomplete = true\ncases = 5\n");
        fs::write(folder.path().join("paymaster.toml"), text).unwrap();
    };
    file(&url);
    let (out, _) = ends(0, run(&folder, &[]));
    assert!(out.contains("seed 5"), "{out}");
    file(&gone);
    ends(3, run(&folder, &[]));
    let (out, _) = ends(0, finish(binary(&folder).env("PAYMASTER_URL", &url).env("PAYMASTER_SEED", "6")));
    assert!(out.contains("seed 6"), "{out}");
    let mut command = binary(&folder);
    command.env("PAYMASTER_URL", &gone).env("PAYMASTER_SEED", "6");
    let (out, _) = ends(0, finish(command.args([url.as_str(), "--seed", "7"])));
    assert!(out.contains("seed 7"), "{out}");
}

#[test]
fn headers_of_every_source_are_sent() {
    let folder = tempdir().unwrap();
    let url = raw(|mut stream| {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && matches!(Read::read(&mut stream, &mut byte), Ok(1)) {
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
        let sent = [
            "x-file: from-flag",
            "x-env: from-env",
            "post /a?b=c http/1.1",
            "content-type: application/json",
        ];
        let body = if sent.iter().all(|part| head.contains(part)) { r#"{"jsonrpc":"2.0"}"# } else { "" };
        let answer =
            format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        write(&mut stream, answer.as_bytes());
    });
    fs::write(folder.path().join("paymaster.toml"), "[target]\nheaders = [\"x-file: from-file\"]\n").unwrap();
    let mut command = binary(&folder);
    command
        .env("PAYMASTER_HEADERS", "x-env: from-env")
        .args([&format!("{url}a?b=c"), "-H", "x-file: from-flag", "--max-requests", "200", "--no-shrink"])
        .args(["--rule", "answer.json-text"]);
    let (_, out, err) = finish(&mut command);
    assert!(out.contains("1 passed"), "every body was JSON, so every header was there: {out}{err}");
}
