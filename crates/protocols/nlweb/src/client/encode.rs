//! Encodes a call, or the answer to a site's question, as a request to the site.

use interlingua_model::json::Tree;
use interlingua_model::peer::Answering;
use interlingua_model::{
    Answer, Call, Carried, Fault, FaultKind, Feature, Input, Loss, LossKind, Part, QuestionKind, Role, Secret, Turn,
    Way,
};

use super::{Question, Session};
use crate::wire::Modes;

/// What a call wants to know.
#[derive(Debug, Clone)]
pub struct Wanted {
    text: String,
    site: Option<String>,
    prev: Vec<String>,
    modes: Modes,
    /// What the site gave to be brought back.
    pub session: Option<Session>,
}

/// `answering`: what the site asked when the same call was made before.
pub fn call(call: &Call, answering: Option<&Answering>) -> Result<Carried<Wanted>, Fault> {
    let unsupported =
        || Fault::hub(FaultKind::Unsupported(Feature::Operation), "a site can be asked, and nothing else");
    let input = call.input().ok_or_else(unsupported)?;
    let arg =
        |name: &str| input.args.as_ref().and_then(|args| args.get(name)).and_then(Tree::as_str).map(str::to_owned);
    let (mut text, mut session) = (arg("query").unwrap_or_else(|| input.words().into_owned()), None);
    if let Some(answering) = answering {
        text = spoken(&answering.question.kind, &answering.answer).unwrap_or(text);
        session = answering.question.resume.as_ref().and_then(Secret::text).and_then(resumed);
    }
    if text.trim().is_empty() {
        return Err(Fault::caller(FaultKind::InvalidInput, "there is nothing to ask").field("query", "is missing"));
    }
    let mode = arg("mode").unwrap_or_default();
    let earlier = |turn: &Turn| {
        let words: Vec<&str> = turn.parts.iter().filter_map(Part::as_text).collect();
        words.join(" ")
    };
    let losses = lost(input);
    let wanted = Wanted {
        text,
        site: arg("site"),
        prev: input.history.iter().map(earlier).collect(),
        modes: Modes { summarize: mode == "summarize", generate: mode == "generate" },
        session,
    };
    Ok(Carried { value: wanted, losses })
}

/// The arguments that a site is asked with.
const TAKEN: [&str; 3] = ["query", "site", "mode"];

/// What a site is not asked with. It takes one question; with it go the words of earlier ones.
fn lost(input: &Input) -> Vec<Loss> {
    let mut losses = input.lost_marks();
    losses.extend(input.lost_but_words());
    let args = input.args.as_ref().and_then(|args| args.tree().as_object());
    let is_taken = |(name, value): (&String, &Tree)| TAKEN.contains(&name.as_str()) && value.is_string();
    if args.is_some_and(|args| !args.iter().all(is_taken)) {
        losses.push(Loss::new("input.args", LossKind::Dropped));
    }
    let asks = args.and_then(|args| args.get("query")).and_then(Tree::as_str);
    let said = input.words();
    if asks.is_some_and(|asks| !said.is_empty() && said != asks) {
        losses.push(Way::Input.part("text", LossKind::Dropped));
    }
    let is_question = |turn: &Turn| turn.role == Role::User && turn.parts.iter().all(|part| part.as_text().is_some());
    if !input.history.iter().all(is_question) {
        losses.push(Loss::new("input.history", LossKind::Flattened));
    }
    losses
}

impl Wanted {
    pub fn question(&self) -> Question<'_> {
        Question {
            text: &self.text,
            site: self.site.as_deref(),
            prev: self.prev.iter().map(String::as_str).collect(),
            modes: self.modes,
            session: self.session.clone(),
        }
    }
}

/// An answer in words: as it was said, or the values that were given.
fn spoken(question: &QuestionKind, answer: &Answer) -> Option<String> {
    let input = match (question, answer) {
        (QuestionKind::Confirm(_), Answer::Granted) => return Some("yes".into()),
        (QuestionKind::Confirm(_), _) => return Some("no".into()),
        (_, Answer::Given(input)) => input,
        (_, Answer::Granted | Answer::Token(_) | Answer::Visited | Answer::Declined | Answer::Dismissed) => {
            return None;
        }
    };
    let Some(values) = input.args.as_ref().and_then(|args| args.tree().as_object()) else {
        return Some(input.words().into_owned());
    };
    let one = |value: &Tree| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let said = values.values().flat_map(|value| value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice));
    Some(said.map(one).collect::<Vec<_>>().join(", "))
}

fn resumed(text: &str) -> Option<Session> {
    let kept: Tree = serde_json::from_str(text).ok()?;
    let text = |key: &str| kept.get(key).and_then(Tree::as_str).map(str::to_owned);
    Some(Session { conversation: text("conversation"), state: text("state") })
}
