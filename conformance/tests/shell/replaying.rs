//! `replay`: what it concludes, and that the line which reports print works as printed.

use std::process::Command;
use std::sync::atomic::AtomicU32;

use crate::*;

const RULE: &str = "quote-result.feeQuotes";

/// A replay file of a finding against that rule.
fn finding(folder: &Path) -> String {
    let server = Server::nulling(&["feeQuotes"]);
    ends(1, run(folder, &[&server.url(), "--cases", "4", "--rule", RULE]));
    format!("paymaster-replays/{RULE}-1.json")
}

/// How many requests came over a connection decides, and a target that was started again is wrong as before.
#[test]
fn what_the_requests_of_a_connection_decide_is_still_there() {
    let server = Server::hooked(|_, _, response| {
        let OnConnection { earlier, .. } = *response.extensions().get().unwrap();
        if earlier % 25 == 24 { response.map(|_| b"{}".as_slice().into()) } else { response }
    });
    let folder = tempdir().unwrap();
    ends(1, run(&folder, &[&server.url(), "--cases", "60"]));
    let (code, out, err) = run(&folder, &["replay", "paymaster-replays", &server.url()]);
    assert!(code == 1 && !out.contains("FIXED"), "{out}{err}");
}

/// A header that closes its connection leaves a new one to the next request, which is what decides.
#[test]
fn what_a_new_connection_decides_is_blamed_on_no_header() {
    let server = Server::hooked(|_, _, response| {
        let OnConnection { earlier, .. } = *response.extensions().get().unwrap();
        let (head, body) = response.into_parts();
        let mut text = String::from_utf8_lossy(&whole(body)).into_owned();
        if earlier == 0 {
            text = text.replace(r#""decimal":6"#, r#""decimal":"6""#);
        }
        Response::from_parts(head, Full::new(text.into()))
    });
    let (out, _) = ends(1, alone(&[&server.url(), "--cases", "200"]));
    assert!(out.contains("/decimal") && !out.contains("with the request header"), "{out}");
}

/// Every n-th request meets a machine that is wrong, and a group of n requests would meet it at the same place each time.
#[test]
fn a_replay_falls_out_of_step_with_a_balancer() {
    const RULE: &str = "json-rpc.batch-elements";
    let server = |is_wrong: fn(usize, usize) -> bool, offset| {
        Server::hooked(move |number, _, response| {
            let (head, body) = response.into_parts();
            let mut body = whole(body);
            if let Ok(mut answers) = serde_json::from_slice::<Vec<Value>>(&body)
                && is_wrong(number, offset)
            {
                for answer in &mut answers {
                    refuse(answer, -32_000, "another machine");
                }
                body = Value::Array(answers).to_string().into();
            }
            Response::from_parts(head, Full::new(body))
        })
    };
    let folder = tempdir().unwrap();
    let every_other = server(|number, _| number % 2 == 0, 0);
    ends(1, run(&folder, &[&every_other.url(), "--rule", RULE, "--strict"]));
    let file = format!("paymaster-replays/{RULE}-1.json");
    let requests = json_of(&folder, &file)["members"].as_array().unwrap().len();
    for offset in 0..requests {
        let in_step = match requests {
            2 => server(|number, offset| number % 2 == offset, offset),
            3 => server(|number, offset| number % 3 == offset, offset),
            other => panic!("{other} requests"),
        };
        let (_, out, err) = run(&folder, &["replay", &file, &in_step.url()]);
        assert!(out.contains("STILL THERE"), "{requests} {offset}: {out}{err}");
    }
}

#[test]
fn a_connection_is_idle_in_a_run_and_in_a_replay_where_that_is_asked_for() {
    let folder = tempdir().unwrap();
    let server = Injected::fault("page-after-idle");
    let arguments = [server.url.as_str(), "--cases", "4", "--rule", "http.idle-connection", "--strict"];
    let idle = ["--idle", "300ms"];
    let (_, out, err) = run(&folder, &[&arguments[..], &["-v"]].concat());
    assert!(out.contains("not tried: no connection was kept idle (--idle 5s)"), "{out}{err}");
    let (out, _) = ends(1, run(&folder, &[&arguments[..], &idle].concat()));
    assert!(out.contains("on the same connection after it was idle"), "{out}");
    assert!(out.contains(" --idle 300ms"), "the line that repeats it: {out}");
    let file = "paymaster-replays/http.idle-connection-1.json";
    let (_, err) = ends(3, run(&folder, &["replay", file]));
    assert!(err.contains("repeat it with --idle"), "{err}");
    for (server, expected) in [(server, 1), (Injected::sound(), 0)] {
        ends(expected, run(&folder, &[&["replay", file, &server.url][..], &idle].concat()));
    }
}

#[test]
fn what_is_wrong_now_and_then_is_looked_for_in_more_than_one_second() {
    let first_of_replay = Arc::new(Mutex::new(None));
    let began = Arc::clone(&first_of_replay);
    let quotes = AtomicUsize::new(0);
    let server = Server::changing(move |_, _, answer| {
        if answer.pointer("/result/feeQuotes").is_none() {
            return;
        }
        // Every second quote of the run, so that the requests of the finding are not wrong each time that they are sent.
        let is_wrong = match *began.lock().unwrap() {
            None => quotes.fetch_add(1, Ordering::SeqCst).is_multiple_of(2),
            Some(began) => Instant::now() > began + Duration::from_secs(1),
        };
        if is_wrong {
            answer["result"]["feeQuotes"] = Value::Null;
        }
    });
    let folder = tempdir().unwrap();
    ends(1, run(&folder, &[&server.url(), "--cases", "4", "--rule", RULE]));
    *first_of_replay.lock().unwrap() = Some(Instant::now());
    let (code, out, err) = run(&folder, &["replay", "paymaster-replays", &server.url()]);
    assert!(code == 1 && out.contains("1 still there"), "{out}{err}");
}

/// The target asks to wait, and serves others meanwhile.
#[test]
fn a_value_that_alone_gets_429_is_still_there() {
    let folder = with_profile(own_profile());
    let server = Injected::fault("refused-sender-throttled");
    let arguments = [server.url.as_str(), "--rule", "answer.json-text"];
    let (code, out, err) = run(&folder, &arguments);
    assert!(code == 1 && out.contains("HTTP 429"), "{out}{err}");
    for (server, expected) in [(server, 1), (Injected::sound(), 0)] {
        ends(expected, run(&folder, &["replay", "paymaster-replays", &server.url]));
    }
}

#[test]
fn behind_a_wrong_key_or_path_it_could_not_test() {
    let folder = tempdir().unwrap();
    let file = finding(folder.path());
    let json_rpc = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no key"}}"#;
    for status in ["401 Unauthorized", "403 Forbidden", "404 Not Found"] {
        for body in ["", "<html>no such page</html>", r#"{"message":"no key"}"#, json_rpc] {
            let (code, out, err) = run(&folder, &["replay", &file, &always(status, body)]);
            assert_eq!(code, 3, "{status} {body}: {out}{err}");
            let said =
                format!("HTTP {} for every request: look at the path, the headers and the key", &status[..3]);
            assert!(err.contains(&said) && out.is_empty(), "{status} {body}: {out}{err}");
        }
    }
    let (_, err) = ends(3, run(&folder, &["replay", &file, &always("502 Bad Gateway", "<html>")]));
    assert!(err.contains("HTTP 502 for every request"), "{err}");
}

#[test]
fn what_the_rule_does_not_judge_is_no_pass() {
    let folder = tempdir().unwrap();
    let file = finding(folder.path());
    let refusing = Server::changing(|_, _, answer| refuse(answer, -32_000, "refused \u{9b}31m"));
    let (out, _) = ends(4, run(&folder, &["replay", &file, &refusing.url()]));
    assert!(out.starts_with("NOT PROVED  quote-result.feeQuotes"), "{out}");
    assert!(out.contains("HTTP 200") && out.contains("refused"), "{out}");
    assert!(!out.contains('\u{9b}'), "{out}");
}

#[test]
fn a_status_that_was_there_when_it_was_found_is_judged() {
    let folder = tempdir().unwrap();
    // Only what is no method of section 2 gets 404, and with it another id.
    let server = Server::hooked(|_, request, response| {
        let request: Value = serde_json::from_slice(request).unwrap_or_default();
        let method = request["method"].as_str().unwrap_or("pm_");
        if method.starts_with("pm_") || request["id"].is_null() {
            return response;
        }
        let mut wrong = response.map(|_| {
            let error = json!({"code": -32601, "message": "no such method"});
            Full::from(json!({"jsonrpc": "2.0", "id": "other", "error": error}).to_string())
        });
        *wrong.status_mut() = StatusCode::NOT_FOUND;
        wrong
    });
    let only = ["--cases", "4", "--rule", "answer.id"];
    let (out, _) = ends(1, run(&folder, &[&[server.url().as_str()], &only[..]].concat()));
    assert!(out.contains("HTTP 404"), "{out}");
    let (out, _) = ends(1, run(&folder, &["replay", "paymaster-replays/answer.id-1.json"]));
    assert!(out.starts_with("STILL THERE"), "{out}");
}

/// The line that the terminal report prints for `replay`.
fn line(out: &str) -> &str {
    let line = out.lines().find_map(|line| line.strip_prefix("  replay "));
    line.unwrap_or_else(|| panic!("no replay line: {out}")).trim()
}

/// Runs a line as a user pastes it, with these variables: exit code, and both outputs.
fn paste(folder: &Path, line: &str, variables: &[(&str, &str)]) -> (i32, String) {
    let program = assert_cmd::cargo::cargo_bin("paymaster-conformance");
    let mut path = program.parent().unwrap().as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .env_clear()
        .env("PATH", path)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(text).unwrap())
}

