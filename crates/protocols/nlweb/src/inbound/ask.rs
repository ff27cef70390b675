//! `/ask`: authentication, the conversation, the call to the hub, the answer.

use std::sync::Arc;
use std::time::Duration;

use crate::encode::{self, Envelope, Several, Stand};
use crate::{Asked, Dialect, Modes};
use axum::response::Response;
use futures_util::future::join_all;
use http::header::{ALLOW, HOST};
use http::{HeaderMap, HeaderValue, StatusCode};
use interlingua_model::{
    Answer, Ask, Call, Carried, ConversationId, Fault, FaultKind, Feature, Finished, Input, Loss, Part, Principal,
    Question, Request, Route, Signal, Target, Text, Transcript,
};
use interlingua_wire::hub_headers::BadHop;

use super::pending::{Pending, promises, waits};
use super::stream::Wanted;
use super::summing::words;
use super::{promise, stream};
use interlingua_endpoint::{Shared, content, error_format};
use interlingua_hub::asking::no_such_peer;
use interlingua_hub::audit::losses::{LossContext, Named};
use interlingua_hub::{Hub, Running, Settled, entropy};
use interlingua_net::connection::Connection;

/// A whole answer that takes longer is promised.
const PROMISE_AFTER: Duration = Duration::from_secs(2);

/// One answer, whole.
pub(super) fn told(envelope: &Envelope, stand: &Stand<'_>) -> Response {
    let mut response =
        error_format::json(encode::status(envelope.dialect, stand), encode::whole(envelope, stand).to_string().into());
    if let Stand::Refused(fault) = stand {
        if fault.kind == FaultKind::Internal {
            tracing::error!(event = "request_failed", protocol = "nlweb", error = %fault, cause = ?fault.source, "a request failed inside the hub");
        }
        error_format::add_headers(&mut response, fault);
    }
    response
}

/// What came of a request at the door.
enum Opened {
    Running(Running),
    /// An answer that did not fit: the question stands.
    Again(Box<Question>),
    /// Several sites are asked. Beside them what is known of those that could not be.
    Several(Vec<(Text, Running)>, Several),
}

/// What is to be opened: one call, or one for each of several sites.
pub(super) enum Calls {
    One(Box<Call>),
    Several(Vec<Call>),
}

/// Whoever asks, and what.
pub(super) struct Asker<'a> {
    pub(super) shared: Arc<Shared>,
    pub(super) connection: Connection,
    pub(super) headers: &'a HeaderMap,
    /// What cannot be read of the headers. It is said once the caller and the site are known.
    pub(super) bad_hop: Option<BadHop>,
    pub(super) asked: Asked,
    /// Nothing may come of it but reading.
    pub(super) only_read: bool,
}

