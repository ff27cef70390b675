//! WebSocket server, shared by all protocols: a frame is sent in time or the connection is closed; incoming frames are messages, signs of
//! life or the end; and a close frame is sent if the peer is still connected. The protocol decides what messages mean and when silence ends
//! a connection.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_websockets::{CloseCode, Error, Limits, Message as Frame, WebSocketStream};

use crate::counted::{Counted, Refusal};
use crate::upgrade::Socket;
use interlingua_hub::Hub;
use interlingua_hub::byte_budget::{HeldBytes, kept};

/// How long a message may be of somebody who has shown no credential.
pub const UNPROVEN: usize = 64 * 1024;
/// Try again later (RFC 6455's registry of close codes, 1013).
const TRY_AGAIN: u16 = 1013;

/// How long a frame may take to leave. Whoever asks and does not read is gone.
const SEND: Duration = Duration::from_secs(60);
/// How long the other side may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(5);

/// A socket ends: with a code and a reason of ours, or because the other side is gone.
pub type Close = Option<(CloseCode, &'static str)>;

/// A message, and the room it holds until this is dropped.
#[derive(Debug)]
pub struct Whole {
    pub bytes: Bytes,
    _held: Option<Arc<HeldBytes>>,
}

/// What came.
#[derive(Debug)]
pub enum Arrived {
    Text(Whole),
    Binary(Whole),
    /// A ping or a pong.
    Alive,
}

/// What comes next. Cancel safe.
pub async fn next(socket: &mut Socket) -> Result<Arrived, Close> {
    match frame(socket).await {
        Ok(frame) => arrived(socket, frame),
        Err(refusal) => Err(refused(refusal)),
    }
}

/// The next frame of either side's socket, unless a message was begun that is waited for no longer. Cancel safe.
pub async fn frame<S: AsyncRead + AsyncWrite + Unpin>(
    socket: &mut WebSocketStream<Counted<S>>,
) -> Result<Option<Result<Frame, Error>>, Refusal> {
    std::future::poll_fn(|cx| {
        let frame = socket.poll_next_unpin(cx);
        match &frame {
            // Whoever sends signs of life without end must not keep a message open by them.
            Poll::Pending => {}
            Poll::Ready(Some(Ok(frame))) if frame.is_ping() || frame.is_pong() => {}
            Poll::Ready(_) => return frame.map(Ok),
        }
        match socket.get_mut().poll_refused(cx) {
            Poll::Ready(refusal) => Poll::Ready(Err(refusal)),
            Poll::Pending => frame.map(Ok),
        }
    })
    .await
}

fn refused(refusal: Refusal) -> Close {
    match refusal {
        Refusal::Slow => Some((CloseCode::POLICY_VIOLATION, "a message came too slowly")),
        Refusal::Busy => try_again("the hub reads as much as it can at once"),
    }
}

/// More came than may wait for its answer on one socket.
pub fn too_many() -> Close {
    try_again("too many messages wait for an answer")
}

fn try_again(reason: &'static str) -> Close {
    CloseCode::try_from(TRY_AGAIN).ok().map(|code| (code, reason))
}

fn arrived(socket: &mut Socket, frame: Option<Result<Frame, Error>>) -> Result<Arrived, Close> {
    match frame {
        None => Err(None),
        Some(Err(Error::PayloadTooLong { .. })) => Err(Some((CloseCode::MESSAGE_TOO_BIG, "too large"))),
        // The library has closed the socket with the code that belongs to the error.
        Some(Err(_)) => Err(None),
        Some(Ok(frame)) if frame.is_close() => Err(None),
        Some(Ok(frame)) if frame.is_text() => whole(socket, frame).map(Arrived::Text),
        Some(Ok(frame)) if frame.is_binary() => whole(socket, frame).map(Arrived::Binary),
        Some(Ok(_)) => Ok(Arrived::Alive),
    }
}

/// The bytes of a message that was handed out, which hold its room as long as they are kept.
pub fn payload<S>(socket: &mut WebSocketStream<Counted<S>>, frame: Frame) -> Result<Bytes, Refusal>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let bytes = Bytes::from(frame.into_payload());
    match socket.get_mut().hand_out() {
        Some(held) if !held.weigh(&bytes) => Err(Refusal::Busy),
        Some(held) => Ok(kept(bytes, held)),
        None => Ok(bytes),
    }
}

fn whole(socket: &mut Socket, frame: Frame) -> Result<Whole, Close> {
    let (bytes, held) = (Bytes::from(frame.into_payload()), socket.get_mut().hand_out());
    match held.as_ref().is_none_or(|held| held.weigh(&bytes)) {
        true => Ok(Whole { bytes, _held: held }),
        false => Err(refused(Refusal::Busy)),
    }
}

/// From now on messages may be this long.
pub fn allow(socket: &mut Socket, bytes: usize) {
    *socket.limits_mut() = Limits::default().max_payload_len(Some(bytes));
}

pub async fn send(socket: &mut Socket, frame: Frame) -> Result<(), Close> {
    match tokio::time::timeout(SEND, socket.send(frame)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(None),
    }
}

/// What ends with its credential is closed so.
pub const TAKEN_BACK: (CloseCode, &str) = (CloseCode::POLICY_VIOLATION, "the credential is not valid any more");

/// Until the conversation ends, what it was opened with counts no more, or the hub stops.
pub async fn until_ended(
    hub: &Hub,
    taken_back: impl Future<Output = ()>,
    conversation: impl Future<Output = Close>,
) -> Close {
    let stopping = hub.stopping().clone();
    tokio::select! {
        close = conversation => close,
        () = taken_back => Some(TAKEN_BACK),
        () = stopping.cancelled() => Some((CloseCode::GOING_AWAY, "the hub is shutting down")),
    }
}

/// Whether it was heard changes nothing: the socket is dropped.
pub async fn goodbye(mut socket: Socket, close: Close) {
    let said = async {
        if let Some((code, reason)) = close {
            let _ = socket.send(Frame::close(Some(code), reason)).await;
        }
        let _ = socket.close().await;
    };
    let _ = tokio::time::timeout(GOODBYE, said).await;
}
