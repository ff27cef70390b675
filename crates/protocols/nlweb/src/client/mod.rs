//! The client side: requests in the generation that a site speaks, and the answers of any site.
//!
//! An answer is read by its own form, not by the form of the request: JSON or events, named or not, with or without an end mark. Unknown
//! members are skipped; keys and headers that some servers stream are ignored. [`encode`] makes a question of a call, [`decode`] an outcome
//! or a question of a whole reply.

pub mod decode;
pub mod encode;

use bytes::Bytes;
use interlingua_model::json::{Reader, Tree};
use interlingua_model::percent::encoded;
use interlingua_model::{Json, Loss, Schema};
use serde_json::{Value, json};

use crate::wire::{Dialect, MAX_ITEMS, Modes};
use interlingua_wire::members::Members;

/// The one thing a site does.
pub const ASK: &str = "ask";

/// The input of `ask`.
pub fn ask_input() -> Schema {
    let input = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for, in plain words."},
            "site": {"type": "string", "description": "One of the sites behind it; all of them without."},
            "mode": {"type": "string", "enum": ["list", "summarize", "generate"], "description": "Items alone, with a summary, or an answer made of them."},
        },
        "required": ["query"],
    });
    Schema(input.into())
}

/// What is asked.
#[derive(Debug, Clone, Default)]
pub struct Question<'a> {
    pub text: &'a str,
    pub site: Option<&'a str>,
    pub prev: Vec<&'a str>,
    pub modes: Modes,
    /// What the site gave to be brought back.
    pub session: Option<Session>,
}

/// How a request travels.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Parameters of the address.
    Get(String),
    Post(Tree),
}

/// What a site gives to be brought back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Session {
    pub conversation: Option<String>,
    pub state: Option<String>,
}

impl Question<'_> {
    /// In the words of this generation.
    pub fn request(&self, dialect: Dialect) -> Request {
        match dialect {
            Dialect::Flat => Request::Get(self.parameters()),
            Dialect::Content | Dialect::Results | Dialect::Named => Request::Post(self.nested(dialect)),
        }
    }

    fn parameters(&self) -> String {
        let mode = self.modes.as_str();
        let mut pairs = vec![("query", self.text.to_owned()), ("streaming", "true".into())];
        // One is documented, the other is read.
        pairs.push(("mode", mode.into()));
        pairs.push(("generate_mode", if mode == "list" { "none" } else { mode }.into()));
        pairs.extend(self.site.map(|site| ("site", site.to_owned())));
        if !self.prev.is_empty() {
            pairs.push(("prev", json!(self.prev).to_string()));
        }
        let thread = self.session.as_ref().and_then(|session| session.conversation.clone());
        pairs.extend(thread.map(|thread| ("thread_id", thread)));
        let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        pairs.join("&")
    }

    fn nested(&self, dialect: Dialect) -> Tree {
        let mut body = json!({
            "query": {"text": self.text},
            "prefer": {"streaming": true, "mode": self.modes.as_str()},
            "meta": {"api_version": dialect.version()},
        });
        if let Some(site) = self.site {
            body["query"]["site"] = site.into();
        }
        if !self.prev.is_empty() {
            body["context"] = json!({"@type": "ConversationalContext", "prev": self.prev});
        }
        if let Some(session) = &self.session {
            let mut context = json!({});
            for (key, value) in [("conversation_id", &session.conversation), ("state_token", &session.state)] {
                if let Some(value) = value {
                    context[key] = value.as_str().into();
                }
            }
            body["meta"]["session_context"] = context;
        }
        body
    }
}

/// The body of a request to `await`.
pub fn wait(token: &str, cancel: bool) -> Tree {
    json!({"promise_token": token, "action": if cancel { "cancel" } else { "checkin" }})
}