impl Asker<'_> {
    pub(super) async fn answer(self, calls: Calls, envelope: Envelope) -> Response {
        match self.open(calls, envelope.clone()).await {
            Ok((by, opened, envelope)) => self.respond(&by, opened, envelope).await,
            Err(fault) if self.only_read && fault.kind == FaultKind::Unsupported(Feature::Operation) => {
                let mut response = told(&envelope, &Stand::Refused(&fault));
                *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
                response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
                response
            }
            Err(fault) => told(&envelope, &Stand::Refused(&fault)),
        }
    }

    async fn open(&self, calls: Calls, mut envelope: Envelope) -> Result<(Principal, Opened, Envelope), Fault> {
        let by = self.shared.authenticate(&self.connection, self.headers, &[])?;
        let opened = self.authenticated(&by, calls, &mut envelope).await.map_err(|fault| fault.told_to(&by))?;
        Ok((by, opened, envelope))
    }

    async fn authenticated(&self, by: &Principal, calls: Calls, envelope: &mut Envelope) -> Result<Opened, Fault> {
        let hub = &self.shared.hub;
        let conversation = self.conversation(by).await?;
        envelope.conversation = Some(hub.conversation_token(by, &conversation)?.into());
        if let Some((live, question)) = hub.waiting_in(by, &conversation) {
            if self.only_read {
                let text = format!("a question waits in this conversation: answer it by POST. {}", question.text);
                return Err(Fault::caller(FaultKind::Unsupported(Feature::Operation), text));
            }
            let input = Input::text(&self.asked.text);
            match hub.read_answer(&question, input.clone()) {
                Some(answer) => {
                    return self.answered(by, &question, answer, live.seq()).await.map(Opened::Running);
                }
                None if !hub.names_a_skill(by, &input) => return Ok(Opened::Again(Box::new(question))),
                // Words that are another request withdraw the question.
                None => drop(hub.answer(by.clone(), question.id, Answer::Declined).await),
            }
        }
        match calls {
            Calls::One(call) => self.call(by, &conversation, call).await.map(Opened::Running),
            Calls::Several(calls) => self.several(by, &conversation, calls).await,
        }
    }

    /// The one whose token was brought back, one turn on; else a new one.
    async fn conversation(&self, by: &Principal) -> Result<ConversationId, Fault> {
        let hub = &self.shared.hub;
        let token = self.asked.state.as_ref().or(self.asked.conversation.as_ref());
        match token.and_then(|token| hub.open_conversation(by, token)) {
            None => Ok(hub.new_conversation()),
            Some(id) => hub.next_turn(by, &id).await.map(|_| id),
        }
    }

    async fn answered(
        &self,
        by: &Principal,
        question: &Question,
        answer: Answer,
        after: u64,
    ) -> Result<Running, Fault> {
        let (hub, task) = (&self.shared.hub, question.id.0);
        let signal = Signal::Answered { question: question.id, message: entropy::message_id(), answer };
        hub.signal(by.clone(), task, signal).await?;
        hub.follow(by, task, after).await
    }

    /// The site that a call names is a peer that this caller sees, whichever of its names that is.
    async fn call(&self, by: &Principal, conversation: &ConversationId, mut call: Box<Call>) -> Result<Running, Fault> {
        let hub = &self.shared.hub;
        if let Ask::Invoke { target: Target::Peer(site), .. } = &mut call.ask {
            *site = hub.peer_named(by, site.as_str()).ok_or_else(|| no_such_peer(site.as_str()))?;
        }
        if let Some(bad) = self.bad_hop {
            return Err(Fault::caller(FaultKind::Malformed, bad.to_string()));
        }
        call.conversation = Some(conversation.clone());
        hub.open(Request { by: by.clone(), connection: self.connection.id, call }).await
    }

    /// All of them at once; the first failure if none can be asked.
    async fn several(&self, by: &Principal, conversation: &ConversationId, calls: Vec<Call>) -> Result<Opened, Fault> {
        let sites = &self.asked.sites;
        let calls = join_all(calls.into_iter().map(|call| self.call(by, conversation, Box::new(call)))).await;
        let (mut running, mut several) = (Vec::new(), Several::default());
        for (site, called) in sites.iter().zip(calls) {
            match called {
                Ok(one) => running.push((site.clone(), one)),
                Err(fault) => several.fail(fault),
            }
        }
        match several.failure() {
            Some(fault) if running.is_empty() => Err(fault),
            _ => Ok(Opened::Several(running, several)),
        }
    }

    /// What all of them say in the end. A question is an end: nobody could answer it.
    async fn whole_of(
        &self,
        by: &Principal,
        running: Vec<(Text, Running)>,
        mut several: Several,
    ) -> Result<Carried<Finished>, Fault> {
        let reader = self.reader(by);
        let heard = join_all(running.into_iter().map(|(site, mut running)| {
            let reader = &reader;
            async move { (site, listen(&mut running, reader).await) }
        }));
        for (site, listened) in heard.await {
            match listened {
                Err(fault) => several.fail(fault),
                Ok(mut listened) => {
                    listened.note(&self.shared.hub, by, self.asked.dialect);
                    listened.losses.append(&mut listened.lost);
                    match listened.settled {
                        Settled::Finished(finished) => {
                            several.take(&site, &finished, listened.losses);
                        }
                        Settled::Asked(question) => {
                            several.fail(Fault::caller(
                                FaultKind::Unanswered,
                                waits(&question).unwrap_or(question.text.clone()),
                            ));
                        }
                    }
                }
            }
        }
        several.whole()
    }

    fn reader<'a>(&'a self, by: &'a Principal) -> Reader<'a> {
        Reader { hub: &self.shared.hub, by, base: base(&self.shared, &self.connection, self.headers) }
    }

    async fn respond(&self, by: &Principal, opened: Opened, mut envelope: Envelope) -> Response {
        let running = match opened {
            Opened::Running(running) => running,
            Opened::Again(question) => return self.at_once(&envelope, &Stand::Asked(&question)),
            Opened::Several(running, several) if self.asked.streaming => {
                return stream::of_several(running, several, envelope, self.wanted(by));
            }
            Opened::Several(running, several) => {
                let Carried { value: finished, losses } = match self.whole_of(by, running, several).await {
                    Ok(whole) => whole,
                    Err(fault) => return told(&envelope, &Stand::Refused(&fault.told_to(by))),
                };
                envelope.losses = losses;
                let Asked { modes, text, .. } = &self.asked;
                envelope.words = words(&self.shared.hub, *modes, text, &envelope.site, &finished).await;
                return told(&envelope, &Stand::Finished(&finished));
            }
        };
        if self.asked.streaming {
            return stream::of(running, envelope, self.wanted(by));
        }
        whole(&self.shared, &self.reader(by), running, &self.asked, &mut envelope).await
    }

    fn wanted(&self, by: &Principal) -> Wanted {
        let Reader { base, .. } = self.reader(by);
        Wanted { hub: Arc::clone(&self.shared.hub), by: by.clone(), base, asked: self.asked.clone() }
    }

    /// An answer that is known already, in the form that was asked for.
    fn at_once(&self, envelope: &Envelope, stand: &Stand<'_>) -> Response {
        match self.asked.streaming {
            true => stream::known(envelope.clone(), stand),
            false => told(envelope, stand),
        }
    }
}

