//! An answer as a stream: what is known at once, items as they come, and the end mark of its generation.
//!
//! A peer may send its items one after the other, in any order, and all of them again in its result. Each is sent once. A stream of version
//! 0.54 begins with the kind of its answer, so nothing is sent before that is known.

use interlingua_model::json::{Tree, object};
use interlingua_model::transcript::MAX_LOSSES;
use interlingua_model::{Carried, Digest, Fault, Finished, Loss, Part, Question, Route};
use serde_json::json;

use super::super::item::{self, Item, PLACED};
use super::super::wire::{Dialect, MAX_ITEMS};
use super::several::Several;
use super::{Envelope, Said, Stand, body, meta, result, said, summary, taken};

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Only the last generation names its events.
    pub name: Option<&'static str>,
    pub data: Tree,
}

/// An answer that is streamed, and what was told of it so far.
#[derive(Debug)]
pub struct Streamed {
    pub envelope: Envelope,
    /// The items, each by what it holds. At most [`MAX_ITEMS`].
    told: Vec<Digest>,
    /// Items that came, told or not.
    heard: usize,
    /// Where several are asked, what those have said that have ended. The places that their items have among their own say
    /// nothing here.
    several: Option<Several>,
}

impl Streamed {
    pub fn new(envelope: Envelope) -> Streamed {
        Streamed { envelope, told: Vec::new(), heard: 0, several: None }
    }

    /// An answer that is put together from what several say. Some may have failed already.
    pub fn of_several(envelope: Envelope, several: Several) -> Streamed {
        Streamed { several: Some(several), ..Streamed::new(envelope) }
    }

    pub fn is_of_several(&self) -> bool {
        self.several.is_some()
    }

    /// One of several has failed.
    pub fn fail(&mut self, fault: Fault) {
        if let Some(several) = &mut self.several {
            several.fail(fault);
        }
    }

    /// What all of several have said, once; `None` where one alone is asked.
    pub fn merged(&mut self) -> Option<Result<Carried<Finished>, Fault>> {
        self.several.as_mut().map(|several| std::mem::take(several).whole())
    }

    /// Notes what was lost before it came here.
    pub fn lost(&mut self, losses: &[Loss]) {
        let room = MAX_LOSSES.saturating_sub(self.envelope.losses.len());
        self.envelope.losses.extend(losses.iter().take(room).cloned());
    }

    /// What a stream says at once, before anything is known.
    pub fn begin(&self) -> Vec<Frame> {
        let envelope = &self.envelope;
        match envelope.dialect {
            Dialect::Flat => vec![flat(envelope, "api_version", json!({"api_version": "0.1"}))],
            Dialect::Named => {
                let start = json!({"_meta": {"version": envelope.dialect.version(), "request_id": &*envelope.id}});
                vec![Frame { name: Some("start"), data: start }]
            }
            // Their first event says what kind of answer it is.
            Dialect::Content | Dialect::Results => Vec::new(),
        }
    }

    /// Notes who answers, where one alone does.
    pub(super) fn went(&mut self, route: &Route) {
        if self.several.is_none() {
            self.envelope.went(route);
        }
    }

    /// A sign of life on the way, where the generation has one.
    pub(super) fn progress(&self, note: &str) -> Option<Frame> {
        let note = || json!({"content": note.chars().take(300).collect::<String>()});
        (self.envelope.dialect == Dialect::Flat).then(|| flat(&self.envelope, "intermediate_message", note()))
    }

    /// The items among what `site` has said, as far as it is certain that the answer will have them.
    pub(super) fn said(&mut self, parts: &[Part], site: &str) -> Vec<Frame> {
        let site = if site.is_empty() { &self.envelope.site } else { site };
        let items = item::among(parts, site, self.heard);
        self.tell(items)
    }

    /// A question is the end, unless it is that of one among several.
    pub(super) fn asked(&self, question: &Question) -> Vec<Frame> {
        match &self.several {
            None => self.end(&Stand::Asked(question)),
            Some(_) => Vec::new(),
        }
    }

