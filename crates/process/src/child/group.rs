//! Process group of a child process and everything it starts. It is ended as one, with the processes that have left the group.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::strays::{Family, Mark};

/// How long a program may take to end itself after it was asked to.
const GRACE: Duration = Duration::from_secs(2);
/// A program just written may still be open for writing in a sibling that is being started.
const BUSY_TRIES: u32 = 20;
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// What one process may use of the machine. Linux holds a program and each process it starts to it; elsewhere only time and
/// output are bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Bytes of memory of its own.
    pub memory: u64,
    /// Processor time, in whole seconds.
    pub cpu: Duration,
}

/// Dropping it kills the whole group, and what has left it; the runtime reaps the child.
#[derive(Debug)]
pub struct Group {
    child: Child,
    id: Option<Pid>,
    /// What the program and all it starts carry; absent once they are gone.
    mark: Option<Mark>,
}

impl Group {
    pub async fn start(command: &mut Command) -> io::Result<Group> {
        let mark = Mark::new()?;
        let (name, value) = mark.variable();
        command.env(name, value).process_group(0).kill_on_drop(true);
        let mut tries = 0;
        loop {
            match command.spawn() {
                Ok(child) => {
                    let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
                    return Ok(Group { child, id, mark: Some(mark) });
                }
                Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < BUSY_TRIES => {
                    tries += 1;
                    tokio::time::sleep(BUSY_PAUSE).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Said to the program while it starts: what it begins later inherits the limits.
    #[cfg(target_os = "linux")]
    pub fn hold_to(&self, share: Share) -> io::Result<()> {
        use rustix::io::Errno;
        use rustix::process::{Resource, Rlimit, prlimit};
        let cpu = share.cpu.as_secs() + u64::from(share.cpu.subsec_nanos() > 0);
        // A second more before it is killed: the first signal says why.
        let limits = [(Resource::Data, share.memory, 0), (Resource::Cpu, cpu, 1), (Resource::Core, 0, 0)];
        for (resource, most, more) in limits {
            match prlimit(self.id, resource, Rlimit { current: Some(most), maximum: Some(most.saturating_add(more)) }) {
                // It has ended already.
                Ok(_) | Err(Errno::SRCH) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the same to call everywhere")]
    pub(crate) fn hold_to(&self, _: Share) -> io::Result<()> {
        Ok(())
    }

    /// The id of the group.
    pub fn leader(&self) -> Option<i32> {
        self.id.map(|id| id.as_raw_nonzero().get())
    }

    /// The three ends of its pipes; only the first call has them.
    pub fn pipes(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        (self.child.stdin.take(), self.child.stdout.take(), self.child.stderr.take())
    }

    /// Waits for the child, then kills what it left behind.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await;
        self.signal(Signal::KILL);
        self.id = None;
        if let Some(mark) = self.mark.clone() {
            // It reads a file of every process. Should nobody wait for it, the mark stays and is looked for again.
            let _ = tokio::task::spawn_blocking(move || mark.kill_all()).await;
            self.mark = None;
        }
        status
    }

    /// Politely, then hard.
    pub async fn end(mut self) {
        let family = self.family();
        self.signal(Signal::TERM);
        let ended = tokio::time::timeout(GRACE, self.wait()).await;
        family.into_iter().for_each(Family::kill);
        if ended.is_err() {
            self.kill().await;
        }
    }

    pub(crate) async fn kill(&mut self) {
        self.family().into_iter().for_each(Family::kill);
        self.signal(Signal::KILL);
        // Nothing survives this signal; an error only says that it is gone already.
        let _ = self.wait().await;
    }

    /// What the program started and what still has its parents, wherever it went. Nobody has waited for the program yet.
    fn family(&self) -> Option<Family> {
        self.leader().map(Family::of)
    }

    fn signal(&self, signal: Signal) {
        if let Some(id) = self.id {
            // No such group: everything in it has ended.
            let _ = kill_process_group(id, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let family = self.family();
        self.signal(Signal::KILL);
        family.into_iter().for_each(Family::kill);
        if let Some(mark) = &self.mark {
            mark.kill_all();
        }
    }
}
