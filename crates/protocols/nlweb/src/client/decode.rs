//! Decodes a site's whole reply as an outcome or a question.

use std::time::Duration;

use interlingua_model::plain_text;
use interlingua_model::{
    Addressee, Body, CancelWhy, Carried, Confirm, Digest, Fault, FaultKind, Finished, Loss, LossKind, Output, Part,
    Party, PeerId, Provenance, Question as Asked, QuestionId, QuestionKind, Retry, Schema, Secret, Time, Trust, Way,
};
use serde_json::json;

use super::{Asks, Reply, Session};
use crate::{APPROVAL, fault};

/// The id under which the words of an answer are said.
pub const ANSWER: &str = "answer";

/// The call that is answered.
#[derive(Debug, Clone)]
pub struct ReplyContext {
    pub peer: PeerId,
    /// Configuration says that it is a hub: what it says of its faults and losses is believed.
    pub is_hub: bool,
    /// For a question, should there be one.
    pub question: QuestionId,
    pub expires: Time,
}

/// Whether the words of an answer were passed on as they came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    Told,
    Untold,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Replied {
    Finished(Box<Finished>),
    /// The site ended its reply with it; the answer is the next question to it.
    Asked(Box<Asked>),
}

/// What a site says of the world: data, never instructions.
pub fn provenance(peer: &PeerId) -> Provenance {
    Provenance { by: Party::Peer(peer.clone()), source: None, trust: Trust::World }
}

impl ReplyContext {
    fn fault(&self, kind: FaultKind, what: &str) -> Fault {
        Fault::new(kind, Party::Peer(self.peer.clone()), format!("{} {what}", self.peer))
    }

    /// What a reply that has come whole leads to, with this status of HTTP.
    pub fn reply(&self, reply: &Reply, status: u16, retry_after: Option<Duration>, words: Words) -> Carried<Replied> {
        let finished = |finished: Finished| Carried::whole(Replied::Finished(Box::new(finished)));
        if let Some((code, message)) = &reply.failure {
            return finished(match code.as_str() {
                "CANCELLED" => Finished::cancelled(Party::Peer(self.peer.clone()), CancelWhy::Asked),
                _ if self.is_hub => Finished::failed(fault::of_hubs_code(&self.peer, code, message)),
                _ => Finished::failed(fault::of_code(&self.peer, code, message)),
            });
        }
        if status == 429 || status == 503 {
            let busy = self.fault(FaultKind::Busy, "is busy").retry(Retry::After(retry_after));
            return finished(Finished::failed(busy));
        }
        if !reply.is_understood() {
            let what = format!("does not answer as a site that can be asked ({status})");
            return finished(Finished::failed(self.fault(FaultKind::BadReply, &what)));
        }
        if let Some((text, asks)) = &reply.questions {
            return Carried::whole(Replied::Asked(Box::new(self.asked(text, asks, &reply.session))));
        }
        let completed = Finished::completed(self.output(reply, words));
        Carried { losses: self.losses(reply), ..finished(completed) }
    }

    fn losses(&self, reply: &Reply) -> Vec<Loss> {
        let mut losses = Vec::new();
        if reply.cut {
            losses.push(Loss::new("output.structured", LossKind::Dropped));
        }
        if plain_text::is_cut(&reply.text.join("\n")) {
            losses.push(Way::Output.part("text", LossKind::Dropped));
        }
        if self.is_hub {
            losses.extend(reply.losses.iter().cloned());
        }
        losses
    }

    /// Items as data, words as text.
    fn output(&self, reply: &Reply, words: Words) -> Output {
        let structured = reply.structured();
        let data = Part::new(Body::Data(structured.clone()), provenance(&self.peer));
        let text = reply.text.join("\n");
        let (said, parts) = match words {
            _ if text.is_empty() => (None, vec![data]),
            Words::Told => (Some(ANSWER.into()), vec![data]),
            Words::Untold => (None, vec![Part::text(plain_text::clean(&text), provenance(&self.peer)), data]),
        };
        Output { said, parts, structured: Some(structured), ..Output::default() }
    }

    fn asked(&self, text: &str, asks: &[Asks], session: &Session) -> Asked {
        let resume = json!({"conversation": session.conversation, "state": session.state}).to_string();
        Asked {
            id: self.question,
            to: Addressee::Caller,
            kind: self.kind(text, asks),
            text: plain_text::clean(text).into(),
            asked_by: Party::Peer(self.peer.clone()),
            expires: self.expires,
            resume: Some(Secret::new(&resume)),
            name: None,
        }
    }

    /// A form of one field for each question. A hub that asks for approval has one question for it, of a name of its own.
    fn kind(&self, text: &str, asks: &[Asks]) -> QuestionKind {
        if let [ask] = asks
            && self.is_hub
            && ask.id == APPROVAL
        {
            let shown = Digest::of_fields([text.as_bytes(), ask.text.as_bytes()]);
            return QuestionKind::Confirm(Confirm::asked_by(&self.peer, shown, None, None).into());
        }
        let mut properties = serde_json::Map::new();
        for ask in asks {
            let mut one = json!({"type": "string"});
            if !ask.options.is_empty() {
                one["enum"] = ask.options.clone().into();
            }
            let mut property = if ask.several { json!({"type": "array", "items": one}) } else { one };
            property["description"] = ask.text.as_str().into();
            properties.insert(ask.id.clone(), property);
        }
        let required: Vec<&str> = asks.iter().map(|ask| ask.id.as_str()).collect();
        let form = json!({"type": "object", "properties": properties, "required": required});
        QuestionKind::Input { form: Schema(form.into()), choices: Vec::new() }
    }
}
