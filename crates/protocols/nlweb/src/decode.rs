//! Decodes a request to `ask`, `await` or `who`. The shape of the request decides its generation:
//!
//! | shape | generation |
//! |---|---|
//! | parameters of an address, a form, or JSON whose `query` is text | flat |
//! | JSON whose `query` is an object, with `return_response` or a version of 0.5 | content |
//! | the same with a version up to 0.54, or with `prefer.response_format` of that time | results |
//! | the same otherwise | named events, version 0.55 |

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use interlingua_model::json::{BadJson, Reader};
use interlingua_model::{
    Ask, Call, Caller, Carried, Input, Json, KindSet, MessageId, Missing, OnDisconnect, Part, PeerId, Provenance, Role,
    Target, Text, Turn,
};

use super::wire::{Action, Asked, Dialect, MAX_ITEMS, MAX_PREV, MAX_SITES, MAX_TEXT, Modes, Operation, USUAL_ITEMS};
use interlingua_wire::codec::{self, Meaning};
use interlingua_wire::hub_headers::Hop;
use interlingua_wire::members::{Members, elements};

/// What comes after this many parameters is not read.
const MAX_PARAMETERS: usize = 256;

/// A request that could not be read, and the generation it is answered in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    pub dialect: Dialect,
    pub problem: Problem,
}

/// What is wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("the body is not JSON: {0}")]
    Json(BadJson),
    #[error("the body must be an object")]
    NotAnObject,
    #[error("`{0}` is missing")]
    Missing(&'static str),
    #[error("`{field}` {problem}")]
    Field { field: &'static str, problem: &'static str },
    #[error("`query` has no `{0}`")]
    Unknown(String),
    #[error("`action` must be checkin or cancel")]
    Action,
}

impl Problem {
    /// As the protocol names it.
    pub fn code(&self) -> &'static str {
        match self {
            Problem::Json(_) | Problem::NotAnObject | Problem::Field { .. } | Problem::Unknown(_) => "INVALID_REQUEST",
            Problem::Missing("query" | "query.text") => "INVALID_REQUEST",
            Problem::Missing(_) => "MISSING_FIELD",
            Problem::Action => "INVALID_ACTION",
        }
    }
}

/// What came, and where: the query of the address, and a body that is JSON or a form.
#[derive(Debug, Clone, Copy)]
pub struct Arrived<'a> {
    pub at: Operation,
    pub query: &'a str,
    pub body: &'a Bytes,
    pub form: bool,
}

/// What is known of a request beside what it says.
pub struct Context<'a> {
    /// Makes the ids of calls: a request gives none, and several sites are as many calls.
    pub id: &'a (dyn Fn() -> MessageId + Sync),
    /// How deep its JSON may be.
    pub depth: usize,
    /// The one site that its address is of.
    pub site: Option<&'a Text>,
    /// Nothing may come of it but reading.
    pub only_read: bool,
    /// What its headers say, if they can be read.
    pub hop: Option<&'a Hop>,
}

impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("depth", &self.depth).field("site", &self.site).finish_non_exhaustive()
    }
}

/// What only this protocol asks for.
#[derive(Debug)]
pub enum Own {
    /// Several sites at once: a call for each, in their order.
    Several(Vec<Call>),
    /// What became of a promise, or its end.
    Wait { token: Text, action: Action },
    /// Which sites fit a question.
    Who,
}

/// What the answer repeats is how it is wanted.
pub type Incoming = codec::Incoming<Own, Asked>;

/// Reads a request. A call names a site as the request does; whose name that is, is for the hub to say.
pub fn decode(request: Arrived<'_>, context: &Context<'_>) -> Result<Carried<Incoming>, Invalid> {
    let (meaning, reply) = match request.at {
        Operation::Ask => {
            let mut asked = ask(request, context.depth)?;
            if let Some(site) = context.site {
                asked.sites = vec![site.clone()];
            }
            (calls(&asked, context), asked)
        }
        Operation::Await => {
            let (token, action) =
                wait(request.body, context.depth).map_err(|problem| Invalid { dialect: Dialect::Named, problem })?;
            (Meaning::Own(Own::Wait { token, action }), Asked::default())
        }
        Operation::Who => (Meaning::Own(Own::Who), ask(request, context.depth)?),
    };
    Ok(Carried::whole(Incoming { meaning, credentials: Vec::new(), reply }))
}

fn calls(asked: &Asked, context: &Context<'_>) -> Meaning<Own> {
    match asked.sites.as_slice() {
        [] => Meaning::Call(Box::new(call(asked, None, context))),
        [site] => Meaning::Call(Box::new(call(asked, Some(site), context))),
        several => Meaning::Own(Own::Several(several.iter().map(|site| call(asked, Some(site), context)).collect())),
    }
}

