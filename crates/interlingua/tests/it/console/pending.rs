//! Pending approvals and questions in a real browser, with a real hub behind it. Callers and other approvers are programs of their own.

use interlingua_testkit::{Heard, Hub, Say, Scripted, skipped};
use serde_json::{Value, json};

use super::page::{MISSING, play};
use super::{owner, ticket};
use crate::support;

const TOKENS: &str = "
- { name: ann, token: ann-token }
- { name: boss, token: boss-token, approve: true }
";

const ERASE: &str = r#"
name: erase
description: Erases something.
input: { type: object }
effects: { destroys: true }
command: [sh, -c, 'cat >> DONE; echo >> DONE; echo "{\"erased\":true}"']
"#;

/// Its description is a peer's: with marks that turn text around, and markup.
const ODD: &str = r#"
name: odd
description: "Odd \u202E<b>bold</b>"
input: { type: object }
effects: { spends: true }
command: [sh, -c, 'cat > /dev/null; echo "{\"done\":true}"']
"#;

const LINES: &str = "
replies:
  - { when: tidy up, again: true, call: [{ name: local__erase, arguments: { what: disk } }] }
  - { when: erased, again: true, say: It is gone. }
";

/// An agent that asks by its own words what it was told to ask, and then says thanks.
async fn asker() -> Scripted {
    Scripted::http(|heard: &Heard, _| {
        let message = heard.json();
        let said = message["content"].as_str().unwrap_or_default().to_owned();
        let reply = json!({"format": "text", "subformat": "english", "content": "Thank you."});
        let Some(question) = question(&said) else { return Say::Json(reply) };
        let asked =
            json!({"format": "structured", "subformat": "json", "label": "interlingua-question", "content": question});
        let mut reply = reply;
        reply["content"] = question["text"].clone();
        reply["submessages"] = json!([asked]);
        Say::Json(reply)
    })
    .await
}

fn question(words: &str) -> Option<Value> {
    let string = json!({"type": "string"});
    let form = json!({"type": "object", "required": ["city", "nights", "pay"], "properties": {
        "city": {"type": "string", "title": "City", "description": "Where to?"},
        "nights": {"type": "integer"}, "breakfast": {"type": "boolean"},
        "class": {"oneOf": [{"const": 1, "title": "First"}, {"const": 2, "title": "Second"}]},
        "guests": {"type": "array", "items": string}, "currency": {"type": "string", "default": "EUR"},
        "pay": {"$ref": "#/$defs/pay"}},
        "$defs": {"pay": {"type": "object", "required": ["amount"], "properties": {"amount": {"type": "number"}}}}});
    let odd = json!({"type": "object", "properties": {
        "<img src=x onerror=alert(1)>": {"type": "string", "title": "a\u{202e}b<script>", "description": "</form><script>alert(1)</script>",
            "pattern": "^(a+)+$"},
        "__proto__": {"type": "object", "properties": {"self": {"$ref": "#/properties/__proto__"}}},
        "choice": {"enum": ["x\u{202e}y", "<option>"]},
        "elsewhere": {"$ref": "https://evil.example/schema"}}});
    Some(match words {
        "form" => json!({"id": "q", "kind": "input", "text": "Which trip?", "form": form}),
        "choices" => json!({"id": "q", "kind": "input", "text": "Which one?", "form": {"type": "object"},
            "choices": [{"id": "a", "text": "The first"}, {"id": "b", "text": "The second"}]}),
        "words" => json!({"id": "q", "kind": "input", "text": "When?", "form": {}}),
        "credential" => {
            json!({"id": "q", "kind": "credential", "text": "Who are you?", "scheme": "bearer", "scopes": ["read"]})
        }
        "visit" => {
            json!({"id": "q", "kind": "visit", "text": "Please pay.", "url": "https://pay.example/checkout?id=7"})
        }
        "odd visit" => {
            json!({"id": "q", "kind": "visit", "text": "Visit.", "url": "https://xn--bcher-kva.example/?next=https://bank.example/<b>"})
        }
        "hostile" => {
            json!({"id": "q", "kind": "input", "text": "<img src=x onerror=alert(1)> \u{202e}evil", "form": odd})
        }
        _ => return None,
    })
}

