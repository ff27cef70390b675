//! The reference server, in Python.

use super::super::behaviour::{Behaviour, Content, Named, Scene};

pub(super) fn scene(on: Behaviour) -> Scene {
    let scene = Scene::worded("almanac", "ask", "query", on);
    match on {
        // Its items are objects of their own: whoever has the last one has been told of all.
        Behaviour::Stream => Scene { says: "three", ..scene },
        Behaviour::Large => Scene { content: Content::AsText, ..scene },
        // An item has a name of its own.
        Behaviour::Artifact => Scene { named: Named::Within, ..scene },
        Behaviour::Answer | Behaviour::Question | Behaviour::Failure | Behaviour::Cancel | Behaviour::Deadline => scene,
    }
}
