//! Helper program of the hub: the hub sends one text and reads one text, in the same sandbox as a custom tool.
//!
//! Deliberately absent: the meaning of the question and of the answer.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, Command};

use super::program::{self, Program};
use super::run::{COMMON, feed, hear_all};
use interlingua_process::child::group::{Group, Share};

/// More on standard output is no answer.
const MAX_ANSWER: usize = 64 * 1024 * 1024;
/// Of standard error, for the log.
const MAX_COMPLAINT: u64 = 4 * 1024;
const MEMORY: u64 = 2 * 1024 * 1024 * 1024;
const CPU: Duration = Duration::from_secs(600);

/// A program and how it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aide {
    program: Program,
    environment: Vec<String>,
    timeout: Duration,
}

/// Why there is no answer. For the log: it may hold the program's own words.
#[derive(Debug, thiserror::Error)]
pub enum Unhelpful {
    #[error("it cannot be started: {0}")]
    Start(io::Error),
    #[error("it took more than {0:?}")]
    Late(Duration),
    #[error("it ended with {status}: {complaint}")]
    Failed { status: ExitStatus, complaint: String },
    #[error("its answer is too long")]
    TooLong,
    #[error("it was lost: {0}")]
    Lost(io::Error),
}

impl Aide {
    /// `command` is a program and its arguments. A name with a `/` starts at `home`, which is also where it runs; any other
    /// is looked for there and in `PATH`. `environment` names variables that are passed on.
    pub fn named(home: &Path, command: &[String], environment: &[String], timeout: Duration) -> Result<Aide, String> {
        let (file, args) = command.split_first().ok_or("is empty")?;
        let here = if home.as_os_str().is_empty() { Path::new(".") } else { home };
        let home = std::path::absolute(here).map_err(|error| error.to_string())?;
        let program = Program {
            file: program::named(&home, file)?,
            args: args.iter().map(OsString::from).collect(),
            directory: home,
        };
        Ok(Aide { program, environment: environment.to_vec(), timeout })
    }

    /// Dropping the future kills the program and all it started in its process group.
    pub async fn ask(&self, question: Bytes) -> Result<Bytes, Unhelpful> {
        let share = Share { memory: MEMORY, cpu: CPU };
        let mut group = Group::start(&mut self.command()).await.map_err(Unhelpful::Start)?;
        group.hold_to(share).map_err(Unhelpful::Start)?;
        let answered = tokio::time::timeout(self.timeout, answer(&mut group, question)).await;
        group.end().await;
        answered.unwrap_or(Err(Unhelpful::Late(self.timeout)))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program.file);
        let passed = COMMON.iter().copied().chain(self.environment.iter().map(String::as_str));
        command
            .args(&self.program.args)
            .current_dir(&self.program.directory)
            .env_clear()
            .envs(passed.filter_map(|name| Some((name, std::env::var_os(name)?))))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

async fn answer(group: &mut Group, question: Bytes) -> Result<Bytes, Unhelpful> {
    let (stdin, stdout, stderr) = group.pipes();
    let hear = async {
        match stdout {
            Some(stdout) => hear_all(stdout, MAX_ANSWER).await,
            None => Ok(Bytes::new()),
        }
    };
    let (said, complaint, fed) = tokio::join!(hear, complaint(stderr), feed(stdin, question));
    let status = group.wait().await.map_err(Unhelpful::Lost)?;
    if !status.success() {
        return Err(Unhelpful::Failed { status, complaint });
    }
    fed.and(said).map_err(|_| Unhelpful::TooLong)
}

/// Its first words; the rest is read and dropped, so that it does not stand still.
async fn complaint(stderr: Option<ChildStderr>) -> String {
    let Some(mut stderr) = stderr else { return String::new() };
    let mut first = Vec::new();
    let _ = (&mut stderr).take(MAX_COMPLAINT).read_to_end(&mut first).await;
    let mut scratch = [0; 4_096];
    while stderr.read(&mut scratch).await.is_ok_and(|read| read > 0) {}
    String::from_utf8_lossy(&first).trim().to_owned()
}
