//! Panic isolation: a request whose handler panics is answered with an error in the form of its protocol, and affects no other request.
//! Without this, HTTP/1 would close the connection without an answer, with its other requests. The log says where the panic was.

use std::panic::AssertUnwindSafe;

use axum::response::Response;
use futures_util::FutureExt;
use interlingua_model::Fault;

use super::error_format::ErrorFormat;

#[derive(Debug, thiserror::Error)]
#[error("a part of the hub panicked on the way")]
struct Broken;

/// The answer of `handling`. The format is determined only if it is needed.
pub async fn answered<'f>(
    format: impl FnOnce() -> &'f dyn ErrorFormat,
    handling: impl Future<Output = Response>,
) -> Response {
    // What a handler leaves half done is its own: shared state is behind locks that are taken on when poisoned, or atomic.
    let answer = AssertUnwindSafe(handling).catch_unwind().await;
    answer.unwrap_or_else(|_| format().refuse(&Fault::internal(Broken)))
}