#[test]
#[expect(clippy::too_many_lines, reason = "one story, step by step")]
fn the_printed_line_works_when_pasted() {
    const PATH: &str = "/key/Secret-Path-1?apikey=Secret-Query-2";
    const SENT: [&str; 4] = [
        "x-flag: secret-flag-3",
        "x-flag-env: bearer secret-env-4",
        "x-environment: secret-list-5",
        "x-profile: secret-profile-6",
    ];
    let server = raw(|mut stream| {
        while let Some(head) = request_head(&mut stream) {
            let lower = head.to_ascii_lowercase();
            let knows = head.contains(&format!("{PATH} ")) && SENT.iter().all(|line| lower.contains(line));
            let (status, body) =
                if knows { ("200 OK", r#"[{"jsonrpc":"2.0"}]"#) } else { ("401 Unauthorized", "") };
            write(&mut stream, http(status, body).as_bytes());
        }
    });
    let folder = tempdir().unwrap();
    let url = format!("{}{PATH}", server.trim_end_matches('/'));
    fs::write(
        folder.path().join("my profile.toml"),
        format!("[target]\nurl = \"{server}\"\nheaders = [\"x-profile: ${{PROFILE_KEY}}\"]\n"),
    )
    .unwrap();
    let profile_key = ("PROFILE_KEY", "secret-profile-6");
    let mut command = binary(&folder);
    command
        .args([&url, "--cases", "4", "--rule", "answer.object", "--config", "my profile.toml"])
        .args(["-H", "x-flag: secret-flag-3", "-H", "x-flag-env: Bearer ${FLAG_KEY}"])
        .args(["--replay-dir", "what's broken", "--report", "markdown=r.md", "--report", "junit=r.xml"])
        .env("PAYMASTER_HEADERS", "x-environment: secret-list-5")
        .env("FLAG_KEY", "secret-env-4")
        .env(profile_key.0, profile_key.1);
    let (out, _) = ends(1, finish(&mut command));
    let line = line(&out);
    assert!(!line.contains("secret") && !line.contains("Secret"), "{line}");
    has(
        &flat(&out),
        &[
            "(export PAYMASTER_URL, PROFILE_KEY, PAYMASTER_HEADER_X_ENVIRONMENT, PAYMASTER_HEADER_X_FLAG, FLAG_KEY first)",
        ],
    );
    let variables = [
        ("PAYMASTER_URL", url.as_str()),
        profile_key,
        ("PAYMASTER_HEADER_X_ENVIRONMENT", "secret-list-5"),
        ("PAYMASTER_HEADER_X_FLAG", "secret-flag-3"),
        ("FLAG_KEY", "secret-env-4"),
    ];
    let (code, told) = paste(folder.path(), line, &variables);
    assert_eq!(code, 1, "{line}: {told}");
    assert!(told.starts_with("STILL THERE  answer.object"), "{told}");
    // A variable that is not set is named, and nothing is sent without it.
    for missing in 0..variables.len() {
        let mut some = variables.to_vec();
        let (name, _) = some.remove(missing);
        let (code, told) = paste(folder.path(), line, &some);
        assert_eq!(code, 2, "{name}: {told}");
        assert!(told.contains(name) || name == "PAYMASTER_URL", "{name}: {told}");
    }
    // A wrong key is no pass.
    let mut wrong = variables;
    wrong[4].1 = "another";
    let (code, told) = paste(folder.path(), line, &wrong);
    assert_eq!(code, 3, "{told}");
    assert!(told.contains("HTTP 401 for every request"), "{told}");
    let markdown = text_of(&folder, "r.md");
    assert!(markdown.contains(&format!("\n{line}\n")), "{markdown}");
    let junit = text_of(&folder, "r.xml");
    let escaped = line.replace('\'', "&apos;").replace('"', "&quot;");
    assert!(junit.contains(&escaped), "{junit}");
}

#[test]
fn the_printed_line_names_the_url_and_trusts_whom_the_run_trusted() {
    let folder = tempdir().unwrap();
    // Another target than the one of the run.
    let text = "[target]\nurl = \"http://127.0.0.1:1/\"\n";
    fs::write(folder.path().join("paymaster.toml"), text).unwrap();
    let ca = certificate("test-ca");
    for (name, trust) in [("expired", vec!["--insecure"]), ("sound", vec!["--cacert", &ca])] {
        let server = Secure::broken(name, &["h2"]);
        let url = server.url("localhost");
        let only = ["--cases", "4", "--rule", "quote-result.MODE"];
        let (out, _) = ends(1, run(&folder, &[&[url.as_str()], &only[..], &trust].concat()));
        let line = line(&out);
        assert!(line.contains(&format!(" {url} --config paymaster.toml --")), "{line}");
        let (code, told) = paste(folder.path(), line, &[]);
        assert_eq!(code, 1, "{line}: {told}");
        assert!(told.starts_with("STILL THERE"), "{told}");
    }
}

#[test]
fn the_line_of_recorded_traffic_names_the_file_only_where_its_headers_may_be_sent() {
    let folder = tempdir().unwrap();
    let server = Server::changing(|_, _, answer| answer["id"] = "seven".into());
    let url = server.url();
    let only = ["--cases", "1", "--rule", "answer.id", "--report", "har-all=all.har"];
    run(&folder, &[&[url.as_str()], &only[..]].concat());
    for (name, of) in [("own.toml", url.as_str()), ("other.toml", "http://elsewhere.test/")] {
        let text = format!("[target]\nurl = \"{of}\"\nheaders = [\"x-api-key: k3y-of-the-profile\"]\n");
        fs::write(folder.path().join(name), text).unwrap();
        let (out, _) = ends(1, run(&folder, &["judge", "all.har", "--config", name]));
        let line = line(&out);
        assert_eq!(line.contains(" --config own.toml"), of == url, "{line}");
        let (code, told) = paste(folder.path(), line, &[]);
        assert_eq!(code, 1, "{line}: {told}");
        assert!(told.starts_with("STILL THERE  answer.id"), "{told}");
    }
}

#[test]
fn a_folder_says_of_each_defect_what_became_of_it() {
    let folder = tempdir().unwrap();
    let server = Server::nulling(&["feeQuotes", "paymasterAddress"]);
    let rules = ["--cases", "4", "--rule", RULE, "--rule", "quote-result.paymasterAddress"];
    ends(1, run(&folder, &[&[server.url().as_str()], &rules[..]].concat()));
    let replays = folder.path().join("paymaster-replays");
    fs::write(replays.join("notes.json"), "{\"mine\": true}").unwrap();
    fs::write(replays.join("notes.txt"), "mine").unwrap();
    let replay = |url: &str| run(&folder, &["replay", "paymaster-replays", url]);

    let half = Server::nulling(&["feeQuotes"]);
    let (out, _) = ends(1, replay(&half.url()));
    let lines: Vec<&str> = out.lines().collect();
    let starts = [
        "STILL THERE     pm_getFeeQuoteOrData in mode ERC20 (every judged answer): expected an array of fee quote objects",
        "  STILL THERE     quote-result.feeQuotes-1  expected ",
        "FIXED           pm_getFeeQuoteOrData in mode ERC20 (every judged answer): expected an address",
        "  FIXED           quote-result.paymasterAddress-1",
        "2 defects: 1 fixed, 1 still there",
    ];
    assert_eq!(lines.len(), starts.len(), "{out}");
    for start in starts {
        assert!(lines.iter().any(|line| line.starts_with(start)), "{start}: {out}");
    }

    let sound = Server::sound();
    let (code, out, _) = replay(&sound.url());
    assert_eq!((code, out.lines().last()), (0, Some("2 defects: 2 fixed")), "{out}");
    let (out, _) = ends(3, replay(&always("401 Unauthorized", "")));
    assert!(out.contains("2 defects: 2 could not be tested"), "{out}");

    // Known failures name no defect: each finding stands alone.
    for entry in fs::read_dir(&replays).unwrap() {
        let path = entry.unwrap().path();
        let mut file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap_or_default();
        if let Some(members) = file.as_object_mut().filter(|file| file.contains_key("defect")) {
            members.remove("defect");
            fs::write(&path, file.to_string()).unwrap();
        }
    }
    let (out, _) = ends(1, replay(&half.url()));
    assert!(out.starts_with("STILL THERE     quote-result.feeQuotes-1  expected "), "{out}");
    assert!(out.contains("\nFIXED           quote-result.paymasterAddress-1  the rule held "), "{out}");

    fs::create_dir(folder.path().join("empty")).unwrap();
    let (_, err) = ends(2, run(&folder, &["replay", "empty"]));
    assert!(err.contains("there is no replay file"), "{err}");
    for wrong in [&["-H", "no colon"][..], &["ftp://127.0.0.1/"]] {
        let (out, err) = ends(2, run(&folder, &[&["replay", "paymaster-replays"], wrong].concat()));
        assert!(err.starts_with("error: ") && out.is_empty(), "{out}{err}");
    }
}

#[test]
fn a_run_removes_earlier_replay_files_of_its_target_and_no_others() {
    let folder = tempdir().unwrap();
    let broken = Arc::new(AtomicBool::new(true));
    let server = Server::changing({
        let broken = Arc::clone(&broken);
        move |_, _, answer| {
            if broken.load(Ordering::Relaxed)
                && let Some(quotes) = answer.pointer_mut("/result/feeQuotes")
            {
                *quotes = Value::Null;
            }
        }
    });
    let rules = |rule| [server.url(), "--cases".into(), "4".into(), "--rule".into(), rule];
    let check = |rule: &str| {
        let arguments = rules(rule.to_owned());
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        run(&folder, &arguments).0
    };
    assert_eq!(check(RULE), 1);
    let own = folder.path().join(format!("paymaster-replays/{RULE}-1.json"));
    let text = fs::read_to_string(&own).unwrap();
    let other = folder.path().join("paymaster-replays/other-1.json");
    fs::write(&other, text.replace(&server.url(), "http://other.test/")).unwrap();
    let notes = folder.path().join("paymaster-replays/notes.json");
    fs::write(&notes, "{}").unwrap();
    broken.store(false, Ordering::Relaxed);
    // A run that does not judge the rule says nothing about it.
    check("answer.id");
    assert!(own.exists());
    check(RULE);
    assert!(!own.exists() && other.exists() && notes.exists());
}

/// The folder has no files of two runs against one target, and nothing is lost.
#[test]
fn a_run_over_other_rules_sets_earlier_replay_files_aside() {
    let folder = tempdir().unwrap();
    let server = Server::changing(|_, _, answer| answer["id"] = Value::from("seven"));
    let check = |rule: &str| run(&folder, &[&server.url(), "--cases", "4", "--rule", rule]).0;
    assert_eq!(check("answer.id"), 1);
    let names = |folder: std::path::PathBuf| -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
        files.map(|file| file.file_name().into_string().unwrap()).collect()
    };
    let replays = folder.path().join("paymaster-replays");
    let first = names(replays.clone());
    fs::write(
        replays.join("quote-result.feeQuotes-1.json"),
        fs::read_to_string(replays.join(&first[0]))
            .unwrap()
            .replace("\"answer.id\"", "\"quote-result.feeQuotes\""),
    )
    .unwrap();
    assert_eq!(check("answer.id"), 1);
    assert_eq!(names(replays.clone()), first);
    assert_eq!(names(replays.join("earlier")), ["quote-result.feeQuotes-1.json"]);
}

/// A defect with several findings is fixed when none of them is seen.
#[test]
fn a_defect_is_fixed_when_none_of_its_findings_is_seen() {
    let folder = tempdir().unwrap();
    let missing = |modes: &'static [&'static str]| {
        Server::changing(move |_, request, answer| {
            let mode = request["params"][1]["mode"].as_str().unwrap_or_default();
            if modes.contains(&mode) && answer["result"].is_object() {
                answer["id"] = Value::Null;
            }
        })
    };
    let server = missing(&["ERC20", "SPONSORED"]);
    ends(1, run(&folder, &[&server.url(), "--cases", "4", "--rule", "answer.id"]));
    let replay = |modes| run(&folder, &["replay", "paymaster-replays", &missing(modes).url()]);
    let (out, _) = ends(1, replay(&["SPONSORED"]));
    assert!(out.starts_with("STILL THERE     requests"), "{out}");
    assert!(out.contains("\n  FIXED  ") && out.contains("\n  STILL THERE  "), "{out}");
    assert!(out.ends_with("1 defect: 1 still there\n"), "{out}");
    let (out, _) = ends(0, replay(&[]));
    assert!(out.ends_with("1 defect: 1 fixed\n"), "{out}");
}

