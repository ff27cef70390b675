//! One run of a custom tool, from its arguments to its outcome.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use interlingua_model::{
    Body, CancelWhy, Channel, Event, Fault, FaultKind, Finished, Level, MessageId, Output, Part, Party, Piece,
    Provenance,
};
use rustix::process::Signal;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, Command};
use tokio::sync::{mpsc, oneshot};

use super::manifest::CustomTool;
use super::reply::{self, BadReply, ReplyForm, ReplyLine};
use interlingua_process::child::group::Group;
use interlingua_process::child::redact::Redact;

/// Passed on to every program.
pub(super) const COMMON: [&str; 4] = ["PATH", "LANG", "LC_ALL", "TZ"];
/// After the program has ended, only one that left its group can still hold the pipes.
const LEFTOVER: Duration = Duration::from_millis(500);
const CHUNK: usize = 16 * 1024;
const MAX_NOTES: u32 = 500;
const MAX_NOTE_CHARS: usize = 2_000;
const MAX_ERROR_CHARS: usize = 1_000;

/// Variables the manifest allows, with the values they have now.
pub(super) fn allowed(tool: &CustomTool) -> Vec<(String, OsString)> {
    tool.environment.iter().filter_map(|name| Some((name.clone(), std::env::var_os(name)?))).collect()
}

