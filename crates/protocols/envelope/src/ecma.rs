//! Converts between the envelope and the message of ECMA-430, without loss in either direction (H-24).
//!
//! An envelope becomes a message whose first submessage describes it in words, so that an endpoint that does not know envelopes can still
//! read it; the pieces follow as structured submessages with labels of ours, the tokens as token submessages. A message becomes an envelope
//! that carries it in its content. Tokens are not part of that content: a token submessage travels in `token.state_token`, whose value only
//! the sender interprets.

use bytes::Bytes;
use interlingua_model::json::{BadJson, Kind, Reader, Tree};
use interlingua_model::{Carried, Json, Loss, LossKind, Secret, Text};

use super::invalid::Invalid;
use super::wire::{self, Control, Format, Head, Limits, Message, MessageType, Rejected, Token};
use interlingua_nlip::Submessage;
use interlingua_nlip::wire::{Content, ERROR};
use interlingua_wire::object::Object;

const HEADER: &str = "envelope";
const FORMAT: &str = "envelope-format";
const CONTROL: &str = "envelope-control";
const CONTENT: &str = "envelope-content";
const CALL: &str = "envelope-tool-call";
const RESULT: &str = "envelope-tool-result";
const METADATA: &str = "envelope-metadata";

const SESSION: &str = "conversation_session";
const CONTEXT: &str = "conversation_context";
const STATE: &str = "conversation_state";
const CREDENTIAL: &str = "authorization_envelope";

/// The member of `content` that carries a message.
const MESSAGE: &str = "nlip";

/// An envelope as a message.
pub fn to_ecma(envelope: &Message) -> interlingua_nlip::Message {
    let mut message = interlingua_nlip::Message::text(words(envelope));
    if envelope.control.message_type == MessageType::Error {
        message = message.typed(ERROR);
    }
    let header = Object::json(|header| {
        header.number("conversation_turn", envelope.token.conversation_turn);
        header.bool("tool_calls", envelope.tool_calls.is_some());
        header.bool("tool_results", envelope.tool_results.is_some());
    });
    let piece = |label: &str, json: Json| Submessage::json(json).labelled(label);
    let mut pieces = vec![
        piece(HEADER, header),
        piece(FORMAT, Object::json(|out| envelope.format.write(out))),
        piece(CONTROL, Object::json(|out| envelope.control.write_public(out))),
        piece(CONTENT, envelope.content.clone()),
        piece(METADATA, envelope.metadata.clone()),
    ];
    let calls = envelope.tool_calls.iter().flatten();
    pieces.extend(calls.map(|call| piece(CALL, Object::json(|out| call.write(out)))));
    let results = envelope.tool_results.iter().flatten();
    pieces.extend(results.map(|result| piece(RESULT, Object::json(|out| result.write(out)))));
    pieces.extend(tokens(envelope));
    message.submessages = pieces;
    message
}

fn tokens(envelope: &Message) -> impl Iterator<Item = Submessage> {
    let token = &envelope.token;
    let secret = |secret: &Option<Secret>| secret.as_ref().and_then(Secret::text).map(Text::from);
    let all = [
        (CREDENTIAL, secret(&envelope.control.auth_token)),
        (SESSION, token.session_id.clone()),
        (CONTEXT, secret(&token.context_token)),
        (STATE, secret(&token.state_token)),
    ];
    all.into_iter().filter_map(|(name, value)| value.map(|value| Submessage::token(name, value)))
}

/// What a person would be told.
fn words(envelope: &Message) -> String {
    let content = |key| envelope.content.get(key).and_then(Tree::as_str).map(str::to_owned);
    let last = || envelope.content.get("messages")?.as_array()?.last()?.get("content")?.as_str().map(str::to_owned);
    let calls = || {
        let names: Vec<&str> = envelope.tool_calls.iter().flatten().map(|call| &*call.tool_name).collect();
        (!names.is_empty()).then(|| format!("Please call {}.", names.join(", ")))
    };
    content("error")
        .or_else(|| content("content"))
        .or_else(|| content("stream_chunk"))
        .or_else(|| content("result"))
        .or_else(last)
        .or_else(calls)
        .unwrap_or_else(|| format!("A {} in a routing envelope.", envelope.control.message_type.as_str()))
}

