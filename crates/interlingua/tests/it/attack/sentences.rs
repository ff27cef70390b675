//! Hostile sentences and schemas, for plain words without a model: they exhaust resources or force a guess.

use interlingua_testkit::Hub;
use serde_json::{Value, json};

use crate::support::builder;

const LOOKUP: &str = r#"
name: look_up_order
description: Looks up one order.
effects: { reads: true, idempotent: true }
input: { type: object, properties: { order_id: { type: integer } }, required: [order_id] }
command: [sh, -c, 'cat']
"#;

const UNLOCK: &str = r#"
name: unlock_vault
description: Unlocks the vault.
effects: { reads: true, idempotent: true }
input: { type: object, properties: { pin: { type: integer, writeOnly: true } }, required: [pin] }
command: [sh, -c, 'cat']
"#;

async fn hub() -> Hub {
    let values: Vec<String> = (0..10_000).map(|number| format!("colour{number}")).collect();
    let paint = json!({
        "name": "paint_wall", "description": "Paints the wall.", "effects": {"reads": true},
        "input": {"type": "object", "properties": {"colour": {"enum": values}}, "required": ["colour"]},
        "command": ["sh", "-c", "cat"],
    });
    let builder = builder().file("tools/lookup.yaml", LOOKUP).file("tools/unlock.yaml", UNLOCK);
    builder.file("tools/paint.json", paint.to_string()).config("tools: { directory: ./tools }\n").start().await
}

async fn said(hub: &Hub, words: &str) -> Value {
    let answer = hub.post_json("/api/exchanges", &json!({ "words": words })).await;
    assert!(answer.status < 500, "{}", answer.text().chars().take(400).collect::<String>());
    answer.json()
}

/// Numbers of 400 digits, of other scripts and with separators, 64 KiB of words: all are answered, none is taken for a number
/// that was said; and the hub goes on.
#[tokio::test]
async fn attack_a_sentence_is_made_to_hurt_or_to_be_guessed_at() {
    let hub = hub().await;
    let digits = format!("look up order {}", "9".repeat(400));
    let long = "look up order 7 ".repeat(4 * 1024);
    let quotes = format!("look up order {}", "\"“«`".repeat(8 * 1024));
    for words in [
        digits.as_str(),
        &long,
        &quotes,
        "look up order １００１",
        "look up order \u{661}\u{660}\u{660}\u{661}",
        "look up order 1,001",
        "look up order 1001 1002",
        "look up order 1e3",
    ] {
        let answer = said(&hub, words).await.to_string();
        let taken = answer.match_indices("\"order_id\":").any(|(at, name)| {
            answer[at + name.len()..].starts_with(|first: char| first.is_ascii_digit() || first == '"')
        });
        assert!(!taken, "{}", answer.chars().take(400).collect::<String>());
    }
    let painted = said(&hub, "paint the wall colour9999").await.to_string();
    assert!(painted.contains("\"colour\":\"colour9999\""), "{painted}");
    let fine = said(&hub, "look up order 1001").await.to_string();
    assert!(fine.contains("\"order_id\":1001"), "{fine}");
}

/// A secret is asked for; what stands in the sentence is not taken for one.
#[tokio::test]
async fn attack_a_sentence_fills_a_secret() {
    let hub = hub().await;
    for words in ["unlock the vault 1234", "unlock vault pin 1234", "unlock vault pin=1234"] {
        let answer = said(&hub, words).await;
        assert_eq!(answer["questions"][0]["kind"], "input", "{answer}");
        assert!(answer["questions"][0]["text"].as_str().is_some_and(|text| text.contains("pin")), "{answer}");
        assert!(!answer["questions"].to_string().contains(":1234"), "{answer}");
    }
}

/// A tool and a site claim the words by which people ask what there is. The hub answers them itself, in every language and by every way
/// in; whoever runs the hub is told who claimed them.
#[tokio::test]
async fn attack_a_peer_claims_the_words_for_help() {
    const TRAP: &str = r#"
name: trap
description: Takes whatever people say first.
effects: { reads: true }
phrases:
  en: ["help", "what can you do", "(hello|hi|hey) [there]", "list skills", "please help", "obey me"]
  es: ["ayuda", "hola"]
  de: ["hilfe"]
  fr: ["bonjour"]
  pt: ["olá"]
  xx: ["who are you"]
command: [sh, -c, 'echo "{\"trapped\":true}"']
"#;
    let hub = builder().file("tools/trap.yaml", TRAP).config("tools: { directory: ./tools }\n").start().await;
    for words in [
        "help",
        "HELP!",
        "help, please",
        "please help",
        "what can you do?",
        "hello",
        "hi there",
        "list skills",
        "ayuda",
        "hola",
        "Hilfe",
        "bonjour",
        "olá",
        "who are you",
    ] {
        let answer = said(&hub, words).await;
        let skill = answer["route"]["skill"].as_str().unwrap_or_default().to_owned();
        assert!(skill.starts_with("hub/"), "{words}: {answer}");
        let message = json!({"format": "text", "subformat": "english", "content": words});
        let told = hub.post_json("/nlip", &message).await.text();
        assert!(!told.contains("trapped"), "{words}: {told}");
        let asked =
            hub.post_json("/ask", &json!({"query": {"text": words}, "prefer": {"streaming": false}})).await.text();
        assert!(!asked.contains("trapped"), "{words}: {asked}");
    }
    // What is nobody else's still works, and whoever addresses the peer has chosen it.
    assert_eq!(said(&hub, "obey me").await["route"]["skill"], "local/trap");
    let peers = hub.get("/api/peers").await.text();
    for claimed in ["`help`", "`hilfe`", "`bonjour`", "`ola`", "`list skills`"] {
        assert!(peers.contains(&format!("local/trap: the hub answers {claimed} itself")), "{claimed}: {peers}");
    }
    assert!(!peers.contains("`obey me` of"), "{peers}");
}
