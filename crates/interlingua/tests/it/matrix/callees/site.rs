//! A website without an interface, driven by a browser.

use interlingua_testkit::pages::html;
use serde_json::{Value, json};

use super::super::behaviour::{Behaviour, Content, Scene, TIMES};
use super::super::reasons::{self, Reason};

pub(super) fn scene(on: Behaviour) -> Result<Scene, Reason> {
    let scene = Scene::tool("shop", on);
    match on {
        Behaviour::Artifact => Err(reasons::SITE_NO_ARTIFACTS),
        Behaviour::Large => Ok(Scene { content: Content::Text, ..scene }),
        // What spends is asked about before it is done.
        Behaviour::Question => Ok(Scene { asks: "shop/question", answer: "yes", says: "forty-two", ..scene }),
        Behaviour::Failure => Ok(Scene { says: "#never", ..scene }),
        Behaviour::Answer | Behaviour::Stream | Behaviour::Cancel | Behaviour::Deadline => Ok(scene),
    }
}

/// Few enough that everybody is given all of them.
const ROWS: usize = 20;
const PATIENCE_MS: u64 = 120_000;

/// The pages of the site.
pub(in super::super) fn pages() -> [(&'static str, String); 4] {
    let page = |text: &str| html(&format!("<p id='out'>{text}</p>"));
    // A field holds 16 KiB of text; what is longer stands in rows.
    let row = format!("<li>{}</li>", "a long answer, ".repeat(TIMES / ROWS));
    let echo = html("<p id='out'></p><script>out.textContent = decodeURIComponent(location.search)</script>");
    [
        ("/answer", page("forty-two")),
        ("/stream", page("one two three")),
        ("/large", html(&row.repeat(ROWS))),
        ("/richest", echo),
    ]
}

/// How the site is used.
pub(in super::super) fn definition(base: &str) -> String {
    // A browser on a busy machine may need long for what takes no time.
    let open = |page: &str| json!({"action_type": "navigate", "value": format!("/{page}"), "timeout": PATIENCE_MS});
    let reads = |what: &str| json!({"action_type": "extract", "selector": what, "extract_schema": {"said": "."}, "timeout": PATIENCE_MS});
    let (read, rows) = (reads("#out"), reads("li"));
    let there = json!({"action_type": "wait", "wait_condition": "#out", "timeout": PATIENCE_MS});
    let never = json!({"action_type": "wait", "wait_condition": "#never", "timeout": 600_000});
    let jams = json!({"action_type": "wait", "wait_condition": "#never", "timeout": 300});
    let action = |on: Behaviour, effects: &str, steps: Vec<Value>| json!({"description": on.phrase(), "phrases": [on.phrase()], "effects": effects, "timeout": "10m", "steps": steps});
    let echo = json!({
        "description": "Say back", "phrases": ["say back {text}"], "effects": "reads", "parameters": {"text": {}},
        "timeout": "10m", "steps": [open("richest?{text}"), there.clone(), read.clone()],
    });
    json!({
        "interface_id": "shop", "name": "Shop", "base_url": base, "description": "A shop that has only pages.",
        "actions": {
            "answer": action(Behaviour::Answer, "reads", vec![open("answer"), read.clone()]),
            "stream": action(Behaviour::Stream, "reads", vec![open("stream"), there, read.clone()]),
            "question": action(Behaviour::Question, "spends", vec![open("answer"), read]),
            "failure": action(Behaviour::Failure, "reads", vec![open("answer"), jams]),
            "slow": action(Behaviour::Cancel, "reads", vec![open("answer"), never]),
            "richest": echo,
            "large": action(Behaviour::Large, "reads", vec![open("large"), rows]),
        },
    })
    .to_string()
}