/// What discovery learned about the target decides which answers are owed; a replay knows it too.
#[test]
fn every_finding_of_a_run_is_judged_again() {
    let server = Server::changing(|_, request, answer| {
        let nonce = request["params"][0]["nonce"].as_str().unwrap_or_default();
        let digits = nonce.trim_start_matches("0x");
        if !digits.is_empty() && digits.trim_start_matches('0').is_empty() {
            refuse(answer, -32_602, "no nonce");
        }
    });
    let folder = with_profile("[operations]\naccepts = \"any\"\nsponsors = \"any\"\n");
    let (out, _) = ends(1, run(&folder, &[&server.url(), "--cases", "60"]));
    let files = fs::read_dir(folder.path().join("paymaster-replays")).unwrap().count();
    assert!(files > 3, "{out}");
    let (told, _) = ends(1, run(&folder, &["replay", "paymaster-replays", &server.url()]));
    let again = told.lines().filter(|line| line.starts_with("  STILL THERE")).count();
    assert_eq!(again, files, "{told}");
}

/// Runs `check` on these arguments with few cases; there must be a violation. Returns what it printed.
fn check(folder: &Path, arguments: &[&str]) -> String {
    let (out, _) = ends(1, run(folder, &[&["--cases", "40"], arguments].concat()));
    out
}

