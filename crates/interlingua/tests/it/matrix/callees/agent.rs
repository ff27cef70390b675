//! An agent of the hub whose model reads its lines from a file.

use super::super::behaviour::{Behaviour, Content, Scene, long};
use super::super::reasons::{self, Reason};

pub(super) fn scene(on: Behaviour) -> Result<Scene, Reason> {
    let scene = Scene::worded("ann", "chat", "message", on);
    match on {
        Behaviour::Artifact => Err(reasons::MODEL_NO_ARTIFACTS),
        Behaviour::Large => Ok(Scene { content: Content::Text, ..scene }),
        Behaviour::Failure => Ok(Scene { says: "", ..scene }),
        Behaviour::Answer | Behaviour::Stream | Behaviour::Question | Behaviour::Cancel | Behaviour::Deadline => {
            Ok(scene)
        }
    }
}

pub(super) fn files() -> Vec<(&'static str, String)> {
    let lines = r#"
replies:
  - { when: tuesday, again: true, say: heard Tuesday }
  - { when: answer please, again: true, say: forty-two }
  - { when: stream please, again: true, events: [{ text: "one " }, { text: "two " }, { text: three }, { end: done }] }
  - { when: question please, again: true, call: [{ name: ask_user, arguments: { question: "Which day?" } }] }
  - { when: failure please, again: true, events: [{ fail: { status: 400 } }] }
  - { when: slow please, again: true, events: [{ wait: 600000 }] }
"#;
    vec![("ann.yaml", format!("{lines}  - {{ when: large please, again: true, say: \"{}\" }}\n", long()))]
}
