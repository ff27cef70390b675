//! An agent on the reference server, in Python.

use super::super::behaviour::{Behaviour, Scene};
use super::super::reasons::{self, Reason};

pub(super) fn scene(on: Behaviour) -> Result<Scene, Reason> {
    match on {
        Behaviour::Stream => Err(reasons::NLIP_ONE_REPLY),
        Behaviour::Question => Err(reasons::NLIP_ASKS_IN_WORDS),
        Behaviour::Artifact => Err(reasons::NLIP_NO_ARTIFACTS),
        Behaviour::Failure => Ok(Scene { says: "desk", ..Scene::worded("desk", "chat", "message", on) }),
        Behaviour::Answer | Behaviour::Cancel | Behaviour::Deadline | Behaviour::Large => {
            Ok(Scene::worded("desk", "chat", "message", on))
        }
    }
}