/// A rule that concurrent requests break holds when its requests are sent one after the other.
#[test]
fn a_mix_up_of_concurrent_answers_is_not_said_to_be_fixed() {
    let folder = tempdir().unwrap();
    let server = Injected::fault("answers-cross");
    check(folder.path(), &[&server.url, "--rule", "answer.id"]);
    let (out, _) = ends(1, run(&folder, &["replay", "paymaster-replays", &server.url]));
    assert!(!out.contains("FIXED"), "{out}");
    let sound = Server::sound();
    ends(0, run(&folder, &["replay", "paymaster-replays", &sound.url()]));
}

/// Every 25th answer has another id while the server is `broken`.
fn now_and_then(broken: bool) -> Server {
    let quotes = AtomicUsize::new(0);
    Server::changing(move |_, _, answer| {
        let is_quote = answer.pointer("/result/feeQuotes").is_some();
        let number = quotes.fetch_add(usize::from(is_quote), Ordering::SeqCst);
        if broken && is_quote && number % 25 == 24 {
            answer["result"]["feeQuotes"] = Value::Null;
        }
    })
}

#[test]
fn what_is_broken_now_and_then_is_sent_as_often_as_99_percent_need() {
    let folder = tempdir().unwrap();
    let server = now_and_then(true);
    check(folder.path(), &[&server.url(), "--rule", RULE]);
    let file = format!("paymaster-replays/{RULE}-1.json");
    let finding = json_of(&folder, &file);
    let share = &finding["finding"]["share"];
    let [broken, judged] = ["broken", "judged"].map(|count| share[count].as_f64().unwrap());
    assert!((0.005..0.2).contains(&(broken / judged)), "{share}");
    assert_eq!(finding["finding"]["circumstances"]["in_flight"], 1, "{finding}");

    let (out, _) = ends(1, run(&folder, &["replay", &file, &now_and_then(true).url()]));
    assert!(out.starts_with("STILL THERE  quote-result.feeQuotes"), "{out}");
    let sound = now_and_then(false);
    let (out, _) = ends(0, run(&folder, &["replay", &file, &sound.url()]));
    assert!(out.starts_with("FIXED  quote-result.feeQuotes"), "{out}");
    let held = (1.0 - broken / judged).powi(i32::try_from(sound.requests()).unwrap());
    assert!(held < 0.01, "{} requests for {share}", sound.requests());

    // What the bound of requests does not allow to show is not said to be fixed.
    let mut rare = finding.clone();
    rare["finding"]["share"] = json!({"broken": 1, "judged": 1_000_000});
    fs::write(folder.path().join("rare.json"), rare.to_string()).unwrap();
    let (out, _) = ends(4, run(&folder, &["replay", "rare.json", &now_and_then(false).url()]));
    assert!(out.starts_with("NOT PROVED") && out.contains("99 % needs"), "{out}");
}

