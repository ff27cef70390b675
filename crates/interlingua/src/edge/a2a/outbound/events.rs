//! A stream of updates: server-sent events, each a message of its binding.

use http::Response;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use interlingua_protocols::a2a::Version;
use interlingua_protocols::a2a::method::Method;
use interlingua_protocols::a2a::wire::Update;
use interlingua_protocols::sse::Parser;

use super::line::{LIMIT, Trouble, Wire};
use crate::client::lost::{Begun, Lost, Why};

pub(super) struct Events {
    /// Gone once it has ended.
    body: Option<Incoming>,
    parser: Parser,
    wire: Wire,
    version: Version,
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events").field("wire", &self.wire).field("version", &self.version).finish_non_exhaustive()
    }
}

impl Events {
    pub(super) fn new(response: Response<Incoming>, wire: Wire, version: Version) -> Events {
        Events { body: Some(response.into_body()), parser: Parser::new(LIMIT), wire, version }
    }

    /// The next update; `None` when the agent ended the stream. Cancel safe: what was read is kept in the parser.
    pub(super) async fn next(&mut self) -> Result<Option<Update>, Trouble> {
        loop {
            while let Some(event) =
                self.parser.take().map_err(|large| Lost::new(Begun::Perhaps, Why::TooLarge, large))?
            {
                if event.data.is_empty() {
                    continue;
                }
                return match self.wire.decode(&event.data, Method::Stream, self.version) {
                    Ok(heard) => heard.map(Some).map_err(Trouble::Refused),
                    // The last event of a stream that broke off may be half of one.
                    Err(_) if self.body.is_none() => Ok(None),
                    Err(invalid) => Err(Trouble::Bad(invalid)),
                };
            }
            let Some(body) = &mut self.body else { return Ok(None) };
            match body.frame().await {
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        self.parser.feed(&bytes);
                    }
                }
                Some(Err(error)) => {
                    self.body = None;
                    return Err(Lost::broken(error).into());
                }
                None => {
                    self.body = None;
                    // Some servers forget the blank line behind their last event.
                    self.parser.feed(b"\n\n");
                }
            }
        }
    }
}
