//! Measures how fast the embedded store makes tasks durable, beside the rate at which this disk syncs.
//!
//! `cargo run --release -p interlingua-store-sqlite --example store_rate -- [DIRECTORY] [SECONDS]`
//!
//! The disk's own rate is a loop of one 4 KiB write and one fdatasync. It is measured before and after the store, because a
//! shared disk is not the same from one second to the next. A task is what the hub writes when it accepts one: a record of
//! 500 bytes, an idempotency key and a row in the list. The same on a store that is encrypted, and what sealing and opening
//! such a record costs by itself.

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::try_join_all;
use interlingua_keys::{Keyring, SealFault, Wrapping};
use interlingua_model::Fault;
use interlingua_model::digest::Digest;
use interlingua_model::id::{TaskId, Time};
use interlingua_model::journal::Log;
use interlingua_model::ports::{Append, Expected, TaskPhase, TaskRoom, TaskRow, Unique};
use interlingua_store_sqlite::{Embedded, Options};

const IN_FLIGHT: usize = 256;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let parent = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let span = Duration::from_secs(arguments.next().map_or(Ok(5), |text| text.parse())?);
    let dir = parent.join(format!("store-rate-{}", std::process::id()));
    std::fs::create_dir_all(&dir)?;
    let measured = measure(&dir, span);
    std::fs::remove_dir_all(&dir)?;
    measured
}

fn measure(dir: &Path, span: Duration) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let store = Embedded::open(&dir.join("data"), Options::default())?;
    let mut table = vec![("write 4 KiB, fdatasync: before", disk(dir, span)?)];
    let next = AtomicU64::new(0);
    table.push(("store, 1 in flight", runtime.block_on(accept(&store, &next, 1, span))?));
    table.push(("store, 256 in flight", runtime.block_on(accept(&store, &next, IN_FLIGHT, span))?));
    table.push(("write 4 KiB, fdatasync: after", disk(dir, span)?));
    runtime.block_on(store.close());
    let outer = Wrapping::from_text(&"07".repeat(32))?;
    let (sealed, ring) = Embedded::open_sealed(&dir.join("sealed"), Options::default(), &outer)?;
    table.push(("encrypted store, 1 in flight", runtime.block_on(accept(&sealed, &next, 1, span))?));
    table.push(("encrypted store, 256 in flight", runtime.block_on(accept(&sealed, &next, IN_FLIGHT, span))?));
    runtime.block_on(sealed.close());
    let mut out = std::io::stdout().lock();
    writeln!(out, "| what | a second | median ms | 99 % ms |\n|---|---|---|---|")?;
    for (what, times) in table {
        writeln!(out, "{}", line(what, times, span))?;
    }
    let (sealing, opening) = cipher(&ring)?;
    writeln!(out, "\nsealing a record of 500 bytes: {sealing:.2} us; opening it: {opening:.2} us")?;
    Ok(())
}

/// Microseconds for one record.
fn cipher(ring: &Keyring) -> Result<(f64, f64), SealFault> {
    const TIMES: u32 = 100_000;
    let (sealer, plain) = (ring.sealer("rate")?, [b'x'; 500]);
    let begin = Instant::now();
    for _ in 0..TIMES {
        std::hint::black_box(sealer.seal(b"place", &plain)?);
    }
    let sealing = begin.elapsed();
    let sealed = sealer.seal(b"place", &plain)?;
    let begin = Instant::now();
    for _ in 0..TIMES {
        std::hint::black_box(sealer.open(b"place", sealed.clone())?);
    }
    let each = |span: Duration| span.as_secs_f64() * 1e6 / f64::from(TIMES);
    Ok((each(sealing), each(begin.elapsed())))
}

fn line(what: &str, mut times: Vec<Duration>, span: Duration) -> String {
    times.sort_unstable();
    let at = |share: f64| {
        let index = (times.len() as f64 * share) as usize;
        times.get(index).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
    };
    let rate = times.len() as f64 / span.as_secs_f64();
    format!("| {what} | {rate:.0} | {:.3} | {:.3} |", at(0.5), at(0.99))
}

fn disk(dir: &Path, span: Duration) -> std::io::Result<Vec<Duration>> {
    let mut file = File::create(dir.join("disk"))?;
    let (begin, mut times) = (Instant::now(), Vec::new());
    while begin.elapsed() < span {
        let start = Instant::now();
        file.write_all(&[7; 4096])?;
        file.sync_data()?;
        times.push(start.elapsed());
    }
    Ok(times)
}

async fn accept(store: &Embedded, next: &AtomicU64, in_flight: usize, span: Duration) -> Result<Vec<Duration>, Fault> {
    let (journal, begin) = (store.ports().journal, Instant::now());
    let callers = (0..in_flight).map(async |_| {
        let mut times = Vec::new();
        while begin.elapsed() < span {
            let task = accepted(next.fetch_add(1, Ordering::Relaxed));
            let start = Instant::now();
            journal.append(task).await?;
            times.push(start.elapsed());
        }
        Ok::<_, Fault>(times)
    });
    Ok(try_join_all(callers).await?.concat())
}

/// The first append of the n-th task; its id is scattered, as ids are.
fn accepted(number: u64) -> Append {
    let key = Digest::of(&number.to_be_bytes());
    let task = TaskId(key.0.iter().take(16).fold(0, |id, byte| id << 8 | u128::from(*byte)));
    let at = Time(number);
    Append {
        log: Log::Task(task),
        expected: Expected::At(0),
        at,
        records: vec![Bytes::from(vec![b'x'; 500])],
        unique: Some(Unique { key, body: key, until: Time(u64::MAX) }),
        row: Some(TaskRow {
            task,
            owner: "user:ann".into(),
            conversation: None,
            parent: None,
            skill: Some("peer/skill".into()),
            state: TaskPhase::Accepted,
            created: at,
            updated: at,
        }),
        most: Some(TaskRoom { tasks: Some(u64::MAX), ..TaskRoom::default() }),
        beside: 0,
        share: None,
    }
}