    /// The end, or the rows that one of several has given as its result.
    pub(super) fn finished(&mut self, finished: &Finished, lost: &[Loss], site: &str) -> Vec<Frame> {
        match &mut self.several {
            None => {
                self.envelope.losses.extend_from_slice(lost);
                self.end(&Stand::Finished(finished))
            }
            Some(several) => {
                let items = item::from_rows(several.take(site, finished, lost.to_vec()), site, "");
                self.tell(items)
            }
        }
    }

    fn tell(&mut self, items: Vec<Item>) -> Vec<Frame> {
        let envelope = &self.envelope;
        let begun = !self.told.is_empty();
        let mut results = Vec::new();
        for item in items {
            let key = item.key();
            if self.told.contains(&key) {
                continue;
            }
            // A row without a score has the one that its place gives it, which is not known before the end.
            let is_sure = envelope.takes(&item) && (item.is_scored || envelope.least_score <= PLACED.0);
            let index = place(&item, self.several.as_ref()).unwrap_or(self.heard);
            self.heard += 1;
            // What stands before it in the end decides whether a later page has it.
            let is_wanted = envelope.first == 0 && index < envelope.most && self.told.len() < envelope.most;
            if is_sure && is_wanted && self.told.len() < MAX_ITEMS {
                self.told.push(key);
                results.push((item, index));
            }
        }
        if results.is_empty() {
            return Vec::new();
        }
        let mut frames = Vec::new();
        if !begun && matches!(envelope.dialect, Dialect::Content | Dialect::Results) {
            frames.push(Frame { name: None, data: json!({"_meta": meta(envelope, &Said::Answer(Vec::new(), None))}) });
        }
        frames.push(batch(envelope, &results));
        frames
    }

    /// What a stream ends with: the rest, and how it went.
    pub fn end(&self, stand: &Stand<'_>) -> Vec<Frame> {
        let envelope = &self.envelope;
        let said = said(envelope, stand);
        match envelope.dialect {
            Dialect::Flat => {
                let mut frames: Vec<Frame> = self.rest(&said);
                frames.extend(flat_after(envelope, &said, !frames.is_empty() || !self.told.is_empty()));
                frames
            }
            Dialect::Content | Dialect::Results => {
                let told = json!({"_meta": meta(envelope, &said)});
                let told = Frame { name: None, data: told };
                let mut frames = Vec::new();
                let is_answer = matches!(said, Said::Answer(..));
                // Its kind was said with the first items; what was lost is known only now.
                if self.told.is_empty() || !is_answer || !envelope.losses.is_empty() {
                    frames.push(told);
                }
                frames.extend(self.rest(&said));
                frames.extend(after(envelope, &said).map(|data| Frame { name: None, data }));
                if frames.len() == 1 && self.told.is_empty() {
                    frames.push(batch(envelope, &[]));
                }
                frames
            }
            Dialect::Named => {
                let mut frames = self.rest(&said);
                let mut data = json!({"_meta": meta(envelope, &said)});
                match &said {
                    Said::Answer(..) => {
                        let text = after(envelope, &said).map(|data| Frame { name: Some("result"), data });
                        frames.extend(text);
                        if frames.is_empty() && self.told.is_empty() {
                            frames.push(batch(envelope, &[]));
                        }
                    }
                    Said::Questions(..) | Said::Promise(..) | Said::Failure(..) => {
                        data.as_object_mut().into_iter().for_each(|data| data.extend(body(envelope, &said)));
                    }
                }
                frames.push(Frame { name: Some("complete"), data });
                frames
            }
        }
    }

    /// The items of the answer that were not told yet.
    fn rest(&self, said: &Said) -> Vec<Frame> {
        let Said::Answer(items, _) = said else { return Vec::new() };
        let envelope = &self.envelope;
        let left = envelope.most.saturating_sub(self.told.len());
        let untold = items.iter().zip(envelope.first..).filter(|(item, _)| !self.told.contains(&item.key()));
        // After items that came early the others have the places that they say they have, or come after all.
        let place = |(number, (item, position)): (usize, (&Item, usize))| match self.told.is_empty() {
            true => (item.clone(), position),
            false => (item.clone(), place(item, self.several.as_ref()).unwrap_or(self.heard + number)),
        };
        let untold: Vec<(Item, usize)> = untold.take(left).enumerate().map(place).collect();
        if untold.is_empty() { Vec::new() } else { vec![batch(envelope, &untold)] }
    }
}

