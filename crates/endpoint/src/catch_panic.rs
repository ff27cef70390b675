//! Panic isolation. A request whose handler panics is answered like any other, in the form of its protocol, and takes nobody with it:
//! over HTTP/1 the connection would close without a word, and its other requests with it. The log says where it was.

use std::panic::AssertUnwindSafe;

use axum::response::Response;
use futures_util::FutureExt;
use interlingua_model::Fault;

use super::error_format::ErrorFormat;

#[derive(Debug, thiserror::Error)]
#[error("a part of the hub panicked on the way")]
struct Broken;

/// What `handling` answers. The format is asked for only where it is needed.
pub async fn answered<'f>(
    format: impl FnOnce() -> &'f dyn ErrorFormat,
    handling: impl Future<Output = Response>,
) -> Response {
    // What a handler leaves half done is its own: shared state is behind locks that are taken on when poisoned, or atomic.
    let answer = AssertUnwindSafe(handling).catch_unwind().await;
    answer.unwrap_or_else(|_| format().refuse(&Fault::internal(Broken)))
}
