//! A child process with line-based I/O: text lines in, text lines out, notes on standard error.
//!
//! It runs in a process group of its own. It is ended in steps: its input is closed, then it is sent a termination signal, then it is
//! killed, with everything it started, also processes that have left the group ([`strays`]). Dropping [`Process`] kills it at once, and the
//! runtime reaps it. Its environment holds what a program needs to start, what it is given and what it is allowed, and nothing else of the
//! hub's. The reader sets the maximum length of a line. Standard error is always read, so that the program never blocks on it, and its last
//! lines are stored.
//!
//! Deliberately absent: the meaning of the lines, and when to restart the program.

pub mod group;
pub mod redact;
pub mod strays;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

use group::Group;
use redact::Redact;

/// What a program finds of the hub's environment without being allowed more.
const COMMON: [&str; 11] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TERM", "TMPDIR", "SYSTEMROOT"];
/// How long a program may take to end by itself once its input is closed.
const GRACE: Duration = Duration::from_secs(2);
const CHUNK: usize = 16 * 1024;
const KEPT_NOTES: usize = 20;
const MAX_NOTE_CHARS: usize = 400;

/// What is started, and what it may know.
#[derive(Clone)]
pub struct Program {
    pub command: String,
    pub args: Vec<String>,
    /// Where it is started; where the hub was, without.
    pub directory: Option<PathBuf>,
    /// Variables with their values. They do not appear in notes.
    pub environment: Vec<(String, OsString)>,
    /// Variables of the hub that it may see.
    pub allowed: Vec<String>,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program").field("command", &self.command).finish_non_exhaustive()
    }
}

/// A program that runs, in its parts: whoever holds them may use them at the same time.
#[derive(Debug)]
pub struct Started {
    pub input: Input,
    pub output: Output,
    pub notes: Notes,
    pub process: Process,
}

impl Program {
    pub async fn start(&self) -> io::Result<Started> {
        let given = self.given();
        let mut command = Command::new(&self.command);
        let common = COMMON.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
        command.args(&self.args).env_clear().envs(common).envs(given.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        let mut group = Group::start(&mut command).await?;
        let (Some(stdin), Some(stdout), Some(stderr)) = group.pipes() else {
            return Err(io::Error::other("a pipe of the program is missing"));
        };
        Ok(Started {
            input: Input(stdin),
            output: Output { source: stdout, lines: Lines::default() },
            notes: Notes { source: stderr, redact: Redact::new(&given) },
            process: Process(group),
        })
    }

    fn given(&self) -> Vec<(String, OsString)> {
        let allowed = self.allowed.iter().filter_map(|name| Some((name.clone(), std::env::var_os(name)?)));
        allowed.chain(self.environment.iter().cloned()).collect()
    }
}

/// Its standard input. Dropped, it is closed.
#[derive(Debug)]
pub struct Input(ChildStdin);

impl Input {
    /// One line; what it holds must have no line end of its own.
    pub async fn say(&mut self, line: &[u8]) -> io::Result<()> {
        self.0.write_all(line).await?;
        self.0.write_all(b"\n").await?;
        self.0.flush().await
    }
}

/// Its standard output, line by line.
#[derive(Debug)]
pub struct Output {
    source: ChildStdout,
    lines: Lines,
}

/// Bytes as they come, cut at line ends.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    buffer: BytesMut,
    /// Up to here there is no line end.
    searched: usize,
}

impl Lines {
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole line that is not blank; its end is not part of it.
    pub(crate) fn next_line(&mut self) -> Option<Bytes> {
        while let Some(at) = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n') {
            let line = self.buffer.split_to(self.searched + at + 1).freeze();
            self.searched = 0;
            if line.iter().any(|byte| !byte.is_ascii_whitespace()) {
                return Some(line.slice(..line.len() - 1));
            }
        }
        self.searched = self.buffer.len();
        None
    }
}

/// Why there is no further line.
#[derive(Debug, thiserror::Error)]
pub enum Silent {
    #[error("it closed its output")]
    Closed,
    #[error("its output broke: {0}")]
    Broken(#[from] io::Error),
}

impl Output {
    /// The next whole line that is not blank, of what was read; its end is not part of it.
    pub fn line(&mut self) -> Option<Bytes> {
        self.lines.next_line()
    }

    /// How many bytes were read of a line that has not ended. How many there may be is for whoever reads to say.
    pub fn unfinished(&self) -> usize {
        self.lines.buffer.len()
    }

    /// Reads more. Take all lines first. Cancel safe.
    pub async fn more(&mut self) -> Result<(), Silent> {
        self.lines.buffer.reserve(CHUNK);
        match self.source.read_buf(&mut self.lines.buffer).await? {
            0 => Err(Silent::Closed),
            _ => Ok(()),
        }
    }
}

/// The last lines of a program's standard error, without what it was given in confidence.
#[derive(Debug, Clone, Default)]
pub struct Tail(Arc<Mutex<VecDeque<String>>>);

impl Tail {
    pub fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// What a program said before it was started again is nothing of the next one's.
    pub fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn push(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == KEPT_NOTES {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}

/// Its standard error.
#[derive(Debug)]
pub struct Notes {
    source: ChildStderr,
    redact: Redact,
}

impl Notes {
    /// Reads until the program closes it; a line that is too long is cut.
    pub async fn keep(mut self, tail: &Tail, mut each: impl FnMut(&str)) {
        let mut line = Vec::new();
        let mut chunk = vec![0; CHUNK];
        while let Ok(read @ 1..) = self.source.read(&mut chunk).await {
            for byte in &chunk[..read] {
                match byte {
                    b'\n' => self.note(&mut line, tail, &mut each),
                    // Four bytes are the longest character.
                    _ if line.len() < 4 * MAX_NOTE_CHARS => line.push(*byte),
                    _ => {}
                }
            }
        }
        self.note(&mut line, tail, &mut each);
    }

    fn note(&self, line: &mut Vec<u8>, tail: &Tail, each: &mut impl FnMut(&str)) {
        let text = self.redact.line(String::from_utf8_lossy(line).trim_end(), MAX_NOTE_CHARS);
        line.clear();
        if !text.is_empty() {
            each(&text);
            tail.push(text);
        }
    }
}

/// The process and all it started. Dropped, they are killed.
#[derive(Debug)]
pub struct Process(Group);

impl Process {
    /// Waits for it to end by itself, and ends what it left behind.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.0.wait().await
    }

    /// Call it once the input is dropped: the program may end by itself, is asked to, is killed.
    pub async fn end(mut self) {
        if tokio::time::timeout(GRACE, self.0.wait()).await.is_err() {
            self.0.end().await;
        }
    }
}