/// The place that an item says it has.
fn place(item: &Item, several: Option<&Several>) -> Option<usize> {
    item.index().filter(|_| several.is_none())
}

/// Items in one event.
fn batch(envelope: &Envelope, items: &[(Item, usize)]) -> Frame {
    let results = || items.iter().map(|(item, index)| result(envelope.dialect, item, *index)).collect::<Tree>();
    match envelope.dialect {
        Dialect::Flat => {
            let results: Tree = items.iter().map(|(item, _)| item.flat()).collect();
            flat(envelope, "result_batch", object([("results", results)]))
        }
        Dialect::Content => Frame { name: None, data: object([("content", results())]) },
        Dialect::Results => Frame { name: None, data: object([("results", results())]) },
        Dialect::Named => Frame { name: Some("result"), data: object([("results", results())]) },
    }
}

/// What comes after the items: the summary in an event of its own, or what there is instead of an answer.
fn after(envelope: &Envelope, said: &Said) -> Option<Tree> {
    let key = if envelope.dialect == Dialect::Content { "content" } else { "results" };
    match said {
        Said::Answer(_, text) => text.as_ref().map(|text| json!({key: [summary(envelope.dialect, text)]})),
        Said::Questions(..) | Said::Promise(..) | Said::Failure(..) => Some(Tree::Object(body(envelope, said))),
    }
}

/// A message of the first generation.
fn flat(envelope: &Envelope, kind: &str, mut message: Tree) -> Frame {
    message["message_type"] = kind.into();
    message["query_id"] = (*envelope.id).into();
    Frame { name: None, data: message }
}

/// All messages of an answer of the first generation.
pub(super) fn flat_end(envelope: &Envelope, said: &Said) -> Vec<Frame> {
    let found: Vec<(Item, usize)> = match said {
        Said::Answer(items, _) => items.iter().cloned().zip(envelope.first..).collect(),
        Said::Questions(..) | Said::Promise(..) | Said::Failure(..) => Vec::new(),
    };
    let mut frames = if found.is_empty() { Vec::new() } else { vec![batch(envelope, &found)] };
    frames.extend(flat_after(envelope, said, !found.is_empty()));
    frames
}

/// Those after its items.
fn flat_after(envelope: &Envelope, said: &Said, found: bool) -> Vec<Frame> {
    let mut frames = match said {
        Said::Answer(items, Some(text)) if envelope.generate => {
            let items: Tree = items.iter().map(Item::flat).collect();
            vec![flat(envelope, "nlws", object([("answer", text.as_str().into()), ("items", items)]))]
        }
        Said::Answer(_, Some(text)) => vec![flat(envelope, "summary", json!({"message": text}))],
        Said::Answer(_, None) if found => Vec::new(),
        Said::Answer(_, None) => vec![flat(envelope, "no_results", json!({"message": "nothing was found"}))],
        Said::Questions(elicitation) => {
            let thread = envelope.conversation.as_deref();
            let message =
                json!({"content": elicitation["text"], "questions": elicitation["questions"], "thread_id": thread});
            vec![flat(envelope, "ask_user", message)]
        }
        Said::Promise(token, _) => vec![flat(envelope, "promise", json!({"token": token}))],
        Said::Failure(code, message) => {
            vec![flat(envelope, "error", json!({"error": message, "code": &**code, "status": 500}))]
        }
    };
    if !envelope.losses.is_empty() {
        let told = |loss: &Loss| json!({"what": &*loss.what, "kind": loss.kind.as_str()});
        let losses: Vec<Tree> = envelope.losses.iter().map(told).collect();
        frames.push(flat(envelope, "losses", json!({"losses": losses})));
    }
    // Clients ignore kinds they do not know; this one is of those.
    frames.extend(envelope.route.as_ref().map(|route| flat(envelope, "route", taken(route))));
    frames.push(flat(envelope, "complete", json!({})));
    frames
}
