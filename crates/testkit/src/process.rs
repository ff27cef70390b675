//! One child process: its output is stored, and it never outlives the test.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read},
    os::unix::process::CommandExt,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// Lines of output kept unless somebody wants more; older ones go first.
const KEPT_LINES: usize = 20_000;

/// A running child in a process group of its own.
#[derive(Debug)]
pub struct Process {
    child: Child,
    output: Arc<Mutex<VecDeque<String>>>,
    readers: Vec<thread::JoinHandle<()>>,
}

impl Process {
    /// Starts `command` with standard output and standard error captured.
    pub fn start(mut command: Command) -> Self {
        Self::keeping(&mut command, KEPT_LINES)
    }

    /// The same, for a command that is started more than once.
    pub fn spawn(command: &mut Command) -> Self {
        Self::keeping(command, KEPT_LINES)
    }

    /// The same, with so many lines of output kept.
    pub fn keeping(command: &mut Command, lines: usize) -> Self {
        let name = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{name} does not start: {error}"));
        let output = Arc::new(Mutex::new(VecDeque::new()));
        let readers = vec![
            keep(child.stdout.take().expect("standard output is piped"), &output, lines),
            keep(child.stderr.take().expect("standard error is piped"), &output, lines),
        ];
        Self { child, output, readers }
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Everything written so far to standard output and standard error.
    pub fn output(&self) -> String {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).make_contiguous().join("\n")
    }

    /// All it ever wrote; call it once the process has ended, else it waits for that.
    pub fn whole_output(&mut self) -> String {
        for reader in self.readers.drain(..) {
            reader.join().expect("a reader only reads");
        }
        self.output()
    }

    /// The status with which it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child of ours can be waited for")
    }

    /// Kills it as a power cut would: SIGKILL, no goodbye. Its own children are left alone, as a crash leaves them.
    pub fn kill_9(&mut self) {
        if self.ended().is_none() {
            self.child.kill().expect("a child of ours can be killed");
        }
        self.child.wait().expect("a killed child ends");
    }

    /// Asks it to stop with SIGTERM and returns how it ended.
    pub async fn stop(&mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        crate::within("a process asked to stop", async {
            loop {
                if let Some(status) = self.ended() {
                    return status;
                }
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        })
        .await
    }

    /// Stops it where it stands, as a program that hangs: its connections stay open, and nothing is answered.
    pub fn hang(&mut self) {
        self.signal(Signal::STOP);
    }

    /// Has one that hangs go on.
    pub fn wake(&mut self) {
        self.signal(Signal::CONT);
    }

    /// Sends a signal, such as SIGHUP.
    pub fn signal(&mut self, signal: Signal) {
        // Asked first, so that a reused id is never signalled: an ended child is reaped here and has no id any more.
        if self.ended().is_none()
            && let Some(pid) = pid(&self.child)
        {
            kill_process(pid, signal).expect("a child of ours can be signalled");
        }
    }
}

/// Kills a running child of ours by its id while its owner is borrowed elsewhere. The owner reaps it.
pub fn kill_by_id(id: u32) {
    if let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        kill_process(pid, Signal::KILL).expect("a child of ours that was not reaped yet can be killed");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The group, so that what the child started goes too; it is our own, made at start.
        if let Some(pid) = pid(&self.child) {
            let _gone_already = kill_process_group(pid, Signal::KILL);
        }
        let _reaped_already = self.child.wait();
    }
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Reads a stream to its end in a thread of its own: it works without a runtime and while a test blocks.
fn keep(
    stream: impl Read + Send + 'static,
    output: &Arc<Mutex<VecDeque<String>>>,
    most: usize,
) -> thread::JoinHandle<()> {
    let output = Arc::clone(output);
    thread::spawn(move || {
        for line in BufReader::new(stream).split(b'\n') {
            let Ok(line) = line else { return };
            let mut lines = output.lock().unwrap_or_else(PoisonError::into_inner);
            if lines.len() == most {
                lines.pop_front();
            }
            lines.push_back(String::from_utf8_lossy(&line).into_owned());
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Process::start(command)
    }

    #[tokio::test]
    async fn output_is_kept_and_sigterm_ends_it() {
        let mut process = shell("echo out; echo err >&2; exec sleep 100");
        crate::within("both lines", async {
            while !(process.output().contains("out") && process.output().contains("err")) {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        })
        .await;
        assert!(!process.stop().await.success());
    }

    #[test]
    fn a_killed_process_has_ended() {
        let mut process = shell("exec sleep 100");
        assert!(process.ended().is_none());
        process.kill_9();
        assert!(process.ended().is_some());
    }
}
