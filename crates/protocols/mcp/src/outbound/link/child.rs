//! A server that is a child process of the hub (stdio): one JSON message a line each way.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::FusedFuture;
use interlingua_model::PeerId;
use interlingua_process::child::{Output, Program, Started, Tail};
use tokio::sync::mpsc;

use super::pipe::{Ears, Pipe, QueuedMessage};
use crate::outbound::changes::Changes;
use interlingua_hub::supervisor::Supervisor;
use interlingua_net::client::answers::{Answers, Measure, too_large};
use interlingua_net::client::transport_error::TransportError;

/// Lines in a row that are no messages: then it is no server.
const MAX_GARBAGE: u32 = 100;
/// What a program writes to its standard error as it ends is read before anybody hears that it ended. Another that it started may
/// hold that open.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Why a program does not run, with the name of what is missing.
#[derive(Debug, thiserror::Error)]
pub(in super::super) enum NotStarted {
    #[error("directory {0:?} was not found")]
    NoDirectory(std::path::PathBuf),
    #[error("program {0:?} was not found")]
    NoProgram(String),
    #[error("program {program:?} could not be started: {kind}")]
    System { program: String, kind: std::io::ErrorKind },
}

impl NotStarted {
    fn of(program: &Program, error: &std::io::Error) -> NotStarted {
        let missing = error.kind() == std::io::ErrorKind::NotFound;
        match &program.directory {
            Some(directory) if missing && !directory.is_dir() => NotStarted::NoDirectory(directory.clone()),
            Some(_) | None if missing => NotStarted::NoProgram(program.command.clone()),
            Some(_) | None => NotStarted::System { program: program.command.clone(), kind: error.kind() },
        }
    }
}

/// Starts the program and speaks with it until it ends, is closed, or the hub stops.
pub(in super::super) async fn start(
    name: &PeerId,
    (program, answers): (&Program, &Answers),
    tail: &Tail,
    changes: Arc<Changes>,
    supervisor: &Supervisor,
) -> Result<Arc<Pipe>, TransportError> {
    let started =
        program.start().await.map_err(|error| TransportError::unconnected(NotStarted::of(program, &error)))?;
    tail.clear();
    let (pipe, lines) = Pipe::new(changes);
    let (said, stopping) = ((tail.clone(), answers.clone()), supervisor.stopping().clone());
    supervisor.run(pump(name.clone(), started, pipe.ears.clone(), lines, said, stopping));
    Ok(pipe)
}

async fn pump(
    name: PeerId,
    started: Started,
    ears: Arc<Ears>,
    mut lines: mpsc::Receiver<QueuedMessage>,
    (tail, answers): (Tail, Answers),
    stopping: tokio_util::sync::CancellationToken,
) {
    let Started { mut input, mut output, notes, process } = started;
    // Owns the input, so that it is closed when the writing is over.
    let writing = async move {
        while let Some(line) = lines.recv().await {
            if input.say(&line.bytes).await.is_err() {
                break;
            }
        }
    };
    let noting = notes.keep(&tail, |line| tracing::debug!(peer = %name, line, "standard error")).fuse();
    let mut noting = pin!(noting);
    let beside = async {
        tokio::join!(writing, noting.as_mut());
        // A program may close its input or its standard error and go on.
        std::future::pending::<()>().await;
    };
    let reading = async {
        let (mut garbage, mut measure, mut spoke) = (0, Measure::new(&answers), false);
        loop {
            let line = match heard(&mut output, &mut measure).await {
                Ok(line) => line,
                Err(lost) => {
                    ears.fails(&lost);
                    return (lost.to_string(), spoke);
                }
            };
            if ears.hear(&line) {
                (garbage, spoke) = (0, true);
                continue;
            }
            garbage += 1;
            tracing::debug!(peer = %name, bytes = line.len(), "a line that is no message");
            if garbage >= MAX_GARBAGE {
                return ("it does not speak the protocol".to_owned(), spoke);
            }
        }
    };
    tokio::select! {
        (why, spoke) = reading => {
            if !noting.is_terminated() {
                let _ = tokio::time::timeout(LAST_WORDS, noting.as_mut()).await;
            }
            let last = tail.lines().pop().unwrap_or_default();
            // One that never spoke is tried again and again: `peer_unreachable` says so once.
            match spoke {
                true => tracing::warn!(event = "peer_program_ended", peer = %name, %why, ?last, "the program of a peer ended"),
                false => tracing::debug!(event = "peer_program_ended", peer = %name, %why, ?last, "the program of a peer ended"),
            }
        }
        () = beside => {}
        () = ears.closed.cancelled() => {}
        () = stopping.cancelled() => {}
    }
    ears.close();
    // Its input was dropped with the writing above: that is how it is told.
    process.end().await;
}

/// The next line, of bounded length and in bounded time.
async fn heard(output: &mut Output, measure: &mut Measure) -> Result<Bytes, TransportError> {
    loop {
        if let Some(line) = output.line() {
            return measure.whole(line);
        }
        let (unfinished, most) = (output.unfinished(), measure.most());
        if unfinished > most {
            return Err(too_large(format!("a line of more than {most} bytes (limits.body)")));
        }
        measure.more(unfinished, output.more()).await?.map_err(TransportError::broken)?;
    }
}