/// The end, a question, or a promise when neither comes soon and the generation knows promises.
async fn whole(
    shared: &Shared,
    reader: &Reader<'_>,
    mut running: Running,
    asked: &Asked,
    envelope: &mut Envelope,
) -> Response {
    let by = reader.by;
    let listening = listen(&mut running, reader);
    let heard = match promises(envelope.dialect) {
        false => listening.await.map(Some),
        true => tokio::time::timeout(PROMISE_AFTER, listening).await.map_or(Ok(None), |heard| heard.map(Some)),
    };
    match heard {
        Err(fault) => told(envelope, &Stand::Refused(&fault)),
        Ok(Some(listened)) => match listened.pending() {
            Some(note) => {
                let pending = Pending::of(&shared.hub, by, &mut running, asked, note).await;
                told(envelope, &pending.stand())
            }
            None => {
                listened.note(&shared.hub, by, envelope.dialect);
                listened.worded(&shared.hub, asked.modes, &asked.text).await.told(envelope)
            }
        },
        Ok(None) => match promise::give(&shared.hub, by, &mut running, &asked.manner()).await {
            Ok(token) => told(envelope, &Stand::Promised { token: &token, note: None }),
            Err(fault) => told(envelope, &Stand::Refused(&fault)),
        },
    }
}

/// How far an exchange was heard.
pub(super) struct Listened {
    of: Named,
    /// What was lost before the answer came here.
    losses: Vec<Loss>,
    /// What has no place in an answer of this protocol.
    lost: Vec<Loss>,
    /// Who was asked, and why.
    route: Option<Route>,
    /// What a model says of the items.
    words: Option<Part>,
    settled: Settled,
}

impl Listened {
    /// With the words that were asked for.
    pub(super) async fn worded(mut self, hub: &Hub, modes: Modes, text: &str) -> Listened {
        let site = self.route.as_ref().map(|route| route.skill.peer.0.clone()).unwrap_or_default();
        if let Settled::Finished(finished) = &self.settled {
            self.words = words(hub, modes, text, &site, finished).await;
        }
        self
    }

    /// What it waits for, where that is not for its caller to answer.
    pub(super) fn pending(&self) -> Option<Text> {
        match &self.settled {
            Settled::Asked(question) => waits(question),
            Settled::Finished(_) => None,
        }
    }

    /// Writes down what has no place in the answer.
    pub(super) fn note(&self, hub: &Hub, by: &Principal, dialect: Dialect) {
        let skill = self.route.as_ref().map(|route| &route.skill);
        hub.lost(&LossContext { by, of: self.of.clone(), wire: dialect.wire(), skill }, &self.lost);
    }

    pub(super) fn told(self, envelope: &mut Envelope) -> Response {
        envelope.losses.extend(self.losses.into_iter().chain(self.lost));
        envelope.words = self.words;
        if let Some(route) = self.route {
            envelope.went(&route);
        }
        match self.settled {
            Settled::Finished(finished) => told(envelope, &Stand::Finished(&finished)),
            Settled::Asked(question) => told(envelope, &Stand::Asked(&question)),
        }
    }
}

/// Whoever reads an answer.
pub(super) struct Reader<'a> {
    pub(super) hub: &'a Hub,
    pub(super) by: &'a Principal,
    /// The hub as they reach it.
    pub(super) base: String,
}

/// The hub as the other side reaches it.
pub(super) fn base(shared: &Shared, connection: &Connection, headers: &HeaderMap) -> String {
    shared.base(connection, headers.get(HOST).and_then(|host| host.to_str().ok()))
}

/// Reads to the end or to the first question that is open. Files have addresses at which this reader can fetch them.
pub(super) async fn listen(running: &mut Running, reader: &Reader<'_>) -> Result<Listened, Fault> {
    let mut transcript = Transcript::default();
    let mut settled = running.settle(&mut transcript).await?;
    let mut lost = Vec::new();
    if let Settled::Finished(finished) = &mut settled {
        transcript.drop_held(&mut finished.output);
        content::link(reader.hub, reader.by, &reader.base, &mut finished.output.parts);
        lost = encode::lost(&finished.output);
    }
    let Transcript { route, losses, .. } = transcript;
    Ok(Listened { of: running.named(), losses, lost, route, words: None, settled })
}