/// The call that a request is: of one peer, or of whoever fits. The manners are this protocol's: a caller who leaves cancels,
/// until it was given a promise or a question.
fn call(asked: &Asked, site: Option<&Text>, context: &Context<'_>) -> Call {
    let target = site.map_or(Target::Words, |site| Target::Peer(PeerId(site.clone())));
    let turn = |text: &Text| Turn { role: Role::User, parts: vec![Part::text(text.clone(), Provenance::caller())] };
    let input = Input { history: asked.prev.iter().map(turn).collect(), ..Input::text(&asked.text) };
    let mut call = Call::new((context.id)(), asked.dialect.wire(), Ask::Invoke { target, input });
    call.caller = Caller {
        can_answer: KindSet::INPUT.with(KindSet::CONFIRM).with(KindSet::CREDENTIAL).with(KindSet::VISIT),
        missing: Missing::Question,
        ..Caller::default()
    };
    call.limits.on_disconnect = OnDisconnect::Cancel;
    call.limits.only_read = context.only_read;
    if let Some(hop) = context.hop {
        hop.apply(&mut call);
    }
    call
}

/// The parameters of an address or a form, in order. What is not UTF-8 after unescaping is replaced.
fn pairs(text: &[u8]) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    form_urlencoded::parse(text).take(MAX_PARAMETERS)
}

/// Reads a request to `ask`. What the body says wins over the address.
fn ask(arrived: Arrived<'_>, depth: usize) -> Result<Asked, Invalid> {
    let mut flat = Flat::default();
    pairs(arrived.query.as_bytes()).for_each(|(name, value)| flat.set(&name, &value));
    if arrived.body.iter().all(u8::is_ascii_whitespace) {
        return flat.asked();
    }
    if arrived.form {
        pairs(String::from_utf8_lossy(arrived.body).as_bytes()).for_each(|(name, value)| flat.set(&name, &value));
        return flat.asked();
    }
    let invalid = |problem| Invalid { dialect: Dialect::Named, problem };
    let members = open(arrived.body, depth).map_err(invalid)?;
    match members.object("query") {
        Some(query) => nested(&members, &query),
        None if members.has("query") && members.text("query").is_none() => {
            Err(invalid(Problem::Field { field: "query", problem: "must be text or an object" }))
        }
        None => {
            members.iter().for_each(|(name, value)| flat.set_json(name, &value));
            flat.asked()
        }
    }
}

fn open(body: &Bytes, depth: usize) -> Result<Members, Problem> {
    let mut reader = Reader::new(body, depth).map_err(Problem::Json)?;
    let members = Members::read(body, &mut reader).map_err(Problem::Json)?;
    reader.end().map_err(Problem::Json)?;
    if members.is_object() { Ok(members) } else { Err(Problem::NotAnObject) }
}

/// Parameters of the first generation.
#[derive(Debug, Default)]
struct Flat {
    query: Option<String>,
    sites: Vec<String>,
    prev: Vec<String>,
    streaming: Option<bool>,
    query_id: Option<String>,
    mode: String,
    thread: Option<String>,
    decontextualized: Option<String>,
    item_type: Option<String>,
}

impl Flat {
    fn set(&mut self, name: &str, value: &str) {
        let list =
            |value: &str| value.split(',').map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect();
        match name {
            "query" => self.query = Some(value.to_owned()),
            "site" => self.sites = list(value),
            // A JSON list survives commas inside a question; the other spelling does not.
            "prev" => self.prev = json_list(value).unwrap_or_else(|| list(value)),
            "streaming" => self.streaming = Some(!matches!(value, "false" | "False" | "0")),
            "query_id" => self.query_id = Some(value.to_owned()).filter(|id| !id.is_empty()),
            // Documents say `mode`, programs read `generate_mode`, and `none` there is a list.
            "mode" | "generate_mode" => self.mode = format!("{},{value}", self.mode),
            "thread_id" => self.thread = Some(value.to_owned()).filter(|id| !id.is_empty()),
            "decontextualized_query" => self.decontextualized = Some(value.to_owned()).filter(|text| !text.is_empty()),
            "required_item_type" => self.item_type = Some(value.to_owned()).filter(|kind| !kind.is_empty()),
            // `model` is chosen by configuration, who asks is known by a credential and not by an `oauth_id`, nothing is
            // fetched from a `context_url`, and `context_description` and `last_ans` are of pages that have no place here.
            _ => {}
        }
    }

    fn set_json(&mut self, name: &str, value: &Json) {
        if let Some(all) = elements(value) {
            let texts: Vec<String> = all.iter().filter_map(text).collect();
            match name {
                "site" => self.sites = texts,
                "prev" => self.prev = texts,
                _ => {}
            }
            return;
        }
        match text(value) {
            Some(text) => self.set(name, &text),
            None => self.set(name, value.as_str()),
        }
    }

    fn asked(self) -> Result<Asked, Invalid> {
        let invalid = |problem| Invalid { dialect: Dialect::Flat, problem };
        let said = self.decontextualized.or(self.query).ok_or_else(|| invalid(Problem::Missing("query")))?;
        let text = bounded("query", &said).map_err(invalid)?;
        Ok(Asked {
            dialect: Dialect::Flat,
            text,
            sites: sites(self.sites),
            prev: latest(self.prev),
            query_id: self.query_id.map(Text::from),
            modes: Modes::of(&self.mode),
            streaming: self.streaming.unwrap_or(true),
            most: 10,
            first: 0,
            least_score: 0.0,
            item_type: self.item_type.map(Text::from),
            conversation: self.thread.map(Text::from),
            state: None,
        })
    }
}

