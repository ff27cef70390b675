//! Log format: text for people, or one JSON object a line.
//!
//! One event is one line whatever it carries: control characters inside are escaped, so that nobody can inject a line into the log, or
//! control the terminal that shows it.

use std::borrow::Cow;
use std::io;

use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, reload};

use super::settings::{Log, LogFormat};
use super::{TelemetryFault, trace};

type Boxed<S> = Box<dyn Layer<S> + Send + Sync>;

/// Changes the level while the hub runs.
pub(super) struct LevelHandle {
    set: Box<dyn Fn(EnvFilter) -> Result<(), reload::Error> + Send + Sync>,
}

impl std::fmt::Debug for LevelHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LevelHandle")
    }
}

impl LevelHandle {
    pub(super) fn set(&self, level: &str) -> Result<(), TelemetryFault> {
        let filter = parse(level)?;
        // Fails only when the subscriber is gone, and then there is nothing left to set.
        let _gone = (self.set)(filter);
        Ok(())
    }
}

fn parse(level: &str) -> Result<EnvFilter, TelemetryFault> {
    Ok(EnvFilter::builder().parse(level)?)
}

/// The layer that writes lines to `to`, and the handle to its level.
pub(super) fn layer<S, W>(config: &Log, to: W) -> Result<(Boxed<S>, LevelHandle), TelemetryFault>
where
    S: tracing::Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let (filter, handle) = reload::Layer::new(parse(&config.level)?);
    let base = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_span_events(FmtSpan::NONE)
        .with_writer(OneLine { to, format: config.format });
    let lines: Boxed<S> = match config.format {
        LogFormat::Text => base.with_filter(filter).boxed(),
        LogFormat::Json => {
            base.json().flatten_event(true).with_current_span(true).with_span_list(false).with_filter(filter).boxed()
        }
    };
    Ok((lines, LevelHandle { set: Box::new(move |filter| handle.reload(filter)) }))
}

/// A writer that keeps every event on one line, and says of each which trace it belongs to: spans would, but are not made
/// where only lines of level `info` and above are written. An event arrives as one write.
struct OneLine<W> {
    to: W,
    format: LogFormat,
}

impl<'w, W: MakeWriter<'w>> MakeWriter<'w> for OneLine<W> {
    type Writer = OneLineWriter<W::Writer>;

    fn make_writer(&'w self) -> Self::Writer {
        OneLineWriter { to: self.to.make_writer(), format: self.format }
    }

    fn make_writer_for(&'w self, meta: &tracing::Metadata<'_>) -> Self::Writer {
        OneLineWriter { to: self.to.make_writer_for(meta), format: self.format }
    }
}

struct OneLineWriter<W> {
    to: W,
    format: LogFormat,
}

/// The line with the id of the trace around it; a line within a span has it already.
fn traced(line: &[u8], format: LogFormat) -> Cow<'_, [u8]> {
    let known = |name: &[u8]| line.windows(name.len()).any(|part| part == name);
    let Some(id) = trace::ambient_id().filter(|_| !known(b"trace_id")) else { return Cow::Borrowed(line) };
    match (format, line) {
        (LogFormat::Json, [b'{', rest @ ..]) => {
            Cow::Owned([format!("{{\"trace_id\":\"{id}\",").as_bytes(), rest].concat())
        }
        (LogFormat::Json | LogFormat::Text, line) => Cow::Owned([line, format!(" trace_id={id}").as_bytes()].concat()),
    }
}

impl<W: io::Write> io::Write for OneLineWriter<W> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let (line, end) = match event {
            [line @ .., b'\n'] => (line, &b"\n"[..]),
            line => (line, &b""[..]),
        };
        let mut escaped = Vec::with_capacity(event.len() + 64);
        for &byte in &*traced(line, self.format) {
            match byte {
                byte if byte.is_ascii_control() => escaped.extend(byte.escape_ascii()),
                byte => escaped.push(byte),
            }
        }
        escaped.extend(end);
        self.to.write_all(&escaped)?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
