//! HTTP and SOCKS proxies before the target.

use std::net::Shutdown;

use crate::*;

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
        Self { url: format!("http://user:proxy-pass-1@{address}"), heads }
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
    let Ok(mut server) = TcpStream::connect(target) else { return };
    let text = String::from_utf8(head.clone()).unwrap();
    let tunnel = text.starts_with("CONNECT ");
    log.lock().unwrap().push(text);
    if tunnel {
        client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
    } else {
        server.write_all(&head).unwrap();
    }
    join(client, server);
}

/// Copies bytes between two connections until both end.
fn join(mut client: TcpStream, mut server: TcpStream) {
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
    finish(binary(&folder).env(variable, proxy).args(arguments).args(SMALL))
}

/// What the credentials of [`Middleman`] become.
const AUTHORIZATION: &str = "proxy-authorization: Basic dXNlcjpwcm94eS1wYXNzLTE=";

#[test]
fn plain_requests_name_their_whole_url_to_the_proxy() {
    let server = Server::sound();
    let address = server.url();
    let address = address.trim_start_matches("http://").trim_end_matches('/');
    for variable in ["http_proxy", "HTTP_PROXY", "all_proxy"] {
        let proxy = Middleman::to(address);
        // No name server knows this name: only the proxy does.
        let (code, out, err) = run_with(variable, &proxy.url, &["http://paymaster.test/key-12345"]);
        assert_eq!(code, 0, "{variable}: {out}{err}");
        let heads = proxy.heads();
        let head = heads.first().expect("a connection");
        assert!(head.starts_with("POST http://paymaster.test/key-12345 HTTP/1.1\r\n"), "{head}");
        assert!(head.to_lowercase().contains(&AUTHORIZATION.to_lowercase()), "{head}");
    }
}

#[test]
fn tls_goes_through_a_tunnel_that_sees_no_key() {
    let server = Secure::new("sound", &["h2"]);
    let proxy = Middleman::to(&format!("127.0.0.1:{}", server.port()));
    let arguments = ["https://paymaster.test/key-12345", "--cacert", &certificate("test-ca")];
    ends(0, run_with("HTTPS_PROXY", &proxy.url, &arguments));
    for head in proxy.heads() {
        assert!(head.starts_with("CONNECT paymaster.test:443 HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("Basic dXNlcjpwcm94eS1wYXNzLTE="), "{head}");
        assert!(!head.contains("key-12345"), "{head}");
    }
    assert!(server.seen().iter().all(|(_, host)| host == "paymaster.test"));
}

#[test]
fn hosts_of_no_proxy_and_the_embedded_server_are_asked_directly() {
    let server = Server::sound();
    let gone = unreachable_url();
    let folder = tempdir().unwrap();
    let mut command = binary(&folder);
    command.env("http_proxy", &gone).env("NO_PROXY", "elsewhere.test,127.0.0.1");
    ends(0, finish(command.arg(server.url()).args(SMALL)));
    ends(0, run_with("all_proxy", &gone, &[]));
}

#[test]
fn a_proxy_that_does_not_help_is_named_and_its_password_is_not() {
    let gone = unreachable_url().replace("http://", "http://user:proxy-pass-1@");
    let refusing = raw(|mut stream| {
        read_request(&mut stream);
        write(&mut stream, b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n");
    });
    for (variable, proxy, url, code, said) in [
        ("http_proxy", gone.as_str(), "http://paymaster.test/", 3, "the proxy 127.0.0.1:"),
        ("https_proxy", &refusing, "https://paymaster.test/", 3, "wants a user and a password (407)"),
        (
            "http_proxy",
            "socks4://u:proxy-pass-1@h",
            "http://paymaster.test/",
            2,
            "only http://, socks5:// and socks5h:// proxies",
        ),
        ("http_proxy", "ftp://u:proxy-pass-1@h", "http://paymaster.test/", 2, "http_proxy is no URL"),
    ] {
        let (ended, out, err) = run_with(variable, proxy, &[url, "--cacert", &certificate("test-ca")]);
        assert_eq!(ended, code, "{proxy}: {out}{err}");
        let told = flat(&format!("{out}{err}"));
        assert!(told.contains(said), "{proxy}: {told}");
        assert!(!told.contains("proxy-pass-1"), "{proxy}: {told}");
    }
}

/// A SOCKS5 proxy (RFC 1928) that connects to one address, whatever the request names; it keeps the credentials and the host and port of
/// each request.
struct Socks {
    address: String,
    log: Arc<Mutex<Vec<(String, String)>>>,
}

impl Socks {
    fn to(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let log = Arc::<Mutex<Vec<_>>>::default();
        let (kept, target) = (Arc::clone(&log), target.to_owned());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, target) = (Arc::clone(&kept), target.clone());
                // A client that goes away in the middle ends its own connection alone.
                thread::spawn(move || drop(socks(stream, &log, &target)));
            }
        });
        Self { address, log }
    }

    fn url(&self, scheme: &str, password: &str) -> String {
        format!("{scheme}://user:{password}@{}", self.address)
    }

    /// The requests, each once.
    fn requests(&self) -> Vec<(String, String)> {
        let mut requests = self.log.lock().unwrap().clone();
        requests.sort();
        requests.dedup();
        requests
    }
}

