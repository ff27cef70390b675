//! `/ask`: decode, authenticate, the hub's door, encode.

use std::sync::Arc;
use std::time::Duration;

use crate::decode::{self, Arrived};
use crate::encode::{self, Envelope, Stand};
use crate::{Asked, Dialect, Modes};
use axum::body::Body;
use axum::extract::{Extension, Path, State};
use axum::response::Response;
use futures_util::future::join_all;
use http::header::{ALLOW, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use interlingua_model::{
    Answer, Carried, ConversationId, Fault, FaultKind, Feature, Finished, Input, Loss, PeerId, Principal, Question,
    Request, Route, Signal, Text, Transcript, uuid_v4,
};
use interlingua_wire::hub_headers::Headers;

use super::pending::{Pending, promises, waits};
use super::several::Several;
use super::stream::Wanted;
use super::summing::worded;
use super::{promise, stream};
use crate::PROTOCOL;
use crate::refusal::NlwebErrors;
use interlingua_endpoint::error_format::{self, ErrorFormat};
use interlingua_endpoint::guard::FORM;
use interlingua_endpoint::{Shared, content};
use interlingua_hub::asking::no_such_peer;
use interlingua_hub::audit::losses::{Leg, Named};
use interlingua_hub::{Hub, Running, Settled, entropy};
use interlingua_net::body;
use interlingua_net::connection::Connection;
use interlingua_net::large;
use interlingua_telemetry::meters::Phase;

/// A whole answer that takes longer is promised.
const PROMISE_AFTER: Duration = Duration::from_secs(2);

pub(super) async fn front(
    state: State<Arc<Shared>>,
    connection: Extension<Connection>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let sent = Sent { method: &method, uri: &uri, headers: &headers };
    answer(state.0, connection.0, sent, body, None).await
}

pub(super) async fn one_peer(
    state: State<Arc<Shared>>,
    connection: Extension<Connection>,
    Path(peer): Path<String>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let sent = Sent { method: &method, uri: &uri, headers: &headers };
    answer(state.0, connection.0, sent, body, Some(peer.into())).await
}

/// A request without its body.
#[derive(Clone, Copy)]
struct Sent<'a> {
    method: &'a Method,
    uri: &'a Uri,
    headers: &'a HeaderMap,
}

async fn answer(
    shared: Arc<Shared>,
    connection: Connection,
    sent: Sent<'_>,
    body: Body,
    peer: Option<Text>,
) -> Response {
    let Sent { method, uri, headers } = sent;
    let frame = match body::read(body, shared.bounds().body).await {
        Ok(frame) => frame,
        Err(fault) => return NlwebErrors.refuse(&fault),
    };
    let mut laps = shared.hub.meters().laps();
    let arrived = Arrived {
        query: uri.query().unwrap_or_default(),
        body: &frame,
        form: is_form(headers),
        depth: shared.bounds().depth,
    };
    let mut asked = match large::worked(frame.len(), || decode::ask(arrived)).await {
        Ok(asked) => asked,
        Err(refused) => {
            shared.hub.meters().protocol(PROTOCOL).invalid.increment(1);
            let (status, answer) = encode::refused(&refused, id());
            return error_format::json(status, answer.to_string().into());
        }
    };
    laps.done(Phase::Decode);
    if let Some(peer) = peer {
        asked.sites = vec![peer];
    }
    // A link, an image and a redirect send GET, with nobody's wish behind it (RFC 9110, 9.2.1).
    let asker = Asker { shared, connection, headers, asked, only_read: *method != Method::POST };
    let envelope = Envelope::of(&asker.asked, id(), asker.asked.sites.first().cloned().unwrap_or_default());
    match asker.open(envelope.clone()).await {
        Ok((by, opened, envelope)) => asker.respond(&by, opened, envelope).await,
        Err(fault) if asker.only_read && fault.kind == FaultKind::Unsupported(Feature::Operation) => {
            let mut response = told(&envelope, &Stand::Refused(&fault));
            *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
            response
        }
        Err(fault) => told(&envelope, &Stand::Refused(&fault)),
    }
}

