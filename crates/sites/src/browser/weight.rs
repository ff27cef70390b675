//! Memory limit of browser processes: their memory is measured, and a process over the limit is killed.
//!
//! V8's own limit counts its heap, not the buffers, pictures and documents beside it, and a page that hoards those would exhaust the
//! machine within seconds. So the processes are measured ten times a second, and a renderer above its limit is killed: its page is lost,
//! and no other. Memory that pages cause in the browser's other processes counts for all of them together; above that limit the largest is
//! killed, whichever it is.
//!
//! The figures are those of Linux; on other systems nothing is measured, and nothing is killed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::link::Link;
use interlingua_process::child::strays::children;

const EVERY: Duration = Duration::from_millis(100);
/// A page that ends so soon after a process was killed was that process's.
const JUST_NOW: Duration = Duration::from_secs(5);
const PAGE: u64 = 4_096;
/// So many looks at known processes for one search for new ones.
const SEARCH: u32 = 5;

/// What a browser may hold, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    /// One process that renders pages.
    pub(super) page: u64,
    /// All of them, and the browser's own.
    pub(super) all: u64,
}

/// When a process was killed for its size.
#[derive(Debug)]
pub(super) struct Cuts {
    born: Instant,
    /// Milliseconds from then on, and one more; 0: none was.
    last: AtomicU64,
}

impl Cuts {
    pub(super) fn new() -> Cuts {
        Cuts { born: Instant::now(), last: AtomicU64::new(0) }
    }

    fn note(&self) {
        let at = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        self.last.store(at + 1, Ordering::Relaxed);
    }

    pub(super) fn just_now(&self) -> bool {
        let last = self.last.load(Ordering::Relaxed);
        last > 0 && self.born.elapsed() < Duration::from_millis(last - 1) + JUST_NOW
    }
}

/// Looks until the browser is gone.
pub(super) async fn watch(leader: i32, link: Link, bounds: Bounds, cuts: std::sync::Arc<Cuts>) {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut known = Vec::new();
    for look in 0_u32.. {
        ticks.tick().await;
        if link.is_gone() {
            return;
        }
        if look % SEARCH == 0 {
            known = family(leader);
        }
        let weighed: Vec<Weighed> = known.iter().filter_map(weigh).collect();
        // An id may be another's by now: only one that is still of the family is ended.
        if let Some(weighed) = too_large(&weighed, bounds)
            && family(leader).iter().any(|one| one.id == weighed.id)
            && !link.is_gone()
            && let Some(id) = Pid::from_raw(weighed.id)
        {
            tracing::warn!(
                event = "browser_page_too_large",
                process = weighed.id,
                bytes = weighed.own,
                page_memory = bounds.page,
                "a page of a driven site uses too much memory; the hub ends it"
            );
            // First the note, so that whoever misses the page finds it.
            cuts.note();
            // An error says that it has ended already.
            let _ = kill_process(id, Signal::KILL);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Member {
    id: i32,
    renders: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Weighed {
    id: i32,
    /// Not shared with others.
    own: u64,
    renders: bool,
}

fn too_large(family: &[Weighed], bounds: Bounds) -> Option<Weighed> {
    let largest =
        |renders: bool| family.iter().filter(|one| one.renders || !renders).max_by_key(|one| one.own).copied();
    let page = largest(true).filter(|page| page.own > bounds.page);
    let all: u64 = family.iter().map(|one| one.own).sum();
    page.or_else(|| largest(false).filter(|_| all > bounds.all))
}

/// Memory of a process and all that came of it.
pub(super) fn whole(leader: i32) -> u64 {
    family(leader).iter().filter_map(weigh).map(|one| one.own).sum()
}

fn family(leader: i32) -> Vec<Member> {
    let mut ids = vec![leader];
    let mut at = 0;
    while let Some(&id) = ids.get(at) {
        at += 1;
        ids.extend(children(id));
    }
    ids.into_iter().map(|id| Member { id, renders: renders(id) }).collect()
}

fn renders(id: i32) -> bool {
    let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    // Chromium writes its renderers' own command line anew, with spaces.
    line.windows(RENDERER.len()).any(|part| part == RENDERER)
}

fn weigh(member: &Member) -> Option<Weighed> {
    let Member { id, renders } = *member;
    let pages = std::fs::read_to_string(format!("/proc/{id}/statm")).ok()?;
    let mut pages = pages.split_whitespace().skip(1).map(|number| number.parse::<u64>().unwrap_or(0));
    let (resident, shared) = (pages.next()?, pages.next()?);
    let own = resident.saturating_sub(shared) * PAGE;
    Some(Weighed { id, own, renders })
}

const RENDERER: &[u8] = b"--type=renderer";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_ended_by_its_own_size_and_the_largest_by_the_size_of_all() {
        let one = |id, own, renders| Weighed { id, own, renders };
        let bounds = Bounds { page: 100, all: 250 };
        assert_eq!(too_large(&[one(1, 120, false), one(2, 100, true)], bounds), None);
        assert_eq!(too_large(&[one(1, 120, false), one(2, 101, true)], bounds).map(|one| one.id), Some(2));
        let many = [one(1, 60, false), one(2, 99, true), one(3, 98, true)];
        assert_eq!(too_large(&many, bounds).map(|one| one.id), Some(2));
        assert_eq!(too_large(&[one(1, 251, false), one(2, 9, true)], bounds).map(|one| one.id), Some(1));
    }

    #[tokio::test]
    #[cfg(target_os = "linux")]
    async fn children_of_children_are_weighed() {
        let mut child = std::process::Command::new("sh").args(["-c", "sleep 60 & wait"]).spawn().expect("sh");
        let own = i32::try_from(child.id()).expect("an id");
        let mut seen = 0;
        for _ in 0..600 {
            seen = family(own).len();
            if seen == 2 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        for one in family(own) {
            if let Some(id) = Pid::from_raw(one.id) {
                let _ = kill_process(id, Signal::KILL);
            }
        }
        let _ = child.wait();
        assert_eq!(seen, 2, "the shell and what it started");
    }

    #[test]
    fn who_misses_a_page_learns_that_it_was_ended() {
        let cuts = Cuts::new();
        assert!(!cuts.just_now());
        cuts.note();
        assert!(cuts.just_now());
    }
}
