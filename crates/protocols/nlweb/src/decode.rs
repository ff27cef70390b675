//! A request to `ask` or `await`, in the generation its shape says.
//!
//! | shape | generation |
//! |---|---|
//! | parameters of an address, a form, or JSON whose `query` is text | flat |
//! | JSON whose `query` is an object, with `return_response` or a version of 0.5 | content |
//! | the same with a version up to 0.54, or with `prefer.response_format` of that time | results |
//! | the same otherwise | named events, version 0.55 |

use std::borrow::Cow;

use bytes::Bytes;
use interlingua_model::json::{BadJson, Reader};
use interlingua_model::{
    Ask, Call, Caller, Input, Json, KindSet, Missing, OnDisconnect, Part, PeerId, Provenance, Role, Target, Text, Turn,
};

use super::wire::{Action, Asked, Dialect, MAX_ITEMS, MAX_PREV, MAX_SITES, MAX_TEXT, Modes, USUAL_ITEMS};
use interlingua_wire::members::{Members, elements};

/// What comes after this many parameters is not read.
const MAX_PARAMETERS: usize = 256;

/// Why a request is none, in the generation it is answered in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
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

impl Invalid {
    /// As the protocol names it.
    pub fn code(&self) -> &'static str {
        match self {
            Invalid::Json(_) | Invalid::NotAnObject | Invalid::Field { .. } | Invalid::Unknown(_) => "INVALID_REQUEST",
            Invalid::Missing("query" | "query.text") => "INVALID_REQUEST",
            Invalid::Missing(_) => "MISSING_FIELD",
            Invalid::Action => "INVALID_ACTION",
        }
    }
}

/// A request that could not be read, and how to say so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    pub dialect: Dialect,
    pub invalid: Invalid,
}

/// What came: the query of the address, and a body that is JSON or a form.
#[derive(Debug, Clone, Copy)]
pub struct Arrived<'a> {
    pub query: &'a str,
    pub body: &'a Bytes,
    pub form: bool,
    pub depth: usize,
}

/// The parameters of an address or a form, in order. What is not UTF-8 after unescaping is replaced.
fn pairs(text: &[u8]) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    form_urlencoded::parse(text).take(MAX_PARAMETERS)
}

/// Reads a request to `ask`. What the body says wins over the address.
pub fn ask(arrived: Arrived<'_>) -> Result<Asked, Refused> {
    let mut flat = Flat::default();
    pairs(arrived.query.as_bytes()).for_each(|(name, value)| flat.set(&name, &value));
    if arrived.body.iter().all(u8::is_ascii_whitespace) {
        return flat.asked();
    }
    if arrived.form {
        pairs(String::from_utf8_lossy(arrived.body).as_bytes()).for_each(|(name, value)| flat.set(&name, &value));
        return flat.asked();
    }
    let refused = |invalid| Refused { dialect: Dialect::Named, invalid };
    let members = open(arrived.body, arrived.depth).map_err(refused)?;
    match members.object("query") {
        Some(query) => nested(&members, &query),
        None if members.has("query") && members.text("query").is_none() => {
            Err(refused(Invalid::Field { field: "query", problem: "must be text or an object" }))
        }
        None => {
            members.iter().for_each(|(name, value)| flat.set_json(name, &value));
            flat.asked()
        }
    }
}

fn open(body: &Bytes, depth: usize) -> Result<Members, Invalid> {
    let mut reader = Reader::new(body, depth).map_err(Invalid::Json)?;
    let members = Members::read(body, &mut reader).map_err(Invalid::Json)?;
    reader.end().map_err(Invalid::Json)?;
    if members.is_object() { Ok(members) } else { Err(Invalid::NotAnObject) }
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

    fn asked(self) -> Result<Asked, Refused> {
        let refused = |invalid| Refused { dialect: Dialect::Flat, invalid };
        let said = self.decontextualized.or(self.query).ok_or_else(|| refused(Invalid::Missing("query")))?;
        let text = bounded("query", &said).map_err(refused)?;
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

fn bounded(field: &'static str, text: &str) -> Result<Text, Invalid> {
    match text.trim() {
        "" => Err(Invalid::Field { field, problem: "must not be empty" }),
        text if text.len() > MAX_TEXT => Err(Invalid::Field { field, problem: "is too long" }),
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

fn nested(members: &Members, query: &Members) -> Result<Asked, Refused> {
    let dialect = dialect(members);
    let refused = |invalid| Refused { dialect, invalid };
    if dialect == Dialect::Results
        && let Some((unknown, _)) = query.iter().find(|(key, _)| !QUERY.contains(key))
    {
        return Err(refused(Invalid::Unknown(unknown.chars().take(60).collect())));
    }
    let said = query.text("decontextualized_query").or_else(|| query.text("text"));
    let said = said.ok_or_else(|| refused(Invalid::Missing("query.text")))?;
    let text = bounded("query.text", &said).map_err(refused)?;
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
pub fn wait(body: &Bytes, depth: usize) -> Result<(Text, Action), Invalid> {
    let members = open(body, depth)?;
    let token = members.text("promise_token").ok_or(Invalid::Missing("promise_token"))?;
    let action = match members.text("action").as_deref() {
        Some("checkin") => Action::CheckIn,
        Some("cancel") => Action::Cancel,
        Some(_) => return Err(Invalid::Action),
        None => return Err(Invalid::Missing("action")),
    };
    Ok((token.as_ref().into(), action))
}

impl Asked {
    /// The call it stands for: of one peer, or of whoever fits. The manners are this protocol's: a caller who leaves cancels,
    /// until it was given a promise or a question.
    pub fn call(&self, id: &str, site: Option<&str>) -> Call {
        let target = site.map_or(Target::Words, |site| Target::Peer(PeerId::from(site)));
        let turn = |text: &Text| Turn { role: Role::User, parts: vec![Part::text(text.clone(), Provenance::caller())] };
        let input = Input { history: self.prev.iter().map(turn).collect(), ..Input::text(&self.text) };
        let mut call = Call::new(id, self.dialect.wire(), Ask::Invoke { target, input });
        call.caller = Caller {
            can_answer: KindSet::INPUT.with(KindSet::CONFIRM).with(KindSet::CREDENTIAL).with(KindSet::VISIT),
            missing: Missing::Question,
            accepts: Vec::new(),
            tools: Vec::new(),
        };
        call.limits.on_disconnect = OnDisconnect::Cancel;
        call
    }
}