fn bytes(stream: &mut TcpStream, count: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Bytes behind their number.
fn counted(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let count = bytes(stream, 1)?[0];
    bytes(stream, count.into())
}

fn socks(mut client: TcpStream, log: &Mutex<Vec<(String, String)>>, target: &str) -> std::io::Result<()> {
    assert_eq!(bytes(&mut client, 1)?, [5]);
    assert_eq!(counted(&mut client)?, [2], "user and password are offered");
    client.write_all(&[5, 2])?;
    bytes(&mut client, 1)?;
    let user = String::from_utf8(counted(&mut client)?).unwrap();
    let password = String::from_utf8(counted(&mut client)?).unwrap();
    if password != "proxy-pass-1" {
        return client.write_all(&[1, 1]);
    }
    client.write_all(&[1, 0])?;
    let request = bytes(&mut client, 4)?;
    assert_eq!(request[..3], [5, 1, 0], "a request to connect");
    let host = match request[3] {
        1 => {
            let parts: [u8; 4] = bytes(&mut client, 4)?.try_into().unwrap();
            std::net::Ipv4Addr::from(parts).to_string()
        }
        4 => {
            let parts: [u8; 16] = bytes(&mut client, 16)?.try_into().unwrap();
            std::net::Ipv6Addr::from(parts).to_string()
        }
        _ => String::from_utf8(counted(&mut client)?).unwrap(),
    };
    let port = u16::from_be_bytes(bytes(&mut client, 2)?.try_into().unwrap());
    log.lock().unwrap().push((format!("{user}:{password}"), format!("{host} {port}")));
    client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])?;
    join(client, TcpStream::connect(target)?);
    Ok(())
}

#[test]
fn socks_proxies_carry_plain_requests() {
    let server = Server::sound();
    let address = server.url();
    let address = address.trim_start_matches("http://").trim_end_matches('/');
    let proxy = Socks::to(address);
    let url = proxy.url("socks5h", "proxy-pass-1");
    // No name server knows this name: only the proxy does.
    ends(0, run_with("all_proxy", &url, &["http://paymaster.test/key-12345"]));
    let credentials = || "user:proxy-pass-1".to_owned();
    assert_eq!(proxy.requests(), [(credentials(), "paymaster.test 80".to_owned())]);
    let proxy = Socks::to(address);
    let url = proxy.url("socks5", "proxy-pass-1");
    ends(0, run_with("http_proxy", &url, &["http://localhost:81/"]));
    let requests = proxy.requests();
    assert!(
        requests == [(credentials(), "127.0.0.1 81".to_owned())]
            || requests == [(credentials(), "::1 81".to_owned())],
        "socks5:// resolves names here: {requests:?}"
    );
}

#[test]
fn tls_goes_through_socks_proxies() {
    let server = Secure::new("sound", &["h2"]);
    let proxy = Socks::to(&format!("127.0.0.1:{}", server.port()));
    let ca = certificate("test-ca");
    let arguments = ["https://paymaster.test/key-12345", "--cacert", &ca];
    let url = proxy.url("socks5h", "proxy-pass-1");
    ends(0, run_with("https_proxy", &url, &arguments));
    let expected = ("user:proxy-pass-1".to_owned(), "paymaster.test 443".to_owned());
    assert_eq!(proxy.requests(), [expected]);
    assert!(server.seen().iter().all(|(_, host)| host == "paymaster.test"));
}

#[test]
fn a_socks_proxy_that_refuses_the_password_is_named() {
    let proxy = Socks::to("127.0.0.1:1");
    let url = proxy.url("socks5h", "wrong-pass-2");
    let (out, err) = ends(3, run_with("all_proxy", &url, &["http://paymaster.test/"]));
    let text = flat(&format!("{out}{err}"));
    let message = format!("the proxy {}: SOCKS error: credentials not accepted", proxy.address);
    assert!(text.contains(&message), "{text}");
    assert!(!text.contains("wrong-pass-2"), "{text}");
}