/// A hub with a tool that erases, an agent that calls it, callers and another approver; `asker` is a peer.
async fn hub(asker: Option<&Scripted>, yaml: &str) -> Hub {
    let builder = support::builder();
    let erase = ERASE.replace("DONE", &builder.directory().join("erased").display().to_string());
    let peers = asker.map(|asker| {
        format!("peers: {{ asker: {{ effects: reads, nlip: {{ url: \"http://{}/nlip\" }} }} }}\n", asker.address())
    });
    let config = format!(
        "hub: {{ name: Harbour }}\ntools: {{ directory: ./tools }}\naccess: {{ tokens: file:./tokens.yaml }}\n\
         models: {{ canned: {{ provider: scripted, file: ./lines.yaml }} }}\n\
         agents: {{ helper: {{ model: canned, skills: [\"local/erase\"] }} }}\n{}{yaml}",
        peers.unwrap_or_default()
    );
    let builder = builder.file("tools/erase.yaml", erase).file("tools/odd.yaml", ODD).file("tokens.yaml", TOKENS);
    builder.file("lines.yaml", LINES).config(&config).start().await
}

/// Who takes part in a script.
async fn cast(hub: &Hub) -> String {
    let ticket = ticket(hub, &owner(hub)).await;
    json!({"ticket": ticket, "owner": owner(hub), "ann": "ann-token", "boss": "boss-token"}).to_string()
}

fn said(seen: &Value, name: &str, words: &[&str]) {
    let text = seen[name].as_str().unwrap_or_else(|| panic!("{name}: {seen}"));
    for word in words {
        assert!(text.contains(word), "{name} does not say {word}: {text}");
    }
}

/// The whole job of an approver, in one browser: see `console/test/e2e/pending.mjs`.
#[tokio::test]
async fn v_01_v_02_v_09_v_17_v_18_v_23_v_25_v_27_v_28_job_1_a_call_waits_and_is_decided() {
    let hub = hub(None, "").await;
    let Some(seen) = play(&hub, "pending", &cast(&hub).await).await else { return skipped(MISSING) };
    assert_eq!(seen["problems"], json!([]), "no violation, no foreign request, no finding of axe, no error");
    assert_eq!(seen["address"], "#/pending");
    said(&seen, "document_title", &["(1)", "Harbour"]);
    // V-17: numbers as written, the order of keys, and a key that is none of the page's.
    let lines: Vec<&str> = seen["lines"].as_array().expect("lines").iter().filter_map(Value::as_str).collect();
    let squeezed: Vec<String> =
        lines.iter().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let expected = [
        "{7}",
        "price 1.10",
        "long 12345678901234567890123",
        "2 \"two\"",
        "1 \"one\"",
        "__proto__ {1}",
        "x 1",
        "what \"a note\"",
        "deep [3]",
        "0 []",
        "1 {}",
        "2 [2]",
        "0 null",
        "1 true",
    ];
    assert_eq!(squeezed, expected);
    // V-24 and V-25: everything there is to decide by, and off for a second after a change.
    let shown = [
        "Approval needed",
        "user:ann",
        "token",
        "api",
        "DESTROYS",
        "local",
        "Erases something.",
        "it destroys",
        "caller",
        "left",
    ];
    said(&seen, "shown", &shown);
    assert_eq!(seen["digest"], seen["hub_digest"]);
    assert_eq!((&seen["off_at_first"], &seen["sent_too_early"]), (&json!("true"), &json!([])));
    assert_eq!((&seen["off_after_move"], &seen["sent_after_move"]), (&json!("true"), &json!([])));
    // V-18: in the zone of this machine, Tokyo, and in UTC on demand.
    let hour = seen["asked"].as_str().expect("a moment")[11..13].parse::<u32>().expect("an hour");
    let on_twelve = |hour: u32| format!(", {}:", if hour.is_multiple_of(12) { 12 } else { hour % 12 });
    said(&seen, "utc", &["UTC", &on_twelve(hour)]);
    said(&seen, "local", &[&on_twelve(hour + 9)]);
    said(&seen, "approved", &["Approved", "owner"]);
    assert_eq!((&seen["first"], &seen["second"]), (&json!("completed"), &json!("failed")));
    let copies = seen["copies"].to_string();
    for word in ["interlingua approve ", "curl ", "interlingua-answer"] {
        assert!(copies.contains(word), "{copies}");
    }
    // V-27: what differs from the last approval.
    let difference = seen["difference"].to_string();
    for line in ["1.10", "1.1", "a note", "everything", "+", "−"] {
        assert!(difference.contains(line), "{line}: {difference}");
    }
    assert!(!difference.contains("__proto__"), "what is the same is left out: {difference}");
    assert_eq!(
        (&seen["focused"], &seen["off_after_focus"]),
        (&json!("deny"), &json!("true")),
        "a key only moves the focus"
    );
    said(&seen, "elsewhere", &["Denied", "user:boss"]);
    assert_eq!(seen["sent_elsewhere"], 0);
    // V-09: a list under a hand does not move.
    assert_eq!((&seen["held"], &seen["released"]), (&json!(true), &json!(true)));
    // V-28: there is no approval of several.
    assert_eq!(seen["acts_for_several"], json!(["decline-chosen"]));
    assert_eq!(seen["declined"], json!(["failed", "failed"]));
    // V-23: one row a call, and the twin that is withdrawn is no refusal.
    assert_eq!(seen["twin_rows"], 1);
    said(&seen, "twin_shown", &["agent:helper", "inside the hub", "local/erase", "made by an agent of this hub"]);
    assert_eq!(seen["twin_ended"], "completed");
    said(&seen, "twin_elsewhere", &["Approved", "user:boss"]);
    assert_eq!(seen["off_while_away"], "true");
    assert_eq!(seen["list_hidden_on_telephone"], true);
    said(&seen, "spanish", &["Aprobada", "por"]);
    // V-01: filter and selection are in the address.
    assert_eq!(seen["mine"], json!([[], "true"]));
    assert_eq!(seen["reloaded"], seen["mine"]);
    assert_eq!(seen["all_address"], true);
    // V-02: what is not hers to decide, and who could.
    said(&seen, "hidden", &["an approver of this hub has to"]);
    said(&seen, "her_list", &["You may not approve calls of others"]);
    let erased = std::fs::read_to_string(hub.directory().join("erased")).unwrap_or_default();
    assert!(erased.contains("1.10") && !erased.contains("everything"), "what was denied did not run: {erased}");
}

