//! A server on the official SDK, in Python, with a tool for every scene.

use super::super::behaviour::{Behaviour, Scene};

pub(super) fn scene(on: Behaviour) -> Scene {
    Scene::tool("toolbox", on)
}
