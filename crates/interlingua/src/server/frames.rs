//! What every WebSocket that comes to the hub does alike: a frame leaves in time or the other side is gone; what arrives is a
//! message, a sign of life or the end; and the end is said, if there is anybody to hear it. What messages mean, and when silence
//! is death, is each protocol's own.

use std::time::Duration;

use bytes::Bytes;
use futures_util::SinkExt;
use tokio_websockets::{CloseCode, Error, Message as Frame};

use super::upgrade::Socket;
use crate::hub::Hub;

/// How long a frame may take to leave. Whoever asks and does not read is gone.
const SEND: Duration = Duration::from_secs(60);
/// How long the other side may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(5);

/// A socket ends: with a code and a reason of ours, or because the other side is gone.
pub(crate) type Close = Option<(CloseCode, &'static str)>;

/// What came.
#[derive(Debug)]
pub(crate) enum Arrived {
    Text(Bytes),
    Binary(Bytes),
    /// A ping or a pong.
    Alive,
}

pub(crate) fn arrived(frame: Option<Result<Frame, Error>>) -> Result<Arrived, Close> {
    match frame {
        None => Err(None),
        Some(Err(Error::PayloadTooLong { .. })) => Err(Some((CloseCode::MESSAGE_TOO_BIG, "too large"))),
        // The library has closed the socket with the code that belongs to the error.
        Some(Err(_)) => Err(None),
        Some(Ok(frame)) if frame.is_close() => Err(None),
        Some(Ok(frame)) if frame.is_text() => Ok(Arrived::Text(frame.into_payload().into())),
        Some(Ok(frame)) if frame.is_binary() => Ok(Arrived::Binary(frame.into_payload().into())),
        Some(Ok(_)) => Ok(Arrived::Alive),
    }
}

pub(crate) async fn send(socket: &mut Socket, frame: Frame) -> Result<(), Close> {
    match tokio::time::timeout(SEND, socket.send(frame)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(None),
    }
}

/// What ends with its credential is closed so.
pub(crate) const TAKEN_BACK: (CloseCode, &str) = (CloseCode::POLICY_VIOLATION, "the credential is not valid any more");

/// Until the conversation ends, what it was opened with counts no more, or the hub stops.
pub(crate) async fn until_ended(
    hub: &Hub,
    taken_back: impl Future<Output = ()>,
    conversation: impl Future<Output = Close>,
) -> Close {
    let stopping = hub.supervisor.stopping().clone();
    tokio::select! {
        close = conversation => close,
        () = taken_back => Some(TAKEN_BACK),
        () = stopping.cancelled() => Some((CloseCode::GOING_AWAY, "the hub is shutting down")),
    }
}

/// Whether it was heard changes nothing: the socket is dropped.
pub(crate) async fn goodbye(mut socket: Socket, close: Close) {
    let said = async {
        if let Some((code, reason)) = close {
            let _ = socket.send(Frame::close(Some(code), reason)).await;
        }
        let _ = socket.close().await;
    };
    let _ = tokio::time::timeout(GOODBYE, said).await;
}
