//! A server on the official SDK, in Python, with a tool for every scene.

use super::super::behaviour::{Behaviour, Scene};
use super::super::reasons::Reason;

pub(super) fn scene(on: Behaviour) -> Result<Scene, Reason> {
    Ok(Scene::tool("toolbox", on))
}
