//! Programs beside the hub, each with a manifest.

use std::path::Path;

use super::super::behaviour::{Asker, Behaviour, Content, Scene, bytes_as_text};
use super::super::reasons;

pub(super) fn scene(on: Behaviour) -> Scene {
    let scene = Scene::tool("local", on);
    match on {
        Behaviour::Artifact => scene.lacking(reasons::TOOL_NO_NAMES),
        Behaviour::Large => Scene { content: Content::AsText, ..scene },
        Behaviour::Stream => Scene { pieces: &["step 1", "step 2", "step 3"], ..scene },
        // What destroys is asked about before it is done.
        Behaviour::Question => {
            Scene { asks: "local/question", asker: Asker::Hub, answer: "yes", says: "forty-two", ..scene }
        }
        Behaviour::Answer | Behaviour::Failure | Behaviour::Cancel | Behaviour::Deadline => scene,
    }
}

/// The manifests, and what the programs need. `notes`: where each that takes hours writes its number.
pub(in super::super) fn files(notes: &Path) -> Vec<(&'static str, String)> {
    let tool = |on: Behaviour, effects: &str, reply: &str, script: &str| {
        format!(
            "name: {}\ndescription: {1}\nphrases: {{ en: [{1}] }}\neffects: {{ {effects} }}\nreply: {reply}\ntimeout: 10m\ncommand: [sh, -c, '{script}']\n",
            on.scene(),
            on.phrase(),
        )
    };
    let reads = "reads: true";
    let says = |text: &str| format!(r#"echo "{{\"said\":\"{text}\"}}""#);
    let counts = r#"for n in 1 2 3; do echo "{\"progress\":{\"done\":$n,\"total\":3,\"note\":\"step $n\"}}"; sleep 0.25; done; echo "{\"result\":{\"said\":\"one two three\"}}""#;
    let hours = format!("echo $$ >> {}; exec sleep 600", notes.display());
    vec![
        ("tools/answer.yaml", tool(Behaviour::Answer, reads, "value", &says("forty-two"))),
        ("tools/stream.yaml", tool(Behaviour::Stream, reads, "lines", counts)),
        ("tools/question.yaml", tool(Behaviour::Question, "destroys: true", "value", &says("forty-two"))),
        (
            "tools/failure.yaml",
            tool(Behaviour::Failure, reads, "value", r#"echo "{\"error\":\"out of paper\"}"; exit 1"#),
        ),
        ("tools/slow.yaml", tool(Behaviour::Cancel, reads, "value", &hours)),
        ("tools/large.yaml", tool(Behaviour::Large, reads, "value", "cat picture.json")),
        ("tools/picture.json", serde_json::json!({"picture": bytes_as_text()}).to_string()),
        (
            "tools/artifact.yaml",
            tool(Behaviour::Artifact, reads, "value", r#"echo "{\"content\":\"page one\",\"file\":\"report\"}""#),
        ),
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
