//! Reading a body: never more than the limit, never slower than patience allows.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Body as _;
use interlingua_core::{Fault, FaultKind};

/// How long the next piece of a body may take.
pub const PATIENCE: Duration = Duration::from_secs(15);

/// The whole body, or why not.
pub async fn read(mut body: Body, limit: u64) -> Result<Bytes, Fault> {
    if body.size_hint().lower() > limit {
        return Err(too_large(limit));
    }
    let mut first: Option<Bytes> = None;
    let mut rest = BytesMut::new();
    while let Some(piece) = next(&mut body).await? {
        let so_far = first.as_ref().map_or(0, Bytes::len) + rest.len();
        if (so_far + piece.len()) as u64 > limit {
            return Err(too_large(limit));
        }
        match &first {
            None => first = Some(piece),
            Some(one) => {
                if rest.is_empty() {
                    rest.reserve(one.len() + piece.len());
                    rest.extend_from_slice(one);
                    first = Some(Bytes::new());
                }
                rest.extend_from_slice(&piece);
            }
        }
    }
    Ok(if rest.is_empty() { first.unwrap_or_default() } else { rest.freeze() })
}

/// The next piece; `None` at the end.
pub async fn next(body: &mut Body) -> Result<Option<Bytes>, Fault> {
    loop {
        let frame = tokio::time::timeout(PATIENCE, body.frame()).await;
        let frame = frame.map_err(|_| Fault::caller(FaultKind::Malformed, "the body came too slowly"))?;
        match frame {
            None => return Ok(None),
            Some(Err(_)) => return Err(Fault::caller(FaultKind::Malformed, "the body ended too early")),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}

pub fn too_large(limit: u64) -> Fault {
    Fault::caller(FaultKind::TooLarge, format!("the body is larger than the {limit} bytes taken here"))
}
