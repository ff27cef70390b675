//! Streaming relay (backpressure): passes an answer on while it arrives in pieces.
//!
//! Items are sent when they come, and all of them in the order of their index at the end; text is sent once. The site is read only as fast
//! as the caller reads. When the caller leaves, cancels or times out, the stream is dropped with its connection.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use interlingua_model::json::Tree;
use interlingua_model::peer::{Dispatch, Duplex, Exchange, Reply as Told};
use interlingua_model::plain_text;
use interlingua_model::{
    Body, Channel, Event, Fault, FaultKind, Feature, Finished, Json, Loss, MessageId, Part, Piece, Record, Signal,
};
use tokio::time::{Instant, Sleep};

use super::http::{Reading, Received};
use super::peer::NlwebPeer;
use crate::client::decode::{ANSWER, Words, provenance};
use interlingua_hub::Hub;
use interlingua_net::client::call_failure;

/// The id under which items are told that are part of the answer at its end.
const ITEMS: &str = "items";
/// How many names a line of progress has, and how many letters.
const MAX_NAMES: usize = 10;
const MAX_NOTE: usize = 200;

/// The call that is answered.
pub(super) struct Going {
    pub(super) peer: Arc<NlwebPeer>,
    pub(super) hub: Weak<Hub>,
    pub(super) dispatch: Dispatch,
    pub(super) losses: Vec<Loss>,
}

pub(super) struct Stream {
    going: Going,
    received: Received,
    until: Option<Pin<Box<Sleep>>>,
    /// How many items and texts were told.
    told: (usize, usize),
    out: VecDeque<Record>,
    rest: StreamState,
}

/// What comes after what was told.
enum StreamState {
    Reading(Box<Reading>),
    Tail(Exchange),
    Over,
}

impl Stream {
    pub(super) fn new(going: Going, received: Received, rest: Reading, until: Option<Instant>) -> Stream {
        let until = until.map(|until| Box::pin(tokio::time::sleep_until(until)));
        let mut stream = Stream {
            going,
            received,
            until,
            told: (0, 0),
            out: VecDeque::new(),
            rest: StreamState::Reading(Box::new(rest)),
        };
        stream.tell();
        stream
    }

    /// What has come since it was told last.
    fn tell(&mut self) {
        let reply = &self.received.reply;
        let provenance = provenance(self.going.peer.id());
        let items: Vec<Part> = reply.items[self.told.0..]
            .iter()
            .map(|item| Part::new(Body::Data(item.clone()), provenance.clone()))
            .collect();
        if !items.is_empty() {
            let note = Some(names(&reply.items[self.told.0..]).into());
            self.out.push_back(said(ITEMS, Piece::Whole, items));
            // For callers whose protocol tells progress and no part of a result.
            #[expect(clippy::cast_precision_loss, reason = "a thousand items at most")]
            let done = Some(reply.items.len() as f64);
            self.out.push_back(Record::emitted(Event::Progress { done, total: None, note }));
        }
        for (index, text) in reply.text.iter().enumerate().skip(self.told.1) {
            let line = if index > 0 { "\n" } else { "" };
            let text = format!("{line}{}", plain_text::clean(text));
            self.out.push_back(said(ANSWER, Piece::Delta, vec![Part::text(text, provenance.clone())]));
        }
        self.told = (reply.items.len(), reply.text.len());
    }

    /// The whole answer is there, or what became of it.
    fn end(&mut self, ended: Result<(), Fault>) {
        self.rest = StreamState::Over;
        let told = match (ended, self.going.hub.upgrade()) {
            (Err(fault), _) => Told::Done(Box::new(Finished::failed(fault)), None),
            (Ok(()), None) => Told::Done(Box::new(Finished::failed(Fault::shutting_down())), None),
            (Ok(()), Some(hub)) => {
                let Received { status, reply, retry_after, .. } = &mut self.received;
                let whole =
                    Received { status: *status, reply: std::mem::take(reply), retry_after: *retry_after, rest: None };
                let losses = std::mem::take(&mut self.going.losses);
                self.going.peer.told(&hub, &self.going.dispatch, whole, losses, Words::Told)
            }
        };
        match told {
            Told::Done(finished, _) => self.out.push_back(Record::emitted(Event::Finished(*finished))),
            Told::Live(tail) => self.rest = StreamState::Tail(tail),
        }
    }

    fn is_late(&mut self, cx: &mut Context<'_>) -> bool {
        self.until.as_mut().is_some_and(|until| until.as_mut().poll(cx).is_ready())
    }
}

/// What these items are called, in one line.
fn names(items: &[Json]) -> String {
    let name = |item: &Json| item.get("name").and_then(Tree::as_str).unwrap_or("an item").to_owned();
    let names = items.iter().take(MAX_NAMES).map(name).collect::<Vec<_>>().join(", ");
    plain_text::clean(&names).chars().take(MAX_NOTE).collect()
}

fn said(message: &str, piece: Piece, parts: Vec<Part>) -> Record {
    Record::emitted(Event::Said { message: MessageId::from(message), channel: Channel::Answer, piece, parts })
}

impl Duplex for Stream {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Record>> {
        loop {
            if let Some(record) = self.out.pop_front() {
                return Poll::Ready(Some(record));
            }
            let more = match &mut self.rest {
                StreamState::Over => return Poll::Ready(None),
                StreamState::Tail(tail) => return tail.poll_next(cx),
                StreamState::Reading(reading) => reading.poll_more(cx, &mut self.received.reply),
            };
            match more {
                Poll::Ready(Ok(true)) => self.tell(),
                Poll::Ready(Ok(false)) => {
                    self.tell();
                    self.end(Ok(()));
                }
                Poll::Ready(Err(lost)) => {
                    let fault = match self.going.hub.upgrade() {
                        Some(hub) => self.going.peer.lost(&hub, &lost),
                        None => Fault::shutting_down(),
                    };
                    self.end(Err(fault));
                }
                Poll::Pending if self.is_late(cx) => {
                    let fault = call_failure::too_late(self.going.peer.id());
                    self.end(Err(fault));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// A cancel ends it here: the connection is closed, and that is how a site hears of it.
    fn signal(&mut self, _: Signal) -> Result<(), Fault> {
        Err(Fault::caller(FaultKind::Unsupported(Feature::Operation), "a site takes no more input while it answers"))
    }
}
