//! Secrets: canaries are planted in every place that can hold one, the target echoes them in every place that it can, and every
//! artefact is searched.

use hyper::header::HeaderName;

use crate::*;

/// In the URL's path: with a character that is percent-encoded there, and one that JSON escapes.
pub(crate) const PATH: &str = "canary%2Fpath%22-Ab12345";
const PATH_DECODED: &str = "canary/path\"-Ab12345";
/// A key that looks like a word.
pub(crate) const WORD: &str = "canarykeyword";
pub(crate) const QUERY: &str = "canary-query-Cd67890";
pub(crate) const HEADER: &str = "canary-header-Ef13579";
pub(crate) const COOKIE: &str = "canary-cookie-Gh24680";
pub(crate) const ENVIRONMENT: &str = "canary-environment-Ij97531";
pub(crate) const PROXY: &str = "canary-proxy-Kl86420";

/// What no artefact may contain, in the forms in which a target may echo it.
pub(crate) fn canaries() -> Vec<String> {
    let json = |text: &str| {
        let text = Value::from(text).to_string();
        text[1..text.len() - 1].to_owned()
    };
    let mut all: Vec<String> = [
        PATH,
        PATH_DECODED,
        WORD,
        QUERY,
        HEADER,
        COOKIE,
        ENVIRONMENT,
        PROXY,
        // Basic, of ":canary-basic-Mn11223"
        "OmNhbmFyeS1iYXNpYy1NbjExMjIz",
        "canary-basic-Mn11223",
    ]
    .map(str::to_owned)
    .to_vec();
    all.push(json(PATH_DECODED));
    all.push(PATH.to_ascii_lowercase().replace("ab12345", "Ab12345"));
    all.push(json(PATH_DECODED).replace('/', "\\/"));
    all
}

/// A run's arguments and environment that plant every canary.
fn plant(folder: &Path, url: &str) -> Command {
    let mut command = binary(folder);
    command
        .env("CANARY", ENVIRONMENT)
        .env("https_proxy", format!("http://user:{PROXY}@127.0.0.1:9"))
        .env("PAYMASTER_HEADERS", "authorization: Basic OmNhbmFyeS1iYXNpYy1NbjExMjIz")
        .args(["-H", &format!("x-key: {HEADER}")])
        .args(["-H", &format!("cookie: session={COOKIE}; theme=dark")])
        .args(["-H", "x-env: Bearer ${CANARY}"])
        .arg(format!("{url}api/v2/{PATH}/{WORD}?chain=137&apikey={QUERY}"));
    command
}

/// Everything that a run leaves: what it printed, and every file.
pub(crate) fn artefacts(folder: &Path, printed: (String, String)) -> Vec<(String, String)> {
    let mut all = vec![("standard output".to_owned(), printed.0), ("standard error".to_owned(), printed.1)];
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = fs::read(&path).unwrap();
                all.push((path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned()));
            }
        }
    }
    all
}

pub(crate) fn search(artefacts: &[(String, String)]) {
    for (name, text) in artefacts {
        for canary in canaries() {
            if let Some(place) = text.find(&canary) {
                let from = text.floor_char_boundary(place.saturating_sub(200));
                panic!("{canary} in {name}: {}", &text[from..place + canary.len()]);
            }
        }
        // What is left of a canary in a text that was cut.
        if let Some(place) = text.find("canary") {
            let around = text.floor_char_boundary(place.saturating_sub(200));
            let until = text.ceil_char_boundary((place + 60).min(text.len()));
            panic!("a part of a canary in {name}: {}", &text[around..until]);
        }
    }
}

pub(crate) fn formats() -> Vec<String> {
    FORMATS.iter().map(|format| format!("--report={0}=report.{0}", format.name)).collect()
}