/// Is this message an envelope?
pub fn is_envelope(message: &interlingua_nlip::Message) -> bool {
    message.submessages.iter().any(|submessage| submessage.has_label(HEADER))
}

/// The envelope that [`to_ecma`] made into this message, checked as any other. Submessages that belong to none of its
/// pieces are losses.
pub fn from_ecma(message: &interlingua_nlip::Message, limits: &Limits) -> Result<Carried<Message>, Box<Rejected>> {
    let mut pieces = Pieces::default();
    for (index, submessage) in message.submessages.iter().enumerate() {
        if !pieces.take(submessage).map_err(|invalid| Box::new(Rejected { invalid, head: Head::default() }))? {
            pieces.losses.push(Loss::new(format!("submessages[{index}]"), LossKind::Dropped));
        }
    }
    let mut frame = Vec::new();
    pieces.write(&mut frame);
    let mut carried = wire::read(&frame.into(), limits)?;
    carried.losses.append(&mut pieces.losses);
    Ok(carried)
}

/// An envelope taken apart.
#[derive(Default)]
struct Pieces {
    header: Option<Json>,
    format: Option<Json>,
    control: Option<Json>,
    content: Option<Json>,
    metadata: Option<Json>,
    calls: Vec<Json>,
    results: Vec<Json>,
    credential: Option<Text>,
    session: Option<Text>,
    context: Option<Text>,
    state: Option<Text>,
    losses: Vec<Loss>,
}

impl Pieces {
    /// False when the submessage is none of ours. The same piece twice is refused: nobody could say which one counts.
    fn take(&mut self, submessage: &Submessage) -> Result<bool, Invalid> {
        if submessage.format == interlingua_nlip::Format::Token {
            return self.take_token(submessage);
        }
        let Content::Json(json) = &submessage.content else { return Ok(false) };
        let place = match submessage.label.as_deref().map(str::to_ascii_lowercase).as_deref() {
            Some(HEADER) => &mut self.header,
            Some(FORMAT) => &mut self.format,
            Some(CONTROL) => &mut self.control,
            Some(CONTENT) => &mut self.content,
            Some(METADATA) => &mut self.metadata,
            Some(CALL) => {
                self.calls.push(json.clone());
                return Ok(true);
            }
            Some(RESULT) => {
                self.results.push(json.clone());
                return Ok(true);
            }
            Some(_) | None => return Ok(false),
        };
        once(place, json.clone(), submessage.label.as_deref().unwrap_or_default())
    }

    fn take_token(&mut self, submessage: &Submessage) -> Result<bool, Invalid> {
        let Content::Text(text) = &submessage.content else { return Ok(false) };
        let place = match &*submessage.subformat.to_ascii_lowercase() {
            CREDENTIAL => &mut self.credential,
            SESSION => &mut self.session,
            CONTEXT => &mut self.context,
            STATE => &mut self.state,
            _ => return Ok(false),
        };
        once(place, text.clone(), &submessage.subformat)
    }

    /// The envelope's own JSON; what is missing is left to its reader to refuse or to default.
    fn write(&self, out: &mut Vec<u8>) {
        let header = |key| self.header.as_ref().and_then(|header| header.get(key));
        let mut envelope = Object::open(out);
        let pieces = [("format", &self.format), ("content", &self.content), ("metadata", &self.metadata)];
        for (key, piece) in pieces {
            if let Some(piece) = piece {
                envelope.value(key, piece);
            }
        }
        envelope.object("control", |control| {
            if let Some(public) = self.control.as_ref().filter(|piece| piece.is_object()) {
                control.splice(public);
            }
            if let Some(credential) = &self.credential {
                control.text("auth_token", credential);
            }
        });
        envelope.object("token", |token| {
            token.text_or_null("session_id", self.session.as_deref());
            token.text_or_null("context_token", self.context.as_deref());
            token.text_or_null("state_token", self.state.as_deref());
            if let Some(turn) = header("conversation_turn") {
                token.value("conversation_turn", &Json::from_tree(turn.clone()));
            }
        });
        for (key, list) in [("tool_calls", &self.calls), ("tool_results", &self.results)] {
            if !list.is_empty() || header(key) == Some(&Tree::Bool(true)) {
                envelope.array(key, list, |item, out| out.extend_from_slice(item.as_bytes()));
            }
        }
        envelope.finish();
    }
}