/// The first generation also takes what a form sends.
fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(FORM))
}

/// Names a request to its sender.
fn id() -> Text {
    uuid_v4(entropy::bits()).into()
}

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

struct Asker<'a> {
    shared: Arc<Shared>,
    connection: Connection,
    headers: &'a HeaderMap,
    asked: Asked,
    /// Nothing may come of it but reading.
    only_read: bool,
}

impl Asker<'_> {
    async fn open(&self, mut envelope: Envelope) -> Result<(Principal, Opened, Envelope), Fault> {
        let by = self.shared.authenticate(&self.connection, self.headers, &[])?;
        let opened = self.authenticated(&by, &mut envelope).await.map_err(|fault| fault.told_to(&by))?;
        Ok((by, opened, envelope))
    }

    async fn authenticated(&self, by: &Principal, envelope: &mut Envelope) -> Result<Opened, Fault> {
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
        match self.asked.sites.as_slice() {
            [] => self.call(by, &conversation, None).await.map(Opened::Running),
            [site] => self.call(by, &conversation, Some(site)).await.map(Opened::Running),
            several => self.several(by, &conversation, several).await,
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

    async fn call(&self, by: &Principal, conversation: &ConversationId, site: Option<&Text>) -> Result<Running, Fault> {
        let hub = &self.shared.hub;
        let peer = match site {
            None => None,
            Some(site) => Some(hub.peer_named(by, site).ok_or_else(|| no_such_peer(site))?),
        };
        let mut call = self.asked.call(entropy::message_id().as_str(), peer.as_ref().map(PeerId::as_str));
        call.conversation = Some(conversation.clone());
        call.limits.only_read = self.only_read;
        let headers = Headers::read(|name| self.headers.get(name)?.to_str().ok());
        let hop = headers.decode(hub.now()).map_err(|bad| Fault::caller(FaultKind::Malformed, bad.to_string()))?;
        hop.apply(&mut call);
        let call = Box::new(call);
        hub.open(Request { by: by.clone(), connection: self.connection.id, call }).await
    }

    /// All of them at once; the first failure if none can be asked.
    async fn several(&self, by: &Principal, conversation: &ConversationId, sites: &[Text]) -> Result<Opened, Fault> {
        let calls = join_all(sites.iter().map(|site| self.call(by, conversation, Some(site)))).await;
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
                            several.take(&site, *finished, listened.losses);
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
                let finished = worded(&self.shared.hub, *modes, text, &envelope.site, finished).await;
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
            true => stream::known(envelope, stand),
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
    settled: Settled,
}

impl Listened {
    /// With the words that were asked for.
    pub(super) async fn worded(self, hub: &Hub, modes: Modes, text: &str) -> Listened {
        let site = self.route.as_ref().map(|route| route.skill.peer.0.clone()).unwrap_or_default();
        let settled = match self.settled {
            Settled::Finished(finished) => {
                Settled::Finished(Box::new(worded(hub, modes, text, &site, *finished).await))
            }
            Settled::Asked(question) => Settled::Asked(question),
        };
        Listened { settled, ..self }
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
        hub.lost(&Leg { by, of: self.of.clone(), wire: dialect.wire(), skill }, &self.lost);
    }

    pub(super) fn told(self, envelope: &mut Envelope) -> Response {
        envelope.losses.extend(self.losses.into_iter().chain(self.lost));
        if let Some(route) = self.route {
            went(envelope, &route);
        }
        match self.settled {
            Settled::Finished(finished) => told(envelope, &Stand::Finished(&finished)),
            Settled::Asked(question) => told(envelope, &Stand::Asked(&question)),
        }
    }
}

/// Notes who answers.
pub(super) fn went(envelope: &mut Envelope, route: &Route) {
    if envelope.site.is_empty() {
        envelope.site = route.skill.peer.0.clone();
    }
    envelope.route = Some(route.clone());
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
        content::link(reader.hub, reader.by, &reader.base, &mut finished.output.parts);
        lost = encode::lost(&finished.output);
    }
    let Transcript { route, losses, .. } = transcript;
    Ok(Listened { of: running.named(), losses, lost, route, settled })
}
