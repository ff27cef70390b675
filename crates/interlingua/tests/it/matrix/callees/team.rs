//! A team of the hub, of three members who answer and vote; their model is a program that plays scenes. All vote for the first.

use super::super::behaviour::{Behaviour, Content, Scene};
use super::super::reasons;

pub(super) fn scene(on: Behaviour) -> Scene {
    let scene = Scene::worded("panel", "chat", "message", on);
    match on {
        Behaviour::Large => Scene { content: Content::Words, ..scene }.lacking(reasons::MODEL_SAYS_TEXT),
        Behaviour::Failure => Scene { hidden: Some((reasons::MODEL_HIDES, "every member")), ..scene },
        // Each answer of a member is one.
        Behaviour::Artifact => Scene { name: "answer 1 of bob", ..scene },
        Behaviour::Stream => Scene { pieces: &["is at work", "has voted", "speaks for the team"], ..scene },
        Behaviour::Answer | Behaviour::Question | Behaviour::Cancel | Behaviour::Deadline => scene,
    }
}
