//! An agent of the hub; its model is a program that plays scenes.

use super::super::behaviour::{Behaviour, Content, Scene};
use super::super::reasons;

pub(super) fn scene(on: Behaviour) -> Scene {
    let scene = Scene::worded("ann", "chat", "message", on);
    match on {
        Behaviour::Artifact => scene.lacking(reasons::MODEL_NO_NAMES),
        // Its tool paints a picture, and it answers with a long text.
        Behaviour::Large => Scene { content: Content::Words, ..scene }.lacking(reasons::MODEL_SAYS_TEXT),
        Behaviour::Failure => Scene { hidden: Some((reasons::MODEL_HIDES, "model")), ..scene },
        Behaviour::Answer | Behaviour::Stream | Behaviour::Question | Behaviour::Cancel | Behaviour::Deadline => scene,
    }
}
