//! The least a proxy in this language can do: hyper on both sides, a pool of connections to one upstream.
//!
//! With `--parse` it also reads the JSON of request and answer into values and writes it again, which is the least of a
//! proxy that looks at what it carries and does not keep the bytes.

use std::{error::Error, net::SocketAddr};

use bytes::Bytes;
use clap::Parser;
use http::{Request, Response, StatusCode, Uri, header::CONTENT_LENGTH, header::HOST};
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioIo},
};
use serde_json::Value;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Body = BoxBody<Bytes, hyper::Error>;

/// A bare reverse proxy.
#[derive(Parser, Clone, Copy)]
struct Options {
    /// Where to listen.
    address: SocketAddr,
    /// Where to send everything.
    upstream: SocketAddr,
    /// Read and write the JSON both ways.
    #[arg(long)]
    parse: bool,
}

#[tokio::main]
#[expect(clippy::disallowed_methods, reason = "one task a connection; there is no supervisor here")]
async fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client = Client::builder(TokioExecutor::new()).build(connector);
    let listener = tokio::net::TcpListener::bind(options.address).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let client = client.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| pass(client.clone(), options, request));
            // A client that goes away ends its connection, and that is all.
            let _ended = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn pass(
    client: Client<HttpConnector, Body>,
    options: Options,
    request: Request<Incoming>,
) -> Result<Response<Body>, hyper::Error> {
    let (mut head, body) = request.into_parts();
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    head.uri = format!("http://{}{path}", options.upstream).parse::<Uri>().unwrap_or_default();
    head.headers.remove(HOST);
    let body = if options.parse {
        head.headers.remove(CONTENT_LENGTH);
        again(body).await?
    } else {
        body.boxed()
    };
    let Ok(answer) = client.request(Request::from_parts(head, body)).await else {
        let mut answer = Response::new(Full::default().map_err(|never| match never {}).boxed());
        *answer.status_mut() = StatusCode::BAD_GATEWAY;
        return Ok(answer);
    };
    if !options.parse {
        return Ok(answer.map(BodyExt::boxed));
    }
    let (mut head, body) = answer.into_parts();
    head.headers.remove(CONTENT_LENGTH);
    Ok(Response::from_parts(head, again(body).await?))
}

/// A body read into a value and written again; what is no JSON passes as it is.
async fn again(body: Incoming) -> Result<Body, hyper::Error> {
    let bytes = body.collect().await?.to_bytes();
    let written = serde_json::from_slice::<Value>(&bytes).map_or(bytes, |value| Bytes::from(value.to_string()));
    Ok(Full::new(written).map_err(|never| match never {}).boxed())
}
