//! In-flight request to a server. If the caller stops waiting before there is an answer, the server is sent a cancellation, from the moment
//! the call is sent: a server that answers a call all at once sends nothing before it has finished.

use std::sync::Arc;

use crate::client::encode::{self, Manner, Outgoing};
use interlingua_model::Owner;
use interlingua_wire::rpc::Message;

use super::link::{Calls, Trouble};
use super::session::Session;
use interlingua_net::client::transport_error::TransportError;

#[derive(Debug)]
pub(super) struct InFlightRequest {
    awaited: Awaited,
    calls: Calls,
}

/// Tells the server when it is dropped before it is over.
#[derive(Debug)]
struct Awaited {
    session: Arc<Session>,
    id: u64,
    over: bool,
}

impl InFlightRequest {
    /// Sends a request that has this id.
    pub(super) async fn open(
        session: Arc<Session>,
        id: u64,
        outgoing: &Outgoing,
        owner: Option<Owner>,
    ) -> Result<InFlightRequest, Trouble> {
        let mut awaited = Awaited { session, id, over: false };
        let opened = awaited.session.link.open(outgoing, owner).await;
        awaited.over = opened.is_err();
        Ok(InFlightRequest { calls: opened?, awaited })
    }

    pub(super) fn session(&self) -> &Session {
        &self.awaited.session
    }

    /// The next message; the answer is the last.
    pub(super) async fn next(&mut self) -> Result<Message, TransportError> {
        let message = self.calls.next().await;
        self.awaited.over |= !matches!(message, Ok(Message::Request(_) | Message::Notification(_)));
        message
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        if !self.over {
            let manner = Manner::own(self.session.version);
            self.session.link.mention(encode::cancelled(self.id, &manner, "nobody waits for it any more"));
        }
    }
}
