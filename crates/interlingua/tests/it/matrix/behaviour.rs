//! What a callee may do, what it is asked for it, and when a caller has seen it done.

use serde_json::{Value, json};

use super::seen::Seen;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Behaviour {
    Answer,
    Stream,
    Question,
    Failure,
    Cancel,
    Deadline,
    Large,
    Artifact,
}

impl Behaviour {
    pub(super) const ALL: [Behaviour; 8] = [
        Behaviour::Answer,
        Behaviour::Stream,
        Behaviour::Question,
        Behaviour::Failure,
        Behaviour::Cancel,
        Behaviour::Deadline,
        Behaviour::Large,
        Behaviour::Artifact,
    ];

    pub(super) fn title(self) -> &'static str {
        match self {
            Behaviour::Answer => "Answer",
            Behaviour::Stream => "Stream",
            Behaviour::Question => "Question back",
            Behaviour::Failure => "Failure",
            Behaviour::Cancel => "Cancel",
            Behaviour::Deadline => "Deadline",
            Behaviour::Large => "Large and binary content",
            Behaviour::Artifact => "Artifact",
        }
    }

    /// The name of the scene, and of the tool that plays it.
    pub(super) fn scene(self) -> &'static str {
        match self {
            Behaviour::Answer => "answer",
            Behaviour::Stream => "stream",
            Behaviour::Question => "question",
            Behaviour::Failure => "failure",
            Behaviour::Cancel | Behaviour::Deadline => "slow",
            Behaviour::Large => "large",
            Behaviour::Artifact => "artifact",
        }
    }

    /// What the tool says of itself, and what somebody says who wants it and knows no names.
    pub(super) fn phrase(self) -> &'static str {
        match self {
            Behaviour::Answer => "tell the number of everything",
            Behaviour::Stream => "count aloud",
            Behaviour::Question => "pick some weekday",
            Behaviour::Failure => "jam again",
            Behaviour::Cancel | Behaviour::Deadline => "take hours",
            Behaviour::Large => "paint pictures",
            Behaviour::Artifact => "write reports",
        }
    }
}

/// How a callee is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Door {
    /// By words; a caller that only knows arguments puts them under this name.
    Words(&'static str),
    /// By name and arguments.
    Tool,
}

/// What a callee is asked, and what is to come of it.
#[derive(Debug, Clone)]
pub(super) struct Scene {
    pub(super) peer: &'static str,
    pub(super) skill: &'static str,
    pub(super) door: Door,
    pub(super) words: String,
    /// What must be read in the end.
    pub(super) says: &'static str,
    /// What must be asked on the way, and what is answered.
    pub(super) asks: &'static str,
    pub(super) answer: &'static str,
    pub(super) content: Content,
    /// What an artifact is called.
    pub(super) name: &'static str,
    /// What the caller calls this call, where its wire has a place for it: sent again, it is the same call.
    pub(super) key: Option<String>,
}

/// Of the scene that gives something large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Bytes,
    Text,
}

impl Scene {
    /// A scene of somebody who goes by the first word of what it hears.
    pub(super) fn worded(peer: &'static str, skill: &'static str, argument: &'static str, on: Behaviour) -> Scene {
        let words = format!("{} please", on.scene());
        Scene { words, skill, door: Door::Words(argument), ..Scene::tool(peer, on) }
    }

    /// A scene of somebody who has a tool for it.
    pub(super) fn tool(peer: &'static str, on: Behaviour) -> Scene {
        Scene {
            peer,
            skill: on.scene(),
            door: Door::Tool,
            words: on.phrase().to_owned(),
            says: match on {
                Behaviour::Answer => "forty-two",
                Behaviour::Stream => "one two three",
                Behaviour::Question => "heard Tuesday",
                Behaviour::Failure => "out of paper",
                Behaviour::Cancel | Behaviour::Deadline | Behaviour::Large => "",
                Behaviour::Artifact => "page one",
            },
            asks: "Which day?",
            answer: "Tuesday",
            content: Content::Bytes,
            name: "report",
            key: None,
        }
    }

