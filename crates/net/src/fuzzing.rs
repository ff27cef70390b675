//! Entry points of the fuzz targets into decoders that are private to this crate. Nothing else calls them.

use http::{HeaderMap, Method, Uri};

use crate::client::guard::{self, Private};
use crate::counted::Frames;
use crate::upgrade;

/// What a request to become a WebSocket is answered with.
pub fn websocket_accept(headers: &HeaderMap) -> Option<String> {
    let accept = upgrade::accept(&Method::GET, headers).ok()?;
    accept.to_str().ok().map(str::to_owned)
}

/// How many messages end in these bytes of a WebSocket, cut into these pieces.
pub fn websocket_messages(pieces: &[&[u8]]) -> usize {
    let (mut frames, mut messages) = (Frames::default(), 0);
    for piece in pieces {
        let mut rest = *piece;
        while !rest.is_empty() {
            let (taken, whole) = frames.feed(rest);
            rest = &rest[taken..];
            if whole {
                messages += 1;
                frames.next_message();
            }
        }
    }
    messages
}

/// An address that a stranger chose and the hub may call.
pub fn outward(url: &str) -> Option<Uri> {
    guard::checked(url, Private::Refused).ok()
}
