//! W3C trace context (Trace Context, section 3): read from incoming requests, one span for each exchange, written to outgoing requests.
//!
//! Every exchange has a trace, with or without a collector: its id is in the log lines of the exchange, in its audit lines, in the answer
//! to the caller, and in the `traceparent` of every call that follows from it. Spans are created only for a collector, or for log level
//! `debug`: a span that nobody reads would be most of the cost of a small call.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};
use interlingua_model::{Text, Trace};
use opentelemetry::trace::{
    Span as _, SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState, Tracer as _,
};
use opentelemetry_sdk::trace::SdkTracer;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

static TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
static TRACESTATE: HeaderName = HeaderName::from_static("tracestate");
static BAGGAGE: HeaderName = HeaderName::from_static("baggage");

/// Longer ones may be dropped (Trace Context, section 3.3.1.5).
const MAX_STATE: usize = 512;
/// As much as every platform must carry (Baggage, section 3.3).
const MAX_BAGGAGE: usize = 8_192;

/// A `traceparent` that obeys section 3.2.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceParent {
    pub trace: u128,
    pub span: u64,
    pub sampled: bool,
}

impl TraceParent {
    /// None: not a valid value, and the trace begins anew, as section 3.2.2 says.
    pub fn parse(text: &str) -> Option<TraceParent> {
        let mut fields = text.trim().splitn(5, '-');
        let version = u8::try_from(number_of(fields.next()?, 2)?).ok()?;
        let trace = number_of(fields.next()?, 32)?;
        let span = u64::try_from(number_of(fields.next()?, 16)?).ok()?;
        let flags = number_of(fields.next()?, 2)?;
        // Version 0 ends here; a later one may go on, and is read as far as it is known.
        let ends_well = version != 0 || fields.next().is_none();
        let valid = version != 0xff && trace != 0 && span != 0 && ends_well;
        valid.then_some(TraceParent { trace, span, sampled: flags & 1 == 1 })
    }

    /// A new span in the same trace, or in a new one.
    fn child_of(parent: Option<TraceParent>) -> TraceParent {
        let span = number();
        match parent {
            Some(parent) => TraceParent { span, ..parent },
            None => {
                let trace = u128::from(number()) << 64 | u128::from(number());
                TraceParent { trace, span, sampled: false }
            }
        }
    }
}

/// The next number of a sequence that begins anywhere (SplitMix64). Ids of spans name, they protect nothing, so they need
/// not be unguessable; every call gets some, so they must be cheap.
fn number() -> u64 {
    static STATE: OnceLock<AtomicU64> = OnceLock::new();
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let state = STATE.get_or_init(|| {
        let mut seed = [0; 8];
        // Without randomness the sequence begins at the same place every time, and still names.
        let _unlikely = aws_lc_rs::rand::fill(&mut seed);
        AtomicU64::new(u64::from_ne_bytes(seed))
    });
    let mut mixed = state.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)).max(1)
}

/// How long a `traceparent` of version 0 is, and where in it the id of the trace stands.
const LENGTH: usize = 55;
const ID: std::ops::Range<usize> = 3..35;

impl TraceParent {
    /// As it is sent. By hand, because every call is written once.
    pub fn text(self) -> Text {
        let mut text = *b"00-00000000000000000000000000000000-0000000000000000-00";
        let spelled = hex::encode_to_slice(self.trace.to_be_bytes(), &mut text[ID])
            .and_then(|()| hex::encode_to_slice(self.span.to_be_bytes(), &mut text[36..52]))
            .and_then(|()| hex::encode_to_slice([u8::from(self.sampled)], &mut text[53..LENGTH]));
        debug_assert!(spelled.is_ok(), "{spelled:?}");
        std::str::from_utf8(&text).map(Text::from).unwrap_or_default()
    }
}

/// A number of exactly `len` lower-case hexadecimal digits.
fn number_of(text: &str, len: usize) -> Option<u128> {
    let digits = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    if text.len() == len && digits { u128::from_str_radix(text, 16).ok() } else { None }
}

/// The trace context of a request. A `traceparent` that is invalid takes the rest with it.
pub fn of_headers(headers: &HeaderMap) -> Option<Trace> {
    let single = |name: &HeaderName, longest: usize| {
        let mut values = headers.get_all(name).iter();
        let value = values.next()?.to_str().ok().filter(|value| value.len() <= longest)?;
        values.next().is_none().then(|| Text::from(value.trim()))
    };
    let parent = single(&TRACEPARENT, MAX_STATE).filter(|parent| TraceParent::parse(parent).is_some())?;
    Some(Trace { parent: Some(parent), state: single(&TRACESTATE, MAX_STATE), baggage: single(&BAGGAGE, MAX_BAGGAGE) })
}

/// Puts a trace context on a request. What is no header value is left off.
pub fn to_headers(trace: &Trace, headers: &mut HeaderMap) {
    let values = [(&TRACEPARENT, &trace.parent), (&TRACESTATE, &trace.state), (&BAGGAGE, &trace.baggage)];
    for (name, value) in values {
        if let Some(value) = value.as_deref().and_then(|value| HeaderValue::from_str(value).ok()) {
            headers.insert(name.clone(), value);
        }
    }
}

/// Puts only the parent on an answer: state and baggage are for those further on.
pub fn parent_to_headers(trace: &Trace, headers: &mut HeaderMap) {
    if let Some(parent) = trace.parent.as_deref().and_then(|parent| HeaderValue::from_str(parent).ok()) {
        headers.insert(TRACEPARENT.clone(), parent);
    }
}

