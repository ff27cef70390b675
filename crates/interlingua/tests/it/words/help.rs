//! A greeting, or a question for help, is answered with what can be asked; words that match nothing are reported as such.

use super::*;

const GREETINGS: [&str; 14] = [
    "help",
    "Help me!",
    "what can you do?",
    "hello",
    "Hi there",
    "please help me",
    "hola",
    "¿Qué puedes hacer?",
    "Hilfe",
    "Was kannst du?",
    "bonjour",
    "Aide-moi",
    "olá",
    "O que você pode fazer?",
];

const NOTHING: &str = "zebra quartz jukebox";

/// A few lines, the operator's own peer first, without the grammar of phrases.
fn is_a_menu(text: &str) {
    assert!(text.contains("I can do this:") || text.contains("Puedo hacer esto:"), "{text}");
    assert!(!text.contains("no skill for that") && !text.contains("ninguna habilidad"), "{text}");
    assert!(!text.contains("{query}") && !text.contains("(find|list|show)"), "{text}");
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("- ")).collect();
    assert!(!lines.is_empty() && lines.len() <= 10, "{text}");
    assert!(lines[0].starts_with("- orders/cancel_order: Cancel an order"), "{text}");
    assert!(lines.iter().all(|line| line.chars().count() < 130), "{text}");
    assert!(text.contains(" more: interlingua skills") || text.contains(" más: interlingua skills"), "{text}");
}

#[tokio::test]
async fn a_greeting_is_answered_with_what_can_be_asked_over_every_protocol() {
    let hub = hub("").await;
    for way in WAYS {
        for words in GREETINGS {
            let answer = said_by(&hub, way, words).await;
            let text = texts(&answer);
            let menu: String = text.lines().skip_while(|line| !line.ends_with(':')).collect::<Vec<_>>().join("\n");
            is_a_menu(&menu);
        }
    }
}

#[tokio::test]
async fn a_command_that_asks_for_help_ends_well_and_one_that_finds_nothing_does_not() {
    let hub = hub("").await;
    for words in ["help", "what can you do", "hola"] {
        let (code, out, err) = ended(&typed(&hub, &["ask", words]));
        assert_eq!((code, err.contains("hub/help (phrase)")), (Some(0), true), "{words}: {err}");
        is_a_menu(&out);
    }
    let (code, out, err) = ended(&typed(&hub, &["ask", NOTHING]));
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(out.starts_with("I found no skill for that") && err.contains("(last_resort)"), "{out}{err}");
    assert!(out.contains("\nI can do this:\n- orders/cancel_order"), "{out}");
    assert_eq!(typed(&hub, &["ask", NOTHING, "--json"]).status.code(), Some(1));
    assert_eq!(typed(&hub, &["ask", "help", "--json"]).status.code(), Some(0));
    assert_eq!(typed(&hub, &["call", "hub/help"]).status.code(), Some(0));
}

#[tokio::test]
async fn one_peer_is_greeted_and_tells_only_what_it_can_do_itself() {
    let hub = hub("").await;
    let (code, out, err) = ended(&typed_with(&hub, &["chat", "orders"], "help\n"));
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("I can do this:") && out.contains("- orders/get_order: Get one order"), "{out}");
    assert!(!out.contains("local/") && !out.contains("hub/") && !out.contains("graph/"), "{out}");
    let (code, out, err) = ended(&typed_with(&hub, &["chat", "orders"], &format!("{NOTHING}\n")));
    assert_ne!(code, Some(0), "{out}{err}");
    let message = json!({"format": "text", "subformat": "english", "content": "hello"});
    let answer = hub.post_json("/agents/orders/nlip", &message).await.text();
    assert!(answer.contains("orders/list_orders") && !answer.contains("local/"), "{answer}");
}

#[tokio::test]
async fn somebody_anonymous_is_told_only_what_they_may_use() {
    let hub = hub("").await;
    for words in ["help", "what can you do"] {
        let message = json!({"format": "text", "subformat": "english", "content": words}).to_string();
        let sent = interlingua_testkit::post("/nlip", "application/json", message);
        let answer = hub.connect_anonymous().await.send(sent).await.text();
        assert!(answer.contains("I can do nothing for you yet"), "{answer}");
        assert!(!answer.contains("orders") && !answer.contains("local/"), "{answer}");
    }
}

#[tokio::test]
async fn a_new_workspace_has_a_file_to_look_at_and_one_that_was_there_is_left_alone() {
    let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).start().await;
    let (code, out, err) = ended(&typed(&hub, &["ask", "read welcome.txt"]));
    assert!(code == Some(0) && out.starts_with("Welcome to Interlingua."), "{out}{err}");
    let theirs = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("data/workspace/own.txt", "x").start().await;
    let (_, out, err) = ended(&typed(&theirs, &["ask", "list files in ."]));
    assert_eq!(out, "[FILE] own.txt\n", "{err}");
    let named = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config("tools: { workspace: ./place }\n").start().await;
    let (_, out, err) = ended(&typed(&named, &["ask", "list files in ."]));
    assert_eq!(out, "the directory is empty\n", "{err}");
}
