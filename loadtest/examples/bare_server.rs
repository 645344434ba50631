//! A minimal server on one thread, against which `benches/compare.sh` measures load generators. Its answers break no rule.

use std::{convert::Infallible, io::Write};

use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Bytes, body::Incoming, header::CONTENT_TYPE, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

const SPONSORED: &str = r#""result":{"MODE":"SPONSORED","mode":"SPONSORED","paymasterAndData":"0x00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff","preVerificationGas":"50000","verificationGasLimit":150000,"callGasLimit":90000}}"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    writeln!(std::io::stdout(), "http://{}/", listener.local_addr()?)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            // Errors of a connection are ignored.
            let _ = hyper::server::conn::http1::Builder::new()
                .pipeline_flush(true)
                .serve_connection(TokioIo::new(stream), service_fn(answer))
                .await;
        });
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.map(http_body_util::Collected::to_bytes);
    let body = body.unwrap_or_default();
    let id = body.windows(5).position(|window| window == b"\"id\":").map_or(&b"null"[..], |at| {
        let rest = &body[at + 5..];
        let end = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(0);
        &rest[..end]
    });
    let mut text = Vec::with_capacity(320);
    text.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    text.extend_from_slice(id);
    text.push(b',');
    text.extend_from_slice(SPONSORED.as_bytes());
    let mut response = Response::new(Full::new(Bytes::from(text)));
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
    Ok(response)
}
