//! An agent on the reference server, in Python.

use super::super::behaviour::{Behaviour, Scene};
use super::super::reasons;

pub(super) fn scene(on: Behaviour) -> Scene {
    let scene = Scene::worded("desk", "chat", "message", on);
    match on {
        Behaviour::Stream => scene.lacking(reasons::NLIP_ONE_REPLY),
        Behaviour::Question => scene.lacking(reasons::NLIP_ASKS_IN_WORDS),
        Behaviour::Answer
        | Behaviour::Failure
        | Behaviour::Cancel
        | Behaviour::Deadline
        | Behaviour::Large
        | Behaviour::Artifact => scene,
    }
}