/// Every 64th result has an error beside it.
fn with_errors_now_and_then() -> Server {
    let results = AtomicUsize::new(0);
    Server::changing(move |_, _, answer| {
        let is_result = answer.get("result").is_some();
        let number = results.fetch_add(usize::from(is_result), Ordering::SeqCst);
        if is_result && number % 64 == 63 {
            answer["error"] = Value::Null;
        }
    })
}

#[test]
fn the_share_of_a_chance_is_that_of_the_requests_in_the_file() {
    let folder = tempdir().unwrap();
    check(folder.path(), &[&with_errors_now_and_then().url(), "--rule", "answer.result-or-error"]);
    let file = fs::read_to_string(folder.path().join("paymaster-replays/answer.result-or-error-1.json"));
    let file: Value = serde_json::from_str(&file.unwrap()).unwrap();
    let share = &file["finding"]["share"];
    let [broken, judged] = ["broken", "judged"].map(|count| share[count].as_f64().unwrap());
    let members = f64::from(u32::try_from(file["members"].as_array().unwrap().len()).unwrap());
    assert!((0.5..1.7).contains(&(64.0 * broken / judged / members)), "{share} of {members}");
}

/// A server that keeps the first answer to the same params, with the id of that request.
fn keeping_answers() -> Server {
    let kept = Mutex::new(std::collections::HashMap::new());
    Server::changing(move |_, request, answer| {
        let mut kept = kept.lock().unwrap();
        *answer = kept.entry(request["params"].to_string()).or_insert_with(|| answer.clone()).clone();
    })
}