/// The program, not started yet.
pub(super) fn command(tool: &CustomTool, environment: &[(String, OsString)], key: &MessageId, attempt: u32) -> Command {
    let mut command = Command::new(&tool.program.file);
    let common = COMMON.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
    command
        .args(&tool.program.args)
        .current_dir(&tool.program.directory)
        .env_clear()
        .envs(common)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .env("INTERLINGUA_KEY", key.as_str())
        .env("INTERLINGUA_ATTEMPT", attempt.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Where notes and progress go while the program runs.
pub(super) struct Voice {
    events: mpsc::Sender<Event>,
    redact: Redact,
    key: MessageId,
    provenance: Provenance,
    said: AtomicU32,
}

impl Voice {
    pub(super) fn new(events: mpsc::Sender<Event>, redact: Redact, key: MessageId, tool: &CustomTool) -> Voice {
        let provenance = Provenance::peer(tool.skill.id.peer.clone());
        Voice { events, redact, key, provenance, said: AtomicU32::new(0) }
    }

    /// Notes beyond the bound are dropped, and the last one says so.
    async fn note(&self, level: Level, text: &str) {
        let number = self.said.fetch_add(1, Ordering::Relaxed);
        let text = match number.cmp(&MAX_NOTES) {
            std::cmp::Ordering::Less => self.redact.line(text, MAX_NOTE_CHARS),
            std::cmp::Ordering::Equal => "further notes are dropped".to_owned(),
            std::cmp::Ordering::Greater => return,
        };
        self.emit(Event::Said {
            message: MessageId::from(format!("{}.note.{number}", self.key)),
            channel: Channel::Note(level),
            piece: Piece::Whole,
            parts: vec![Part::text(text, self.provenance.clone())],
        })
        .await;
    }

    /// Waits while whoever reads is slow: the program's pipe fills, and the program waits too.
    async fn emit(&self, event: Event) {
        // Nobody reads any more: the call is being dropped.
        let _ = self.events.send(event).await;
    }
}

/// What the program said on standard output.
enum Said {
    Value(Bytes),
    Result { value: interlingua_model::Json, text: Option<String> },
    Error(String),
    Nothing,
}

enum Ending {
    Exited(ExitStatus, Said),
    BadReply(BadReply),
    TimedOut,
    Cancelled(CancelWhy),
    Lost(std::io::Error),
}

/// Runs to the end. Dropping the future kills the program and all it started in its process group.
pub(super) async fn run(
    mut group: Group,
    tool: &CustomTool,
    input: Bytes,
    voice: Voice,
    cancelled: oneshot::Receiver<CancelWhy>,
) -> Finished {
    let ending = tokio::select! {
        ending = converse(&mut group, tool, input, &voice) => ending,
        Ok(why) = cancelled => Ending::Cancelled(why),
        () = tokio::time::sleep(tool.limits.timeout) => Ending::TimedOut,
    };
    group.end().await;
    finished(tool, ending, &voice.redact)
}

async fn converse(group: &mut Group, tool: &CustomTool, input: Bytes, voice: &Voice) -> Ending {
    let (stdin, stdout, stderr) = group.pipes();
    let talk = async {
        let hear = async {
            match (stdout, tool.reply) {
                (None, _) => Ok(Said::Nothing),
                (Some(stdout), ReplyForm::Value) => hear_value(stdout, tool.limits.stdout).await,
                (Some(stdout), ReplyForm::Lines) => hear_lines(stdout, tool.limits.stdout, voice).await,
            }
        };
        let notes = async {
            match stderr {
                Some(stderr) => hear_notes(stderr, tool.limits.stderr, voice).await,
                None => Ok(()),
            }
        };
        let (said, (), ()) = tokio::try_join!(hear, notes, feed(stdin, input))?;
        Ok::<Said, BadReply>(said)
    };
    tokio::pin!(talk);
    let (status, said) = tokio::select! {
        said = &mut talk => match said {
            Ok(said) => (group.wait().await, said),
            Err(bad) => return Ending::BadReply(bad),
        },
        status = group.wait() => match tokio::time::timeout(LEFTOVER, talk).await {
            Ok(Ok(said)) => (status, said),
            Ok(Err(bad)) => return Ending::BadReply(bad),
            Err(_) => (status, Said::Nothing),
        },
    };
    match status {
        Ok(status) => Ending::Exited(status, said),
        Err(error) => Ending::Lost(error),
    }
}

/// A program may end without reading what it was given.
pub(super) async fn feed(stdin: Option<ChildStdin>, input: Bytes) -> Result<(), BadReply> {
    if let Some(mut stdin) = stdin
        && stdin.write_all(&input).await.is_ok()
        && stdin.write_all(b"\n").await.is_ok()
    {
        let _ = stdin.shutdown().await;
    }
    Ok(())
}

async fn hear_value(stdout: impl AsyncRead + Unpin, limit: usize) -> Result<Said, BadReply> {
    hear_all(stdout, limit).await.map(Said::Value)
}

pub(super) async fn hear_all(stdout: impl AsyncRead + Unpin, limit: usize) -> Result<Bytes, BadReply> {
    let mut bytes = Vec::new();
    // A pipe that breaks has ended; the exit code tells the rest.
    let _ = stdout.take(limit as u64 + 1).read_to_end(&mut bytes).await;
    match bytes.len() > limit {
        true => Err(BadReply::TooLarge { limit }),
        false => Ok(bytes.into()),
    }
}

async fn hear_lines(stdout: impl AsyncRead + Unpin, limit: usize, voice: &Voice) -> Result<Said, BadReply> {
    let mut lines = Lines::new(stdout);
    let mut said = Said::Nothing;
    while let Some(line) = lines.next(limit).await? {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if !matches!(said, Said::Nothing) {
            return Err(BadReply::AfterResult);
        }
        match reply::line(line)? {
            ReplyLine::Progress(event) => voice.emit(event).await,
            ReplyLine::Log(level, text) => voice.note(level, &text).await,
            ReplyLine::Result { value, text } => said = Said::Result { value, text },
            ReplyLine::Error(text) => said = Said::Error(text),
        }
    }
    Ok(said)
}

/// Beyond the limit it is still read, so that the program does not stand still, and dropped.
async fn hear_notes(stderr: impl AsyncRead + Unpin, limit: usize, voice: &Voice) -> Result<(), BadReply> {
    let mut lines = Lines::new(stderr);
    loop {
        match lines.next(limit).await {
            Ok(Some(line)) if line.iter().all(u8::is_ascii_whitespace) => {}
            Ok(Some(line)) => voice.note(Level::Info, &String::from_utf8_lossy(&line)).await,
            Ok(None) => return Ok(()),
            Err(_) => break,
        }
    }
    voice.note(Level::Warning, "standard error is too long; the rest is dropped").await;
    let mut scratch = vec![0; CHUNK];
    while lines.source.read(&mut scratch).await.is_ok_and(|read| read > 0) {}
    Ok(())
}

/// Lines of a pipe, bounded in total.
struct Lines<R> {
    source: R,
    buffer: BytesMut,
    /// Up to here there is no line end.
    searched: usize,
    total: usize,
    ended: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    fn new(source: R) -> Lines<R> {
        Lines { source, buffer: BytesMut::new(), searched: 0, total: 0, ended: false }
    }

    async fn next(&mut self, limit: usize) -> Result<Option<Bytes>, BadReply> {
        loop {
            if let Some(at) = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n') {
                let line = self.buffer.split_to(self.searched + at + 1).freeze();
                self.searched = 0;
                return Ok(Some(line));
            }
            self.searched = self.buffer.len();
            if self.ended {
                self.searched = 0;
                return Ok((!self.buffer.is_empty()).then(|| self.buffer.split().freeze()));
            }
            self.buffer.reserve(CHUNK);
            let read = self.source.read_buf(&mut self.buffer).await.unwrap_or(0);
            self.ended = read == 0;
            self.total = self.total.saturating_add(read);
            if self.total > limit {
                return Err(BadReply::TooLarge { limit });
            }
        }
    }
}

fn finished(tool: &CustomTool, ending: Ending, redact: &Redact) -> Finished {
    let name = tool.skill.id.skill.as_str();
    let fault = |kind, text: String| Finished::failed(Fault::new(kind, party(tool), text));
    match ending {
        Ending::Exited(status, said) if status.success() => match answer(tool, said, redact) {
            Ok(output) => Finished::completed(output),
            Err(fault) => Finished::failed(fault),
        },
        Ending::Exited(status, said) => fault(FaultKind::PeerFailed, why_failed(name, status, said, redact)),
        Ending::BadReply(bad) => fault(FaultKind::BadReply, format!("{name}: {bad}")),
        Ending::TimedOut => fault(FaultKind::Deadline, format!("{name} took more than {:?}", tool.limits.timeout)),
        Ending::Cancelled(why) => Finished::cancelled(Party::Caller, why),
        Ending::Lost(error) => Finished::failed(Fault::internal(error)),
    }
}

/// In the program's own words, if it chose some.
fn why_failed(name: &str, status: ExitStatus, said: Said, redact: &Redact) -> String {
    let chosen = match said {
        Said::Value(bytes) => reply::value(bytes).ok().and_then(|json| reply::chosen_error(&json)),
        Said::Error(text) => Some(text),
        Said::Result { .. } | Said::Nothing => None,
    };
    match (chosen, status.code(), status.signal()) {
        (Some(chosen), _, _) => redact.line(&chosen, MAX_ERROR_CHARS),
        (None, Some(code), _) => format!("{name} ended with exit code {code}"),
        (None, None, Some(signal)) if signal == Signal::XCPU.as_raw() => {
            format!("{name} used more processor time than it may")
        }
        (None, None, Some(signal)) => format!("{name} was ended by signal {signal}"),
        (None, None, None) => format!("{name} did not end as it should"),
    }
}

fn answer(tool: &CustomTool, said: Said, redact: &Redact) -> Result<Output, Fault> {
    let name = tool.skill.id.skill.as_str();
    let bad = |bad: BadReply| Fault::new(FaultKind::BadReply, party(tool), format!("{name}: {bad}"));
    let (value, text) = match said {
        Said::Value(bytes) => (reply::value(bytes).map_err(bad)?, None),
        Said::Result { value, text } => (value, text),
        Said::Error(text) => {
            return Err(Fault::new(FaultKind::PeerFailed, party(tool), redact.line(&text, MAX_ERROR_CHARS)));
        }
        Said::Nothing => return Err(bad(BadReply::NoResult)),
    };
    let text = text.or_else(|| value.tree().as_str().map(str::to_owned));
    let body = match text {
        Some(text) => Body::Text { text: text.into(), language: None },
        None => Body::Data(value.clone()),
    };
    let part = Part::new(body, Provenance::peer(tool.skill.id.peer.clone()));
    Ok(Output { parts: vec![part], structured: Some(value), ..Output::default() })
}

fn party(tool: &CustomTool) -> Party {
    Party::Peer(tool.skill.id.peer.clone())
}
