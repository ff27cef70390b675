//! Requests, answers and statuses of `ask`, member by member, as they are on the wire.

use interlingua_testkit::Piece;
use interlingua_testkit::provider::{Provider, Reply, Spelling, Turn};

use super::*;

/// A site with sixty items, the first of which has all that an item can say.
async fn sixty() -> Scripted {
    Scripted::http(|_, _| {
        let whole = json!({"@type": "Recipe", "url": "https://s.example/1", "name": "Soup", "score": 90,
            "description": "d", "cookTime": "PT1H", "site": "s"});
        let rest = (1..60).map(|n| json!({"@type": "Recipe", "name": n.to_string(), "score": 90 - n}));
        let results: Vec<Value> = [whole].into_iter().chain(rest).collect();
        Say::Json(json!({"_meta": {"version": "0.54", "response_type": "Answer"}, "results": results}))
    })
    .await
}

fn of_version(version: &str, query: Value, more: Value) -> Value {
    let mut body = json!({"query": {"text": "soup", "site": "snacks"}, "prefer": {"streaming": false},
        "meta": {"api_version": version}});
    body["query"].as_object_mut().expect("an object").extend(query.as_object().expect("an object").clone());
    for (key, value) in more.as_object().expect("an object") {
        match body.get_mut(key).and_then(Value::as_object_mut) {
            Some(members) => members.extend(value.as_object().expect("an object").clone()),
            None => body[key] = value.clone(),
        }
    }
    body
}

#[tokio::test]
async fn q_20_every_member_of_a_request_of_version_0_54_does_what_it_says_or_nothing() {
    let site = sixty().await;
    let hub = asking(&site).await;
    let names = async |query: Value, more: Value| -> Vec<String> {
        let answer = ask(&hub, of_version("0.54", query, more)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let said = answer.json();
        let items = said["results"].as_array().unwrap_or_else(|| panic!("{said}"));
        items.iter().map(|item| item["name"].as_str().expect("a name").to_owned()).collect()
    };
    let none = || json!({});
    let usual = names(none(), none()).await;
    assert_eq!((usual.len(), usual[0].as_str()), (50, "Soup"), "fifty, unless it says otherwise");
    for (query, count) in [
        (json!({"num_results": 1}), 1),
        (json!({"num_results": 1000}), 60),
        (json!({"num_results": 0}), 1),
        (json!({"num_results": 100_000}), 60),
        (json!({"max_results": 3}), 3),
        (json!({"max_results": 100, "num_results": 2}), 60),
        (json!({"min_score": 81}), 10),
        (json!({"min_score": 101}), 0),
    ] {
        assert_eq!(names(query.clone(), none()).await.len(), count, "{query}");
    }
    assert_eq!(names(none(), json!({"meta": {"start_num": 58}})).await, ["58", "59"]);
    // What only describes the asker changes nothing.
    let more = json!({"context": {"@type": "ConversationalContext", "text": "t", "memory": ["m"]},
        "prefer": {"response_format": "chatgpt_app", "mode": "list", "accept-language": "fr", "user-agent": "u"},
        "meta": {"user": {"id": "u"}, "remember": true, "session_context": {"conversation_id": "c", "state_token": "s"}}});
    assert_eq!(names(none(), more).await, usual);
    let earlier = json!({"context": {"prev": ["before, this", "and this"]}});
    names(json!({"text": "it", "decontextualized_query": "leek soup"}), earlier).await;
    let heard = site.heard().last().expect("it was asked").json();
    assert_eq!(heard["query"]["text"], "leek soup", "the question without its context: {heard}");
    assert_eq!(heard["context"]["prev"], json!(["before, this", "and this"]), "{heard}");
    let asked = site.heard().len();
    for wrong in [json!({"cuisine": "thai"}), json!({"text": null}), json!({"text": "  "}), json!({"Text": "x"})] {
        let answer = ask(&hub, of_version("0.54", wrong.clone(), none())).await;
        assert_eq!(answer.status, 400, "{wrong}: {}", answer.text());
        assert_eq!(answer.json()["error"]["code"], "INVALID_REQUEST", "{wrong}");
        assert_eq!(answer.json()["_meta"]["response_type"], "Failure", "{wrong}");
    }
    assert_eq!(site.heard().len(), asked, "nobody was asked");
}

#[tokio::test]
async fn q_22_a_whole_answer_of_version_0_54_has_its_members_and_those_of_every_item() {
    let hub = asking(&sixty().await).await;
    for form in ["chatgpt_app", "conv_search"] {
        let said =
            ask(&hub, of_version("0.54", json!({"num_results": 2}), json!({"prefer": {"response_format": form}})));
        let said = said.await.json();
        let members: Vec<&String> = said.as_object().expect("an object").keys().collect();
        assert_eq!(members, ["_meta", "results"], "in either form: {said}");
        let meta = &said["_meta"];
        assert_eq!((&meta["version"], &meta["response_type"]), (&json!("0.54"), &json!("Answer")), "{said}");
        let id = meta["request_id"].as_str().expect("an id");
        let lengths: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "a UUID: {id}");
        let whole = json!({"@type": "Recipe", "@context": "https://schema.org", "url": "https://s.example/1",
            "name": "Soup", "site": "s", "score": 90, "description": "d", "cookTime": "PT1H",
            "grounding": {"source_urls": ["https://s.example/1"]}});
        assert_eq!(said["results"][0], whole);
        for key in ["@type", "@context", "url", "name", "site", "score", "description"] {
            assert!(said["results"][1].get(key).is_some(), "no `{key}`: {said}");
        }
    }
}

