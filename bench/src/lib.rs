//! What the load generators share: what each connection saw, and the line that is told of all of them.

use std::io::Write;
use std::time::{Duration, Instant};

/// What one connection saw.
#[derive(Debug, Default)]
pub struct Seen {
    micros: Vec<u32>,
    errors: u64,
    first_error: Option<String>,
}

impl Seen {
    /// One answer, or none.
    pub fn note(&mut self, started: Instant, outcome: Result<(), impl ToString>) {
        match outcome {
            Ok(()) => self.micros.push(u32::try_from(started.elapsed().as_micros()).unwrap_or(u32::MAX)),
            Err(error) => {
                self.errors += 1;
                self.first_error.get_or_insert_with(|| error.to_string());
            }
        }
    }

    pub fn failed(error: impl ToString) -> Seen {
        Seen { errors: 1, first_error: Some(error.to_string()), ..Seen::default() }
    }
}

/// One line of JSON; `next` is the first number that was not used.
pub fn report(elapsed: Duration, seen: Vec<Seen>, next: u64) -> String {
    let errors: u64 = seen.iter().map(|one| one.errors).sum();
    let first_error = seen.iter().find_map(|one| one.first_error.clone());
    let mut micros: Vec<u32> = seen.into_iter().flat_map(|one| one.micros).collect();
    micros.sort_unstable();
    let at =
        |hundredth: usize| micros.get((micros.len() * hundredth / 100).min(micros.len().saturating_sub(1))).copied();
    serde_json::json!({
        "ok": micros.len(),
        "errors": errors,
        "first_error": first_error,
        "seconds": elapsed.as_secs_f64(),
        "rps": micros.len() as f64 / elapsed.as_secs_f64(),
        "p50_us": at(50), "p90_us": at(90), "p99_us": at(99),
        "next": next,
    })
    .to_string()
}

/// A line that is read at once by whoever waits for it.
pub fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // A reader that is gone needs no report.
    let _gone = writeln!(out, "{line}").and_then(|()| out.flush());
}
