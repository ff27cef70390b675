//! The reference server, in Python.

use super::super::behaviour::{Behaviour, Content, Scene};
use super::super::reasons::{self, Reason};

pub(super) fn scene(on: Behaviour) -> Result<Scene, Reason> {
    let scene = Scene::worded("almanac", "ask", "query", on);
    match on {
        // Its items are objects of their own: whoever has the last one has been told of all.
        Behaviour::Stream => Ok(Scene { says: "three", ..scene }),
        Behaviour::Artifact => Err(reasons::NLWEB_NO_ARTIFACTS),
        Behaviour::Failure => Ok(Scene { says: "almanac", ..scene }),
        Behaviour::Large => Ok(Scene { content: Content::Text, ..scene }),
        Behaviour::Answer | Behaviour::Question | Behaviour::Cancel | Behaviour::Deadline => Ok(scene),
    }
}