#[tokio::test]
async fn q_07_a_stream_of_the_first_generation_says_a_failure_inside_and_names_every_message() {
    let site = Scripted::http(|_, _| {
        Say::Json(json!({"_meta": {"response_type": "failure"}, "error": {"code": "NO_INDEX", "message": "no index"}}))
    })
    .await;
    let hub = asking(&site).await;
    let answer = hub.get("/ask?query=x&site=snacks&query_id=mine").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/event-stream")), "{}", answer.text());
    let text = answer.text();
    assert!(text.ends_with("\n\n") && !text.contains('\r'), "{text:?}");
    for block in text.split_terminator("\n\n") {
        let is_data = block.lines().count() == 1 && block.starts_with("data: {");
        assert!(is_data || block.starts_with(':'), "one line of data alone: {block:?}");
    }
    let all = messages(&text);
    assert!(all.iter().all(|message| message["message_type"].is_string()), "{text}");
    assert!(all.iter().all(|message| message["query_id"] == "mine"), "{text}");
    let errors: Vec<&Value> = all.iter().filter(|message| message["message_type"] == "error").collect();
    let [error] = errors.as_slice() else { panic!("one error: {text}") };
    assert_eq!(all.last().expect("an end")["message_type"], "complete", "{text}");
    assert!(error["error"].as_str().is_some_and(|text| text.contains("no index")), "{error}");
    assert!(error["status"].as_u64().is_some_and(|status| status >= 400), "{error}");
}

/// Lacks a text, one of three, and any of three.
const PIZZA: &str = r#"
name: order_pizza
description: Orders a pizza.
phrases: { en: ["order pizza"] }
input:
  type: object
  properties:
    name: { type: string, description: "Whose?" }
    size: { type: string, enum: [small, large], description: "How large?" }
    toppings: { type: array, items: { type: string, enum: [cheese, ham, leek] }, description: "With what?" }
  required: [name, size, toppings]
effects: { reads: true, idempotent: true }
command: [sh, -c, cat]
"#;
const TOPPINGS: &str = r#"
name: add_toppings
description: Adds something.
phrases: { en: ["add toppings"] }
input: { type: object, properties: { toppings: { type: array, items: { type: string, enum: [cheese, ham, leek] } } }, required: [toppings] }
effects: { reads: true, idempotent: true }
command: [sh, -c, cat]
"#;