fn json_list(text: &str) -> Option<Vec<String>> {
    text.trim_start().starts_with('[').then(|| serde_json::from_str(text).ok()).flatten()
}

fn text(json: &Json) -> Option<String> {
    json.tree().as_str().map(str::to_owned)
}

fn bounded(field: &'static str, text: &str) -> Result<Text, Problem> {
    match text.trim() {
        "" => Err(Problem::Field { field, problem: "must not be empty" }),
        text if text.len() > MAX_TEXT => Err(Problem::Field { field, problem: "is too long" }),
        text => Ok(text.into()),
    }
}

fn sites(named: Vec<String>) -> Vec<Text> {
    if named.iter().any(|site| site.eq_ignore_ascii_case("all")) {
        return Vec::new();
    }
    named.into_iter().take(MAX_SITES).map(Text::from).collect()
}

fn latest(prev: Vec<String>) -> Vec<Text> {
    let skip = prev.len().saturating_sub(MAX_PREV);
    prev.into_iter().skip(skip).filter(|text| !text.is_empty() && text.len() <= MAX_TEXT).map(Text::from).collect()
}

/// Keys that version 0.54 knows in `query`; there any other is an error.
const QUERY: [&str; 6] = ["text", "site", "num_results", "max_results", "min_score", "decontextualized_query"];

fn dialect(members: &Members) -> Dialect {
    let meta = members.object("meta").unwrap_or_else(Members::absent);
    let version = meta.text("api_version").or_else(|| meta.text("version")).or_else(|| members.text("version"));
    match version.as_deref().and_then(Dialect::of_version) {
        // A nested body is no flat one, whatever it says.
        Some(Dialect::Flat | Dialect::Content) => Dialect::Content,
        Some(dialect) => dialect,
        None if members.has("return_response") => Dialect::Content,
        None => Dialect::Named,
    }
}

fn nested(members: &Members, query: &Members) -> Result<Asked, Invalid> {
    let dialect = dialect(members);
    let invalid = |problem| Invalid { dialect, problem };
    if dialect == Dialect::Results
        && let Some((unknown, _)) = query.iter().find(|(key, _)| !QUERY.contains(key))
    {
        return Err(invalid(Problem::Unknown(unknown.chars().take(60).collect())));
    }
    let said = query.text("decontextualized_query").or_else(|| query.text("text"));
    let said = said.ok_or_else(|| invalid(Problem::Missing("query.text")))?;
    let text = bounded("query.text", &said).map_err(invalid)?;
    let absent = Members::absent;
    let prefer = members.object("prefer").or_else(|| members.object("return_response")).unwrap_or_else(absent);
    let meta = members.object("meta").unwrap_or_else(absent);
    let session = meta.object("session_context").unwrap_or_else(absent);
    let context = members.object("context").unwrap_or_else(absent);
    let number = |from: &Members, key: &str| from.number::<usize>(key);
    let most = number(query, "max_results").or_else(|| number(query, "num_results")).unwrap_or(USUAL_ITEMS);
    Ok(Asked {
        dialect,
        text,
        sites: sites(texts(query, "site")),
        prev: latest(texts(&context, "prev")),
        query_id: None,
        modes: Modes::of(&texts(&prefer, "mode").join(",")),
        streaming: prefer.bool("streaming").unwrap_or(true),
        most: most.clamp(1, MAX_ITEMS),
        first: number(&meta, "start_num").unwrap_or(0).min(MAX_ITEMS),
        least_score: query.number::<f64>("min_score").filter(|_| dialect != Dialect::Content).unwrap_or(0.0),
        item_type: None,
        conversation: session.text("conversation_id").map(|text| text.as_ref().into()),
        state: session.text("state_token").map(|text| text.as_ref().into()),
    })
}

/// A member that is text, perhaps with commas, or a list of texts.
fn texts(members: &Members, key: &str) -> Vec<String> {
    match members.list(key) {
        Some(list) => list.iter().filter_map(text).collect(),
        None => members.text(key).iter().flat_map(|text| text.split(',')).map(|one| one.trim().to_owned()).collect(),
    }
}

/// Reads a request to `await`: the token, and what to do.
fn wait(body: &Bytes, depth: usize) -> Result<(Text, Action), Problem> {
    let members = open(body, depth)?;
    let token = members.text("promise_token").ok_or(Problem::Missing("promise_token"))?;
    let action = match members.text("action").as_deref() {
        Some("checkin") => Action::CheckIn,
        Some("cancel") => Action::Cancel,
        Some(_) => return Err(Problem::Action),
        None => return Err(Problem::Missing("action")),
    };
    Ok((token.as_ref().into(), action))
}
