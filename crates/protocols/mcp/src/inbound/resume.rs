//! Stream resumption (`GET` with `Last-Event-ID`).
//!
//! The id of an event contains what is needed to resume: the task, how far it was read, and which request it answers. So any process can
//! read the events from the task's journal. A stream that ended before the disconnect was noticed is in memory for a while.

use std::time::Duration;

use crate::decode::{ReplyTo, Said};
use crate::encode::{Asks, Told, request};
use crate::fault::Verb;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use futures_util::stream::{once, unfold};
use interlingua_model::{Fault, FaultKind, Json, Noun, TaskId};
use interlingua_wire::rpc::Id;

use super::Spelling;
use super::call_stream::{CallContext, CallStream, Next};
use super::frames;
use super::http::{Arrived, end_message, faulted};
use super::legacy::Within;

/// A call whose client has just left may not be in the journal yet.
const TRIES: u32 = 20;
const BETWEEN: Duration = Duration::from_millis(50);

/// Where in which stream an event stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResumePoint {
    task: TaskId,
    seq: u64,
    pub(super) request: Id,
    progress: Option<Id>,
    verb: Verb,
}

impl ResumePoint {
    pub(super) fn new(request: &Id, said: &Said, going: &CallStream) -> ResumePoint {
        ResumePoint {
            task: going.task(),
            seq: 0,
            request: request.clone(),
            progress: said.progress.clone(),
            verb: going.verb(),
        }
    }

    /// The id of an event of this stream.
    pub(crate) fn at(&self, seq: u64) -> String {
        let encoded = |id: &Id| URL_SAFE_NO_PAD.encode(id.as_str());
        let progress = self.progress.as_ref().map(encoded).unwrap_or_default();
        format!("{}.{seq}.{}.{}.{progress}", self.task, letter(self.verb), encoded(&self.request))
    }

    /// The id of the event that it was read from.
    pub(crate) fn again(&self) -> String {
        self.at(self.seq)
    }

    pub(crate) fn parse(text: &str) -> Option<ResumePoint> {
        let mut parts = text.split('.');
        let (task, seq, verb) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?);
        let verb = match verb {
            "c" => Verb::Call,
            "p" => Verb::Prompt,
            "r" => Verb::Read,
            "o" => Verb::Other,
            _ => return None,
        };
        let id = |text: &str| {
            let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
            Id::of(&Json::parse(Bytes::from(bytes)).ok()?)
        };
        let request = id(parts.next()?)?;
        let progress = match parts.next()? {
            "" => None,
            text => Some(id(text)?),
        };
        parts.next().is_none().then_some(ResumePoint { task, seq, request, progress, verb })
    }
}

fn letter(verb: Verb) -> char {
    match verb {
        Verb::Call => 'c',
        Verb::Prompt => 'p',
        Verb::Read => 'r',
        Verb::Other => 'o',
    }
}

/// The rest of a stream.
pub(super) async fn stream(arrived: &Arrived, within: &Within, place: ResumePoint) -> Response {
    let going = match taken_up(arrived, within, &place).await {
        Ok(going) => going,
        Err(fault) => {
            return match arrived.shared.own.sessions.final_of(place.task) {
                Some(last) => frames::response(once(async { last })),
                None => faulted(None, &fault.told_to(&within.by)),
            };
        }
    };
    let (going, again) = going;
    let ready: Vec<Bytes> =
        again.iter().rev().map(|message| frames::event(Some(&place.at(place.seq)), message)).collect();
    frames::response(unfold((Some(going), ready, place), |(going, mut ready, place)| async move {
        if let Some(frame) = ready.pop() {
            return Some((frame, (going, ready, place)));
        }
        let mut going = going?;
        Some(match tokio::time::timeout(frames::KEEP_ALIVE, going.next()).await {
            Err(_) => (frames::COMMENT, (Some(going), ready, place)),
            Ok(Next::Message(message)) => {
                (frames::event(Some(&place.at(going.seq)), &message), (Some(going), ready, place))
            }
            Ok(Next::Ended(ended)) => {
                let message = end_message(&place.request, ended);
                (frames::event(Some(&place.at(going.seq)), &message), (None, ready, place))
            }
        })
    }))
}

/// The call, from where its client stopped reading, and its open questions once more.
async fn taken_up(
    arrived: &Arrived,
    within: &Within,
    place: &ResumePoint,
) -> Result<(CallStream, Vec<Vec<u8>>), Fault> {
    let hub = &arrived.shared.hub;
    let mut tries = 0;
    let running = loop {
        match hub.follow(&within.by, place.task, place.seq).await {
            Err(fault) if fault.kind == FaultKind::NotFound(Noun::Task) && tries < TRIES => {
                if arrived.shared.own.sessions.final_of(place.task).is_some() {
                    return Err(fault);
                }
                tries += 1;
                tokio::time::sleep(BETWEEN).await;
            }
            other => break other?,
        }
    };
    let said = Said::legacy(
        &interlingua_wire::members::Members::absent(),
        within.session.version,
        within.session.client,
        hub.now(),
    );
    let said = said.map_err(|_| Fault::hub(FaultKind::Internal, "nothing was said that could be wrong"))?;
    let mode = arrived.shared.own.settings().mode(&arrived.scope);
    let about = CallContext {
        shared: arrived.shared.clone(),
        by: within.by.clone(),
        said: Said { progress: place.progress.clone(), log: Some(within.memory.level()), ..said },
        scope: arrived.scope.clone(),
        spelling: Spelling(mode),
        asks: Asks::AsRequests,
        reply: ReplyTo::of(place.verb),
        conversation: None,
        public: false,
    };
    let open = about.questions(place.task).await?;
    let again = open.iter().filter_map(|question| request(question, about.said.version)).collect();
    let asked = open.iter().map(|question| question.id).collect();
    let mut going = CallStream::new(about, running);
    going.told = Told::having_asked(asked);
    Ok((going, again))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_an_event_says_where_to_go_on() {
        let place = ResumePoint {
            task: TaskId(7),
            seq: 0,
            request: Id::text("a.b"),
            progress: Some(Id::number(3)),
            verb: Verb::Call,
        };
        assert_eq!(ResumePoint::parse(&place.at(12)), Some(ResumePoint { seq: 12, ..place.clone() }));
        let plain = ResumePoint { progress: None, ..place };
        assert_eq!(ResumePoint::parse(&plain.at(0)), Some(plain));
        for bad in ["", "x", "7.1.c", "..", "00000000000000000000000000000007.1.z.MQ.", "a.b.c.d.e.f"] {
            assert_eq!(ResumePoint::parse(bad), None, "{bad}");
        }
    }
}
