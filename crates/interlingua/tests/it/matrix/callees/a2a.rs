//! An agent on the official SDK, in Python.

use super::super::behaviour::{Behaviour, Scene};

pub(super) fn scene(on: Behaviour) -> Scene {
    Scene::worded("scholar", "act", "message", on)
}
