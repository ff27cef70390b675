//! Stall timeout: a client that sends nothing, or requests and then does not read, is disconnected after a while.
//!
//! [`StallTimeout`] watches the connection: it ends when no request begins, and when sent bytes are not read. [`Outgoing`] watches the
//! streams within it, because an HTTP/2 client may read its connection and still take nothing of one stream. Deliberately absent: a minimum
//! speed. A client that reads a little from time to time is slow, not gone; and because HTTP/2 takes some 400 KiB of a stream ahead of its
//! reader, a stream is given more time than a connection.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep};

use crate::connection_limits::Place;

/// By so many bytes it is known which version of HTTP is spoken, and that one has a patience of its own.
const BEGINNING: usize = 24;

/// A connection whose other end must begin, and must take what is written, each within its time.
#[derive(Debug)]
pub(super) struct StallTimeout<S> {
    stream: S,
    patience: Duration,
    /// Since a write had to wait.
    waiting: Option<Pin<Box<Sleep>>>,
    /// Until when the beginning must be there, and how much of it is.
    beginning: Option<(Pin<Box<Sleep>>, usize)>,
    /// Given back with the connection, also with one that has become a socket.
    place: Option<Place>,
}

impl<S> StallTimeout<S> {
    pub(super) fn new(stream: S, patience: Duration) -> StallTimeout<S> {
        StallTimeout { stream, patience, waiting: None, beginning: None, place: None }
    }

    /// It takes this place.
    pub(super) fn at(mut self, place: Place) -> StallTimeout<S> {
        self.place = Some(place);
        self
    }

    /// Its other end must begin within this time.
    pub(super) fn that_begins(mut self, within: Duration) -> StallTimeout<S> {
        self.beginning = Some((Box::pin(tokio::time::sleep(within)), 0));
        self
    }

    fn watched<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.waiting = None;
            return polled;
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        ready!(waiting.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(ErrorKind::TimedOut, "the other side does not read")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StallTimeout<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = into.filled().len();
        let polled = Pin::new(&mut this.stream).poll_read(cx, into);
        if let Some((late, read)) = &mut this.beginning {
            *read += into.filled().len() - before;
            if *read >= BEGINNING {
                this.beginning = None;
            } else if polled.is_pending() {
                ready!(late.as_mut().poll(cx));
                return Poll::Ready(Err(io::Error::new(ErrorKind::TimedOut, "the other side does not begin")));
            }
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StallTimeout<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.watched(cx, polled)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_write_vectored(cx, pieces);
        this.watched(cx, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_flush(cx);
        this.watched(cx, polled)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_shutdown(cx);
        this.watched(cx, polled)
    }
}

/// The streamed bodies of one connection of HTTP/2.
#[derive(Debug, Clone)]
pub(super) struct Outgoing(Arc<Streams>);

#[derive(Debug)]
struct Streams {
    started: Instant,
    /// As many as HTTP/2 lets one connection have, and those that ended since somebody last looked.
    bodies: Mutex<Vec<Weak<Taken>>>,
    begun: Notify,
}

/// When a piece was handed out after which no other was asked for, in milliseconds from the connection's start; 0 when the
/// next one is being waited for.
#[derive(Debug, Default)]
struct Taken(AtomicU64);

impl Outgoing {
    pub(super) fn new() -> Outgoing {
        let (bodies, begun) = (Mutex::default(), Notify::new());
        Outgoing(Arc::new(Streams { started: Instant::now(), bodies, begun }))
    }

    /// Watches a body whose end is not known; one that is there whole goes out as it is.
    pub(super) fn watch(&self, body: Body) -> Body {
        if body.size_hint().exact().is_some() {
            return body;
        }
        let taken = Arc::new(Taken::default());
        let mut bodies = self.0.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        bodies.retain(|body| body.strong_count() > 0);
        bodies.push(Arc::downgrade(&taken));
        drop(bodies);
        self.0.begun.notify_one();
        Body::new(Watched { body, taken, started: self.0.started })
    }

    /// Resolves when nothing of some stream was asked for in this time, though there is more.
    pub(super) async fn starved(&self, patience: Duration) {
        loop {
            self.0.begun.notified().await;
            while self.any() {
                tokio::time::sleep(patience).await;
                if self.waits_since_before(patience) {
                    return;
                }
            }
        }
    }

    fn any(&self) -> bool {
        let bodies = self.0.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        bodies.iter().any(|body| body.strong_count() > 0)
    }

    fn waits_since_before(&self, patience: Duration) -> bool {
        let before = millis(self.0.started).saturating_sub(u64::try_from(patience.as_millis()).unwrap_or(u64::MAX));
        let bodies = self.0.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = |taken: Arc<Taken>| (1..=before).contains(&taken.0.load(Ordering::Relaxed));
        bodies.iter().filter_map(Weak::upgrade).any(waits)
    }
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

struct Watched {
    body: Body,
    taken: Arc<Taken>,
    started: Instant,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let this = self.get_mut();
        this.taken.0.store(0, Ordering::Relaxed);
        let frame = ready!(Pin::new(&mut this.body).poll_frame(cx));
        if frame.is_some() {
            this.taken.0.store(millis(this.started).max(1), Ordering::Relaxed);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