/// The reference server that echoes every canary: in an error's message and data, in results, as a member, in headers, in what is
/// no JSON and no UTF-8.
pub(crate) fn echoing() -> Server {
    Server::hooked(|number, _, response| {
        let (mut head, body) = response.into_parts();
        let all = canaries().join(" ");
        for (name, value) in [("x-echo", &all), ("location", &format!("/{PATH}?{QUERY}"))] {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            head.headers.insert(name, HeaderValue::from_str(value).unwrap());
        }
        let body = whole(body);
        let mut answer: Value = serde_json::from_slice(&body).unwrap_or_default();
        let body: Bytes = match number % 7 {
            _ if !answer.is_object() => body,
            0 => format!("<html>no such page: {all}</html>").into(),
            1 => [all.as_bytes(), b"\xFF\xFE"].concat().into(),
            2 => {
                // A cut in the middle of a canary, wherever a report cuts.
                answer["error"] = serde_json::json!({"code": "c", "message": format!("{}{all}", "x".repeat(number % 170)), "data": {WORD: all}});
                answer.to_string().into()
            }
            3 => {
                answer["result"]["MODE"] = Value::from(format!("{}{all}", "y".repeat(number % 170)));
                answer["result"][QUERY] = Value::from(PATH_DECODED);
                answer.to_string().into()
            }
            4 => {
                answer["id"] = Value::from(HEADER);
                answer.to_string().into()
            }
            5 => {
                answer["result"]["feeQuotes"] = Value::from(COOKIE);
                answer["result"]["callGasLimit"] = Value::from(ENVIRONMENT);
                answer.to_string().into()
            }
            _ => {
                // Longer than what is kept of an answer: the cut may be anywhere.
                let long = format!("{}{}", "z".repeat(number % 97), format!("{all} ").repeat(200));
                answer["result"]["paymasterAndData"] = Value::from(long);
                answer.to_string().into()
            }
        };
        Response::from_parts(head, Full::new(body))
    })
}

#[test]
fn no_artefact_tells_a_secret_that_the_target_echoes() {
    let folder = tempdir().unwrap();
    let server = echoing();
    let mut command = plant(folder.path(), &server.url());
    command.args(["--cases", "40", "--jobs", "4", "-v"]).args(formats());
    let (out, err) = ends(1, finish(&mut command));
    assert!(out.contains("\"$PAYMASTER_URL\"") && out.contains("-H \"x-env: Bearer ${CANARY}\""), "{out}");
    // The page shows the requests and answers of every finding; the terminal one of each defect.
    let page = text_of(&folder, "report.html");
    for name in ["tokenInfo", "sponsorshipInfo", "pm_sponsorUserOperation", "feeQuotes"] {
        assert!(page.contains(name), "{name} is gone: {page}");
    }
    let all = artefacts(folder.path(), (out, err));
    assert!(all.len() > FORMATS.len() + 2, "reports and replay files are there");
    search(&all);
}

#[test]
fn no_error_tells_a_secret() {
    let folder = tempdir().unwrap();
    // In a status line, in a header of a redirect, in what is no HTTP, and from nobody.
    let status = serving(|stream| {
        let head = format!("HTTP/1.1 403 {QUERY}\r\nx-echo: {HEADER}\r\ncontent-length: 0\r\n\r\n");
        write(stream, head.as_bytes());
    });
    let redirect = serving(|stream| {
        let place = format!("https://other.example/api/v2/{PATH}/{WORD}?apikey={QUERY}");
        let head = format!("HTTP/1.1 308 Go\r\nlocation: {place}\r\ncontent-length: 0\r\n\r\n");
        write(stream, head.as_bytes());
    });
    let babble = raw(|mut stream| write(&mut stream, QUERY.as_bytes()));
    for url in [status, redirect, babble, unreachable_url()] {
        let mut command = plant(folder.path(), &url);
        let (out, err) = ends(3, finish(command.args(["--cases", "4"]).args(formats())));
        search(&artefacts(folder.path(), (out, err)));
    }
    let proxied = |variable: &str, more: &[&str]| {
        let mut command = plant(folder.path(), &unreachable_url());
        let proxy = unreachable_url().replace("http://", &format!("http://user:{PROXY}@"));
        let (code, out, err) = finish(command.env(variable, proxy).args(more));
        search(&artefacts(folder.path(), (out, err)));
        code
    };
    assert_eq!(proxied("http_proxy", &[]), 3);
    assert_eq!(proxied("all_proxy", &["--dry-run"]), 0);
}

