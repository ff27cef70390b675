//! Power cuts: the writer runs on a disk that remembers only what was synced, is killed at a random point, and is judged by
//! what that disk held. The test that runs with syncing switched off shows that losses would be seen.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use bytes::Bytes;
use interlingua_model::digest::Digest;
use interlingua_model::id::{TaskId, Time};
use interlingua_model::journal::Log;
use interlingua_model::ports::{Appended, Expect, Store, StoreFault};
use interlingua_testkit::{Disk, Random};

use super::super::schema::Sync;
use super::super::{Embedded, Options, integrity};
use interlingua_keys::{KeyFault, Keyring, Wrapping, put_new};
use interlingua_store_contract::append;

const LOGS: u128 = 8;

#[test]
fn nothing_acknowledged_is_lost_by_a_power_cut() {
    const NAME: &str = "tests::powercut::nothing_acknowledged_is_lost_by_a_power_cut";
    if let Some(root) = std::env::var_os("POWERCUT_ROOT") {
        return write_until_killed(Path::new(&root), Sync::Full);
    }
    let mut random = Random(20261115);
    // A soak goes on for longer, on several disks: every round copies all that its disk holds.
    let disks = if std::env::var_os("SOAK_SECONDS").is_some() { 20 } else { 1 };
    for disk in 0..disks {
        let bench = Bench::new(NAME);
        let mut acknowledged = Acknowledged::default();
        for round in 0..16 {
            bench.run_and_kill(5 + random.below(200), &mut acknowledged);
            bench.disk.cut_power(if round % 2 == 0 { None } else { Some(&mut random) });
            if let Err(lost) = acknowledged.check(bench.disk.root()) {
                panic!("disk {disk}, round {round}: {lost}");
            }
            bench.disk.settle();
        }
        assert!(acknowledged.appends.values().sum::<u64>() > 500 && acknowledged.blobs.len() > 20);
    }
}

/// The rotation of an encrypted store goes on while it is written to: a new key in the ring, then a new outer key before the old
/// one, the ring wrapped anew, the old outer key taken out. Wherever the power goes, everything acknowledged opens.
#[test]
fn a_rotation_that_is_cut_off_leaves_everything_readable() {
    const NAME: &str = "tests::powercut::a_rotation_that_is_cut_off_leaves_everything_readable";
    if let Some(root) = std::env::var_os("POWERCUT_ROOT") {
        return write_and_rotate_until_killed(Path::new(&root));
    }
    let bench = Bench::new(NAME);
    let mut random = Random(20261116);
    let mut acknowledged = Acknowledged { outer: true, ..Acknowledged::default() };
    for round in 0..8 {
        bench.run_and_kill(5 + random.below(100), &mut acknowledged);
        bench.disk.cut_power(if round % 2 == 0 { None } else { Some(&mut random) });
        if let Err(lost) = acknowledged.check(bench.disk.root()) {
            panic!("round {round}: {lost}");
        }
        bench.disk.settle();
    }
    assert!(acknowledged.rotations >= 8 && acknowledged.appends.values().sum::<u64>() > 50);
}

#[test]
fn without_syncing_a_power_cut_loses_what_was_acknowledged() {
    const NAME: &str = "tests::powercut::without_syncing_a_power_cut_loses_what_was_acknowledged";
    if let Some(root) = std::env::var_os("POWERCUT_ROOT") {
        return write_until_killed(Path::new(&root), Sync::Off);
    }
    let bench = Bench::new(NAME);
    let mut acknowledged = Acknowledged::default();
    bench.run_and_kill(100, &mut acknowledged);
    bench.disk.cut_power(None);
    let lost = acknowledged.check(bench.disk.root()).unwrap_err();
    assert!(lost.contains("of task"), "{lost}");
}

#[test]
fn after_a_failed_sync_nothing_more_is_acknowledged() {
    const NAME: &str = "tests::powercut::after_a_failed_sync_nothing_more_is_acknowledged";
    if let Some(root) = std::env::var_os("POWERCUT_ROOT") {
        return write_past_a_failed_sync(Path::new(&root));
    }
    let bench = Bench::new(NAME);
    let said = bench.writer().env("POWERCUT_FAIL_ONCE", "40").output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("ack refused 20, read ok"), "{said}");
}

