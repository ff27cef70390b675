//! Revocation of open streams: whatever lasts longer than a request ends with the credential it was opened with, such as streams of events,
//! messages or bytes, and sockets. A caller whose credential is revoked, or whose rights change, is notified in the protocol's own form if
//! there is one, and is then treated like a caller that disconnected.
//!
//! All paths share this place: the guard passes every unfinished response to it. Sockets wait for [`Pass::ended`] themselves. Whether a
//! caller may see a single item is not decided here; a stream shows its caller's own items, and requests the others again.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use interlingua_model::{Fault, FaultKind, Principal, Secret};

use super::Shared;
use super::error_format::Farewell;
use interlingua_access::Shown;

/// Clocks are read in milliseconds: a credential has expired a little after its time.
const AFTER: Duration = Duration::from_millis(5);

/// The credentials in the message of a streamed answer, besides its connection and headers; put into the answer's extensions.
#[derive(Debug, Clone)]
pub struct Brought(pub Vec<Secret>);

/// The credential with which a stream was opened, and its principal at that time.
#[derive(Debug)]
pub struct Pass {
    shared: Arc<Shared>,
    shown: Shown,
    /// Absent if messages bring their own: then only the connection is checked.
    brought: Option<Vec<Secret>>,
    by: Principal,
}

impl Pass {
    /// For a request and the credentials of its message; `None` if they are refused.
    pub fn of_request(shared: &Arc<Shared>, shown: Shown, brought: Vec<Secret>) -> Option<Pass> {
        Pass::new(shared, shown, Some(brought))
    }

    /// For a connection alone.
    pub fn of_connection(shared: &Arc<Shared>, shown: Shown) -> Option<Pass> {
        Pass::new(shared, shown, None)
    }

    fn new(shared: &Arc<Shared>, shown: Shown, brought: Option<Vec<Secret>>) -> Option<Pass> {
        let by = proven(shared, &shown, brought.as_deref()).ok()?;
        Some(Pass { shared: shared.clone(), shown, brought, by })
    }

    /// Resolves when the credential is no longer valid, or its rights change.
    pub async fn ended(&self) {
        let mut changes = self.shared.access.changes();
        let until = self.by.links().iter().filter_map(|link| link.until).min();
        while self.counts() {
            let expires = async {
                match until {
                    Some(until) => tokio::time::sleep_until(self.shared.hub.instant(until) + AFTER).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return },
                () = expires => {}
            }
        }
    }

    fn counts(&self) -> bool {
        proven(&self.shared, &self.shown, self.brought.as_deref()).is_ok_and(|by| by == self.by)
    }
}

fn proven(shared: &Shared, shown: &Shown, brought: Option<&[Secret]>) -> Result<Principal, Fault> {
    let now = shared.hub.now();
    let transport = shared.access.shown(shown, now)?;
    match brought {
        Some(brought) => shared.access.complete(transport, brought, now),
        None => Ok(transport),
    }
}

/// The answer, which ends with its credential if it is a stream.
pub(super) fn watched(shared: &Arc<Shared>, shown: Shown, path: &str, mut response: Response) -> Response {
    if response.body().size_hint().exact().is_some() {
        return response;
    }
    let brought = response.extensions_mut().remove::<Brought>().map(|brought| brought.0).unwrap_or_default();
    let pass = Pass::of_request(shared, shown, brought);
    let fault = Fault::caller(FaultKind::Unauthenticated, "the credential of this stream is not valid any more");
    let farewell = shared.error_format(path).farewell(&fault, response.headers());
    let ended = Box::pin(async move {
        // Without one it was taken back before the answer began.
        if let Some(pass) = pass {
            pass.ended().await;
        }
    });
    response.map(|body| Body::new(Watched { body, ended, state: State::Open(farewell) }))
}

struct Watched {
    body: Body,
    ended: Pin<Box<dyn Future<Output = ()> + Send>>,
    state: State,
}

enum State {
    Open(Farewell),
    Over,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let this = self.get_mut();
        if matches!(this.state, State::Over) {
            return Poll::Ready(None);
        }
        if this.ended.as_mut().poll(cx).is_pending() {
            return Pin::new(&mut this.body).poll_frame(cx);
        }
        // What it held is left now, not when its reader has read the last of it.
        this.body = Body::empty();
        let State::Open(farewell) = std::mem::replace(&mut this.state, State::Over) else { return Poll::Ready(None) };
        Poll::Ready(match farewell {
            Farewell::Said(frame) => Some(Ok(frame)),
            Farewell::Silent => None,
            Farewell::Broken => Some(Err(axum::Error::new(std::io::Error::other("the credential was taken back")))),
        })
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.state, State::Over) || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}