/// A form, choices, a credential, a page to visit; and V-07: a session that ends under a form.
#[tokio::test]
async fn v_07_v_26_questions_are_answered_and_what_was_typed_outlives_the_session() {
    let asker = asker().await;
    let hub = hub(Some(&asker), "").await;
    let Some(seen) = play(&hub, "asked", &cast(&hub).await).await else { return skipped(MISSING) };
    assert_eq!(seen["problems"], json!([]));
    let fields = ["/city", "/nights", "/breakfast", "/class", "/guests", "/currency", "/pay", "/pay/amount"];
    assert_eq!(seen["fields"], json!(fields));
    assert_eq!((&seen["preset"], &seen["sent_wrong"]), (&json!("EUR"), &json!("waiting")));
    assert_eq!(seen["kept_under_sheet"], "Vienna \"the old\"");
    assert_eq!(seen["kept_after_sheet"], json!(["Vienna \"the old\"", "12345678901234567890123"]));
    assert_eq!((&seen["form"], &seen["choices"]), (&json!("completed"), &json!("completed")));
    let heard: Vec<String> =
        asker.heard().iter().map(|heard| String::from_utf8_lossy(&heard.body).into_owned()).collect();
    let answer = heard.iter().find(|body| body.contains("Vienna")).unwrap_or_else(|| panic!("{heard:?}"));
    for piece in ["\"breakfast\":true", "\"class\":1", "[\"ann\"]", "\"EUR\""] {
        assert!(answer.contains(piece), "{piece}: {answer}");
    }
    // The page sends numbers as they were typed.
    said(&seen, "sent", &["\"nights\":12345678901234567890123", "{\"amount\":1.10}"]);
    assert!(heard.iter().any(|body| body.contains("In June")), "{heard:?}");
    assert!(heard.iter().any(|body| body.contains("s3cret-of-mine")), "the peer has it");
    assert_eq!(seen["secret_left"], false, "the page has it no more");
    assert!(!hub.log().contains("s3cret-of-mine"));
    assert_eq!((&seen["address"], &seen["host"]), (&json!("https://pay.example/checkout?id=7"), &json!("pay.example")));
    assert_eq!(seen["links_at_first"], 0, "a second click opens it");
    assert_eq!(seen["link"], json!(["https://pay.example/checkout?id=7", "noopener noreferrer", "_blank"]));
}

