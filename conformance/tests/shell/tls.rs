//! https:// targets.

#[cfg(unix)]
use std::process::Command;

use crate::*;

const SMALL: &[&str] = &["-v", "--cases", "8", "--allow-incomplete", "--no-shrink"];

fn small(url: &str, more: &[&str]) -> (i32, String, String) {
    let arguments: Vec<&str> = [url].iter().chain(SMALL).chain(more).copied().collect();
    alone(&arguments)
}

#[test]
fn the_version_is_the_one_that_the_target_offers() {
    for (offered, version) in [
        (&["h2", "http/1.1"][..], Version::HTTP_2),
        (&["http/1.1"], Version::HTTP_11),
        (&[], Version::HTTP_11),
    ] {
        let server = Secure::new("sound", offered);
        let (code, out, err) =
            small(&server.url("localhost"), &["--strict", "--cacert", &certificate("test-ca")]);
        assert_eq!(code, 0, "{offered:?}: {out}{err}");
        let told = if version == Version::HTTP_2 { "): HTTP/2 (" } else { "): HTTP/1.1 (" };
        let text = flat(&out);
        let (_, observed) = text.split_once("behaviour.http-version (").unwrap();
        assert!(observed.split("behaviour.").next().unwrap().contains(told), "{out}");
        let seen = server.seen();
        assert!(seen.len() > 100, "{}", seen.len());
        let host = format!("localhost:{}", server.port());
        assert!(seen.iter().all(|request| *request == (version, host.clone())), "{offered:?}: {:?}", seen[0]);
    }
}

#[test]
fn ipv6_addresses_are_hosts() {
    if TcpListener::bind("[::1]:0").is_err() {
        // This machine has no IPv6.
        return;
    }
    let server = Secure::on("[::1]:0", "sound", &["h2"]);
    let (out, _) = ends(0, small(&server.url("[::1]"), &["--cacert", &certificate("test-ca")]));
    assert!(out.contains("https://[::1]:"), "{out}");
}

#[test]
fn what_is_wrong_with_a_certificate_is_named() {
    let ca = certificate("test-ca");
    for (name, trust, said) in [
        ("sound", None, "unknown issuer"),
        ("expired", Some(&ca), "expired"),
        ("elsewhere", Some(&ca), "another host name"),
        ("elsewhere", Some(&ca), "paymaster.example"),
    ] {
        let server = Secure::new(name, &[]);
        let more = trust.map_or(vec![], |ca| vec!["--cacert", ca.as_str()]);
        let (code, out, err) = small(&server.url("localhost"), &more);
        assert_eq!(code, 3, "{name}: {out}{err}");
        let flat = flat(&out);
        assert!(flat.contains(said) && flat.contains("--insecure"), "{name}: {out}");
        assert_eq!(server.seen().len(), 0, "{name}: a request was sent all the same");
    }
}

#[test]
fn the_platforms_roots_can_be_set_by_the_usual_variable() {
    let server = Secure::new("sound", &[]);
    let folder = tempdir().unwrap();
    let mut command = binary(&folder);
    command.env("SSL_CERT_FILE", certificate("test-ca")).arg(server.url("127.0.0.1")).args(SMALL);
    ends(0, finish(&mut command));
}

#[test]
fn plain_and_tls_are_two_defects() {
    let plain = Server::sound();
    let (out, _) = ends(3, small(&plain.url().replace("http:", "https:"), &["--insecure"]));
    assert!(flat(&out).contains("is it an http:// URL?"), "{out}");
    let secure = Secure::new("sound", &[]);
    let (out, _) = ends(3, small(&secure.url("localhost").replace("https:", "http:"), &[]));
    assert!(flat(&out).contains("is it an https:// URL?"), "{out}");
    let silent = raw(|mut stream| {
        read_request(&mut stream);
        write(&mut stream, b"");
    });
    let (out, _) = ends(3, small(&silent.replace("http:", "https:"), &["--timeout", "300ms"]));
    assert!(flat(&out).contains("TLS handshake"), "{out}");
}

/// What cURL, given a key that is missing, has to be told.
#[cfg(unix)]
fn curl_line(out: &str) -> &str {
    let line = out.lines().find_map(|line| line.strip_prefix("  cURL "));
    line.expect("a cURL line").trim()
}

#[test]
fn insecure_warns_in_every_report_and_curl_is_told() {
    let server = Secure::new("expired", &["h2"]);
    let folder = with_profile("[target]\ninsecure = true\n");
    let url = server.url("localhost");
    let mut command = binary(&folder);
    command.args([&url, "--report", "json=r.json", "--report", "junit=r.xml"]).args(SMALL);
    let (out, _) = ends(0, finish(&mut command));
    let warning = "was not verified (--insecure)";
    for (name, text) in
        [("terminal", flat(&out)), ("json", text_of(&folder, "r.json")), ("junit", text_of(&folder, "r.xml"))]
    {
        assert!(text.contains(warning), "{name}: {text}");
    }
}

#[test]
#[cfg(unix)]
fn the_curl_line_trusts_whom_we_trusted() {
    for (name, trust, option) in [
        ("expired", vec!["--insecure"], "--insecure"),
        ("sound", vec!["--cacert", &certificate("test-ca")], "--cacert"),
    ] {
        let server = Secure::broken(name, &["h2"]);
        let (code, out, err) = small(&server.url("localhost"), &trust);
        assert_eq!(code, 1, "{out}{err}");
        let line = curl_line(&out);
        assert!(line.contains(option), "{line}");
        let before = server.seen().len();
        let output = Command::new("sh").args(["-c", line]).output().unwrap();
        if output.status.code() == Some(127) {
            // No cURL on this machine.
            return;
        }
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(server.seen().len(), before + 1, "{line}: {told}");
    }
}