#[test]
#[cfg(unix)]
fn what_is_replayed_works_when_the_secret_is_given_again() {
    // Wrong for whoever knows the key, and turned away else.
    let server = raw(|mut stream| {
        while let Some(head) = request_head(&mut stream) {
            let knows = head.contains(&format!("/key/{PATH}?apikey={QUERY} "))
                && head.to_lowercase().contains(&format!("x-key: {HEADER}").to_lowercase());
            let (status, body) =
                if knows { ("200 OK", r#"[{"jsonrpc":"2.0"}]"#) } else { ("401 Unauthorized", "") };
            write(&mut stream, http(status, body).as_bytes());
        }
    });
    let folder = tempdir().unwrap();
    let url = format!("{server}key/{PATH}?apikey={QUERY}");
    let header = format!("x-key: {HEADER}");
    let mut command = binary(&folder);
    let (code, out, err) = finish(command.args([&url, "--cases", "4", "-v", "-H", &header]));
    assert_eq!(code, 1, "{out}{err}");
    search(&artefacts(folder.path(), (out.clone(), err)));
    let line = out.lines().find_map(|line| line.strip_prefix("  cURL "));
    let line = line.expect("a cURL line").trim();
    assert!(flat_has(&out, "(export PAYMASTER_URL, PAYMASTER_HEADER_X_KEY first)"), "{out}");
    let told = std::process::Command::new("sh")
        .args(["-c", &format!("{line} -w ' %{{http_code}}'")])
        .env("PAYMASTER_URL", &url)
        .env("PAYMASTER_HEADER_X_KEY", HEADER)
        .output()
        .unwrap();
    // 127: no cURL on this machine.
    if told.status.code() != Some(127) {
        assert_eq!(String::from_utf8_lossy(&told.stdout), "[{\"jsonrpc\":\"2.0\"}] 200", "{line}");
    }
    let file = fs::read_dir(folder.path().join("paymaster-replays")).unwrap();
    let file = file.map(|entry| entry.unwrap().path()).min().unwrap();
    let replay = |with: &dyn Fn(&mut Command)| {
        let mut command = binary(&folder);
        command.arg("replay").arg(&file);
        with(&mut command);
        let (code, out, err) = finish(&mut command);
        search(&artefacts(folder.path(), (out.clone(), err.clone())));
        (code, out + &err)
    };
    let (code, told) = replay(&|_| {});
    assert_eq!(code, 2, "{told}");
    assert!(told.contains("set PAYMASTER_URL"), "{told}");
    let (code, told) = replay(&|command| {
        command.env("PAYMASTER_URL", &url).env("PAYMASTER_HEADERS", &header);
    });
    assert_eq!(code, 1, "{told}");
    assert!(told.starts_with("STILL THERE"), "{told}");
}

#[cfg(unix)]
fn flat_has(text: &str, part: &str) -> bool {
    flat(text).contains(part)
}

#[test]
fn declared_and_common_segments_are_shown_and_business_is_untouched() {
    let folder = with_profile("[target]\npublic-path-segments = [\"Tenant-42\"]\n");
    let server = Server::changing(|_, _, answer| {
        if answer.pointer("/result/feeQuotes").is_some() {
            answer["result"]["feeQuotes"] =
                Value::from("tokenInfo mainnet Tenant-42 sponsorship v2 137 tokenList");
        }
    });
    let url = format!("{}Tenant-42/tokenInfo/mainnet/sponsorship/v2/137?list=tokenList", server.url());
    let mut command = binary(&folder);
    let (out, _) = ends(1, finish(command.args([&url, "--cases", "8", "--report", "json=report.json"])));
    assert!(flat(&out).contains("tokenInfo mainnet Tenant-42 sponsorship v2 137 tokenList"), "{out}");
    assert!(out.contains("/Tenant-42/***/mainnet/sponsorship/v2/137?list=***"), "{out}");
}