/// Appends until the disk fails, then twenty times more: the disk would sync again, but is not believed.
fn write_past_a_failed_sync(root: &Path) {
    let store = Embedded::open(root, options()).unwrap();
    let journal = store.ports().journal;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    runtime.block_on(async {
        let mut last = 0;
        while let Ok(Appended::At(seq)) = journal.append(append(Log::Audit, last, &["line"])).await {
            last = seq;
        }
        let mut refused = 0;
        for _ in 0..20 {
            let again = journal.append(append(Log::Audit, last, &["line"])).await;
            refused += u32::from(matches!(again, Err(StoreFault::Broken(_))));
        }
        let read = journal.read(Log::Audit, 0, usize::MAX).await.is_ok_and(|records| records.len() as u64 >= last);
        say(&format!("refused {refused}, read {}", if read { "ok" } else { "short" }));
    });
}

// The program that is killed.

/// A checkpoint every 40 pages, so that cuts fall into them too.
fn options() -> Options {
    Options { checkpoint: 40, ..Options::default() }
}

fn write_until_killed(root: &Path, sync: Sync) {
    let store = Embedded::open_with(root, options(), sync).unwrap();
    let ports = store.ports();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(futures_util::future::join_all((0..LOGS).map(|log| write_log(&ports, log))));
}

/// The outer keys of a directory, beside what they wrap so that the disk loses them together; one is made at first.
fn outer_keys(root: &Path) -> Result<Wrapping, KeyFault> {
    let file = root.join("outer");
    if !file.exists() {
        put_new(&file)?;
    }
    Wrapping::from_text(&std::fs::read_to_string(file).unwrap())
}

fn write_and_rotate_until_killed(root: &Path) {
    let (store, ring) = Embedded::open_sealed(root, options(), &outer_keys(root).unwrap()).unwrap();
    // Once before anything else, so that every life has one, and a few times beside the writers: a ring has a bound.
    rotate(root, &ring);
    let place = root.to_owned();
    std::thread::spawn(move || (0..4).for_each(|_| rotate(&place, &ring)));
    let ports = store.ports();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(futures_util::future::join_all((0..LOGS).map(|log| write_log(&ports, log))));
}

fn rotate(root: &Path, ring: &Keyring) {
    ring.replace(&outer_keys(root).unwrap().rotate(root).unwrap());
    let file = root.join("outer");
    put_new(&file).unwrap();
    outer_keys(root).unwrap().open(root).unwrap();
    let newest: Vec<String> = std::fs::read_to_string(&file).unwrap().lines().take(2).map(str::to_owned).collect();
    replace_synced(&file, &newest.join("\n"));
    say("rotated");
}

fn replace_synced(path: &Path, text: &str) {
    let part = path.with_extension("part");
    std::fs::write(&part, text).unwrap();
    std::fs::File::open(&part).unwrap().sync_all().unwrap();
    std::fs::rename(&part, path).unwrap();
    std::fs::File::open(path.parent().unwrap()).unwrap().sync_all().unwrap();
}

/// Appends one or two records at a time, each saying its place; now and then a record and a blob.
async fn write_log(store: &Store, task: u128) {
    let log = Log::Task(TaskId(task));
    let mut last = store.journal.last(log.clone()).await.unwrap();
    loop {
        let places: Vec<String> = (last + 1..=last + 1 + last % 3 % 2).map(|seq| text_of(task, seq)).collect();
        let records: Vec<&str> = places.iter().map(String::as_str).collect();
        let Appended::At(seq) = store.journal.append(append(log.clone(), last, &records)).await.unwrap() else {
            panic!("no key was given")
        };
        last = seq;
        say(&format!("append {task} {last}"));
        if last % 10 == 0 {
            let value = Bytes::from(last.to_be_bytes().to_vec());
            store.records.put("mark", &task.to_string(), value, None, Expect::Anything, Time(0)).await.unwrap();
            say(&format!("record {task} {last}"));
            let mut blob = store.blobs.create().await.unwrap();
            blob.write(text_of(task, last).into()).await.unwrap();
            say(&format!("blob {}", blob.finish().await.unwrap().digest));
        }
    }
}

/// Long enough that a record crosses sectors.
fn text_of(task: u128, seq: u64) -> String {
    format!("{task}:{seq};").repeat(150)
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "ack {line}").and_then(|()| out.flush()).unwrap();
}

