//! Headers of the profile are sent to the origin of its `target.url` only: they can be keys.

use crate::*;

/// A run of few requests that comes to its end.
const SMALL: &[&str] = &["--cases", "1", "--rule", "answer.json-text", "--no-shrink"];

/// The value of the profile's header.
const KEY: &str = "canary-of-the-profile";

/// A server that keeps the head of every request and answers with an empty object.
struct Recorder {
    url: String,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    fn start() -> Self {
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let log = Arc::clone(&heads);
        let url = raw(move |mut stream| {
            while let Some(head) = request_head(&mut stream) {
                log.lock().unwrap().push(head.to_ascii_lowercase());
                write(&mut stream, http("200 OK", "{}").as_bytes());
            }
        });
        Self { url, heads }
    }

    /// Whether there were requests, all of them with this header line.
    fn always_got(&self, line: &str) -> bool {
        let heads = self.heads.lock().unwrap();
        !heads.is_empty() && heads.iter().all(|head| head.contains(&format!("{line}\r\n")))
    }
}

/// Writes a profile with a header, and with a URL where one is given.
fn profile(folder: &Path, url: Option<&str>) {
    let url = url.map_or(String::new(), |url| format!("url = \"{url}\"\n"));
    let text = format!("[target]\n{url}headers = [\"x-api-key: {KEY}\"]\n");
    fs::write(folder.join("paymaster.toml"), text).unwrap();
}

/// A replay file of a finding at that server.
fn replay_file(folder: &Path) -> (Server, String) {
    let server = Server::changing(|_, _, answer| answer["id"] = "seven".into());
    let only = ["--cases", "4", "--rule", "answer.id", "--no-shrink"];
    ends(1, run(folder, &[&[server.url().as_str()], &only[..]].concat()));
    (server, "paymaster-replays/answer.id-1.json".to_owned())
}

#[test]
fn no_command_sends_them_to_another_origin() {
    let folder = tempdir().unwrap();
    let (own, other) = (Recorder::start(), Recorder::start());
    let (recorded, file) = replay_file(folder.path());
    let sent = recorded.requests();
    for (url, reason) in [(Some(own.url.as_str()), "the origin of target.url"), (None, "without target.url")]
    {
        profile(folder.path(), url);
        for arguments in [
            &[other.url.as_str()][..],
            &["check", &other.url, "--dry-run"],
            &["compare", &own.url, &other.url],
            &["replay", &file, &other.url],
            // To the URL that the file has recorded.
            &["replay", &file],
        ] {
            if url.is_some() && arguments == ["replay", &file] {
                // Without a URL on the command line, target.url is the target.
                continue;
            }
            let (code, out, err) = run(&folder, arguments);
            assert_eq!(code, 2, "{arguments:?}: {out}{err}");
            for part in [
                "paymaster.toml: target.headers (x-api-key) are not sent to http://127.0.0.1:",
                reason,
                "-H or PAYMASTER_HEADERS",
            ] {
                assert!(err.contains(part), "{arguments:?}: {part}: {err}");
            }
            assert!(!err.contains(KEY), "{err}");
        }
    }
    assert!(own.heads.lock().unwrap().is_empty() && other.heads.lock().unwrap().is_empty());
    assert_eq!(recorded.requests(), sent);
}

#[test]
fn they_are_sent_to_their_own_origin_whatever_the_path() {
    let folder = tempdir().unwrap();
    let own = Recorder::start();
    profile(folder.path(), Some(&own.url));
    let url = format!("{}another/path?k=v", own.url);
    run(&folder, &[&[url.as_str()], SMALL].concat());
    assert!(own.always_got(&format!("x-api-key: {KEY}")));
}

#[test]
fn what_is_given_for_this_run_is_sent_and_stands_in_their_place() {
    let folder = tempdir().unwrap();
    let text = "[target]\nurl = \"http://elsewhere.test/\"\nheaders = [\"X-Api-Key: ${NOT_SET_HERE}\"]\n";
    fs::write(folder.path().join("paymaster.toml"), text).unwrap();
    let given = |with: &dyn Fn(&mut Command)| {
        let other = Recorder::start();
        let mut command = binary(&folder);
        command.arg(&other.url).args(SMALL);
        with(&mut command);
        let (_, out, err) = finish(&mut command);
        assert!(other.always_got("x-api-key: for-this-run"), "{out}{err}");
    };
    given(&|command| {
        command.args(["-H", "x-api-key: for-this-run"]);
    });
    given(&|command| {
        command.env("PAYMASTER_HEADERS", "x-api-key: for-this-run");
    });
}

#[test]
fn the_embedded_server_gets_none_and_is_judged() {
    let folder = tempdir().unwrap();
    profile(folder.path(), None);
    ends(0, run(&folder, &["--cases", "4", "--allow-incomplete"]));
}