/// What a target kept of the requests of a run is gone after it was started again, and nothing is fixed.
#[test]
fn what_depends_on_earlier_requests_is_not_said_to_be_fixed() {
    let folder = tempdir().unwrap();
    let target = keeping_answers();
    check(folder.path(), &[&target.url(), "--rule", "answer.id"]);
    let (code, out, err) = run(&folder, &["replay", "paymaster-replays", &keeping_answers().url()]);
    has(&out, &["other requests of this kind were answered rightly"]);
    lacks(&out, &["FIXED"]);
    // Where a group holds the requests that decide, it is still there.
    assert!([1, 4].contains(&code), "{out}{err}");
}

/// What the wrong quotes of a run showed is no measure of quotes that are right now.
#[test]
fn answers_are_compared_with_the_quotes_of_now() {
    let folder = tempdir().unwrap();
    let wrong = || {
        Server::changing(|_, _, answer| {
            if answer["result"]["paymasterAddress"].is_string() {
                answer["result"]["paymasterAddress"] = "0x00000000000000000000000000000000000000a1".into();
            }
        })
    };
    check(folder.path(), &[&wrong().url(), "--rule", "plausibility.token-data", "--strict"]);
    let replay = |server: &Server| run(&folder, &["replay", "paymaster-replays", &server.url()]);
    let (code, out, err) = replay(&wrong());
    assert!(code == 1 && out.contains("STILL THERE"), "{out}{err}");
    let (code, out, err) = replay(&Server::sound());
    assert!(code == 0 && out.contains("FIXED"), "{out}{err}");
}

/// A server that quotes the preferred token alone where the list has one.
fn without_single_lists() -> Server {
    Server::changing(|_, request, answer| {
        let info = &request["params"][1]["tokenInfo"];
        let is_single = info["tokenList"].as_array().is_some_and(|list| list.len() == 1);
        let preferred = info["preferredToken"].as_str().filter(|_| is_single);
        if let (Some(preferred), Some(quotes)) = (preferred, answer["result"]["feeQuotes"].as_array_mut()) {
            let is_preferred = |own: &str| own.eq_ignore_ascii_case(preferred);
            quotes.retain(|quote| quote["tokenAddress"].as_str().is_some_and(is_preferred));
        }
    })
}

/// A server whose results are null after so many.
fn with_a_quota() -> Server {
    let given = AtomicU32::new(0);
    Server::changing(move |_, request, answer| {
        let is_sponsored = request["method"] == "pm_sponsorUserOperation" && answer["result"].is_object();
        if is_sponsored && given.fetch_add(1, Ordering::Relaxed) > 60 {
            answer["result"] = Value::Null;
        }
    })
}