/// Whatever a caller or a peer writes is shown as what it is.
#[tokio::test]
async fn v_16_attack_hostile_text_is_shown_and_does_nothing() {
    let asker = asker().await;
    let hub = hub(Some(&asker), "").await;
    let Some(seen) = play(&hub, "hostile", &cast(&hub).await).await else { return skipped(MISSING) };
    assert_eq!(seen["problems"], json!([]), "no dialog, no foreign request, no violation");
    assert_eq!(
        (&seen["differs"], &seen["long"]),
        (&json!([]), &json!(true)),
        "what is read on the screen is what was sent"
    );
    assert!(seen["lines"].as_u64() > Some(3_080), "{seen}");
    assert_eq!((&seen["escapes"], &seen["made"], &seen["form_made"]), (&json!(true), &json!([]), &json!(0)));
    assert!(seen["marked"].to_string().contains("p\u{430}ypal"), "{}", seen["marked"]);
    assert_eq!((&seen["description"], &seen["same_digest"]), (&json!(true), &json!(true)));
    let folded = seen["off_while_folded"].as_array().expect("a list");
    assert!(
        folded.len() > 3 && folded.iter().all(|off| off == "true"),
        "nothing is approved before it is unfolded: {folded:?}"
    );
    assert_eq!(seen["off_while_unread"], "true", "nor before it was on the screen");
    assert_eq!(seen["state"], "completed");
    assert!(seen["options"].to_string().contains("x⟨U+202E⟩y"), "{}", seen["options"]);
    said(&seen, "visit", &["xn--bcher-kva.example"]);
    assert_eq!(seen["hosts"], json!(["xn--bcher-kva.example"]), "in the letters by which it is looked up");
}

#[tokio::test]
async fn v_18_v_25_a_countdown_ends_when_the_hub_says_so_whatever_this_machines_clock() {
    let hub = hub(None, "limits: { question: 12s }\n").await;
    let Some(seen) = play(&hub, "expired", &cast(&hub).await).await else { return skipped(MISSING) };
    assert_eq!(seen["problems"], json!([]));
    assert!(seen["left"].as_f64().is_some_and(|left| left > 0.0 && left < 60_000.0), "not an hour more: {seen}");
    said(&seen, "ended", &["xpired"]);
    assert_eq!((&seen["decided"], &seen["off"]), (&json!([]), &json!(0)));
}

#[tokio::test]
async fn v_15_a_read_only_console_shows_the_command_in_place_of_the_action() {
    let hub = hub(None, "console: { read_only: true }\n").await;
    let Some(seen) = play(&hub, "read_only", &cast(&hub).await).await else { return skipped(MISSING) };
    assert_eq!((&seen["problems"], &seen["acts"]), (&json!([]), &json!(0)));
    let question = seen["question"].as_str().expect("an id");
    assert_eq!(
        seen["commands"],
        json!([format!("interlingua approve {question}"), format!("interlingua deny {question}")])
    );
    // What is copied works in a terminal: the command, and the request.
    let copies: Vec<&str> = seen["copies"].as_array().expect("copies").iter().filter_map(Value::as_str).collect();
    let curl = copies.iter().find(|text| text.starts_with("curl")).expect("a request");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", curl]).env("INTERLINGUA_TOKEN", "boss-token");
    let output = tokio::task::spawn_blocking(move || shell.output().expect("sh runs")).await.expect("it ends");
    let answered = String::from_utf8_lossy(&output.stdout).into_owned();
    let task = question.split('.').next().expect("a task");
    assert!(answered.contains(task) && !answered.contains("error"), "{answered} {output:?}");
    support::reaches(&hub, task, "completed").await;
}