fn once<T>(place: &mut Option<T>, value: T, name: &str) -> Result<bool, Invalid> {
    if place.is_some() {
        return Err(Invalid::Field { path: name.to_owned(), problem: "is there twice" });
    }
    *place = Some(value);
    Ok(true)
}

/// An envelope that carries a message: as a chat, where it has words, and whole.
pub fn carry(message: &interlingua_nlip::Message, message_id: impl Into<Text>) -> Message {
    let mut bare = message.clone();
    let mut held = Vec::new();
    if bare.first.format == interlingua_nlip::Format::Token {
        held.push(take(&mut bare.first));
    }
    held.extend(bare.submessages.iter_mut().filter(|it| it.format == interlingua_nlip::Format::Token).map(take));
    let said = message.all().find(|it| it.format == interlingua_nlip::Format::Text).and_then(|it| it.content.as_text());
    let content = Object::json(|content| {
        if let Some(said) = &said {
            content.array("messages", [said], |said, out| {
                let mut turn = Object::open(out);
                turn.text("role", "user");
                turn.text("content", said);
                turn.finish();
            });
        }
        content.key(MESSAGE).extend_from_slice(&interlingua_nlip::json::encode(&bare, interlingua_nlip::Keys::Lower));
    });
    let state = (!held.is_empty()).then(|| Secret::new(list(&held)));
    Message {
        format: Format::default(),
        control: Control::new(MessageType::Request, message_id),
        token: Token { state_token: state, ..Token::default() },
        content,
        tool_calls: None,
        tool_results: None,
        metadata: Json::empty_object(),
    }
}

/// Takes a token's value out of its submessage. Its JSON spelling keeps a string apart from any other value.
fn take(submessage: &mut Submessage) -> Json {
    match std::mem::replace(&mut submessage.content, Content::Text("".into())) {
        Content::Text(text) => Json::from_tree((*text).into()),
        Content::Json(json) => json,
        // No reader of messages makes a token of bytes.
        Content::Bytes(_) => Json::null(),
    }
}

fn list(items: &[Json]) -> Vec<u8> {
    let mut out = vec![b'['];
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        out.extend_from_slice(item.as_bytes());
    }
    out.push(b']');
    out
}

/// The message that [`carry`] put into this envelope; none when it carries none, or not the tokens that belong to it.
pub fn carried(envelope: &Message, limits: &interlingua_nlip::Limits) -> Option<interlingua_nlip::Message> {
    let frame = member(&envelope.content, MESSAGE)?;
    let mut message = interlingua_nlip::json::decode(&frame, limits).ok()?;
    let mut held = match &envelope.token.state_token {
        Some(state) => elements(state.value()?, limits)?.into_iter(),
        None => Vec::new().into_iter(),
    };
    let all = std::iter::once(&mut message.first).chain(&mut message.submessages);
    for submessage in all.filter(|submessage| submessage.format == interlingua_nlip::Format::Token) {
        submessage.content = held.next()?;
    }
    held.next().is_none().then_some(message)
}

/// The bytes of one member, as they stand: a tree would not keep numbers as they were written.
fn member(object: &Json, name: &str) -> Option<Bytes> {
    let mut found = None;
    let read = Reader::of(object).object::<BadJson>(|key, reader| {
        let span = reader.skip()?;
        if key == name {
            found = Some(object.as_bytes().slice(span.0..span.1));
        }
        Ok(())
    });
    read.ok().and(found)
}

fn elements(list: &[u8], limits: &interlingua_nlip::Limits) -> Option<Vec<Content>> {
    let frame = Bytes::copy_from_slice(list);
    let mut reader = Reader::new(&frame, limits.depth).ok()?;
    let mut contents = Vec::new();
    let read = reader.array::<BadJson>(|_, reader| {
        contents.push(match reader.kind()? {
            Kind::String => Content::Text(reader.string()?.into()),
            _ => Content::Json(Json::slice(&frame, reader.skip()?)),
        });
        Ok(())
    });
    read.and_then(|()| reader.end()).ok().map(|()| contents)
}
