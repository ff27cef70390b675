//! Histograms of durations in fixed buckets: a few atomic operations for each value, and constant memory however many there are and however
//! seldom they are scraped.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// From what an answer from memory takes to what a person waits for: in nanoseconds, and as the label spells it in seconds.
const BOUNDS: [(u64, &str); 14] = [
    (10_000, "0.00001"),
    (50_000, "0.00005"),
    (100_000, "0.0001"),
    (500_000, "0.0005"),
    (1_000_000, "0.001"),
    (5_000_000, "0.005"),
    (10_000_000, "0.01"),
    (50_000_000, "0.05"),
    (100_000_000, "0.1"),
    (500_000_000, "0.5"),
    (1_000_000_000, "1"),
    (5_000_000_000, "5"),
    (30_000_000_000, "30"),
    (300_000_000_000, "300"),
];

#[derive(Debug, Default)]
pub struct Histogram {
    /// Of each bucket alone; the last has no bound.
    counts: [AtomicU64; BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
}

impl Histogram {
    pub fn record(&self, took: Duration) {
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let bucket = BOUNDS.iter().position(|(bound, _)| nanoseconds <= *bound).unwrap_or(BOUNDS.len());
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// In the text format of Prometheus; `label` is one pair, or empty. Nothing is told of a label under which nothing was timed.
    pub fn render(&self, name: &str, label: &str, to: &mut String) {
        if !label.is_empty() && self.counts.iter().all(|count| count.load(Ordering::Relaxed) == 0) {
            return;
        }
        let comma = if label.is_empty() { "" } else { "," };
        let mut below = 0;
        for (count, (_, bound)) in self.counts.iter().zip(BOUNDS) {
            below += count.load(Ordering::Relaxed);
            put(to, format_args!("{name}_bucket{{{label}{comma}le=\"{bound}\"}} {below}\n"));
        }
        below += self.counts[BOUNDS.len()].load(Ordering::Relaxed);
        put(to, format_args!("{name}_bucket{{{label}{comma}le=\"+Inf\"}} {below}\n"));
        let braced = if label.is_empty() { String::new() } else { format!("{{{label}}}") };
        let seconds = Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed)).as_secs_f64();
        put(to, format_args!("{name}_sum{braced} {seconds}\n{name}_count{braced} {below}\n"));
    }
}

/// What comes before the series of one name.
pub(super) fn head(name: &str, help: &str, to: &mut String) {
    put(to, format_args!("# HELP {name} {help}\n# TYPE {name} histogram\n"));
}

fn put(to: &mut String, what: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = to.write_fmt(what);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_counted_in_its_bucket_and_all_above() {
        let histogram = Histogram::default();
        for nanoseconds in [0, 10_000, 10_001, 300_000_000_001] {
            histogram.record(Duration::from_nanos(nanoseconds));
        }
        let mut text = String::new();
        histogram.render("x_seconds", "phase=\"a\"", &mut text);
        for line in [
            "x_seconds_bucket{phase=\"a\",le=\"0.00001\"} 2",
            "x_seconds_bucket{phase=\"a\",le=\"0.00005\"} 3",
            "x_seconds_bucket{phase=\"a\",le=\"300\"} 3",
            "x_seconds_bucket{phase=\"a\",le=\"+Inf\"} 4",
            "x_seconds_count{phase=\"a\"} 4",
            "x_seconds_sum{phase=\"a\"} 300.000020002",
        ] {
            assert!(text.lines().any(|known| known == line), "{line} is not in\n{text}");
        }
    }

    #[test]
    fn the_labels_say_what_the_bounds_are() {
        for (bound, label) in BOUNDS {
            let seconds: f64 = label.parse().expect("a number");
            assert_eq!(Duration::from_secs_f64(seconds), Duration::from_nanos(bound), "{label}");
        }
    }
}