/// What decides is not found, or lies behind: the requests of a run, sent before, would show it again.
#[test]
fn what_the_requests_of_a_run_do_not_show_again_is_fixed() {
    for (rule, wrong, shown) in [
        ("quote.tokens-quoted", without_single_lists as fn() -> Server, "DEFECT 1 "),
        ("answer.result-object", with_a_quota, "cause right at first ("),
    ] {
        let folder = tempdir().unwrap();
        let out = check(folder.path(), &[&wrong().url(), "--rule", rule]);
        has(&flat(&out), &[shown]);
        // One list of one token does not show which tokens a target quotes.
        assert!(!out.contains("expected no quote"), "{out}");
        let replay = |server: Server| run(&folder, &["replay", "paymaster-replays", &server.url()]);
        let (code, out, err) = replay(wrong());
        assert!(code == 1 && !out.contains("FIXED"), "{rule}: {out}{err}");
        let (code, out, err) = replay(Server::sound());
        assert!(code == 0 && out.contains("FIXED"), "{rule}: {out}{err}");
    }
}

/// What is wrong in an ordinary call alone is another defect than what was found by comparing with the first quotes.
#[test]
fn a_defect_of_other_calls_is_not_taken_for_the_one_of_the_file() {
    let folder = tempdir().unwrap();
    let wrong = Server::changing(|_, _, answer| {
        if answer["result"]["paymasterAddress"].is_string() {
            answer["result"]["paymasterAddress"] = "0x00000000000000000000000000000000000000a1".into();
        }
    });
    check(folder.path(), &[&wrong.url(), "--rule", "plausibility.token-data", "--strict"]);
    let file = folder.path().join("paymaster-replays/plausibility.token-data-1.json");
    let file = fs::read_to_string(file).unwrap();
    let senders: BTreeSet<String> =
        file.split("0x").filter(|rest| rest.len() >= 40).map(|rest| rest[..40].to_owned()).collect();
    let other = Server::changing(move |_, request, answer| {
        let sender = request["params"][0]["sender"].as_str().unwrap_or_default();
        let is_known = senders.contains(sender.trim_start_matches("0x"));
        if answer["result"]["paymasterAndData"].is_string() && !is_known {
            answer["result"]["paymasterAndData"] = "0x12".into();
        }
    });
    let (code, out, err) = run(&folder, &["replay", "paymaster-replays", &other.url()]);
    assert!(code == 0 && out.contains("FIXED"), "{out}{err}");
}

/// A server that writes MODE in lower case when it sponsors, once it has given a quote for tokens.
fn wrong_after_a_quote() -> Server {
    let has_quoted = AtomicBool::new(false);
    Server::changing(move |_, request, answer| {
        let is_quote = request["method"] == "pm_getFeeQuoteOrData";
        if answer["result"]["feeQuotes"].is_array() {
            has_quoted.store(true, Ordering::Relaxed);
        } else if !is_quote && answer["result"]["MODE"] == "ERC20" && has_quoted.load(Ordering::Relaxed) {
            answer["result"]["MODE"] = "erc20".into();
        }
    })
}

/// The requests of the finding are right on a server that has just started.
#[test]
fn ordinary_calls_come_before_a_request_is_said_to_be_fixed() {
    let folder = tempdir().unwrap();
    check(folder.path(), &[&wrong_after_a_quote().url()]);
    let (code, out, err) = run(&folder, &["replay", "paymaster-replays", &wrong_after_a_quote().url()]);
    assert!(code == 1 && out.contains("STILL THERE") && !out.contains("FIXED"), "{out}{err}");
}

/// A server that sponsors nothing once it was asked for a method that it does not have.
fn wrong_after_an_unknown_method() -> Server {
    let was_asked = AtomicBool::new(false);
    Server::changing(move |_, _, answer| {
        use Ordering::Relaxed;
        if answer["error"]["code"] == -32601 {
            was_asked.store(true, Relaxed);
        } else if answer["result"]["paymasterAndData"].is_string() && was_asked.load(Relaxed) {
            answer["result"]["paymasterAndData"] = "0x".into();
        }
    })
}

#[test]
fn the_requests_of_a_run_come_before_what_has_no_known_cause_is_said_to_be_fixed() {
    let folder = tempdir().unwrap();
    // Without a search for causes.
    check(folder.path(), &[&wrong_after_an_unknown_method().url(), "--no-shrink"]);
    let replay = |server: &Server| run(&folder, &["replay", "paymaster-replays", &server.url()]);
    let (code, out, err) = replay(&wrong_after_an_unknown_method());
    assert!(code == 1 && out.contains("STILL THERE") && !out.contains("FIXED"), "{out}{err}");
    let (code, out, err) = replay(&Server::sound());
    assert!(code == 0 && out.contains("FIXED"), "{out}{err}");
}

/// A server that refuses the bytes that it has seen, and gives every result another id while it is `broken`.
fn refusing_known_bytes(broken: bool, status: StatusCode) -> Server {
    let seen = Mutex::new(std::collections::HashSet::new());
    Server::hooked(move |_, request, response| {
        let (mut head, body) = response.into_parts();
        let body = whole(body);
        let mut answer: Value = serde_json::from_slice(&body).unwrap_or_default();
        if !answer["result"].is_object() {
            return Response::from_parts(head, body.into());
        }
        if !seen.lock().unwrap().insert(request.to_vec()) {
            head.status = status;
            refuse(&mut answer, -32_000, "already known");
        } else if broken {
            answer["id"] = "another".into();
        }
        Response::from_parts(head, answer.to_string().into())
    })
}

