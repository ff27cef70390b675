//! Log lines.

use std::io;
use std::sync::{Arc, Mutex};

use interlingua_model::{Fault, FaultKind, Secret};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;

use crate::telemetry::TelemetryFault;
use crate::telemetry::log::layer;
use crate::telemetry::settings::{Log, LogFormat};
use interlingua_telemetry::trace::within;

/// Lines kept in memory.
#[derive(Clone, Default)]
pub(super) struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("not poisoned").clone()).expect("UTF-8")
    }
}

impl io::Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("not poisoned").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for Kept {
    type Writer = Kept;

    fn make_writer(&'w self) -> Kept {
        self.clone()
    }
}

fn log(format: LogFormat, level: &str) -> Log {
    Log { format, level: level.into() }
}

fn logged(format: LogFormat, level: &str, work: impl FnOnce()) -> String {
    let kept = Kept::default();
    let (lines, _level) = layer(&log(format, level), kept.clone()).expect("a level");
    tracing::subscriber::with_default(tracing_subscriber::registry().with(lines), work);
    kept.text()
}

#[test]
fn a_json_line_is_one_object_with_the_span_it_belongs_to() {
    let text = logged(LogFormat::Json, "debug", || {
        let exchange = interlingua_telemetry::trace::exchange("wire/1", None);
        let _entered = exchange.span.enter();
        tracing::info!(skill = "files/read", "dispatched");
        tracing::trace!("not at this level");
    });
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["message"], "dispatched");
    assert_eq!(lines[0]["skill"], "files/read");
    assert_eq!(lines[0]["span"]["wire"], "wire/1");
    assert_eq!(lines[0]["span"]["trace_id"].as_str().map(str::len), Some(32));
}

#[tokio::test]
async fn without_spans_a_line_still_says_which_trace_it_belongs_to() {
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    for (format, said) in [
        (LogFormat::Json, r#""trace_id":"4bf92f3577b34da6a3ce929d0e0e4736""#),
        (LogFormat::Text, "trace_id=4bf92f3577b34da6a3ce929d0e0e4736"),
    ] {
        let trace = interlingua_model::Trace { parent: Some(parent.into()), state: None, baggage: None };
        let text = within(trace, async { logged(format, "info", || tracing::info!("failed")) }).await;
        assert_eq!(text.matches(said).count(), 1, "{text}");
        let outside = logged(format, "info", || tracing::info!("failed"));
        assert!(!outside.contains("trace_id"), "{outside}");
    }
}

#[test]
fn nobody_can_write_a_line_of_their_own_into_the_log() {
    let hostile = "x\n2026-01-01T00:00:00Z ERROR forged\r\u{1b}[2J\u{7f}";
    for format in [LogFormat::Text, LogFormat::Json] {
        let text = logged(format, "info", || tracing::info!(name = %hostile, other = hostile, "said {hostile}"));
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(!text.trim_end().contains(|c: char| c.is_ascii_control()), "{text:?}");
    }
}

#[test]
fn a_secret_is_not_in_the_log_whatever_is_logged_of_it() {
    let token = "tok_0123456789abcdef";
    for format in [LogFormat::Text, LogFormat::Json] {
        let text = logged(format, "trace", || {
            let secret = Secret::new(token);
            let cause = io::Error::other("no such key");
            let fault = Fault::caller(FaultKind::Unauthenticated, "unknown token").because(cause);
            tracing::error!(?secret, %fault, error = ?fault, "refused");
        });
        assert!(text.contains("refused") && text.contains("unknown token"), "{text}");
        assert!(!text.contains(token) && !text.contains("0123456789"), "{text}");
    }
}

#[test]
fn the_level_can_be_changed_while_it_runs_and_a_bad_one_changes_nothing() {
    let kept = Kept::default();
    let (lines, level) = layer(&log(LogFormat::Text, "warn"), kept.clone()).expect("a level");
    tracing::subscriber::with_default(tracing_subscriber::registry().with(lines), || {
        tracing::info!("one");
        level.set("info").expect("a level");
        tracing::info!("two");
        assert!(matches!(level.set("interlingua=loud"), Err(TelemetryFault::Level(_))));
        tracing::info!("three");
    });
    let text = kept.text();
    assert!(!text.contains("one") && text.contains("two") && text.contains("three"), "{text}");
    assert!(layer::<tracing_subscriber::Registry, _>(&log(LogFormat::Text, "a=b=c"), Kept::default()).is_err());
}
