//! Decoder of a program's output (the table is in the module above).

use bytes::Bytes;
use interlingua_model::json::{BadJson, Tree};
use interlingua_model::{Event, Json, Level};
use serde::Deserialize;

/// How standard output is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReplyForm {
    /// All of it is one JSON value.
    #[default]
    Value,
    /// Each line is one JSON object.
    Lines,
}

/// One line of [`ReplyForm::Lines`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ReplyLine {
    Progress(Event),
    Log(Level, String),
    Result { value: Json, text: Option<String> },
    Error(String),
}

/// Why a line or value is none of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadReply {
    #[error("the reply is not JSON: {0}")]
    NotJson(#[from] BadJson),
    #[error("a line of the reply is not an object with one of progress, log, result, error")]
    UnknownLine,
    #[error("the reply has no result")]
    NoResult,
    #[error("the reply goes on after its result")]
    AfterResult,
    #[error("the reply is larger than {limit} bytes")]
    TooLarge { limit: usize },
}

pub(crate) fn value(bytes: Bytes) -> Result<Json, BadReply> {
    match bytes.iter().all(u8::is_ascii_whitespace) {
        true => Err(BadReply::NoResult),
        false => Ok(Json::parse(bytes)?),
    }
}

/// The words a failing program chose for its caller.
pub(super) fn chosen_error(json: &Json) -> Option<String> {
    json.get("error").and_then(error_text)
}

pub(crate) fn line(bytes: Bytes) -> Result<ReplyLine, BadReply> {
    let json = Json::parse(bytes)?;
    let tree = json.tree();
    let keys = ["progress", "log", "result", "error"].map(|key| tree.get(key));
    match keys {
        [Some(progress), None, None, None] => progress_event(progress).map(ReplyLine::Progress),
        [None, Some(log), None, None] => log_line(log),
        [None, None, Some(result), None] => {
            let text = tree.get("text").and_then(Tree::as_str).map(str::to_owned);
            Some(ReplyLine::Result { value: Json::from_tree(result.clone()), text })
        }
        [None, None, None, Some(error)] => error_text(error).map(ReplyLine::Error),
        _ => None,
    }
    .ok_or(BadReply::UnknownLine)
}

fn error_text(error: &Tree) -> Option<String> {
    error.as_str().or_else(|| error.get("message")?.as_str()).map(str::to_owned)
}

fn progress_event(progress: &Tree) -> Option<Event> {
    if let Some(note) = progress.as_str() {
        return Some(Event::Progress { done: None, total: None, note: Some(note.into()) });
    }
    let number = |key| progress.get(key).and_then(Tree::as_f64);
    let note = progress.get("note").and_then(Tree::as_str).map(Into::into);
    progress.is_object().then(|| Event::Progress { done: number("done"), total: number("total"), note })
}

fn log_line(log: &Tree) -> Option<ReplyLine> {
    if let Some(text) = log.as_str() {
        return Some(ReplyLine::Log(Level::Info, text.to_owned()));
    }
    let level = match log.get("level").and_then(Tree::as_str) {
        Some("debug") => Level::Debug,
        Some("info") | None => Level::Info,
        Some("warning") => Level::Warning,
        Some("error") => Level::Error,
        Some(_) => return None,
    };
    Some(ReplyLine::Log(level, log.get("text")?.as_str()?.to_owned()))
}
