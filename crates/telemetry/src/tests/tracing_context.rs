//! W3C trace context, section by section.

use http::{HeaderMap, HeaderName, HeaderValue};
use interlingua_model::Trace;

use crate::trace::{TraceParent, ambient, ambient_id, exchange, of_headers, request, to_headers, within};

const SPEC: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[test]
fn a_traceparent_is_read_and_written_as_section_3_2_says() {
    let parent = TraceParent::parse(SPEC).expect("the example of the specification");
    assert_eq!(parent.trace, 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736);
    assert_eq!((parent.span, parent.sampled), (0x00f0_67aa_0ba9_02b7, true));
    assert_eq!(&*parent.text(), SPEC);
    let later = "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future-will-be-like";
    assert_eq!(TraceParent::parse(later), Some(parent), "a later version is read as far as it is known");
    assert!(!TraceParent::parse(&SPEC.replace("-01", "-02")).expect("valid").sampled);
}

#[test]
fn what_is_no_traceparent_is_refused() {
    for bad in [
        "",
        "00",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-extra",
        "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
        "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "0-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
        "00-４bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
    ] {
        assert_eq!(TraceParent::parse(bad), None, "{bad}");
    }
}

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(HeaderName::from_static(name), HeaderValue::from_str(value).expect("a header value"));
    }
    headers
}

#[test]
fn headers_are_carried_and_an_invalid_parent_takes_the_rest_with_it() {
    let all = headers(&[("traceparent", SPEC), ("tracestate", "a=1,b=2"), ("baggage", "k=v")]);
    let trace = of_headers(&all).expect("valid");
    assert_eq!((trace.state.as_deref(), trace.baggage.as_deref()), (Some("a=1,b=2"), Some("k=v")));
    let mut out = HeaderMap::new();
    to_headers(&trace, &mut out);
    assert_eq!(out, all);

    assert_eq!(of_headers(&headers(&[("traceparent", "nonsense"), ("tracestate", "a=1")])), None);
    assert_eq!(of_headers(&headers(&[("traceparent", SPEC), ("traceparent", SPEC)])), None, "two are none");
    let long = "x".repeat(10_000);
    let trace =
        of_headers(&headers(&[("traceparent", SPEC), ("tracestate", &long), ("baggage", &long)])).expect("valid");
    assert_eq!((trace.state, trace.baggage), (None, None));
}

#[test]
fn what_is_no_header_value_is_left_off() {
    let trace = Trace { parent: Some("a\r\nx-forged: 1".into()), state: Some("ok=1".into()), baggage: None };
    let mut out = HeaderMap::new();
    to_headers(&trace, &mut out);
    assert_eq!(out, headers(&[("tracestate", "ok=1")]));
}

#[test]
fn an_exchange_goes_on_in_the_callers_trace_with_a_span_of_its_own() {
    let incoming = Trace { parent: Some(SPEC.into()), state: Some("a=1".into()), baggage: Some("k=v".into()) };
    let out = exchange("wire/1", Some(&incoming)).context;
    let parent = TraceParent::parse(out.parent.as_deref().expect("one")).expect("valid");
    let before = TraceParent::parse(SPEC).expect("valid");
    assert_eq!((parent.trace, parent.sampled), (before.trace, true));
    assert_ne!(parent.span, before.span);
    assert_eq!((out.state.as_deref(), out.baggage.as_deref()), (Some("a=1"), Some("k=v")));
}

#[test]
fn an_exchange_without_a_valid_context_begins_a_trace() {
    let broken = Trace { parent: Some("nonsense".into()), state: Some("a=1".into()), baggage: None };
    for incoming in [None, Some(&broken)] {
        let out = exchange("wire/1", incoming).context;
        let first = TraceParent::parse(out.parent.as_deref().expect("one")).expect("valid");
        let other = exchange("wire/1", incoming).context;
        assert_ne!(first, TraceParent::parse(other.parent.as_deref().expect("one")).expect("valid"));
        assert_eq!(out.state, None);
    }
}

#[tokio::test]
async fn what_is_opened_while_a_request_is_answered_belongs_to_its_trace() {
    let parent = |trace: &Trace| TraceParent::parse(trace.parent.as_deref().expect("one")).expect("valid");
    let begun = request(&headers(&[("traceparent", SPEC), ("tracestate", "a=1")]));
    let (own, theirs) = (parent(&begun.context), TraceParent::parse(SPEC).expect("valid"));
    assert_eq!((own.trace, own.sampled), (theirs.trace, theirs.sampled));
    assert_ne!(own.span, theirs.span);
    within(begun.context, async {
        let without = exchange("wire/1", None).context;
        assert_eq!(parent(&without).trace, theirs.trace, "a call that brings none is in the request's");
        assert_eq!(without.state.as_deref(), Some("a=1"));
        let other = SPEC.replace("4bf9", "0000");
        let brought = Trace { parent: Some(other.as_str().into()), state: None, baggage: None };
        let inside = exchange("wire/1", Some(&brought)).context;
        assert_eq!(parent(&inside).trace, TraceParent::parse(&other).expect("valid").trace, "its own goes before");
        assert_eq!(ambient_id().as_deref(), Some("4bf92f3577b34da6a3ce929d0e0e4736"));
    })
    .await;
    assert_eq!(ambient(), None);
}