// What it said was done.

#[derive(Default)]
struct Acknowledged {
    appends: BTreeMap<u128, u64>,
    records: BTreeMap<u128, u64>,
    blobs: Vec<Digest>,
    rotations: u32,
    /// The store is encrypted, with outer keys beside it.
    outer: bool,
}

impl Acknowledged {
    fn note(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["append", task, seq] => drop(self.appends.insert(task.parse().unwrap(), seq.parse().unwrap())),
            ["record", task, seq] => drop(self.records.insert(task.parse().unwrap(), seq.parse().unwrap())),
            ["blob", digest] => self.blobs.push(digest.parse().unwrap()),
            ["rotated"] => self.rotations += 1,
            _ => panic!("unknown line {line}"),
        }
    }

    fn check(&self, root: &Path) -> Result<(), String> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let store = if self.outer {
            let outer = outer_keys(root).map_err(|fault| fault.to_string())?;
            Embedded::open_sealed(root, options(), &outer).map(|(store, _)| store)
        } else {
            Embedded::open(root, options())
        };
        let store = store.map_err(|fault| fault.to_string())?;
        runtime.block_on(async {
            for task in 0..LOGS {
                self.check_log(&store.ports(), task).await?;
            }
            self.check_blobs(&store.ports()).await?;
            store.close().await;
            Ok::<(), String>(())
        })?;
        integrity(root).map(|_| ()).map_err(|fault| fault.to_string())
    }

    async fn check_log(&self, store: &Store, task: u128) -> Result<(), String> {
        let mut stored = 0;
        // A read is bounded in bytes: a long log comes in several.
        loop {
            let page = store.journal.read(Log::Task(TaskId(task)), stored, usize::MAX).await.unwrap();
            if page.is_empty() {
                break;
            }
            for record in &page {
                stored += 1;
                if record.seq != stored || record.bytes != text_of(task, stored).as_bytes() {
                    return Err(format!("record {stored} of task {task} is not what was written"));
                }
            }
        }
        let acknowledged = self.appends.get(&task).copied().unwrap_or(0);
        if stored < acknowledged {
            return Err(format!("{acknowledged} records of task {task} acknowledged, {stored} there"));
        }
        let mark = store.records.get("mark", &task.to_string(), Time(0)).await.unwrap();
        let mark = mark.map_or(0, |item| u64::from_be_bytes(item.value[..].try_into().unwrap()));
        let acknowledged = self.records.get(&task).copied().unwrap_or(0);
        if mark < acknowledged {
            return Err(format!("record {acknowledged} of task {task} acknowledged, {mark} there"));
        }
        Ok(())
    }

    async fn check_blobs(&self, store: &Store) -> Result<(), String> {
        for digest in &self.blobs {
            match store.blobs.read(*digest, 0, usize::MAX).await {
                Ok(bytes) if Digest::of(&bytes) == *digest => {}
                Ok(_) => return Err(format!("blob {digest} is torn")),
                Err(StoreFault::Missing(_)) => return Err(format!("blob {digest} is lost")),
                Err(fault) => return Err(fault.to_string()),
            }
        }
        Ok(())
    }
}

// The disk.

/// A writer that is killed and judged by what its disk held.
struct Bench {
    _home: tempfile::TempDir,
    test: &'static str,
    disk: Disk,
}

impl Bench {
    fn new(test: &'static str) -> Bench {
        let home = tempfile::tempdir().unwrap();
        Bench { test, disk: Disk::below(home.path()), _home: home }
    }

    /// This test program again, as the writer, on this disk.
    fn writer(&self) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", self.test, "--nocapture"]).envs(self.disk.environment());
        command
    }

    /// Runs the writer, kills it after so many acknowledgements, and notes all that it acknowledged.
    fn run_and_kill(&self, after: u64, acknowledged: &mut Acknowledged) {
        let mut child = self.writer().stdout(Stdio::piped()).spawn().unwrap();
        let mut seen = 0;
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            // The kill can cut the last line, but a line of ours is written at once.
            let Ok(line) = line else { break };
            let Some(said) = line.strip_prefix("ack ") else { continue };
            acknowledged.note(said);
            seen += 1;
            if seen == after {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert!(seen >= after, "the writer ended by itself after {seen} acknowledgements");
    }
}
