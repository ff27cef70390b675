//! A website without an interface, driven by a browser.

use interlingua_testkit::pages::{Page, html};
use serde_json::{Value, json};

use super::super::behaviour::{Asker, Behaviour, Content, Scene};

pub(super) fn scene(on: Behaviour) -> Scene {
    let scene = Scene::tool("shop", on);
    match on {
        Behaviour::Large => Scene { content: Content::Picture, ..scene },
        // What spends is asked about before it is done.
        Behaviour::Question => {
            Scene { asks: "shop/question", asker: Asker::Hub, answer: "yes", says: "forty-two", ..scene }
        }
        Behaviour::Stream => Scene { pieces: &["step 1 of 3", "step 2 of 3", "step 3 of 3"], ..scene },
        // A page has no words for a failure: what is missing on it is named.
        Behaviour::Failure => Scene { says: "#out-of-paper", ..scene },
        Behaviour::Artifact => Scene { name: "page-1.jpg", ..scene },
        Behaviour::Answer | Behaviour::Cancel | Behaviour::Deadline => scene,
    }
}

const PATIENCE_MS: u64 = 120_000;

/// What the page that takes hours asks its server for, and never gets.
pub(in super::super) const HELD: &str = "/held";

/// Pixels that do not compress, the same each time: more than 100 KiB, less than what is taken again in less quality.
const NOISE: &str = "<style>body { margin: 0 }</style><p id='out'>page one</p><canvas id='noise' width='560' height='420'></canvas><script>
const paper = noise.getContext('2d'), image = paper.createImageData(560, 420);
for (let n = 0, state = 7; n < image.data.length; n++) {
  state = Math.imul(state, 1103515245) + 12345 | 0;
  image.data[n] = n % 4 === 3 ? 255 : state >> 16 & 255;
}
paper.putImageData(image, 0, 0);
document.body.insertAdjacentHTML('beforeend', '<p id=\"painted\">done</p>');
</script>";

/// The pages of the site.
pub(in super::super) fn pages() -> [(&'static str, Page); 7] {
    let page = |text: &str| html(&format!("<p id='out'>{text}</p>")).into();
    let echo = html("<p id='out'></p><script>out.textContent = decodeURIComponent(location.search)</script>");
    let hours = html(&format!("<p id='out'>later</p><script>fetch('{HELD}')</script>"));
    [
        ("/answer", page("forty-two")),
        ("/stream", page("one two three")),
        ("/artifact", page("page one")),
        ("/large", html(NOISE).into()),
        ("/slow", hours.into()),
        (HELD, Page::Held),
        ("/richest", echo.into()),
    ]
}

/// How the site is used.
pub(in super::super) fn definition(base: &str) -> String {
    // A browser on a busy machine may need long for what takes no time.
    let open = |page: &str| json!({"action_type": "navigate", "value": format!("/{page}"), "timeout": PATIENCE_MS});
    let read =
        json!({"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}, "timeout": PATIENCE_MS});
    let there = |what: &str| json!({"action_type": "wait", "wait_condition": what, "timeout": PATIENCE_MS});
    let pictured = |what: &str| {
        let mut step = there(what);
        step["screenshot"] = true.into();
        step
    };
    let never = json!({"action_type": "wait", "wait_condition": "#never", "timeout": 600_000});
    let jams = json!({"action_type": "wait", "wait_condition": "#out-of-paper", "timeout": 300});
    let action = |on: Behaviour, effects: &str, steps: Vec<Value>| json!({"description": on.phrase(), "phrases": [on.phrase()], "effects": effects, "timeout": "10m", "steps": steps});
    let echo = json!({
        "description": "Say back", "phrases": ["say back {text}"], "effects": "reads", "parameters": {"text": {}},
        "timeout": "10m", "steps": [open("richest?{text}"), there("#out"), read.clone()],
    });
    json!({
        "interface_id": "shop", "name": "Shop", "base_url": base, "description": "A shop that has only pages.",
        "actions": {
            "answer": action(Behaviour::Answer, "reads", vec![open("answer"), read.clone()]),
            "stream": action(Behaviour::Stream, "reads", vec![open("stream"), there("#out"), read.clone()]),
            "question": action(Behaviour::Question, "spends", vec![open("answer"), read.clone()]),
            "failure": action(Behaviour::Failure, "reads", vec![open("answer"), jams]),
            "slow": action(Behaviour::Cancel, "reads", vec![open("slow"), never]),
            "large": action(Behaviour::Large, "reads", vec![open("large"), pictured("#painted"), read.clone()]),
            "artifact": action(Behaviour::Artifact, "reads", vec![open("artifact"), pictured("#out"), read]),
            "richest": echo,
        },
    })
    .to_string()
}
