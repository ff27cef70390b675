//! Traces as a collector receives them.

use std::time::Duration;

use interlingua_model::Trace;
use interlingua_testkit::Collector;
use tokio::net::TcpListener;
use tracing_subscriber::layer::SubscriberExt;

use crate::telemetry::TelemetryFault;
use crate::telemetry::export::Export;
use interlingua_telemetry::trace::{TraceParent, exchange};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spans_reach_the_collector_in_the_callers_trace_before_the_hub_ends() {
    let mut collector = Collector::start().await;
    let export = Export::start(collector.endpoint(), "hub-1").expect("an exporter");
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

    let exported = collector.next().await;
    assert_eq!(exported.method, "/opentelemetry.proto.collector.trace.v1.TraceService/Export");
    let own = TraceParent::parse(context.parent.as_deref().expect("one")).expect("valid");
    let parent = TraceParent::parse(incoming).expect("valid");
    assert_eq!((own.trace, own.sampled), (parent.trace, true));
    assert!(exported.has(&parent.trace.to_be_bytes()), "the trace is the caller's");
    assert!(exported.has(&parent.span.to_be_bytes()), "the caller's span is the parent");
    assert!(exported.has(&own.span.to_be_bytes()), "the span is the one that was told to others");
    for text in ["exchange", "interlingua", "hub-1", "wire/1"] {
        assert!(exported.has(text.as_bytes()), "{text}");
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
