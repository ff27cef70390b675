//! Translation losses: what a translation could not carry. A loss is data: it is sent along, journaled and shown.

use serde::{Deserialize, Serialize};

use crate::id::Text;
use crate::json::Tree;
use crate::visible::visible_line;

/// A value, and the losses of converting to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried<T> {
    /// What there is.
    pub value: T,
    /// What was lost; empty where nothing was.
    pub losses: Vec<Loss>,
}

impl<T> Carried<T> {
    /// A value of which nothing was lost.
    pub fn whole(value: T) -> Self {
        Carried { value, losses: Vec::new() }
    }
}

/// Which way something was going when it was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// To the peer.
    Input,
    /// To the caller.
    Output,
}

impl Way {
    /// The first word of what is lost on this way.
    pub fn as_str(self) -> &'static str {
        match self {
            Way::Input => "input",
            Way::Output => "output",
        }
    }

    /// A loss at parts of this kind, or at what stands beside their content.
    pub fn part(self, what: &str, kind: LossKind) -> Loss {
        Loss::new(format!("{}.parts.{what}", self.as_str()), kind)
    }
}

/// What of a part can be lost: its kind, or what stands beside its content. After `input.parts.` and `output.parts.`.
pub const PART_NAMES: [&str; 12] =
    ["blob", "code", "data", "error", "label", "language", "link", "name", "other", "place", "text", "uri"];

/// The other names of what can be lost, each with what it means. No codec uses another; `docs/losses.md` lists them all.
pub const NAMES: [(&str, &str); 17] = [
    ("call.conversation", "which conversation the call belongs to"),
    ("call.kind", "what a message between agents is for, such as `event`"),
    ("call.priority", "how urgent the call is"),
    ("call.references", "the other tasks that the call refers to"),
    ("call.skill", "which skill is called"),
    ("call.tools", "the tools that the caller offers"),
    ("finished.outcome", "how the exchange ended"),
    ("input.args", "the arguments"),
    ("input.history", "what was said before"),
    ("input.parts", "content that only a hub may write"),
    ("message.content", "the content of an envelope that has no meaning there"),
    ("message.content.messages", "messages of a chat that the hub does not read"),
    ("metadata.context", "what an envelope's caller wants to have stored in its session"),
    ("output.artifacts", "artifacts that can be fetched nowhere and are not in the answer"),
    ("output.parts", "content beyond what one answer holds"),
    ("output.structured", "the structured result, or rows of it"),
    ("token.conversation_turn", "the turn that an envelope says"),
];

/// `what` is a name of [`NAMES`], or one of [`PART_NAMES`] on a [`Way`]. An envelope also loses members of its message that nobody knows
/// (`message.MEMBER`, `submessages[INDEX]`), and a task the notifications beyond its limit (`COUNT notifications`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// What was lost, as a path in the model.
    pub what: Text,
    /// How it was lost.
    pub kind: LossKind,
}

impl Loss {
    /// A loss at this path.
    pub fn new(what: impl Into<Text>, kind: LossKind) -> Self {
        Loss { what: what.into(), kind }
    }

    /// Losses in another hub's list: objects with `what` and `kind`. Other entries are skipped; the number of entries and the length of a
    /// name are bounded.
    pub fn listed(list: &Tree) -> Vec<Loss> {
        const MOST: usize = 100;
        const LONGEST: usize = 200;
        let read = |loss: &Tree| {
            let kind = LossKind::named(loss.get("kind")?.as_str()?)?;
            let what: String = loss.get("what")?.as_str()?.chars().take(LONGEST).collect();
            Some(Loss::new(visible_line(&what).into_owned(), kind))
        };
        list.as_array().into_iter().flatten().take(MOST).filter_map(read).collect()
    }
}

/// How many losses of one exchange are remembered.
pub const MOST_LOSSES: usize = 16;

/// Adds new losses to `known`, within its bound: a stream may lose the same thing in every piece.
pub fn gather_losses<'a>(known: &mut Vec<Loss>, more: impl IntoIterator<Item = &'a Loss>) {
    for loss in more {
        if known.len() >= MOST_LOSSES {
            return;
        }
        if !known.contains(loss) {
            known.push(loss.clone());
        }
    }
}

/// How something was lost. Collecting a stream into one answer is not a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LossKind {
    /// It is gone.
    Dropped,
    /// Its content is carried, its structure is not.
    Flattened,
    /// Something similar replaces it.
    Approximated,
    /// The hub answered for a side that could not.
    AnsweredByHub,
}

impl LossKind {
    /// The kind of this spelling.
    pub fn named(name: &str) -> Option<LossKind> {
        let all = [LossKind::Dropped, LossKind::Flattened, LossKind::Approximated, LossKind::AnsweredByHub];
        all.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The spelling in protocols and the audit log.
    pub fn as_str(self) -> &'static str {
        match self {
            LossKind::Dropped => "dropped",
            LossKind::Flattened => "flattened",
            LossKind::Approximated => "approximated",
            LossKind::AnsweredByHub => "answered_by_hub",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_lost_again_and_again_is_remembered_once_and_no_more_than_there_is_room_for() {
        let mut known = Vec::new();
        gather_losses(&mut known, &[]);
        assert_eq!(known.capacity(), 0, "where nothing is lost nothing is kept");
        let same = Loss::new("output.parts.code", LossKind::Flattened);
        for _ in 0..1_000 {
            gather_losses(&mut known, [&same, &Loss::new("output.parts.code", LossKind::Dropped)]);
        }
        assert_eq!(
            known,
            [same, Loss::new("output.parts.code", LossKind::Dropped)],
            "of another kind it is another loss"
        );
        for n in 0..1_000 {
            gather_losses(&mut known, [&Loss::new(n.to_string(), LossKind::Dropped)]);
        }
        assert_eq!(known.len(), MOST_LOSSES);
    }

    #[test]
    fn names_are_sorted_and_each_is_there_once() {
        assert!(PART_NAMES.is_sorted() && NAMES.is_sorted_by(|(one, _), (next, _)| one < next));
        let both = [Way::Input, Way::Output].map(|way| way.part("text", LossKind::Dropped).what);
        assert_eq!(both.each_ref().map(|name| &**name), ["input.parts.text", "output.parts.text"]);
    }

    #[test]
    fn losses_of_another_hub_are_read_as_far_as_they_are_some() {
        let list = json!([
            {"what": "call.priority", "kind": "dropped"}, {"what": "output.parts.place", "kind": "flattened"},
            {"what": "x", "kind": "eaten"}, {"kind": "dropped"}, 7,
        ]);
        let read = Loss::listed(&list);
        assert_eq!(
            read,
            [Loss::new("call.priority", LossKind::Dropped), Loss::new("output.parts.place", LossKind::Flattened)]
        );
        let many = json!(vec![json!({"what": "w".repeat(10_000), "kind": "dropped"}); 1_000]);
        let read = Loss::listed(&many);
        assert!(read.len() == 100 && read.iter().all(|loss| loss.what.len() == 200), "{}", read.len());
        assert_eq!(Loss::listed(&json!({"what": "x", "kind": "dropped"})), []);
    }
}
