//! A stream of updates: server-sent events, each a message of its binding, or the messages of a gRPC call.

use crate::Version;
use crate::method::Method;
use crate::wire::Update;
use http::Response;
use interlingua_wire::sse::Parser;

use super::grpc::Answer;
use super::interface::{Trouble, Web};
use interlingua_net::client::answers::{Coming, too_large};

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
    body: Option<Coming>,
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
    pub(super) fn new(response: Response<Coming>, web: Web, version: Version) -> WebEvents {
        let body = response.into_body();
        WebEvents { parser: Parser::new(body.most()), body: Some(body), web, version }
    }

    async fn next(&mut self) -> Result<Option<Update>, Trouble> {
        loop {
            while let Some(event) = self.parser.take().map_err(too_large)? {
                if event.data.is_empty() {
                    continue;
                }
                let data = match &mut self.body {
                    Some(body) => body.whole(event.data)?,
                    None => event.data,
                };
                return match self.web.decode(&data, Method::Stream, self.version) {
                    Ok(heard) => heard.map(Some).map_err(Trouble::Refused),
                    // The last event of a stream that broke off may be half of one.
                    Err(_) if self.body.is_none() => Ok(None),
                    Err(invalid) => Err(Trouble::Bad(invalid)),
                };
            }
            let Some(body) = &mut self.body else { return Ok(None) };
            match body.frame(self.parser.unfinished()).await {
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        self.parser.feed(&bytes);
                    }
                }
                Some(Err(lost)) => {
                    self.body = None;
                    return Err(lost.into());
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
