//! HTTP with two endpoints, as in servers of 2024-11-05: an event stream, in which the server first sends the address for POST requests;
//! answers arrive on the stream. The address must be the server's own.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, Response, Uri};
use interlingua_wire::sse::{Event, Parser};
use tokio::sync::mpsc;

use super::Trouble;
use super::pipe::{Ears, Pipe, QueuedMessage};
use super::streamable::Endpoint;
use crate::outbound::changes::Changes;
use interlingua_net::client::answers::{Coming, too_large};
use interlingua_net::client::transport_error::TransportError;

/// How long the stream may take to name its address.
const GREETING: Duration = Duration::from_secs(10);

/// Opens the stream and waits for the address.
pub(in super::super) async fn open(endpoint: &Endpoint, changes: Arc<Changes>) -> Result<Arc<Pipe>, Trouble> {
    let response = endpoint.stream(HeaderMap::new()).await?.map_err(Trouble::Refused)?;
    let body = response.into_body();
    let mut stream = Stream { parser: Parser::new(body.most()), body };
    let greeted = tokio::time::timeout(GREETING, stream.greeting()).await;
    let given = greeted.map_err(|_| TransportError::unconnected("the stream names no address"))??;
    let to = endpoint.own.place(&given).map_err(TransportError::unconnected)?;
    let (pipe, lines) = Pipe::new(changes);
    endpoint.supervisor.run_until_stop(pump(endpoint.clone(), to, stream, pipe.ears.clone(), lines));
    Ok(pipe)
}

struct Stream {
    body: Coming,
    parser: Parser,
}

impl Stream {
    async fn greeting(&mut self) -> Result<String, TransportError> {
        loop {
            let event = self.next().await?;
            if event.kind == "endpoint" {
                return Ok(String::from_utf8_lossy(&event.data).trim().to_owned());
            }
        }
    }

    async fn next(&mut self) -> Result<Event, TransportError> {
        loop {
            if let Some(mut event) = self.parser.take().map_err(too_large)? {
                event.data = self.body.whole(event.data)?;
                return Ok(event);
            }
            match self.body.frame(self.parser.unfinished()).await {
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        self.parser.feed(&bytes);
                    }
                }
                Some(Err(lost)) => return Err(lost),
                None => return Err(TransportError::broken("the stream ended")),
            }
        }
    }
}

async fn pump(
    endpoint: Endpoint,
    to: Uri,
    mut stream: Stream,
    ears: Arc<Ears>,
    mut lines: mpsc::Receiver<QueuedMessage>,
) {
    let writing = async {
        while let Some(line) = lines.recv().await {
            match endpoint.post(&to, HeaderMap::new(), line.bytes.clone()).await {
                Ok(response) if accepted(&response) => {}
                Ok(response) => return format!("it answered HTTP {}", response.status()),
                Err(trouble) => return trouble.lost().to_string(),
            }
        }
        "nobody uses it any more".to_owned()
    };
    let reading = async {
        loop {
            match stream.next().await {
                Ok(event) if matches!(event.kind.as_str(), "" | "message") => drop(ears.hear(&event.data)),
                Ok(_) => {}
                Err(lost) => {
                    ears.fails(&lost);
                    return lost.to_string();
                }
            }
        }
    };
    tokio::select! {
        why = writing => tracing::warn!(event = "peer_connection_lost", uri = %endpoint.uri, %why, "the connection to a server is closed"),
        why = reading => tracing::warn!(event = "peer_connection_lost", uri = %endpoint.uri, %why, "the connection to a server is closed"),
        () = ears.closed.cancelled() => {}
    }
    ears.close();
}

fn accepted(response: &Response<Coming>) -> bool {
    response.status().is_success()
}
