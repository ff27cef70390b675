//! Clients that send no request, and clients that request a stream and do not read it.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::routing::get;
use bytes::Bytes;
use futures_util::stream::unfold;
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use crate::accept::{Acceptor, FIRST_PATIENCE};
use crate::connection::{Connection, From};
use crate::connection_limits::ConnectionLimits;
use crate::stall_timeout::StallTimeout;
use interlingua_hub::supervisor::Supervisor;

/// Counts streams until they are dropped.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// `/flood` has no end; `/quiet` says one word and then nothing.
fn router(open: &Arc<AtomicUsize>) -> Router {
    let stream = |open: Arc<AtomicUsize>, most: usize| async move {
        open.fetch_add(1, Ordering::SeqCst);
        let pieces = unfold((Counted(open), 0), move |(counted, n)| async move {
            if n == most {
                std::future::pending::<()>().await;
            }
            Some((Ok::<Bytes, Infallible>(Bytes::from_static(&[b'x'; 8_192])), (counted, n + 1)))
        });
        Body::from_stream(pieces)
    };
    let (flood, quiet) = (open.clone(), open.clone());
    Router::new()
        .route("/flood", get(move || stream(flood.clone(), usize::MAX)))
        .route("/quiet", get(move || stream(quiet.clone(), 1)))
}

/// A connection being served, and the client's end of it.
fn served(open: &Arc<AtomicUsize>) -> (impl Future<Output = ()> + use<>, DuplexStream) {
    let (ours, theirs) = tokio::io::duplex(16 * 1024);
    let acceptor = Acceptor {
        router: router(open),
        supervisor: Supervisor::new(),
        connections: ConnectionLimits::new(1, 1),
        open: metrics::gauge!("test"),
    };
    let patient = StallTimeout::new(ours, crate::accept::READ_PATIENCE).that_begins(FIRST_PATIENCE);
    (acceptor.serve(patient, Connection::new(From::LocalSocket, false), None), theirs)
}

/// Without an end of its own the test would never end: time is paused, so hours pass at once.
#[tokio::test(start_paused = true)]
async fn whoever_does_not_say_what_they_want_is_let_go() {
    for (how, beginning, each) in [
        ("nothing", "", 1),
        ("a byte", "G", 1),
        (
            "a byte at a time",
            "GET /quiet HTTP/1.1\r\nHost: here\r\nX: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
            3,
        ),
        ("half a head", "GET /quiet HTTP/1.1\r\nHost: here\r\n", 0),
        ("half a beginning of HTTP/2", "PRI * HTTP/2.0\r\n", 0),
        ("a beginning of HTTP/2 a byte at a time", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 3),
    ] {
        let (serving, mut client) = served(&Arc::new(AtomicUsize::new(0)));
        let sending = async {
            for byte in beginning.as_bytes() {
                // It may be closed by now.
                let _ = client.write_all(&[*byte]).await;
                tokio::time::sleep(Duration::from_secs(each)).await;
            }
            let mut said = Vec::new();
            let _ = client.read_to_end(&mut said).await;
        };
        let both = async { tokio::join!(serving, sending) };
        assert!(tokio::time::timeout(Duration::from_secs(3_600), both).await.is_ok(), "{how}");
    }
}

#[tokio::test(start_paused = true)]
async fn over_http_1_a_stream_that_nobody_reads_is_given_up_and_its_place_is_free() {
    let open = Arc::new(AtomicUsize::new(0));
    let (serving, mut client) = served(&open);
    client.write_all(b"GET /flood HTTP/1.1\r\nHost: here\r\n\r\n").await.expect("written");
    serving.await;
    assert_eq!(open.load(Ordering::SeqCst), 0, "the stream was dropped");
    drop(client);
}

#[tokio::test(start_paused = true)]
async fn over_http_2_a_stream_that_nobody_takes_from_is_given_up_though_the_connection_is_read() {
    let open = Arc::new(AtomicUsize::new(0));
    let (serving, client) = served(&open);
    let exchange = async {
        let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(client)).await;
        let (mut sender, connection) = handshake.expect("a handshake");
        let request = http::Request::get("http://here/flood").body(Empty::<Bytes>::new()).expect("a request");
        let asked = async {
            let response = sender.send_request(request).await.expect("an answer");
            // Held, and never read.
            std::future::pending::<()>().await;
            drop(response);
        };
        tokio::select! {
            _ = connection => {}
            () = asked => {}
        }
    };
    tokio::join!(serving, exchange);
    assert_eq!(open.load(Ordering::SeqCst), 0, "the stream was dropped");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_has_nothing_to_say_is_waited_for() {
    let open = Arc::new(AtomicUsize::new(0));
    let (serving, client) = served(&open);
    let exchange = async {
        let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(client)).await;
        let (mut sender, connection) = handshake.expect("a handshake");
        let request = http::Request::get("http://here/quiet").body(Empty::<Bytes>::new()).expect("a request");
        let asked = async {
            let mut body = sender.send_request(request).await.expect("an answer").into_body();
            body.frame().await.expect("a word").expect("whole");
            let more = tokio::time::timeout(crate::accept::STREAM_PATIENCE * 20, body.frame()).await;
            assert!(more.is_err(), "it is quiet, and open");
        };
        tokio::select! {
            _ = connection => panic!("the connection was ended"),
            () = asked => {}
        }
    };
    tokio::select! {
        () = serving => panic!("the connection was ended"),
        () = exchange => {}
    }
}

#[tokio::test(start_paused = true)]
async fn who_reads_slowly_is_served() {
    let open = Arc::new(AtomicUsize::new(0));
    let (serving, mut client) = served(&open);
    client.write_all(b"GET /flood HTTP/1.1\r\nHost: here\r\n\r\n").await.expect("written");
    let reading = async {
        let mut piece = vec![0; 16 * 1024];
        for _ in 0..50 {
            tokio::time::sleep(crate::accept::READ_PATIENCE / 2).await;
            assert!(client.read(&mut piece).await.expect("open") > 0);
        }
    };
    tokio::select! {
        () = serving => panic!("it was given up"),
        () = reading => {}
    }
}