/// The id of a trace, as log and audit know it. What the hub itself began is known to be valid by its length: no other
/// gets past [`request`] and [`exchange`].
pub fn id(trace: &Trace) -> Option<&str> {
    let parent = trace.parent.as_deref()?;
    parent.get(ID).filter(|_| parent.len() == LENGTH)
}

tokio::task_local! {
    static AMBIENT: Trace;
}

/// Does `work` as part of a trace: what it opens, and what the audit writes of it, belongs there.
pub async fn within<F: Future>(context: Trace, work: F) -> F::Output {
    AMBIENT.scope(context, work).await
}

/// The trace that what is being done now belongs to.
pub fn ambient() -> Option<Trace> {
    AMBIENT.try_with(Clone::clone).ok()
}

/// Its id.
pub fn ambient_id() -> Option<String> {
    AMBIENT.try_with(|trace| id(trace).map(str::to_owned)).ok().flatten()
}

/// A span, and the context that what follows from it carries.
#[derive(Debug, Clone)]
pub struct Begun {
    pub span: Span,
    pub context: Trace,
}

/// Begins the span of one request or message on a connection, as a child of what the caller sent along. It is seen by a
/// collector, and in the lines of level `debug`; exchanges have spans of their own.
pub fn request(headers: &HeaderMap) -> Begun {
    let incoming = of_headers(headers);
    let parent = parent_of(incoming.as_ref());
    begun(tracing::debug_span!("request", trace_id = tracing::field::Empty), parent, incoming.as_ref())
}

/// The name of an exchange's span.
pub const EXCHANGE: &str = "exchange";

/// Begins the span of an exchange that came in by `wire`. It is a child of the request it is part of; of what the call
/// itself brings along when that is another trace. Without a span of its own it goes under that of the request.
pub fn exchange(wire: &str, incoming: Option<&Trace>) -> Begun {
    let around = ambient();
    let brought = parent_of(incoming);
    let span = exchange_span(wire);
    match around {
        Some(around) if span.is_disabled() && brought.is_none() => Begun { span, context: around },
        around => {
            let same = |around: &TraceParent| brought.is_none_or(|brought| brought.trace == around.trace);
            let parent = parent_of(around.as_ref()).filter(same).or(brought);
            begun(span, parent, if brought.is_some() { incoming } else { around.as_ref() })
        }
    }
}

/// The span of an exchange that is taken up again, in the trace it began in.
pub fn resumed(wire: &str, trace: Option<&Trace>) -> Span {
    let span = exchange_span(wire);
    if span.is_disabled() { span } else { begun(span, parent_of(trace), trace).span }
}

fn exchange_span(wire: &str) -> Span {
    tracing::debug_span!(
        EXCHANGE,
        wire,
        trace_id = tracing::field::Empty,
        task = tracing::field::Empty,
        skill = tracing::field::Empty,
        outcome = tracing::field::Empty,
    )
}

/// Joins the span to its parent and says what it is known by. Of what came along, all is kept if its parent is valid.
fn begun(span: Span, parent: Option<TraceParent>, incoming: Option<&Trace>) -> Begun {
    if let Some(parent) = parent.filter(|_| !span.is_disabled()) {
        // Fails only where no exporter listens, and then nobody misses it.
        let _unheard = span.set_parent(remote(parent));
    }
    let own = exported(&span).unwrap_or_else(|| TraceParent::child_of(parent));
    if !span.is_disabled() {
        span.record("trace_id", tracing::field::display(Hex(own.trace)));
    }
    let kept = incoming.filter(|_| parent.is_some());
    let context = Trace {
        parent: Some(own.text()),
        state: kept.and_then(|trace| trace.state.clone()),
        baggage: kept.and_then(|trace| trace.baggage.clone()),
    };
    Begun { span, context }
}

/// Who phases are told to, once somebody exports spans.
static PHASES: OnceLock<SdkTracer> = OnceLock::new();

pub fn tell_phases_to(tracer: SdkTracer) {
    // The first exporter of a process is the only one.
    let _second = PHASES.set(tracer);
}

/// A phase that has just ended, as a child of the span it was part of: only where spans are exported and that one is sampled.
pub(super) fn phase(name: &'static str, took: Duration) {
    let Some(tracer) = PHASES.get() else { return };
    let around = Span::current().context();
    if !around.span().span_context().is_sampled() {
        return;
    }
    let end = SystemTime::now();
    let begun = tracer.span_builder(name).with_start_time(end.checked_sub(took).unwrap_or(end));
    begun.start_with_context(tracer, &around).end_with_timestamp(end);
}

fn parent_of(trace: Option<&Trace>) -> Option<TraceParent> {
    trace.and_then(|trace| trace.parent.as_deref()).and_then(TraceParent::parse)
}

/// The id of a trace in writing.
struct Hex(u128);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

fn remote(parent: TraceParent) -> opentelemetry::Context {
    let flags = if parent.sampled { TraceFlags::SAMPLED } else { TraceFlags::NOT_SAMPLED };
    let (trace, span) = (TraceId::from(parent.trace), SpanId::from(parent.span));
    opentelemetry::Context::new().with_remote_span_context(SpanContext::new(trace, span, flags, true, TraceState::NONE))
}

/// The ids under which the exporter knows the span.
fn exported(span: &Span) -> Option<TraceParent> {
    if span.is_disabled() {
        return None;
    }
    let context = span.context();
    let known = context.span().span_context().clone();
    known.is_valid().then(|| TraceParent {
        trace: u128::from_be_bytes(known.trace_id().to_bytes()),
        span: u64::from_be_bytes(known.span_id().to_bytes()),
        sampled: known.is_sampled(),
    })
}
