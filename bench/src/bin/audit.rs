//! How long a line of the audit takes from what it says to its place on a page, ready to be written: microseconds each, over
//! pages of a thousand. Prints one line of JSON.

use std::time::Instant;

use interlingua_bench::say;
use interlingua_machines::audit::{BEGINNING, PageDraft};
use serde::Serialize;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PAGES: u32 = 200;
const LINES: u32 = 1_000;

/// What the hub writes of a call.
#[derive(Serialize)]
struct Line {
    at: u64,
    by: &'static str,
    action: &'static str,
    on: &'static str,
    outcome: &'static str,
    task: &'static str,
    wire: &'static str,
    trace: &'static str,
}

fn main() {
    let (task, trace) = ("11e832ed0a1f534be55745251c00cd1b", "ecb1980318a1bfd79d2d3058f1bd0044");
    let (by, on, wire, outcome) = ("user:bench", "hub/echo", "nlip/1", "allowed");
    let (mut draft, mut head, mut bytes) = (PageDraft::default(), BEGINNING, 0);
    let started = Instant::now();
    for page in 0..PAGES {
        for number in 0..LINES {
            let line = Line { at: u64::from(number), by, action: "authorize", on, outcome, task, wire, trace };
            draft.add(&line, u128::from(page * LINES + number)).expect("a line can be spelled");
        }
        let (record, digest) = draft.finish(head);
        head = digest;
        bytes += record.len();
    }
    let lines = f64::from(PAGES * LINES);
    let line_us = started.elapsed().as_secs_f64() * 1e6 / lines;
    say(&serde_json::json!({ "line_us": line_us, "bytes": bytes as f64 / lines }).to_string());
}
