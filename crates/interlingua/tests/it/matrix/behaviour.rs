//! Behaviours of a callee, and the request for each.

use serde_json::{Value, json};

use super::reasons::Reason;

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

    /// What a plain tick says, for the page.
    pub(super) fn means(self) -> &'static str {
        match self {
            Behaviour::Answer => "the answer arrives",
            Behaviour::Stream => "at least two pieces arrive before the end, in their order",
            Behaviour::Question => "what the callee asks arrives, the answer goes back, and the call goes on with it",
            Behaviour::Failure => "the call fails, with the callee's own words (“out of paper”)",
            Behaviour::Cancel => {
                "the caller gives up in its protocol's way; the callee's program notes that it was told, or that its work was ended"
            }
            Behaviour::Deadline => {
                "the caller gives seconds for what takes hours: the call fails by its deadline, and the callee notes the end of its work"
            }
            Behaviour::Large => {
                "300,000 bytes that are not UTF-8 (of a site: a picture of its page, more than 100 KiB) arrive, compared byte for byte"
            }
            Behaviour::Artifact => "a result arrives under the name that the callee gave it",
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

/// Who asks, where something is asked on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asker {
    Callee,
    /// For a yes to the call, before it is made.
    Hub,
}

/// What is large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// Bytes, as such.
    Bytes,
    /// The same bytes in base64, in a text or a JSON value.
    AsText,
    /// A picture of a page.
    Picture,
    /// A long text, and bytes that stay behind.
    Words,
}

/// Where a result has its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// Beside its content.
    Beside,
    /// In its content, which is an object.
    Within,
    /// In an artifact that the hub keeps and the result tells the id of.
    Kept,
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
    /// What comes before the end, in this order.
    pub(super) pieces: &'static [&'static str],
    /// What must be asked on the way, and what is answered.
    pub(super) asks: &'static str,
    pub(super) asker: Asker,
    pub(super) answer: &'static str,
    pub(super) content: Content,
    /// What an artifact is called.
    pub(super) name: &'static str,
    pub(super) named: Named,
    /// Why the callee cannot do it. It is tried all the same, and must not be seen.
    pub(super) lacks: Option<Reason>,
    /// Why the callee's own words are not told; what is told in their place.
    pub(super) hidden: Option<(Reason, &'static str)>,
    /// What the caller calls this call, where its wire has a place for it: sent again, it is the same call.
    pub(super) key: Option<String>,
    /// What a caller gives a callee that needs hours, in seconds.
    pub(super) seconds: u32,
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
            pieces: &["one", "two", "three"],
            asks: "Which day?",
            asker: Asker::Callee,
            answer: "Tuesday",
            content: Content::Bytes,
            name: "report",
            named: Named::Beside,
            lacks: None,
            hidden: None,
            key: None,
            seconds: PATIENCE[0],
        }
    }

    /// The deadline as it is written.
    pub(super) fn deadline(&self) -> String {
        format!("{}s", self.seconds)
    }

    /// The same, of somebody who cannot do it.
    pub(super) fn lacking(self, why: Reason) -> Scene {
        Scene { lacks: Some(why), ..self }
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
            "deadline": (on == Behaviour::Deadline).then(|| self.deadline()), "key": self.key,
        })
    }
}

/// Seconds that a caller gives a callee that needs hours. One that struck before the callee had begun (a browser on a busy
/// machine) shows nothing of the callee, so the next one is given.
pub(super) const PATIENCE: [u32; 4] = [2, 8, 30, 90];

/// What the large scenes give.
pub(super) fn bytes() -> Vec<u8> {
    (0..300_000_u32).map(|n| u8::try_from(n * 7 % 251).expect("a byte")).collect()
}

/// The same where there is only text.
pub(super) fn bytes_as_text() -> String {
    use base64::Engine;
    let encoded = base64::engine::general_purpose::STANDARD.encode(bytes());
    format!("data:application/octet-stream;base64,{encoded}")
}

/// How often the words of a long text are said: more than travels inline, less than a member of a team may answer.
pub(super) const TIMES: usize = 16_000;
