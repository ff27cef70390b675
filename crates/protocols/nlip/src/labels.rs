//! Labels. Those that begin with `interlingua-` are the hub's own extensions; a chat role or a sequence number in a label places a
//! submessage in the history of the conversation (first draft, clause 5.2.1). Any other label belongs to the sender and stays on its part.

use interlingua_model::{Part, Role, Turn};

pub const CALL: &str = "interlingua-call";
pub const ANSWER: &str = "interlingua-answer";
pub const QUESTION: &str = "interlingua-question";
pub const ROUTE: &str = "interlingua-route";
pub const LOSSES: &str = "interlingua-losses";
pub const FAULT: &str = "interlingua-fault";
pub const RESULT: &str = "interlingua-result";
/// A task that its caller was told the id of: how it stands is asked, or it is cancelled; the answer says that it goes on.
pub const TASK: &str = "interlingua-task";
pub const SKILLS: &str = "interlingua-skills";
/// What a control message asked about the endpoint.
pub const TERMS: &str = "interlingua-terms";
/// Events on topics: what a client wants of them, and each as it comes.
pub const TOPIC: &str = "interlingua-topic";
/// On a WebSocket, where no header goes with a message.
pub const VIA: &str = "interlingua-via";
pub const ORIGIN: &str = "interlingua-origin";

const OURS: &str = "interlingua-";

/// Is this a label only a hub writes?
pub fn is_ours(label: &str) -> bool {
    label.get(..OURS.len()).is_some_and(|start| start.eq_ignore_ascii_case(OURS))
}

/// A place in a chat: `user`, `assistant:2`, `3-tool`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seat {
    pub(super) role: Role,
    pub(super) number: Option<u32>,
}

impl Seat {
    /// A label that is a role, or a role and a number in either order. A number alone says nothing about who spoke.
    pub(super) fn of(label: &str) -> Option<Seat> {
        const BETWEEN: [char; 7] = [':', '-', '_', '#', '/', '.', ' '];
        if let Some(role) = role(label) {
            return Some(Seat { role, number: None });
        }
        let (left, right) = label.split_once(BETWEEN)?;
        let right = right.trim_start_matches(BETWEEN);
        match (role(left), role(right)) {
            (Some(role), None) => Some(Seat { role, number: Some(right.parse().ok()?) }),
            (None, Some(role)) => Some(Seat { role, number: Some(left.parse().ok()?) }),
            (Some(_), Some(_)) | (None, None) => None,
        }
    }
}

fn role(word: &str) -> Option<Role> {
    const WORDS: [(&str, Role); 9] = [
        ("user", Role::User),
        ("human", Role::User),
        ("assistant", Role::Agent),
        ("agent", Role::Agent),
        ("model", Role::Agent),
        ("bot", Role::Agent),
        ("system", Role::System),
        ("tool", Role::Tool),
        ("function", Role::Tool),
    ];
    WORDS.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(word.trim())).map(|(_, role)| role)
}

/// How a role is written in a label.
pub(super) fn name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Agent => "assistant",
        Role::Tool => "tool",
    }
}

/// Takes the turns out of the parts. Numbered ones stand in the order of their numbers, the others after those, as they
/// came; neighbours with the same number and role are one turn.
pub(super) fn take_history(parts: &mut Vec<Part>) -> Vec<Turn> {
    if !parts.iter().any(|part| seat(part).is_some()) {
        return Vec::new();
    }
    let mut seated: Vec<(Seat, Part)> = Vec::new();
    for part in std::mem::take(parts) {
        match seat(&part) {
            Some(seat) => seated.push((seat, part)),
            None => parts.push(part),
        }
    }
    seated.sort_by_key(|(seat, _)| seat.number.unwrap_or(u32::MAX));
    let mut turns: Vec<(Seat, Turn)> = Vec::new();
    for (seat, part) in seated {
        match turns.last_mut() {
            Some((last, turn)) if *last == seat && seat.number.is_some() => turn.parts.push(part),
            _ => turns.push((seat, Turn { role: seat.role, parts: vec![part] })),
        }
    }
    turns.into_iter().map(|(_, turn)| turn).collect()
}

fn seat(part: &Part) -> Option<Seat> {
    Seat::of(part.label.as_deref()?)
}
