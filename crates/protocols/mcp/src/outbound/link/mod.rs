//! Transports to a server: a program's pipes ([`child`]), Streamable HTTP of either era ([`streamable`]), or the two-endpoint HTTP of 2024
//! ([`old_sse`]).
//!
//! [`Link::open`] opens a call and [`Calls::next`] reads it: all its messages, its answer last.

pub(super) mod child;
pub(super) mod old_sse;
pub(super) mod pipe;
pub(super) mod streamable;
mod table;

use std::sync::Arc;
use std::time::Duration;

use crate::client::encode::Outgoing;
use interlingua_model::Owner;
use interlingua_wire::rpc::Message;
use tokio_util::sync::CancellationToken;

use interlingua_net::client::oauth::SignIn;
use interlingua_net::client::transport_error::TransportError;
use pipe::{Ears, Pipe};
use streamable::{Events, Streamable};
use table::PendingRequest;

#[derive(Debug, Clone)]
pub(super) enum Link {
    Pipe(Arc<Pipe>),
    Streamable(Arc<Streamable>),
}

/// Why a call has no answer to read.
#[derive(Debug)]
pub(super) enum Trouble {
    Lost(TransportError),
    /// The server does not know the session any more; it has not looked at the call.
    SessionGone,
    /// An HTTP status that is no answer of the protocol.
    Refused(Refused),
    /// Too many calls are in flight.
    TooMany,
    /// Somebody must sign in first; the server has not looked at the call.
    SignIn(SignIn),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) status: u16,
    pub(super) retry_after: Option<Duration>,
}

impl From<TransportError> for Trouble {
    fn from(lost: TransportError) -> Trouble {
        Trouble::Lost(lost)
    }
}

impl Trouble {
    /// For the log and for whoever runs the hub.
    pub(super) fn told(&self) -> String {
        match self {
            Trouble::Lost(lost) => lost.to_string(),
            Trouble::SessionGone => "it does not know the session any more".to_owned(),
            Trouble::Refused(refused) => format!("it answers HTTP {}", refused.status),
            Trouble::TooMany => "too many calls are in flight".to_owned(),
            Trouble::SignIn(_) => "somebody must sign in first".to_owned(),
        }
    }

    /// For where nobody can do anything about it.
    pub(super) fn lost(self) -> TransportError {
        match self {
            Trouble::Lost(lost) => lost,
            Trouble::SessionGone => TransportError::unconnected("it does not know the session any more"),
            Trouble::Refused(refused) => TransportError::unconnected(format!("it answers HTTP {}", refused.status)),
            Trouble::TooMany => TransportError::unconnected("too many calls are in flight"),
            Trouble::SignIn(_) => TransportError::unconnected("somebody must sign in first"),
        }
    }
}

impl Link {
    /// Sends a request. `owner`: who may be asked while it runs.
    pub(super) async fn open(&self, outgoing: &Outgoing, owner: Option<Owner>) -> Result<Calls, Trouble> {
        match self {
            Link::Pipe(pipe) => pipe.open(outgoing, owner).await,
            Link::Streamable(http) => http.open(outgoing, owner).await,
        }
    }

    /// Sends a notification, or the answer to a request of the server's.
    pub(super) async fn send(&self, outgoing: &Outgoing) -> Result<(), TransportError> {
        match self {
            Link::Pipe(pipe) => pipe.send(outgoing).await,
            Link::Streamable(http) => http.send(outgoing).await,
        }
    }

    /// As [`Link::send`], from where nobody can wait.
    pub(super) fn mention(&self, outgoing: Outgoing) {
        match self {
            Link::Pipe(pipe) => pipe.mention(&outgoing),
            Link::Streamable(http) => http.clone().mention(outgoing),
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed().is_cancelled()
    }

    /// Cancelled when nothing more goes or comes.
    pub(super) fn closed(&self) -> &CancellationToken {
        match self {
            Link::Pipe(pipe) => &pipe.ears.closed,
            Link::Streamable(http) => &http.closed,
        }
    }

    /// Calls in flight.
    pub(super) fn calls(&self) -> usize {
        match self {
            Link::Pipe(pipe) => pipe.ears.table.count(),
            Link::Streamable(http) => http.table.count(),
        }
    }

    pub(super) fn close(&self) {
        match self {
            Link::Pipe(pipe) => pipe.ears.close(),
            Link::Streamable(http) => http.clone().close(),
        }
    }
}

/// What comes for one call.
#[derive(Debug)]
pub(super) struct Calls {
    place: PendingRequest,
    source: Source,
}

#[derive(Debug)]
enum Source {
    /// By the connection's one way, which may close.
    Pipe(Arc<Ears>),
    /// It was answered at once.
    Answered(Option<Message>),
    Events(Box<Events>),
}

impl Calls {
    /// The next message; its answer is the last. Cancel safe.
    pub(super) async fn next(&mut self) -> Result<Message, TransportError> {
        let PendingRequest { events, response, .. } = &mut self.place;
        match &mut self.source {
            Source::Answered(message) => {
                message.take().ok_or_else(|| TransportError::broken("it was answered already"))
            }
            Source::Pipe(ears) => tokio::select! {
                biased;
                event = events.next() => Ok(event),
                answered = response => match answered {
                    Ok(response) => Ok(Message::Response(response)),
                    Err(_) => Err(ears.lost()),
                },
                () = ears.closed.cancelled() => Err(ears.lost()),
            },
            Source::Events(stream) => tokio::select! {
                biased;
                event = events.next() => Ok(event),
                message = stream.next() => message,
            },
        }
    }
}
