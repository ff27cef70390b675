//! Panic hook: logs where the program panicked, and none of its data.
//!
//! The text of a panic may quote data: a string that was cut at the wrong position, an unexpected error. That may be a caller's message, or
//! a secret. So only a text that is a literal in the source is logged; a formatted text is omitted, and the position identifies the panic.
//! Backtraces hold names of functions and no values; they are printed where `RUST_BACKTRACE` asks for them.
//!
//! A program that embeds the hub installs its own panic hook.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::Write;
use std::panic::PanicHookInfo;

/// What is said instead of a text that was put together.
const WITHHELD: &str = "(what it said is left out: it may quote what was being worked on)";

/// From now on panics of this process are told so: as a line of the log, or to standard error while there is none.
pub fn withhold() {
    std::panic::set_hook(Box::new(|panic| {
        let (place, said) = (place(panic), said(panic));
        let trace = Backtrace::capture();
        let trace = (trace.status() == BacktraceStatus::Captured).then(|| trace.to_string());
        if tracing::enabled!(tracing::Level::ERROR) {
            let backtrace = trace.as_deref().unwrap_or_default();
            tracing::error!(event = "panic", place, said, backtrace, "a part of this program panicked");
        } else {
            let trace = trace.map(|trace| format!("\n{trace}")).unwrap_or_default();
            let _ = writeln!(std::io::stderr().lock(), "error: this program panicked at {place}: {said}{trace}");
        }
    }));
}

fn place(panic: &PanicHookInfo<'_>) -> String {
    panic.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string)
}

fn said(panic: &PanicHookInfo<'_>) -> &'static str {
    panic.payload().downcast_ref::<&'static str>().copied().unwrap_or(WITHHELD)
}
