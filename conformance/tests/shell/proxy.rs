//! HTTP proxies between us and the target.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use tempfile::tempdir;

use crate::{
    binary, finish, flat,
    secure::{Secure, certificate},
    server::{Server, nobody},
};

const SMALL: &[&str] = &["--cases", "4", "--allow-incomplete", "--no-shrink"];

/// A proxy that leads every connection to one address, whatever the request says; it keeps the first head of each connection.
struct Middleman {
    url: String,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Middleman {
    fn to(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::<Mutex<Vec<_>>>::default();
        let (log, target) = (Arc::clone(&heads), target.to_owned());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, target) = (Arc::clone(&log), target.clone());
                thread::spawn(move || lead(stream, &log, &target));
            }
        });
        Self {
            url: format!("http://user:proxy-pass-1@{address}"),
            heads,
        }
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn lead(mut client: TcpStream, log: &Mutex<Vec<String>>, target: &str) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match client.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return,
        }
    }
    let Ok(mut server) = TcpStream::connect(target) else {
        return;
    };
    let text = String::from_utf8(head.clone()).unwrap();
    let tunnel = text.starts_with("CONNECT ");
    log.lock().unwrap().push(text);
    if tunnel {
        client
            .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
            .unwrap();
    } else {
        server.write_all(&head).unwrap();
    }
    let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let up = thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    });
    let _ = std::io::copy(&mut server, &mut client);
    let _ = client.shutdown(Shutdown::Both);
    let _ = up.join();
}

fn run_with(variable: &str, proxy: &str, arguments: &[&str]) -> (i32, String, String) {
    let folder = tempdir().unwrap();
    finish(
        binary(folder.path())
            .env(variable, proxy)
            .args(arguments)
            .args(SMALL),
    )
}

/// What the credentials of [`Middleman`] become.
const AUTHORIZATION: &str = "proxy-authorization: Basic dXNlcjpwcm94eS1wYXNzLTE=";

#[test]
fn plain_requests_name_their_whole_url_to_the_proxy() {
    let server = Server::hooked(|_, _, response| response);
    let address = server.url();
    let address = address.trim_start_matches("http://").trim_end_matches('/');
    for variable in ["http_proxy", "HTTP_PROXY", "all_proxy"] {
        let proxy = Middleman::to(address);
        // No name server knows this name: only the proxy does.
        let (code, out, err) = run_with(variable, &proxy.url, &["http://paymaster.test/key-12345"]);
        assert_eq!(code, 0, "{variable}: {out}{err}");
        let heads = proxy.heads();
        let head = heads.first().expect("a connection");
        assert!(
            head.starts_with("POST http://paymaster.test/key-12345 HTTP/1.1\r\n"),
            "{head}"
        );
        assert!(
            head.to_lowercase().contains(&AUTHORIZATION.to_lowercase()),
            "{head}"
        );
    }
}

#[test]
fn tls_goes_through_a_tunnel_that_sees_no_key() {
    let server = Secure::new("sound", &["h2"]);
    let proxy = Middleman::to(&format!("127.0.0.1:{}", server.port()));
    let (code, out, err) = run_with(
        "HTTPS_PROXY",
        &proxy.url,
        &[
            "https://paymaster.test/key-12345",
            "--cacert",
            &certificate("test-ca"),
        ],
    );
    assert_eq!(code, 0, "{out}{err}");
    for head in proxy.heads() {
        assert!(
            head.starts_with("CONNECT paymaster.test:443 HTTP/1.1\r\n"),
            "{head}"
        );
        assert!(head.contains("Basic dXNlcjpwcm94eS1wYXNzLTE="), "{head}");
        assert!(!head.contains("key-12345"), "{head}");
    }
    assert!(server.seen().iter().all(|(_, host)| host == "paymaster.test"));
}

#[test]
fn hosts_of_no_proxy_and_the_embedded_server_are_asked_directly() {
    let server = Server::hooked(|_, _, response| response);
    let gone = nobody();
    let folder = tempdir().unwrap();
    let (code, out, err) = finish(
        binary(folder.path())
            .env("http_proxy", &gone)
            .env("NO_PROXY", "elsewhere.test,127.0.0.1")
            .arg(server.url())
            .args(SMALL),
    );
    assert_eq!(code, 0, "{out}{err}");
    let (code, out, err) = run_with("all_proxy", &gone, &[]);
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
fn a_proxy_that_does_not_help_is_named_and_its_password_is_not() {
    let gone = nobody().replace("http://", "http://user:proxy-pass-1@");
    let refusing = crate::server::raw(|mut stream| {
        crate::server::read_request(&mut stream);
        crate::server::write(
            &mut stream,
            b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n",
        );
    });
    for (variable, proxy, url, code, said) in [
        (
            "http_proxy",
            gone.as_str(),
            "http://paymaster.test/",
            3,
            "the proxy 127.0.0.1:",
        ),
        (
            "https_proxy",
            &refusing,
            "https://paymaster.test/",
            3,
            "wants a user and a password (407)",
        ),
        (
            "http_proxy",
            "socks5://u:proxy-pass-1@h",
            "http://paymaster.test/",
            2,
            "only http:// proxies",
        ),
        (
            "http_proxy",
            "ftp://u:proxy-pass-1@h",
            "http://paymaster.test/",
            2,
            "http_proxy is no URL",
        ),
    ] {
        let (ended, out, err) = run_with(variable, proxy, &[url, "--cacert", &certificate("test-ca")]);
        assert_eq!(ended, code, "{proxy}: {out}{err}");
        let told = flat(&format!("{out}{err}"));
        assert!(told.contains(said), "{proxy}: {told}");
        assert!(!told.contains("proxy-pass-1"), "{proxy}: {told}");
    }
}
