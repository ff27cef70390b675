//! Resources of the hub's process: descriptors, children, memory, as the kernel reports them.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

/// Connections to peers that are kept for the next call, and those of callers that the kernel has not let go of yet.
const DESCRIPTORS: usize = 32;
/// Processes a browser keeps for its next page.
const BROWSERS: usize = 6;
/// Memory: caches fill, and an allocator keeps what it had. In the small run the hub is still filling them.
const GROWS_TIMES: f64 = 1.25;
const GROWS_BYTES: f64 = 48.0 * 1024.0 * 1024.0;
/// Rounds after which caches and pools are what they will be.
const WARM: usize = 2;

#[derive(Debug, Clone, Copy)]
pub(super) struct Vitals {
    pub(super) at: Duration,
    pub(super) descriptors: usize,
    /// Of the browser, and all others.
    pub(super) browsers: usize,
    pub(super) children: usize,
    pub(super) resident: u64,
}

impl Vitals {
    /// Once nobody works for the hub any more, or after the time that may take.
    pub(super) async fn quiet(hub: u32, at: Duration) -> Vitals {
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            let vitals = Vitals::of(hub, at);
            if vitals.children == 0 || Instant::now() > until {
                return vitals;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    fn of(hub: u32, at: Duration) -> Vitals {
        let status = fs::read_to_string(format!("/proc/{hub}/status")).expect("the hub runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("the kernel tells it");
        let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().expect("a number");
        let descriptors = fs::read_dir(format!("/proc/{hub}/fd")).expect("the hub runs").count();
        let (browsers, children): (Vec<_>, Vec<_>) =
            descendants(hub).into_iter().partition(|(_, name)| is_browser(name));
        Vitals { at, descriptors, browsers: browsers.len(), children: children.len(), resident: kilobytes * 1024 }
    }
}

fn is_browser(name: &str) -> bool {
    name.contains("chrom") || name.contains("headless")
}

/// Every process below this one, and its name.
fn descendants(of: u32) -> Vec<(u32, String)> {
    let mut below: HashMap<u32, Vec<(u32, String)>> = HashMap::new();
    for entry in fs::read_dir("/proc").expect("a process file system").flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        // One that ended meanwhile is not there to be read.
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((head, tail)) = stat.rsplit_once(')') else { continue };
        let name = head.split_once('(').map_or("", |(_, name)| name).to_owned();
        let parent = tail.split_whitespace().nth(1).and_then(|field| field.parse().ok()).unwrap_or(0);
        below.entry(parent).or_default().push((id, name));
    }
    let (mut found, mut parents) = (Vec::new(), vec![of]);
    while let Some(children) = parents.pop().map(|parent| below.remove(&parent).unwrap_or_default()) {
        parents.extend(children.iter().map(|(id, _)| *id));
        found.extend(children);
    }
    found
}

/// The processes of the hub's browser, the first of them first.
pub(super) fn browsers(hub: u32) -> Vec<u32> {
    descendants(hub).into_iter().filter(|(_, name)| is_browser(name)).map(|(id, _)| id).collect()
}

/// Whether these end, now that the hub they belong to is dead. An id that somebody else has by now does not count.
pub(super) async fn gone(browsers: &[u32]) -> bool {
    let lives = |id: &&u32| fs::read_to_string(format!("/proc/{id}/comm")).is_ok_and(|name| is_browser(&name));
    for _ in 0..600 {
        if !browsers.iter().any(|id| lives(&id)) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

/// What the hub holds in the end that it did not hold once it was warm.
pub(super) fn leaks(vitals: &[Vitals]) -> Vec<String> {
    let Some((warm, last)) = vitals.get(WARM..).and_then(|warm| warm.first().zip(warm.last())) else {
        return vec!["too few rounds to tell what leaks".to_owned()];
    };
    let mut wrong = Vec::new();
    let mut more = |what: &str, before: usize, after: usize, slack: usize| {
        if after > before + slack {
            wrong.push(format!("{what}: {before} once it was warm, {after} in the end"));
        }
    };
    more("descriptors", warm.descriptors, last.descriptors, DESCRIPTORS);
    more("processes of the browser", warm.browsers, last.browsers, BROWSERS);
    more("children", 0, last.children, 0);
    let (before, after) = (warm.resident as f64, last.resident as f64);
    if after > before * GROWS_TIMES + GROWS_BYTES {
        wrong.push(format!("memory: {before} bytes once it was warm, {after} in the end"));
    }
    wrong
}