/// What a site has said so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    pub items: Vec<Json>,
    pub text: Vec<String>,
    /// The text above its questions, and the questions.
    pub questions: Option<(String, Vec<Asks>)>,
    pub promise: Option<Promise>,
    /// Code and text.
    pub failure: Option<(String, String)>,
    pub session: Session,
    /// There was more than is taken.
    pub cut: bool,
    /// What a hub says was lost behind it. Whether it is one, whoever asked knows.
    pub losses: Vec<Loss>,
    understood: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asks {
    pub id: String,
    pub text: String,
    pub options: Vec<String>,
    /// More than one of the options may be chosen.
    pub several: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promise {
    pub token: String,
    pub seconds: Option<u64>,
    /// How far it is, or what it waits for.
    pub note: Option<String>,
}

impl Reply {
    /// Was anything said that is part of an answer?
    pub fn is_understood(&self) -> bool {
        self.understood
    }

    /// Is there a part of an answer that can be passed on before the rest has come?
    pub fn has_begun(&self) -> bool {
        !self.items.is_empty() || !self.text.is_empty()
    }

    /// Nothing in it would be said by a site that understood the request.
    pub fn wants_another_dialect(&self, status: u16) -> bool {
        let nothing = !self.has_begun() && self.questions.is_none() && self.promise.is_none();
        let refused = matches!(status, 400 | 404 | 405 | 415 | 422);
        let code = self.failure.as_ref().map_or("", |(code, _)| code.as_str());
        nothing && (refused || !self.understood || code == "INVALID_REQUEST")
    }

    /// One message: a whole answer, or one event of a stream. Text that is not JSON, such as `[DONE]`, says nothing.
    pub fn hear(&mut self, data: &Bytes, depth: usize) {
        let Ok(mut reader) = Reader::new(data, depth) else { return };
        let Ok(members) = Members::read(data, &mut reader) else { return };
        if reader.end().is_err() || !members.is_object() {
            return;
        }
        match members.text("message_type") {
            Some(kind) => self.message(&kind, &members),
            None => self.object(&members),
        }
    }

    /// A message of the first generation.
    fn message(&mut self, kind: &str, members: &Members) {
        self.understood = true;
        match kind {
            "result_batch" | "result" => {
                self.take_items(members.list("results").or_else(|| members.list("content")).unwrap_or_default());
            }
            "summary" => self.say(members, "message"),
            "nlws" => {
                self.say(members, "answer");
                self.take_items(members.list("items").unwrap_or_default());
            }
            "ask_user" => {
                let text = members.text("content").or_else(|| members.text("message")).unwrap_or_default().into_owned();
                self.questions = Some((text.clone(), asks(members).unwrap_or_else(|| free(&text))));
                self.session.conversation = members.text("thread_id").map(|id| id.into_owned());
            }
            "error" => {
                let text = members.text("error").or_else(|| members.text("message")).unwrap_or_default();
                let code = members.text("code").unwrap_or("ERROR".into());
                self.failure = Some((code.into_owned(), text.into_owned()));
            }
            "losses" => self.lose(members),
            // Headers, keys, statistics, and whatever comes after them.
            _ => {}
        }
    }

    fn object(&mut self, members: &Members) {
        if let Some(meta) = members.object("_meta") {
            self.understood = true;
            if let Some(session) = meta.object("session_context") {
                self.remember(&session);
            }
            self.lose(&meta);
        }
        if let Some(session) = members.object("session_context") {
            self.remember(&session);
        }
        for key in ["results", "content"] {
            if let Some(list) = members.list(key) {
                self.understood = true;
                self.take_items(list);
            }
        }
        if let Some(elicitation) = members.object("elicitation") {
            self.understood = true;
            let text = elicitation.text("text").unwrap_or_default().into_owned();
            self.questions = Some((text.clone(), asks(&elicitation).unwrap_or_else(|| free(&text))));
        }
        if let Some(promise) = members.object("promise") {
            self.understood = true;
            let note = promise.text("progress").map(|note| note.into_owned());
            let seconds = promise.number::<u64>("estimated_time");
            self.promise = promise.text("token").map(|token| Promise { token: token.into_owned(), seconds, note });
        }
        if let Some(error) = members.object("error") {
            self.understood = true;
            let text = |key: &str| error.text(key).unwrap_or_default().into_owned();
            self.failure = Some((text("code"), text("message")));
        }
        // A whole answer of the first generation has a member for each message.
        if members.has("query_id") {
            self.understood = true;
            for kind in ["summary", "nlws", "ask_user", "error"] {
                if let Some(message) = members.object(kind) {
                    self.message(kind, &message);
                }
            }
        }
    }

    fn remember(&mut self, session: &Members) {
        let text = |key: &str| session.text(key).map(|text| text.into_owned());
        self.session.conversation = text("conversation_id").or(self.session.conversation.take());
        self.session.state = text("state_token").or(self.session.state.take());
    }

    /// Each message of a stream may say them all anew.
    fn lose(&mut self, members: &Members) {
        if let Some(list) = members.get("losses") {
            self.losses = Loss::listed(list.tree());
        }
    }

    fn say(&mut self, members: &Members, key: &str) {
        self.text.extend(members.text(key).map(|text| text.into_owned()));
    }

    fn take_items(&mut self, list: Vec<Json>) {
        for item in list {
            let members = Members::of(&item);
            let kind = members.text("@type").unwrap_or_default();
            let form = members.text("type").unwrap_or_default();
            match (form.as_ref(), kind.as_ref()) {
                ("text", "") | (_, "Summary" | "SearchSummary") => self.say(&members, "text"),
                ("resource", "") => self.push(members.get("resource").unwrap_or(item)),
                _ => self.push(item),
            }
        }
    }

    fn push(&mut self, item: Json) {
        match self.items.len() < MAX_ITEMS && item.is_object() {
            true => self.items.push(item),
            false => self.cut = true,
        }
    }

    /// The answer as structured data: the items in the order of their index, where they have one.
    pub fn structured(&self) -> Json {
        let mut items: Vec<&Json> = self.items.iter().collect();
        let index = |item: &&Json| item.get("index").and_then(Value::as_u64).unwrap_or(u64::MAX);
        items.sort_by_key(index);
        let mut bytes = b"{\"results\":[".to_vec();
        for (position, item) in items.into_iter().enumerate() {
            if position > 0 {
                bytes.push(b',');
            }
            bytes.extend_from_slice(item.as_bytes());
        }
        bytes.extend_from_slice(b"]}");
        Json::parse(bytes.into()).unwrap_or_else(|_| Json::empty_object())
    }
}

fn asks(members: &Members) -> Option<Vec<Asks>> {
    let one = |json: &Json| {
        let question = Members::of(json);
        let text = |key: &str| question.text(key).unwrap_or_default().into_owned();
        let options = question.list("options").unwrap_or_default();
        let option = |json: &Json| json.tree().as_str().map(str::to_owned);
        let options = options.iter().filter_map(option).take(100).collect();
        Asks { id: text("id"), text: text("text"), options, several: text("type") == "multi_select" }
    };
    let list = members.list("questions")?;
    let asks: Vec<Asks> = list.iter().take(32).map(one).filter(|asks| !asks.id.is_empty()).collect();
    (!asks.is_empty()).then_some(asks)
}

fn free(text: &str) -> Vec<Asks> {
    vec![Asks { id: "answer".into(), text: text.to_owned(), options: Vec::new(), several: false }]
}