#[tokio::test]
async fn q_24_the_four_kinds_of_answer_have_their_members_in_both_versions() {
    let failing = Scripted::http(|_, _| {
        Say::Json(json!({"_meta": {"response_type": "failure"}, "error": {"code": "NO_INDEX", "message": "no index"}}))
    })
    .await;
    let builder = builder().file("tools/pizza.yaml", PIZZA).file("tools/toppings.yaml", TOPPINGS);
    let builder = builder.file("tools/recipes.yaml", RECIPES).file("tools/late.yaml", LATE);
    let peers = format!("peers: {{ snacks: {{ nlweb: {{ url: \"http://{}/ask\" }} }} }}\n", failing.address());
    let hub = builder.config(&format!("tools: {{ directory: ./tools }}\n{peers}")).start().await;
    for (version, spelled) in [
        ("0.54", ["Answer", "Elicitation", "Promise", "Failure"]),
        ("0.55", ["answer", "elicitation", "promise", "failure"]),
    ] {
        let asked = async |text: &str, site: &str| {
            let answer = ask(&hub, of_version(version, json!({"text": text, "site": site}), json!({}))).await;
            let said = answer.json();
            assert_eq!(said["_meta"]["version"], version, "{said}");
            (answer.status, said)
        };
        let [answer, elicitation, promise, failure] = spelled;
        let (status, said) = asked("recipes with leek", "local").await;
        assert_eq!((status, &said["_meta"]["response_type"]), (200, &json!(answer)), "{said}");
        assert_eq!(said["results"][0]["name"], "Soup");
        let (status, said) = asked("order pizza", "local").await;
        assert_eq!((status, &said["_meta"]["response_type"]), (200, &json!(elicitation)), "{said}");
        assert!(said["elicitation"]["text"].as_str().is_some_and(|text| !text.is_empty()), "{said}");
        let questions = said["elicitation"]["questions"].as_array().expect("questions");
        for question in [
            json!({"id": "name", "text": "Whose?", "type": "text"}),
            json!({"id": "size", "text": "How large?", "type": "single_select", "options": ["small", "large"]}),
            json!({"id": "toppings", "text": "With what?", "type": "multi_select", "options": ["cheese", "ham", "leek"]}),
        ] {
            assert!(questions.contains(&question), "no {question}: {said}");
        }
        assert_eq!(questions.len(), 3, "{said}");
        let (status, said) = asked("think about it", "local").await;
        assert_eq!(said["_meta"]["response_type"], promise, "{said}");
        assert_eq!(status, if version == "0.55" { 202 } else { 200 });
        assert!(said["promise"]["token"].is_string() && said["promise"]["estimated_time"].is_u64(), "{said}");
        let (status, said) = asked("anything", "snacks").await;
        assert_eq!((status, &said["_meta"]["response_type"]), (200, &json!(failure)), "{said}");
        let error = said["error"].as_object().expect("an error");
        assert_eq!(error.keys().collect::<Vec<_>>(), ["code", "message"], "{said}");
        assert!(said["error"]["message"].as_str().is_some_and(|text| text.contains("no index")), "{said}");
    }
    // Several of the options are an answer.
    let said = ask(&hub, of_version("0.55", json!({"text": "add toppings", "site": "local"}), json!({}))).await.json();
    let session = json!({"meta": {"session_context": said["_meta"]["session_context"]}});
    let said = ask(&hub, of_version("0.55", json!({"text": "cheese, leek", "site": "local"}), session)).await.json();
    assert!(said["results"].to_string().contains(r#"["cheese","leek"]"#), "{said}");
}

#[tokio::test]
async fn q_24_a_site_that_lets_choose_several_is_told_those_that_were_chosen() {
    let site = Scripted::http(|heard, _| match heard.json()["meta"]["session_context"]["state_token"].as_str() {
        Some("s-1") => Say::Json(json!({"_meta": {"response_type": "answer"}, "results": [item()]})),
        _ => Say::Json(json!({"_meta": {"response_type": "elicitation", "session_context": {"state_token": "s-1"}},
            "elicitation": {"text": "With what?", "questions": [
                {"id": "toppings", "text": "Toppings", "type": "multi_select", "options": ["cheese", "ham", "leek"]}]}})),
    })
    .await;
    let hub = asking(&site).await;
    let asked = asked(&hub).await;
    let question = &asked["questions"][0];
    assert!(question.to_string().contains(r#""type":"array""#), "{asked}");
    let task = question["task"].as_str().expect("a task");
    let answer = json!({"answer": {"question": question["id"], "arguments": {"toppings": ["ham", "leek"]}}});
    let told = hub.post_json(&format!("/api/tasks/{task}/signals"), &answer).await;
    assert!(told.status < 300, "{}", told.text());
    let done = crate::support::reaches(&hub, task, "completed").await;
    assert_eq!(done["finished"]["structured"]["results"], json!([item()]), "{done}");
    assert_eq!(site.heard().last().expect("asked").json()["query"]["text"], "ham, leek");
}

#[tokio::test]
async fn q_42_the_session_of_an_answer_goes_back_to_its_site_with_the_next_question_of_the_conversation() {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let site = Scripted::http(move |heard, _| {
        // Is anybody there?
        if heard.method != Method::POST {
            return Say::Status(404, Vec::new(), json!({}));
        }
        let brought = heard.json()["meta"]["session_context"].clone();
        let number = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let session = json!({"conversation_id": "c-9", "state_token": format!("s-{number}")});
        let event = |name: &str, data: Value| Piece::Bytes(format!("event: {name}\ndata: {data}\n\n").into());
        let meta = json!({"_meta": {"version": "0.55", "response_type": "answer"}});
        let mut end = meta.clone();
        end["_meta"]["session_context"] = session;
        let result = json!({"results": [{"name": brought.to_string(), "index": 0}]});
        Say::Stream(vec![event("start", meta), event("result", result), event("complete", end)])
    })
    .await;
    let hub = asking(&site).await;
    let told = async |session: Option<&Value>| {
        let more = session.map_or(json!({}), |session| json!({"meta": {"session_context": session}}));
        let said = ask(&hub, of_version("0.55", json!({}), more)).await.json();
        let brought: Value = serde_json::from_str(said["results"][0]["name"].as_str().expect("a name")).expect("JSON");
        (brought, said["_meta"]["session_context"].clone())
    };
    let (brought, own) = told(None).await;
    assert_eq!(brought, Value::Null, "nothing was given yet");
    assert_ne!(own["conversation_id"], "c-9", "the hub's own conversation, and not the site's");
    assert_eq!(told(Some(&own)).await.0, json!({"conversation_id": "c-9", "state_token": "s-0"}));
    assert_eq!(told(None).await.0, Value::Null, "another conversation has a session of its own");
    assert_eq!(told(Some(&own)).await.0, json!({"conversation_id": "c-9", "state_token": "s-1"}), "the last one given");
}

#[tokio::test]
async fn q_44_limits_failures_and_who_may_ask() {
    let hub = crate::support::hub("limits: { rate: 1/h }\n").await;
    let echo = json!({"skill": "hub/echo", "arguments": {"text": "x"}});
    assert_eq!(hub.post_json("/api/exchanges", &echo).await.status, 200);
    for (version, streaming) in [("0.55", false), ("0.55", true), ("0.54", false), ("0.54", true)] {
        let body =
            of_version(version, json!({"text": "echo x", "site": "all"}), json!({"prefer": {"streaming": streaming}}));
        let answer = ask(&hub, body).await;
        assert_eq!(answer.status, 429, "{version}: {}", answer.text());
        let seconds = answer.header("retry-after").and_then(|text| text.parse::<u64>().ok());
        assert!(seconds.is_some_and(|seconds| (1..=3_600).contains(&seconds)), "{version}: {:?}", answer.headers);
        assert_eq!(answer.json()["error"]["code"], "RATE_LIMITED", "{version}");
    }
    // A site's own limit reaches who asked, with its time.
    let site = Scripted::http(|_, _| Say::Status(429, vec![("retry-after", "7".into())], json!({}))).await;
    let hub = asking(&site).await;
    let fault = asked(&hub).await["finished"]["fault"].clone();
    assert_eq!(fault["kind"], "busy", "{fault}");
    assert!(fault.to_string().contains("7000"), "seven seconds: {fault}");
    let about = hub.get("/llms.txt").await.text();
    assert!(about.contains("Authorization: Bearer"), "how to show who asks is documented: {about}");
    let mut stranger = hub.connect_anonymous().await;
    let body = of_version("0.55", json!({}), json!({})).to_string();
    let refused = stranger.send(interlingua_testkit::post("/ask", "application/json", body)).await;
    assert!([401, 403, 404].contains(&refused.status), "{}: {}", refused.status, refused.text());
}

/// The words of a model that fits no schema, and what it was shown and told.
#[tokio::test]
async fn w_41_a_model_is_shown_schemas_is_told_once_what_was_wrong_and_is_then_not_asked_again() {
    let wrong = || Turn::Says(Reply::call("local__find_recipes", json!({"what": 7})), 4096);
    let right = Turn::Says(Reply::call("local__find_recipes", json!({"what": "leek"})), 4096);
    let lacks = Turn::Says(Reply::call("local__find_recipes", json!({})), 4096);
    let invented = Turn::Says(Reply::call("local__invented", json!({"what": "leek"})), 4096);
    for (turns, asked, came) in [
        (vec![wrong(), right], 2, "Soup"),
        (vec![wrong(), wrong(), wrong()], 2, "hub/help"),
        (vec![invented, wrong()], 1, "hub/help"),
        (vec![lacks, wrong()], 1, "With what?"),
    ] {
        let provider = Provider::start(Spelling::Openai, turns).await;
        let models = format!(
            "models: {{ m: {{ provider: openai, model: m-1, base_url: \"{}\", api_key: k, attempts: 1 }} }}\nhub: {{ model: m }}\n",
            provider.base_url()
        );
        let builder = builder().file("recipes/recipes.yaml", RECIPES);
        let hub = builder.config(&format!("tools: {{ directory: ./recipes }}\n{models}")).start().await;
        let said = hub.post_json("/api/exchanges", &json!({"words": "I fancy something warm tonight"})).await.json();
        assert!(said.to_string().contains(came), "{came}: {said}");
        let prompts = provider.asked();
        assert_eq!(prompts.len(), asked, "{came}: {said}");
        let shown = prompts[0].body.to_string();
        for part in ["local__find_recipes", "Finds recipes.", "With what?", "\"people\"", "\"required\""] {
            assert!(shown.contains(part), "no {part}: {shown}");
        }
        assert!(!shown.contains("was refused"), "{shown}");
        if let Some(again) = prompts.get(1) {
            let again = again.body.to_string();
            assert!(again.contains("The call before was refused") && again.contains("what"), "{again}");
        }
    }
}
