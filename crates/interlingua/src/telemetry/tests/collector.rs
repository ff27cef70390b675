//! Traces as a collector receives them: a gRPC server of one method, over plain HTTP/2.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use interlingua_core::Trace;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tracing_subscriber::layer::SubscriberExt;

use crate::telemetry::TelemetryFault;
use crate::telemetry::export::Export;
use crate::telemetry::trace::{TraceParent, exchange};

/// Answers every export with an empty success and hands on what it got.
async fn collect(listener: TcpListener, got: mpsc::Sender<(String, Bytes)>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let got = got.clone();
        connections.spawn(async move {
            let service = service_fn(move |request: Request<Incoming>| {
                let got = got.clone();
                async move {
                    let path = request.uri().path().to_owned();
                    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
                    let _closed = got.send((path, body)).await;
                    let mut trailers = HeaderMap::new();
                    trailers.insert("grpc-status", HeaderValue::from_static("0"));
                    let empty = Full::new(Bytes::from_static(&[0; 5]));
                    let body = empty.with_trailers(std::future::ready(Some(Ok(trailers))));
                    let answer = Response::builder().header("content-type", "application/grpc").body(body);
                    Ok::<_, Infallible>(answer.expect("a valid answer"))
                }
            });
            let http2 = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            let _closed = http2.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

fn has(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spans_reach_the_collector_in_the_callers_trace_before_the_hub_ends() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback");
    let endpoint = format!("http://{}", listener.local_addr().expect("bound"));
    let (sender, mut got) = mpsc::channel(8);
    let mut collector = JoinSet::new();
    collector.spawn(collect(listener, sender));

    let export = Export::start(&endpoint, "hub-1").expect("an exporter");
    let subscriber = tracing_subscriber::registry().with(crate::telemetry::spans(&export));
    let incoming = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let context = tracing::subscriber::with_default(subscriber, || {
        let trace = Trace { parent: Some(incoming.into()), state: None, baggage: None };
        let exchange = exchange("wire/1", Some(&trace));
        let _entered = exchange.span.enter();
        tracing::info!("dispatched");
        exchange.context
    });
    export.stop(Duration::from_secs(20)).await;

    let (path, body) = tokio::time::timeout(Duration::from_secs(20), got.recv()).await.expect("in time").expect("one");
    assert_eq!(path, "/opentelemetry.proto.collector.trace.v1.TraceService/Export");
    let own = TraceParent::parse(context.parent.as_deref().expect("one")).expect("valid");
    let parent = TraceParent::parse(incoming).expect("valid");
    assert_eq!((own.trace, own.sampled), (parent.trace, true));
    assert!(has(&body, &parent.trace.to_be_bytes()), "the trace is the caller's");
    assert!(has(&body, &parent.span.to_be_bytes()), "the caller's span is the parent");
    assert!(has(&body, &own.span.to_be_bytes()), "the span is the one that was told to others");
    for text in ["exchange", "interlingua", "hub-1", "wire/1"] {
        assert!(has(&body, text.as_bytes()), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_is_gone_holds_nobody_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback");
    let endpoint = format!("http://{}", listener.local_addr().expect("bound"));
    drop(listener);
    let export = Export::start(&endpoint, "hub-1").expect("connects when it must");
    let subscriber = tracing_subscriber::registry().with(crate::telemetry::spans(&export));
    tracing::subscriber::with_default(subscriber, || drop(exchange("wire/1", None)));
    tokio::time::timeout(Duration::from_secs(60), export.stop(Duration::from_millis(200))).await.expect("it ends");
}

#[test]
fn only_a_plain_address_is_taken_and_a_password_in_it_is_not_shown() {
    for bad in ["https://user:hunter2@collector:4317", "collector:4317", "http://", ""] {
        let fault = Export::start(bad, "hub-1").expect_err("refused");
        assert!(matches!(fault, TelemetryFault::Endpoint(_)));
        assert!(!fault.to_string().contains("hunter2"));
    }
}
