//! An agent on the official SDK, in Python.

use super::super::behaviour::{Behaviour, Scene};
use super::super::reasons::Reason;

pub(super) fn scene(on: Behaviour) -> Result<Scene, Reason> {
    Ok(Scene::worded("scholar", "act", "message", on))
}
