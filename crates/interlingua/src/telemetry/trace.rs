//! W3C trace context (Trace Context, section 3): read from what comes in, one span for each exchange, written to what
//! goes out.
//!
//! Every exchange has a trace, whether or not spans are exported: its id is in the log lines of the exchange and in the
//! `traceparent` of every call that follows from it.

use std::fmt;

use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};
use interlingua_core::{Text, Trace};
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
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
        let version = u8::try_from(hex(fields.next()?, 2)?).ok()?;
        let trace = hex(fields.next()?, 32)?;
        let span = u64::try_from(hex(fields.next()?, 16)?).ok()?;
        let flags = hex(fields.next()?, 2)?;
        // Version 0 ends here; a later one may go on, and is read as far as it is known.
        let ends_well = version != 0 || fields.next().is_none();
        let valid = version != 0xff && trace != 0 && span != 0 && ends_well;
        valid.then_some(TraceParent { trace, span, sampled: flags & 1 == 1 })
    }

    /// A new span in the same trace, or in a new one.
    fn child_of(parent: Option<TraceParent>) -> TraceParent {
        let mut random = [0_u8; 24];
        // These ids name, they protect nothing: were there no randomness, zeroes would be replaced below.
        let _unlikely = aws_lc_rs::rand::fill(&mut random);
        let [first, second, third] = [0, 8, 16].map(|at| {
            let bytes: [u8; 8] = random[at..at + 8].try_into().unwrap_or_default();
            u64::from_be_bytes(bytes).max(1)
        });
        match parent {
            Some(parent) => TraceParent { span: first, ..parent },
            None => TraceParent { trace: u128::from(second) << 64 | u128::from(third), span: first, sampled: false },
        }
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.span, u8::from(self.sampled))
    }
}

/// Exactly `len` lower-case hexadecimal digits.
fn hex(text: &str, len: usize) -> Option<u128> {
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

/// The span of one exchange, and the context that what follows from it carries.
#[derive(Debug, Clone)]
pub struct ExchangeSpan {
    pub span: Span,
    pub context: Trace,
}

/// Begins the span of an exchange that came in by `wire`, as a child of what the caller sent along.
pub fn exchange(wire: &str, incoming: Option<&Trace>) -> ExchangeSpan {
    let parent = incoming.and_then(|trace| trace.parent.as_deref()).and_then(TraceParent::parse);
    let span = tracing::info_span!("exchange", wire, trace_id = tracing::field::Empty, skill = tracing::field::Empty);
    if let Some(parent) = parent {
        // Fails only where no exporter listens, and then nobody misses it.
        let _unheard = span.set_parent(remote(parent));
    }
    let own = exported(&span).unwrap_or_else(|| TraceParent::child_of(parent));
    span.record("trace_id", tracing::field::display(format_args!("{:032x}", own.trace)));
    let kept = incoming.filter(|_| parent.is_some());
    let context = Trace {
        parent: Some(own.to_string().into()),
        state: kept.and_then(|trace| trace.state.clone()),
        baggage: kept.and_then(|trace| trace.baggage.clone()),
    };
    ExchangeSpan { span, context }
}

fn remote(parent: TraceParent) -> opentelemetry::Context {
    let flags = if parent.sampled { TraceFlags::SAMPLED } else { TraceFlags::NOT_SAMPLED };
    let (trace, span) = (TraceId::from(parent.trace), SpanId::from(parent.span));
    opentelemetry::Context::new().with_remote_span_context(SpanContext::new(trace, span, flags, true, TraceState::NONE))
}

/// The ids under which the exporter knows the span.
fn exported(span: &Span) -> Option<TraceParent> {
    let context = span.context();
    let known = context.span().span_context().clone();
    known.is_valid().then(|| TraceParent {
        trace: u128::from_be_bytes(known.trace_id().to_bytes()),
        span: u64::from_be_bytes(known.span_id().to_bytes()),
        sampled: known.is_sampled(),
    })
}
