//! A stream of updates: server-sent events, each a message of its binding, or the messages of a call of gRPC.

use http::Response;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use interlingua_protocols::a2a::Version;
use interlingua_protocols::a2a::method::Method;
use interlingua_protocols::a2a::wire::Update;
use interlingua_protocols::sse::Parser;

use super::grpc::Answer;
use super::line::{LIMIT, Trouble, Web};
use crate::client::lost::{Begun, Lost, Why};

#[derive(Debug)]
pub(super) enum Events {
    Web(WebEvents),
    Grpc(Answer),
}

impl Events {
    /// The next update; `None` when the agent ended the stream. Cancel safe: what was read is kept.
    pub(super) async fn next(&mut self) -> Result<Option<Update>, Trouble> {
        match self {
            Events::Web(events) => events.next().await,
            Events::Grpc(answer) => answer.next().await,
        }
    }
}

pub(super) struct WebEvents {
    /// Gone once it has ended.
    body: Option<Incoming>,
    parser: Parser,
    web: Web,
    version: Version,
}

impl std::fmt::Debug for WebEvents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebEvents").field("web", &self.web).field("version", &self.version).finish_non_exhaustive()
    }
}

impl WebEvents {
    pub(super) fn new(response: Response<Incoming>, web: Web, version: Version) -> WebEvents {
        WebEvents { body: Some(response.into_body()), parser: Parser::new(LIMIT), web, version }
    }

    async fn next(&mut self) -> Result<Option<Update>, Trouble> {
        loop {
            while let Some(event) =
                self.parser.take().map_err(|large| Lost::new(Begun::Perhaps, Why::TooLarge, large))?
            {
                if event.data.is_empty() {
                    continue;
                }
                return match self.web.decode(&event.data, Method::Stream, self.version) {
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
