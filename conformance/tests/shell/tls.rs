//! https:// targets.

use hyper::Version;
use tempfile::tempdir;

use crate::{
    binary, finish, flat, run,
    secure::{Secure, certificate},
    server::{Server, raw, read_request, write},
};

const SMALL: &[&str] = &["--cases", "8", "--allow-incomplete", "--no-shrink"];

fn small(url: &str, more: &[&str]) -> (i32, String, String) {
    let folder = tempdir().unwrap();
    let arguments: Vec<&str> = [url].iter().chain(SMALL).chain(more).copied().collect();
    run(folder.path(), &arguments)
}

#[test]
fn the_version_is_the_one_that_the_target_offers() {
    for (offered, version) in [
        (&["h2", "http/1.1"][..], Version::HTTP_2),
        (&["http/1.1"], Version::HTTP_11),
        (&[], Version::HTTP_11),
    ] {
        let server = Secure::new("sound", offered);
        let (code, out, err) = small(
            &server.url("localhost"),
            &["--strict", "--cacert", &certificate("test-ca")],
        );
        assert_eq!(code, 0, "{offered:?}: {out}{err}");
        let seen = server.seen();
        assert!(seen.len() > 100, "{}", seen.len());
        let host = format!("localhost:{}", server.port());
        assert!(
            seen.iter().all(|request| *request == (version, host.clone())),
            "{offered:?}: {:?}",
            seen[0]
        );
    }
}

#[test]
fn ipv6_addresses_are_hosts() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        // This machine has no IPv6.
        return;
    }
    let server = Secure::on("[::1]:0", "sound", &["h2"]);
    let (code, out, err) = small(&server.url("[::1]"), &["--cacert", &certificate("test-ca")]);
    assert_eq!(code, 0, "{out}{err}");
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
        let flat = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            flat.contains(said) && flat.contains("--insecure"),
            "{name}: {out}"
        );
        assert_eq!(server.seen().len(), 0, "{name}: a request was sent all the same");
    }
}

#[test]
fn the_platforms_roots_can_be_set_by_the_usual_variable() {
    let server = Secure::new("sound", &[]);
    let folder = tempdir().unwrap();
    let mut command = binary(folder.path());
    command
        .env("SSL_CERT_FILE", certificate("test-ca"))
        .arg(server.url("127.0.0.1"))
        .args(SMALL);
    let (code, out, err) = finish(&mut command);
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
fn plain_and_tls_are_told_apart() {
    let plain = Server::hooked(|_, _, response| response);
    let (code, out, _) = small(&plain.url().replace("http:", "https:"), &["--insecure"]);
    assert_eq!(code, 3, "{out}");
    assert!(flat(&out).contains("is it an http:// URL?"), "{out}");
    let secure = Secure::new("sound", &[]);
    let (code, out, _) = small(&secure.url("localhost").replace("https:", "http:"), &[]);
    assert_eq!(code, 3, "{out}");
    assert!(flat(&out).contains("is it an https:// URL?"), "{out}");
    let silent = raw(|mut stream| {
        read_request(&mut stream);
        write(&mut stream, b"");
    });
    let (code, out, _) = small(&silent.replace("http:", "https:"), &["--timeout", "300ms"]);
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("TLS handshake"), "{out}");
}