#[test]
fn a_target_that_refuses_known_bytes_is_sent_new_ones() {
    let replays = |status| {
        let folder = tempdir().unwrap();
        let server = refusing_known_bytes(true, status);
        check(folder.path(), &[&server.url(), "--rule", "answer.id"]);
        let replay = |url: &str| run(&folder, &["replay", "paymaster-replays", url]);
        let (out, _) = ends(1, replay(&server.url()));
        assert!(!out.contains("FIXED"), "{out}");
        let sound = refusing_known_bytes(false, status);
        replay(&sound.url());
        let (code, out, err) = replay(&sound.url());
        assert!(code == 0 || code == 4, "{out}{err}");
    };
    thread::scope(|scope| {
        scope.spawn(|| replays(StatusCode::CONFLICT));
        scope.spawn(|| replays(StatusCode::OK));
    });
}

/// A server that gives a wrong gas limit to a sender that it quoted for; or, with `refuses_quotes`, refuses quotes and sponsors rightly.
fn wrong_after_a_quote_for_the_sender(refuses_quotes: bool) -> Server {
    let quoted = Mutex::new(BTreeSet::new());
    Server::changing(move |_, request, answer| {
        let sender = request["params"][0]["sender"].as_str().unwrap_or_default().to_ascii_lowercase();
        if request["method"] == "pm_getFeeQuoteOrData" {
            quoted.lock().unwrap().insert(sender);
            if refuses_quotes {
                refuse_result(answer, -32_000, "no quotes today");
            }
        } else if answer["result"]["MODE"] == "SPONSORED"
            && !refuses_quotes
            && quoted.lock().unwrap().contains(&sender)
        {
            answer["result"]["callGasLimit"] = "many".into();
        }
    })
}

/// The second request is right without the first one, which shows nothing of what the first one caused.
#[test]
fn where_an_earlier_request_is_refused_now_nothing_is_proved() {
    let folder = tempdir().unwrap();
    let target = wrong_after_a_quote_for_the_sender(false);
    let rule = "sponsored-result.callGasLimit";
    check(folder.path(), &[&target.url(), "--rule", rule]);
    let files = fs::read_dir(folder.path().join("paymaster-replays")).unwrap();
    let mut files = files.map(|file| file.unwrap().path());
    let of_two = files.find(|file| json_of("", file)["finding"]["circumstances"]["earlier"] == 1);
    let file = of_two.expect("a finding of two requests").display().to_string();
    let (out, _) = ends(1, run(&folder, &["replay", &file, &target.url()]));
    assert!(out.starts_with("STILL THERE"), "{out}");
    let refusing = wrong_after_a_quote_for_the_sender(true);
    let (out, _) = ends(4, run(&folder, &["replay", &file, &refusing.url()]));
    let text = flat(&out);
    assert!(text.starts_with(&format!("NOT PROVED {rule}")), "{out}");
    let reason = "request 1, which comes before, was served in the run and is refused now: HTTP 200";
    has(&text, &[reason, "no quotes today"]);
}

#[test]
fn a_replay_of_a_refused_repetition_finds_it_again() {
    let folder = tempdir().unwrap();
    let server = Injected::fault("replayed-operation-refused");
    check(folder.path(), &[&server.url]);
    let (out, _) = ends(1, run(&folder, &["replay", "paymaster-replays", &server.url]));
    assert!(!out.contains("FIXED"), "{out}");
}

#[test]
fn a_target_that_refuses_every_request_proves_nothing() {
    let folder = tempdir().unwrap();
    let wrong = |is_wrong: bool, refuses: bool| {
        Server::changing(move |_, _, answer| {
            if refuses {
                refuse(answer, -32_000, "not ready");
            } else if is_wrong && answer["result"].is_object() {
                answer["id"] = "another".into();
            }
        })
    };
    check(folder.path(), &[&wrong(true, false).url(), "--rule", "answer.id"]);
    let file = "paymaster-replays/answer.id-1.json";
    let (out, _) = ends(4, run(&folder, &["replay", file, &wrong(false, true).url()]));
    assert!(out.starts_with("NOT PROVED  answer.id"), "{out}");
    assert!(out.contains("is refused now: HTTP 200") && out.contains("not ready"), "{out}");
    ends(0, run(&folder, &["replay", file, &wrong(false, false).url()]));
}

/// Files of an earlier format lack members of this one: the error says what to do, not which member is missing.
#[test]
fn a_file_of_an_earlier_format_is_refused_with_advice() {
    let folder = tempdir().unwrap();
    let file = folder.path().join(finding(folder.path()));
    let mut text: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(text["format"], "paymaster-replay/v3");
    text["format"] = "paymaster-replay/v1".into();
    text["finding"].as_object_mut().unwrap().remove("share");
    fs::write(folder.path().join("v1.json"), text.to_string()).unwrap();
    let (_, err) = ends(2, run(&folder, &["replay", "v1.json", "http://127.0.0.1:9/"]));
    assert!(err.contains("run again, or use the version that wrote it"), "{err}");
}

#[test]
fn a_file_that_names_the_round_as_earlier_versions_did_is_replayed() {
    let folder = tempdir().unwrap();
    let file = finding(folder.path());
    let path = folder.path().join(&file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"round\""), "{text}");
    fs::write(&path, text.replace("\"round\"", "\"twist\"")).unwrap();
    ends(0, run(&folder, &["replay", &file, &Injected::sound().url]));
}