    /// The call as a program is told to make it.
    pub(super) fn command(&self, on: Behaviour) -> Value {
        let (agent, argument) = match self.door {
            Door::Words(argument) => (true, argument),
            Door::Tool => (false, ""),
        };
        json!({
            "peer": self.peer, "skill": self.skill, "agent": agent, "argument": argument, "words": self.words,
            "arguments": {}, "answer": self.answer, "stream": matches!(on, Behaviour::Stream | Behaviour::Cancel),
            "deadline": (on == Behaviour::Deadline).then_some(DEADLINE), "key": self.key,
        })
    }
}

/// What a caller gives a callee that needs hours.
pub(super) const DEADLINE: &str = "2s";

/// What the large scenes give.
pub(super) fn bytes() -> Vec<u8> {
    (0..300_000_u32).map(|n| u8::try_from(n * 7 % 251).expect("a byte")).collect()
}

/// How often the words of a long text are said: more than travels inline, less than a member of a team may answer.
pub(super) const TIMES: usize = 16_000;

pub(super) fn long() -> String {
    "a long answer, ".repeat(TIMES)
}

/// How much of a scene a caller can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    /// All of it.
    Full,
    /// What came in pieces comes as one.
    Whole,
    /// The question is asked of somebody else.
    Elsewhere,
    /// Nobody can be asked: the call fails and says so.
    Unanswered,
    /// Content or name of the result has no place, and is declared lost.
    Lost,
    /// The address of what is embedded has no place, and is declared lost.
    Addressless,
    /// It is no part of the answer; whoever follows the task sees it.
    Aside,
}

/// Whether a caller saw what it was to see; what is missing, if not.
pub(super) fn judge(on: Behaviour, scene: &Scene, sight: Sight, seen: &Seen) -> Result<(), String> {
    let want = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
    let outcome = |wanted: &str| want(seen.outcome == wanted, &format!("no outcome `{wanted}`"));
    // Pieces may come in lines of their own.
    let said = || seen.words().split_whitespace().collect::<Vec<_>>().join(" ");
    let says = || want(said().contains(scene.says), &format!("nobody says `{}`", scene.says));
    let completed = || outcome("completed").and_then(|()| says());
    match on {
        Behaviour::Answer => completed(),
        Behaviour::Stream => {
            completed()?;
            // Neighbours may be joined on the way: one piece before the end is what can be counted on.
            want(sight != Sight::Full || seen.pieces >= 1, "nothing came before the end")
        }
        Behaviour::Question if sight == Sight::Unanswered => outcome("failed"),
        Behaviour::Question => {
            let asked = seen.question.as_deref().unwrap_or_default();
            want(asked.contains(scene.asks), &format!("nobody asks `{}`", scene.asks))?;
            completed()
        }
        Behaviour::Failure => {
            outcome("failed")?;
            let told = format!("{} {}", seen.words(), seen.fault.as_deref().unwrap_or_default());
            want(told.contains(scene.says), &format!("nobody says `{}`", scene.says))
        }
        Behaviour::Cancel => want(matches!(&*seen.outcome, "cancelled" | "left"), "it was not given up"),
        Behaviour::Deadline => {
            outcome("failed")?;
            let fault = seen.fault.as_deref().unwrap_or_default();
            // Whoever notices first, hub or callee: that is what it is called.
            want(fault.contains("deadline"), &format!("the fault is `{fault}`"))
        }
        Behaviour::Large if sight == Sight::Lost => {
            outcome("completed")?;
            want(seen.losses.iter().any(|loss| loss == "output.parts dropped"), "the loss is not declared")
        }
        Behaviour::Large => {
            outcome("completed")?;
            match scene.content {
                Content::Bytes => want(seen.bytes().any(|blob| blob == bytes()), "the bytes did not arrive"),
                Content::Text => {
                    let times = seen.words().matches("a long answer").count();
                    want(times >= TIMES, &format!("only {times} of {TIMES} words arrived"))
                }
            }
        }
        Behaviour::Artifact if sight == Sight::Aside => completed(),
        Behaviour::Artifact if sight == Sight::Addressless => {
            completed()?;
            want(seen.losses.iter().any(|loss| loss == "output.parts.uri dropped"), "the loss is not declared")
        }
        Behaviour::Artifact if sight == Sight::Lost => {
            completed()?;
            want(seen.losses.iter().any(|loss| loss == "output.artifacts dropped"), "the loss is not declared")
        }
        Behaviour::Artifact => {
            completed()?;
            want(seen.names.iter().any(|name| name.contains(scene.name)), "it has no name")
        }
    }
}
