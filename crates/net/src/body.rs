//! Body limits and stall timeout: reads a body within its size limit, with a timeout for the next piece and for the whole. The time for the
//! whole grows with the bytes received, so a byte now and then does not occupy a connection for long.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Body as _;
use interlingua_model::{Fault, FaultKind};
use tokio::time::Instant;

/// How long the next piece of a body may take.
pub const PATIENCE: Duration = Duration::from_secs(15);

/// How long a whole body may take, besides what it earns.
const WHOLE: Duration = Duration::from_secs(60);
/// How many bytes earn a second more.
const SPEED: usize = 4 * 1024;

/// The whole body, or why not.
pub async fn read(mut body: Body, limit: u64) -> Result<Bytes, Fault> {
    if body.size_hint().lower() > limit {
        return Err(too_large(limit));
    }
    let mut first: Option<Bytes> = None;
    let mut rest = BytesMut::new();
    let (begun, mut so_far) = (Instant::now(), 0_usize);
    loop {
        let earned = Duration::from_secs((so_far / SPEED) as u64);
        let piece = tokio::time::timeout_at(begun + WHOLE + earned, next(&mut body)).await;
        let Some(piece) = piece.map_err(|_| too_slow())?? else { break };
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
        so_far = first.as_ref().map_or(0, Bytes::len) + rest.len();
    }
    Ok(if rest.is_empty() { first.unwrap_or_default() } else { rest.freeze() })
}

/// The next piece; `None` at the end.
pub async fn next(body: &mut Body) -> Result<Option<Bytes>, Fault> {
    loop {
        let frame = tokio::time::timeout(PATIENCE, body.frame()).await;
        let frame = frame.map_err(|_| too_slow())?;
        match frame {
            None => return Ok(None),
            Some(Err(error)) => return Err(broken(error)),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}

/// There was no room for it, or its sender is gone.
fn broken(error: axum::Error) -> Fault {
    let ended = |_| Box::new(Fault::caller(FaultKind::Malformed, "the body ended too early"));
    *error.into_inner().downcast::<Fault>().unwrap_or_else(ended)
}

fn too_slow() -> Fault {
    Fault::caller(FaultKind::Malformed, "the body came too slowly")
}

pub fn too_large(limit: u64) -> Fault {
    Fault::caller(FaultKind::TooLarge, format!("the body is larger than the {limit} bytes taken here"))
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    /// So many pieces of so many bytes, one every so many seconds.
    fn trickle(pieces: usize, size: usize, every: u64) -> Body {
        Body::from_stream(stream::unfold(0, move |sent| async move {
            tokio::time::sleep(Duration::from_secs(every)).await;
            (sent < pieces).then(|| (Ok::<_, std::io::Error>(Bytes::from(vec![b'x'; size])), sent + 1))
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_may_be_slow_and_may_not_dawdle() {
        for (pieces, size, every, fine) in [
            (3, 1, 10, true),
            (1_000, 1, 10, false),
            (2, 1, 20, false),
            (100, 64 * 1024, 10, true),
            (100, 1024, 10, false),
        ] {
            let read = read(trickle(pieces, size, every), 1 << 30).await;
            match read {
                Ok(bytes) => assert!(fine && bytes.len() == pieces * size, "{pieces} {size} {every}"),
                Err(fault) => {
                    assert!(!fine && fault.public.contains("too slowly"), "{pieces} {size} {every} {fault:?}")
                }
            }
        }
    }
}
