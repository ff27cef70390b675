//! `decode`: a request body to a call or a signal. It looks only at what was sent; authentication is elsewhere.

use bytes::Bytes;
use http::HeaderMap;
use interlingua_model::{
    Answer, Ask, Call, CancelWhy, ClientTool, ConversationId, Deadline, DeadlineBy, Fault, FaultKind, Input, Json,
    KindSet, Missing, OnDisconnect, Part, PeerId, Priority, Provenance, QuestionId, Schema, Secret, Signal, SkillId,
    Target, Time, Wire,
};
use interlingua_wire::hub_headers::Headers;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

use crate::view::{AnswerRequest, ClientToolView, ExchangeRequest, SayRequest, SignalRequest};
use interlingua_hub::entropy;
use interlingua_net::large;

pub(super) const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// No idempotency key is longer.
const MAX_KEY: usize = 255;

/// What kinds of question this interface has an answer for.
pub(super) const ANSWERABLE: KindSet =
    KindSet::INPUT.with(KindSet::CONFIRM).with(KindSet::CREDENTIAL).with(KindSet::VISIT).with(KindSet::TOOL);

/// How the caller wants to hear of its exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// One answer; leaving cancels.
    Whole,
    /// Events as they come; leaving cancels.
    Stream,
    /// An id at once; leaving changes nothing.
    Receipt,
}

/// A JSON body of the shape that is wanted here.
pub(super) async fn body<T: DeserializeOwned>(bytes: Bytes, depth: usize) -> Result<T, Fault> {
    large::worked(bytes.len(), || fit(&parsed(bytes, depth)?)).await
}

pub(super) async fn json(bytes: Bytes, depth: usize) -> Result<Json, Fault> {
    large::worked(bytes.len(), || parsed(bytes, depth)).await
}

fn parsed(bytes: Bytes, depth: usize) -> Result<Json, Fault> {
    let malformed = |error| Fault::caller(FaultKind::Malformed, format!("the body is not JSON: {error}"));
    Json::parse_within(bytes, depth).map_err(malformed)
}

/// JSON of the shape that is wanted here.
pub(super) fn fit<T: DeserializeOwned>(json: &Json) -> Result<T, Fault> {
    serde_json::from_slice(json.as_bytes())
        .map_err(|error| Fault::caller(FaultKind::InvalidInput, format!("the body does not fit: {error}")))
}

pub(super) fn call(
    request: ExchangeRequest,
    conversation: Option<ConversationId>,
    headers: &HeaderMap,
    manner: Manner,
    now: Time,
) -> Result<Call, Fault> {
    let (target, input, missing) = asked(&request)?;
    let mut call = Call::new(entropy::message_id(), Wire(super::PROTOCOL.into()), Ask::Invoke { target, input });
    let hop = hop_of(headers).decode(now);
    hop.map_err(|bad| Fault::caller(FaultKind::InvalidInput, bad.to_string()))?.apply(&mut call);
    if let Some(key) = key(headers)? {
        (call.id, call.id_given) = (key.into(), true);
    }
    if let Some(span) = request.deadline {
        call.limits.deadline = Some(Deadline { at: now.after(span.0), set_by: DeadlineBy::Caller });
    }
    if let Some(level) = request.priority {
        let bad = || wrong("/priority", "is not 0 to 9");
        call.limits.priority = Priority::new(level).ok_or_else(bad)?;
    }
    call.conversation = conversation;
    call.caller.can_answer = ANSWERABLE;
    call.caller.missing = missing;
    call.caller.tools = tools(request.tools)?;
    call.limits.confirm = request.confirm;
    (call.limits.on_disconnect, call.limits.keep) = match manner {
        Manner::Whole | Manner::Stream => (OnDisconnect::Cancel, false),
        Manner::Receipt => (OnDisconnect::Detach, true),
    };
    Ok(call)
}

fn tools(offered: Vec<ClientToolView>) -> Result<Vec<ClientTool>, Fault> {
    let tool = |view: ClientToolView| ClientTool {
        name: view.name.into(),
        description: view.description.into(),
        input: Schema(view.schema),
    };
    let tools: Vec<ClientTool> = offered.into_iter().map(tool).collect();
    ClientTool::check(&tools).map_err(|fault| fault.field("/tools", "are not tools that can be offered"))?;
    Ok(tools)
}

