//! A team of the hub, of one member whose model reads its lines from a file. What it answers is what the team answers.

use super::super::behaviour::{Behaviour, Content, Scene, long};
use super::super::reasons::Reason;

pub(super) fn scene(on: Behaviour) -> Result<Scene, Reason> {
    let scene = Scene::worded("panel", "chat", "message", on);
    Ok(match on {
        Behaviour::Large => Scene { content: Content::Text, ..scene },
        Behaviour::Failure => Scene { says: "", ..scene },
        // Each answer of a member is one.
        Behaviour::Artifact => Scene { name: "answer 1 of bob", ..scene },
        Behaviour::Answer | Behaviour::Stream | Behaviour::Question | Behaviour::Cancel | Behaviour::Deadline => scene,
    })
}

pub(super) fn files() -> Vec<(&'static str, String)> {
    let answers = |when: &str, content: &str| {
        format!(
            "  - {{ when: {when}, again: true, call: [{{ name: new_answer, arguments: {{ content: \"{content}\" }} }}] }}\n"
        )
    };
    let mut lines = String::from(
        r#"
replies:
  - { when: "(your own)", again: true, call: [{ name: vote, arguments: { agent_id: agent1, reason: mine } }] }
  - { when: question please, again: true, call: [{ name: ask_user, arguments: { question: "Which day?" } }] }
  - { when: failure please, again: true, events: [{ fail: { status: 400 } }] }
  - { when: slow please, again: true, events: [{ wait: 600000 }] }
"#,
    );
    lines += &answers("answer please", "forty-two");
    lines += &answers("stream please", "one two three");
    lines += &answers("tuesday", "heard Tuesday");
    lines += &answers("large please", &long());
    lines += &answers("artifact please", "page one");
    vec![("bob.yaml", lines)]
}
