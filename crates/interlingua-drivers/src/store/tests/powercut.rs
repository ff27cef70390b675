//! Power cuts. Killing a process does not lose the kernel's page cache, so the writer runs on a disk that remembers only
//! what was synced (`tests/powercut/shim.c`), is killed at a random point, and is judged by what that disk held.
//!
//! A cut is tried in two ways: nothing of what was not synced is there, or a random choice of its sectors is. Both are
//! what a real disk may do. The test that runs with syncing switched off shows that losses would be seen.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::UNIX_EPOCH;

use bytes::Bytes;
use interlingua_core::digest::Digest;
use interlingua_core::id::{TaskId, Time};
use interlingua_core::journal::Log;
use interlingua_core::ports::{Appended, Expect, Store, StoreFault};

use super::super::schema::Sync;
use super::super::{Embedded, Options, integrity};
use super::append;

const LOGS: u128 = 8;
const SECTOR: usize = 512;

#[test]
fn nothing_acknowledged_is_lost_by_a_power_cut() {
    const NAME: &str = "store::tests::powercut::nothing_acknowledged_is_lost_by_a_power_cut";
    if let Some(root) = std::env::var_os("POWERCUT_ROOT") {
        return write_until_killed(Path::new(&root), Sync::Full);
    }
    let mut disk = Disk::new(NAME);
    let mut random = Random(20261115);
    let mut acknowledged = Acknowledged::default();
    // A soak goes on for longer.
    let rounds = if std::env::var_os("SOAK_SECONDS").is_some() { 400 } else { 16 };
    for round in 0..rounds {
        disk.run_and_kill(5 + random.below(200), &mut acknowledged);
        disk.cut_power(if round % 2 == 0 { None } else { Some(&mut random) });
        if let Err(lost) = acknowledged.check(&disk.root) {
            panic!("round {round}: {lost}");
        }
    }
    assert!(acknowledged.appends.values().sum::<u64>() > 500 && acknowledged.blobs.len() > 20);
}

#[test]
fn without_syncing_a_power_cut_loses_what_was_acknowledged() {
    const NAME: &str = "store::tests::powercut::without_syncing_a_power_cut_loses_what_was_acknowledged";
    if let Some(root) = std::env::var_os("POWERCUT_ROOT") {
        return write_until_killed(Path::new(&root), Sync::Off);
    }
    let mut disk = Disk::new(NAME);
    let mut acknowledged = Acknowledged::default();
    disk.run_and_kill(100, &mut acknowledged);
    disk.cut_power(None);
    let lost = acknowledged.check(&disk.root).unwrap_err();
    assert!(lost.contains("of task"), "{lost}");
}

#[test]
fn after_a_failed_sync_nothing_more_is_acknowledged() {
    const NAME: &str = "store::tests::powercut::after_a_failed_sync_nothing_more_is_acknowledged";
    if let Some(root) = std::env::var_os("POWERCUT_ROOT") {
        return write_past_a_failed_sync(Path::new(&root));
    }
    let disk = Disk::new(NAME);
    fs::create_dir(&disk.shadow).unwrap();
    let said = disk.writer().env("POWERCUT_FAIL_ONCE", "40").output().unwrap();
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
}