/// To whom and what. Whoever names a skill knows its arguments; whoever speaks in words is asked for what is missing.
fn asked(request: &ExchangeRequest) -> Result<(Target, Input, Missing), Fault> {
    let arguments = request.arguments.clone();
    if arguments.as_ref().is_some_and(|arguments| !arguments.is_object()) {
        return Err(wrong("/arguments", "is not an object"));
    }
    let parts = |text: Option<&String>| -> Vec<Part> {
        text.map(|text| Part::text(text.as_str(), Provenance::caller())).into_iter().collect()
    };
    let version = request.version.as_deref().map(Into::into);
    match (&request.skill, &request.peer, &request.words) {
        (Some(skill), None, None) => {
            let target = match skill.parse::<SkillId>() {
                Ok(id) => Target::Skill(id, version),
                Err(_) if skill.is_empty() || skill.contains('/') => {
                    return Err(wrong("/skill", "is not 'peer/skill'"));
                }
                Err(_) => Target::Capability(skill.as_str().into()),
            };
            let input = Input { args: arguments, ..Input::parts(parts(request.text.as_ref())) };
            Ok((target, input, Missing::Refuse))
        }
        (None, Some(peer), None) => {
            let text = request.text.as_ref().ok_or_else(|| wrong("/text", "is needed beside 'peer'"))?;
            let input = Input { args: arguments, ..Input::parts(parts(Some(text))) };
            Ok((Target::Peer(PeerId::from(peer.as_str())), input, Missing::Question))
        }
        (None, None, Some(words)) if arguments.is_none() && request.text.is_none() => {
            Ok((Target::Words, Input::text(words), Missing::Question))
        }
        (None, None, Some(_)) => Err(wrong("/words", "stands alone, without 'arguments' or 'text'")),
        _ => Err(Fault::caller(FaultKind::InvalidInput, "exactly one of 'skill', 'peer' and 'words' is needed")),
    }
}

pub(super) fn wrong(path: &'static str, problem: &'static str) -> Fault {
    Fault::caller(FaultKind::InvalidInput, format!("{} {problem}", &path[1..])).field(path, problem)
}

/// Visible ASCII, so that it reads the same in every log.
pub(super) fn key(headers: &HeaderMap) -> Result<Option<&str>, Fault> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
    let fits = |key: &&str| !key.is_empty() && key.len() <= MAX_KEY;
    let unfit = || Fault::caller(FaultKind::InvalidInput, "Idempotency-Key must be 1 to 255 visible characters");
    value.to_str().ok().filter(fits).map(Some).ok_or_else(unfit)
}

pub(super) fn hop_of(headers: &HeaderMap) -> Headers<'_> {
    Headers::read(|name| headers.get(name)?.to_str().ok())
}

/// What follows a call. Words that answer a question are left to the caller of this: only the question can read them.
#[derive(Debug)]
pub(super) enum Follows {
    Signal(Signal),
    Words { question: QuestionId, text: String },
}

pub(super) fn signal(request: SignalRequest) -> Result<Follows, Fault> {
    match (request.answer, request.say, request.cancel) {
        (Some(answer), None, false) => answered(answer),
        (None, Some(say), false) => said(say),
        (None, None, true) => Ok(Follows::Signal(Signal::Cancel(CancelWhy::Asked))),
        _ => Err(Fault::caller(FaultKind::InvalidInput, "exactly one of 'answer', 'say' and 'cancel' is needed")),
    }
}

fn said(say: SayRequest) -> Result<Follows, Fault> {
    let input = match (say.text, say.arguments) {
        (None, None) => return Err(wrong("/say", "is empty")),
        (text, args) => Input { args, ..text.as_deref().map_or_else(|| Input::parts(Vec::new()), Input::text) },
    };
    Ok(Follows::Signal(Signal::Said { message: entropy::message_id(), input }))
}

fn answered(request: AnswerRequest) -> Result<Follows, Fault> {
    let question = question_id(&request.question)?;
    let mut given = Vec::new();
    given.extend(request.arguments.map(|arguments| Answer::Given(Input::args(arguments))));
    given.extend(request.approve.map(|yes| if yes { Answer::Granted } else { Answer::Declined }));
    given.extend(request.token.map(|token| Answer::Token(Secret::new(Zeroizing::new(token)))));
    given.extend(request.visited.then_some(Answer::Visited));
    given.extend(request.decline.then_some(Answer::Declined));
    match (request.text, given.pop()) {
        (Some(text), None) => Ok(Follows::Words { question, text }),
        (None, Some(answer)) if given.is_empty() => {
            Ok(Follows::Signal(Signal::Answered { question, message: entropy::message_id(), answer }))
        }
        _ => Err(wrong("/answer", "has exactly one of arguments, text, approve, token, visited and decline")),
    }
}

pub(super) fn question_id(text: &str) -> Result<QuestionId, Fault> {
    text.parse().map_err(|_| interlingua_hub::approvals::no_such_question())
}
