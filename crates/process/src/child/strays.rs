//! Finds escaped processes, which a program started and which have left its process group, by a mark that they inherit and by their
//! parents.
//!
//! A program leaves its group with `setsid` and its parent with a second fork, but what it starts keeps the environment that the program
//! was given. Every program has a mark of its own there, so processes of another program, of another hub or of another user are never
//! matched. A process is signalled through a handle that is checked after it was opened: a process id that was reused meanwhile is never
//! hit.
//!
//! Not found: a process that cleared its environment and left its parent before the program was ended. Only Linux shows environments; on
//! other systems a program ends with its process group alone.

/// Carries the mark in the environment of every program.
const VARIABLE: &str = "INTERLINGUA_RUN";

/// What one run of one program is known by.
#[derive(Debug, Clone)]
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) fn new() -> std::io::Result<Mark> {
        let mut random = [0; 16];
        aws_lc_rs::rand::fill(&mut random).map_err(|_| std::io::Error::other("no random numbers"))?;
        Ok(Mark(format!("{:032x}", u128::from_ne_bytes(random))))
    }

    pub(crate) fn variable(&self) -> (&'static str, &str) {
        (VARIABLE, &self.0)
    }
}

#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(crate) struct Family;

#[cfg(not(target_os = "linux"))]
impl Family {
    pub(crate) fn of(_: i32) -> Family {
        Family
    }

    #[expect(clippy::unused_self, reason = "the same to call everywhere")]
    pub(crate) fn kill(self) {}
}

#[cfg(not(target_os = "linux"))]
impl Mark {
    #[expect(clippy::unused_self, reason = "the same to call everywhere")]
    pub(crate) fn kill_all(&self) {}
}

#[cfg(target_os = "linux")]
pub(crate) use linux::Family;

/// What a process has started and what has not left it, as Linux knows it; elsewhere nothing is known.
pub fn children(id: i32) -> Vec<i32> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{id}/task")) else { return Vec::new() };
    let of = |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
    let lists: Vec<String> = threads.flatten().map(of).collect();
    lists.iter().flat_map(|list| list.split_whitespace()).filter_map(|id| id.parse().ok()).collect()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashSet;
    use std::fs::File;
    use std::io::Read;
    use std::os::fd::{AsFd, OwnedFd};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, waitid};

    use super::{Mark, VARIABLE, children};

    /// A program that starts processes faster than they are found is given up after so many looks; each kills what it finds.
    const LOOKS: usize = 100;
    /// How long a killed child may take to end: a tenth of a second.
    const REAP_PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    /// No environment is read further.
    const LONGEST: u64 = 8 * 1024 * 1024;
    /// No family is followed further: a descriptor is held for each member.
    const MOST: usize = 500;
    /// So many are held at once.
    const AT_ONCE: usize = 64;

    /// One process, whatever its id is given to later.
    #[derive(Debug)]
    struct Held(OwnedFd);

    impl Held {
        fn open(id: i32) -> Option<Held> {
            pidfd_open(Pid::from_raw(id)?, PidfdFlags::empty()).ok().map(Held)
        }

        fn kill(&self) {
            // An error says that it has ended, or that it runs as somebody else.
            let _ = pidfd_send_signal(&self.0, Signal::KILL);
        }

        /// Where the hub is the first process of its container, what has lost its parents is its child, and nobody else waits
        /// for it. Anywhere else it is not, and this returns at once.
        fn reap(&self) {
            let ended = || waitid(WaitId::PidFd(self.0.as_fd()), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
            if let Ok(None) = ended() {
                // Readable once it has ended, which takes the system a moment after the signal.
                let _ = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&REAP_PATIENCE));
                let _ = ended();
            }
        }
    }

    impl Mark {
        /// Kills every process that carries the mark. What one of them starts meanwhile carries it, too: it is looked for until
        /// nothing new is found.
        pub(crate) fn kill_all(&self) {
            let mut ended = HashSet::new();
            for _ in 0..LOOKS {
                let found: Vec<i32> = processes().filter(|id| !ended.contains(id) && self.is_on(*id)).collect();
                if found.is_empty() {
                    return;
                }
                for some in found.chunks(AT_ONCE) {
                    // Asked again of what is held: the id may have become another's in between.
                    let held = |id: &i32| Held::open(*id).filter(|_| self.is_on(*id));
                    let held: Vec<Held> = some.iter().filter_map(held).collect();
                    held.iter().for_each(Held::kill);
                    held.iter().for_each(Held::reap);
                }
                ended.extend(found);
            }
            tracing::warn!(event = "processes_remain", "a program starts processes faster than the hub can end them");
        }

        /// Other users' environments cannot be read: they are nobody's here.
        fn is_on(&self, id: i32) -> bool {
            let mut environment = Vec::new();
            let read = File::open(format!("/proc/{id}/environ"))
                .and_then(|file| file.take(LONGEST).read_to_end(&mut environment));
            let carries = |entry: &[u8]| {
                entry.strip_prefix(VARIABLE.as_bytes()).and_then(|rest| rest.strip_prefix(b"="))
                    == Some(self.0.as_bytes())
            };
            read.is_ok() && environment.split(|byte| *byte == 0).any(carries)
        }
    }

    fn processes() -> impl Iterator<Item = i32> {
        let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
    }

    /// All that came of one process and has not left its parents: also what cleared its environment.
    #[derive(Debug)]
    pub(crate) struct Family(Vec<Held>);

    impl Family {
        /// Without the process itself, which must not have been waited for yet.
        pub(crate) fn of(leader: i32) -> Family {
            let (mut ids, mut held, mut at) = (vec![leader], Vec::new(), 0);
            while let Some(parent) = ids.get(at).copied().filter(|_| ids.len() < MOST) {
                at += 1;
                for child in children(parent) {
                    let handle = Held::open(child);
                    // It is still the child of its parent, so the handle is its own.
                    if let Some(handle) = handle.filter(|_| !ids.contains(&child) && children(parent).contains(&child))
                    {
                        held.push(handle);
                        ids.push(child);
                    }
                }
            }
            Family(held)
        }

        pub(crate) fn kill(self) {
            self.0.iter().for_each(Held::kill);
        }
    }
}
