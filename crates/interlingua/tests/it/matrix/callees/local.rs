//! Programs beside the hub, each with a manifest.

use super::super::behaviour::{Behaviour, Content, Scene};
use super::super::reasons::{self, Reason};

pub(super) fn scene(on: Behaviour) -> Result<Scene, Reason> {
    let scene = Scene::tool("local", on);
    match on {
        Behaviour::Artifact => Err(reasons::TOOL_NO_ARTIFACTS),
        Behaviour::Large => Ok(Scene { content: Content::Text, ..scene }),
        // What destroys is asked about before it is done.
        Behaviour::Question => Ok(Scene { asks: "local/question", answer: "yes", says: "forty-two", ..scene }),
        Behaviour::Answer | Behaviour::Stream | Behaviour::Failure | Behaviour::Cancel | Behaviour::Deadline => {
            Ok(scene)
        }
    }
}

pub(super) fn files() -> Vec<(&'static str, String)> {
    let tool = |on: Behaviour, effects: &str, reply: &str, script: &str| {
        format!(
            "name: {}\ndescription: {1}\nphrases: {{ en: [{1}] }}\neffects: {{ {effects} }}\nreply: {reply}\ntimeout: 10m\ncommand: [sh, -c, '{script}']\n",
            on.scene(),
            on.phrase(),
        )
    };
    let reads = "reads: true";
    let counts = r#"for n in 1 2 3; do echo "{\"progress\":{\"done\":$n,\"total\":3,\"note\":\"step $n\"}}"; done; echo "{\"result\":{\"said\":\"one two three\"}}""#;
    let long = r#"printf "{\"said\":\""; yes "a long answer, " | head -16000 | tr -d "\n"; printf "\"}""#;
    vec![
        ("tools/answer.yaml", tool(Behaviour::Answer, reads, "value", r#"echo "{\"said\":\"forty-two\"}""#)),
        ("tools/stream.yaml", tool(Behaviour::Stream, reads, "lines", counts)),
        (
            "tools/question.yaml",
            tool(Behaviour::Question, "destroys: true", "value", r#"echo "{\"said\":\"forty-two\"}""#),
        ),
        (
            "tools/failure.yaml",
            tool(Behaviour::Failure, reads, "value", r#"echo "{\"error\":\"out of paper\"}"; exit 1"#),
        ),
        ("tools/slow.yaml", tool(Behaviour::Cancel, reads, "value", "exec sleep 600")),
        ("tools/large.yaml", tool(Behaviour::Large, reads, "value", long)),
        ("tools/richest.yaml", RICHEST.to_owned()),
    ]
}

/// Tells back what it is given.
const RICHEST: &str = "name: richest
description: Tells back what it is given.
phrases: { en: ['say back {text}'] }
effects: { reads: true }
input: { type: object, properties: { text: { type: string }, held: { type: object } } }
command: [sh, -c, 'printf \"{\\\"heard\\\":\"; cat; printf \"}\"']
";