impl Acknowledged {
    fn note(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["append", task, seq] => drop(self.appends.insert(task.parse().unwrap(), seq.parse().unwrap())),
            ["record", task, seq] => drop(self.records.insert(task.parse().unwrap(), seq.parse().unwrap())),
            ["blob", digest] => self.blobs.push(digest.parse().unwrap()),
            _ => panic!("unknown line {line}"),
        }
    }

    fn check(&self, root: &Path) -> Result<(), String> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let store = Embedded::open(root, options()).map_err(|fault| fault.to_string())?;
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
        let stored = store.journal.read(Log::Task(TaskId(task)), 0, usize::MAX).await.unwrap();
        for (place, record) in (1..).zip(&stored) {
            if record.seq != place || record.bytes != text_of(task, place).as_bytes() {
                return Err(format!("record {place} of task {task} is not what was written"));
            }
        }
        let acknowledged = self.appends.get(&task).copied().unwrap_or(0);
        if (stored.len() as u64) < acknowledged {
            return Err(format!("{acknowledged} records of task {task} acknowledged, {} there", stored.len()));
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

struct Disk {
    _home: tempfile::TempDir,
    test: &'static str,
    shim: PathBuf,
    root: PathBuf,
    shadow: PathBuf,
    rounds: u32,
}

impl Disk {
    fn new(test: &'static str) -> Disk {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().canonicalize().unwrap();
        let shim = path.join("shim.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/powercut/shim.c");
        let built =
            Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&shim).arg(source).arg("-ldl").status();
        assert!(built.unwrap().success(), "cc could not build the shim");
        let (root, shadow) = (path.join("data"), path.join("shadow"));
        fs::create_dir(&root).unwrap();
        Disk { _home: home, test, shim, root, shadow, rounds: 0 }
    }

    /// This test program again, as the writer, on this disk.
    fn writer(&self) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", self.test, "--nocapture"]);
        command.env("LD_PRELOAD", &self.shim).env("POWERCUT_ROOT", &self.root).env("POWERCUT_SHADOW", &self.shadow);
        command
    }

    /// Runs the writer, kills it after so many acknowledgements, and notes all that it acknowledged.
    fn run_and_kill(&mut self, after: u64, acknowledged: &mut Acknowledged) {
        let _ = fs::remove_dir_all(&self.shadow);
        fs::create_dir(&self.shadow).unwrap();
        self.remember(&self.root);
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

    /// What is there when the writer starts counts as synced.
    fn remember(&self, dir: &Path) {
        let mut names = String::new();
        for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
            let (path, inode) = (entry.path(), inode(&entry.path()));
            let kind = if path.is_dir() { 'd' } else { 'f' };
            names += &format!("{kind} {inode} {}\n", entry.file_name().to_str().unwrap());
            if path.is_dir() {
                self.remember(&path);
            } else {
                fs::copy(&path, self.shadow.join(format!("f-{inode}"))).unwrap();
            }
        }
        fs::write(self.shadow.join(format!("d-{}", inode(dir))), names).unwrap();
    }

    /// Puts what the disk held in the place of what the kernel held. With `sectors`, some of what was written after the last
    /// sync is there as well.
    fn cut_power(&mut self, sectors: Option<&mut Random>) {
        self.rounds += 1;
        let rebuilt = self.root.with_file_name(format!("data-{}", self.rounds));
        let mut live = HashMap::new();
        if sectors.is_some() {
            files_by_inode(&self.root, &mut live);
        }
        let mut restore = Restore { shadow: &self.shadow, live, sectors };
        restore.directory(&inode(&self.root), &rebuilt);
        fs::remove_dir_all(&self.root).unwrap();
        self.root = rebuilt;
    }
}

/// As the shim spells it.
fn inode(path: &Path) -> String {
    let about = fs::symlink_metadata(path).unwrap();
    let born = about.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    format!("{}-{}-{}", about.ino(), born.as_secs(), born.subsec_nanos())
}

fn files_by_inode(dir: &Path, files: &mut HashMap<String, Vec<u8>>) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            files_by_inode(&entry.path(), files);
        } else {
            files.insert(inode(&entry.path()), fs::read(entry.path()).unwrap());
        }
    }
}

struct Restore<'a> {
    shadow: &'a Path,
    live: HashMap<String, Vec<u8>>,
    sectors: Option<&'a mut Random>,
}

impl Restore<'_> {
    fn directory(&mut self, inode: &str, to: &Path) {
        fs::create_dir(to).unwrap();
        // Never synced: no name in it survived.
        let names = fs::read_to_string(self.shadow.join(format!("d-{inode}"))).unwrap_or_default();
        for line in names.lines() {
            let mut words = line.splitn(3, ' ');
            let (kind, inode, name) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
            match kind {
                "d" => self.directory(inode, &to.join(name)),
                _ => self.file(inode, &to.join(name)),
            }
        }
    }

    fn file(&mut self, inode: &str, to: &Path) {
        let synced = fs::read(self.shadow.join(format!("f-{inode}"))).unwrap_or_default();
        let mixed = match (&mut self.sectors, self.live.get(inode)) {
            (Some(random), Some(live)) => mix(&synced, live, random),
            _ => synced,
        };
        let file = fs::File::create(to).unwrap();
        file.write_all_at(&mixed, 0).unwrap();
    }
}

/// The length and each sector are either as synced or as written last.
fn mix(synced: &[u8], live: &[u8], random: &mut Random) -> Vec<u8> {
    let len = if random.below(2) == 0 { synced.len() } else { live.len() };
    let mut mixed = vec![0; len];
    for start in (0..len).step_by(SECTOR) {
        let from = if random.below(2) == 0 { synced } else { live };
        let end = from.len().min(len).min(start + SECTOR);
        if start < end {
            mixed[start..end].copy_from_slice(&from[start..end]);
        }
    }
    mixed
}

/// splitmix64: the same cuts in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}
