//! Rules of driven sites beyond the browser: before a page is opened, instead of one, and for typed values.

use http::Method;
use interlingua_testkit::pages::{Pages, html};
use interlingua_testkit::{Hub, Say, Scripted, root, skipped};
use serde_json::{Value, json};

use crate::mcp::Modern;
use crate::support::{send, until};

const PAGE: &str = "<input id='a'><button id='go'>go</button><p id='out'>found</p>";

fn open(path: &str) -> Value {
    json!({"action_type": "navigate", "value": path})
}

fn read_out() -> Value {
    json!({"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}})
}

/// A definition of these actions, with more of its own.
fn definition(pages: &Pages, actions: Value, more: Value) -> String {
    let mut site = json!({"interface_id": "shop", "name": "Shop", "base_url": pages.base(), "description": "A shop.",
        "actions": actions});
    site.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
    site.to_string()
}

async fn hub(definition: String, more: &str) -> Hub {
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("shop.json", definition);
    builder.config(&format!("peers: {{ shop: {{ site: ./shop.json }} }}\n{more}")).start().await
}

async fn call(hub: &Hub, skill: &str, arguments: Value) -> Value {
    hub.post_json("/api/exchanges", &json!({"skill": skill, "arguments": arguments})).await.json()
}

async fn pages() -> Pages {
    Pages::start([("/", html(PAGE)), ("/paid", html(PAGE))]).await
}

#[tokio::test]
async fn w_13_what_is_missing_is_asked_for_in_the_protocol_of_the_caller_before_a_page_is_opened() {
    let pages = pages().await;
    let find = json!([open("/?q={what}&d={date}"), read_out()]);
    let hub = hub(definition(&pages, json!({"find_things": find}), json!({})), "").await;
    let refused = call(&hub, "shop/find_things", json!({})).await;
    let fields: Vec<&str> = refused["error"]["fields"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|field| field["path"].as_str())
        .collect();
    assert_eq!(refused["error"]["kind"], "invalid_input", "{refused}");
    assert!(
        refused.to_string().contains("what") && refused.to_string().contains("date"),
        "all at once: {fields:?} {refused}"
    );

    let told = Modern::new(&hub).call("shop__find_things", json!({})).await;
    assert_eq!(told["isError"], true, "{told}");

    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"data": {"what": "soap"}}],
        "metadata": {"urn:interlingua:hub:1": {"skill": "find_things"}}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
    let asked = send(&hub, Method::POST, "/agents/shop/a2a", &[("a2a-version", "1.0")], Some(body)).await.json();
    assert_eq!(asked["result"]["task"]["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{asked}");

    let nested = json!({"query": {"text": "find things what soap", "site": "shop"}, "prefer": {"streaming": false},
        "meta": {"api_version": "0.55"}});
    let elicits = hub.post_json("/ask", &nested).await.json();
    assert_eq!(elicits["_meta"]["response_type"], "elicitation", "{elicits}");
    assert!(pages.asked().is_empty(), "{:?}", pages.asked());
}

#[tokio::test]
async fn w_14_a_parameter_that_no_step_uses_is_told_or_refused() {
    let pages = pages().await;
    let actions = json!({"look": [open("/?q={what}"), read_out()]});
    for strict in [false, true] {
        let hub = hub(definition(&pages, actions.clone(), json!({ "strict": strict })), "").await;
        let body = json!({"skill": "shop/look", "arguments": {"what": "soap", "colour": "blue"}});
        let sse = [("accept", "text/event-stream")];
        let answer = send(&hub, Method::POST, "/api/exchanges", &sse, Some(body)).await;
        let text = answer.text();
        if strict {
            assert!(text.contains("invalid_input") && text.contains("colour"), "{text}");
        } else {
            assert!(text.contains("the parameter colour is used by no step"), "{text}");
            assert!(text.contains("found"), "{text}");
        }
    }
}

#[tokio::test]
async fn w_18_values_are_bounded_as_the_definition_says_before_a_page_is_opened() {
    let pages = pages().await;
    let look = json!({"parameters": {"code": {"minLength": 2, "maxLength": 4, "pattern": "^[A-Z]+$"}},
        "steps": [open("/?q={code}"), read_out()]});
    let hub = hub(definition(&pages, json!({ "look": look }), json!({})), "").await;
    for bad in [json!("A"), json!("ABCDE"), json!("ab"), json!("A\nB"), json!("x".repeat(9_000))] {
        let refused = call(&hub, "shop/look", json!({ "code": bad })).await;
        assert_eq!(refused["error"]["kind"], "invalid_input", "{bad}: {refused}");
    }
    assert!(pages.asked().is_empty());
    let found = call(&hub, "shop/look", json!({"code": "ABC"})).await;
    assert_eq!(found["finished"]["structured"]["extracted_data"], json!([{"said": "found"}]), "{found}");
}

#[tokio::test]
async fn w_43_words_that_mean_no_one_action_run_nothing_and_are_offered_what_they_may_mean() {
    let pages = pages().await;
    let action =
        |description: &str| json!({"description": description, "phrases": [], "steps": [open("/"), read_out()]});
    let actions = json!({"list_ferries": action("Ferries of the harbour today"), "list_cranes": action("Cranes of the harbour today")});
    let hub = hub(definition(&pages, actions, json!({})), "").await;
    let said = hub.post_json("/api/exchanges", &json!({"words": "the harbour today"})).await.json();
    assert_eq!(said["state"], "waiting", "{said}");
    let offered = said["questions"][0].to_string();
    assert!(offered.contains("shop/list_ferries") && offered.contains("shop/list_cranes"), "{offered}");
    let nonsense = hub.post_json("/api/exchanges", &json!({"words": "zyx wvu"})).await.json();
    assert_eq!(nonsense["route"]["skill"], "hub/help", "{nonsense}");
    assert!(pages.asked().is_empty(), "nothing was run: {:?}", pages.asked());
}

#[tokio::test]
async fn w_43_what_would_submit_pay_or_delete_waits_for_an_approval() {
    let pages = pages().await;
    let press = json!({"action_type": "click", "selector": "#go"});
    let actions = json!({"pay_bill": [open("/paid"), press], "delete_account": [open("/paid"), press]});
    let hub = hub(definition(&pages, actions, json!({})), "").await;
    for (number, skill) in ["shop/pay_bill", "shop/delete_account"].into_iter().enumerate() {
        let task = crate::support::start(&hub, json!({"skill": skill, "arguments": {}})).await;
        crate::support::reaches(&hub, &task, "waiting").await;
        assert_eq!(pages.asked().len(), 0, "{skill}: nothing before the approval");
        let open = hub.get("/api/confirmations").await.json();
        let id = open["items"][0]["id"].as_str().unwrap_or_else(|| panic!("{number}: {open}")).to_owned();
        hub.post_json(&format!("/api/confirmations/{id}"), &json!({"approve": false})).await;
        crate::support::reaches(&hub, &task, "failed").await;
    }
    let said = hub.post_json("/api/exchanges", &json!({"words": "pay bill"})).await.json();
    assert_ne!(said["state"], "completed", "{said}");
    assert!(pages.asked().is_empty());
}

#[tokio::test]
async fn w_45_a_result_is_remembered_where_the_definition_says_so_and_a_new_definition_forgets_it() {
    let pages = pages().await;
    let steps = json!([open("/?q={q}"), read_out()]);
    let actions = json!({"kept": {"cacheable": "10m", "steps": steps}, "fresh": steps});
    let hub = hub(definition(&pages, actions.clone(), json!({})), "").await;
    let asked = || pages.asked().iter().filter(|line| line.starts_with("/?q=")).count();
    let mut before = 0;
    for (skill, q, again) in [
        ("shop/kept", "1", true),
        ("shop/kept", "1", false),
        ("shop/kept", "2", true),
        ("shop/kept", "2", false),
        ("shop/fresh", "1", true),
        ("shop/fresh", "1", true),
    ] {
        let found = call(&hub, skill, json!({ "q": q })).await;
        assert_eq!(found["finished"]["structured"]["extracted_data"], json!([{"said": "found"}]), "{found}");
        assert_eq!(asked() > before, again, "{skill} {q}");
        before = asked();
    }
    hub.write("shop.json", definition(&pages, actions, json!({"version": "2.0.0"})));
    until("the new definition", async || hub.get("/api/skills").await.text().contains("2.0.0")).await;
    call(&hub, "shop/kept", json!({"q": "1"})).await;
    assert!(asked() > before, "what another definition found is not this one's");
}

#[tokio::test]
async fn w_47_a_tool_and_an_agent_come_before_a_driven_site() {
    let pages = pages().await;
    let site = definition(&pages, json!({"find_rooms": [open("/"), read_out()]}), json!({}));
    let agent = Scripted::web(|heard, _| match heard.path.as_str() {
        "/.well-known/agent-card.json" => Say::Json(json!({
            "name": "Rooms", "description": "d", "version": "1", "capabilities": {"streaming": false},
            "supportedInterfaces": [{"url": "/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "find_rooms", "name": "n", "description": "d", "tags": ["t"]}]})),
        "/rpc" => {
            let message =
                json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "from the agent"}]}});
            Say::Json(json!({"jsonrpc": "2.0", "id": heard.json()["id"], "result": message}))
        }
        _ => Say::Status(404, Vec::new(), Value::Null),
    })
    .await;
    let (python, script) =
        (root().join(".venv/bin/python"), concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp_client/server.py"));
    let log = tempfile::tempdir().expect("a directory");
    let args = json!([script, "stdio", "modern", log.path().join("log")]);
    let tool = format!(
        "tools: {{ effects: reads, mcp: {{ command: {}, args: {args}, env: {{ ALSO: find_rooms }} }} }}",
        python.display()
    );
    let agent = format!("rooms: {{ effects: reads, a2a: {{ url: \"http://{}\" }} }}", agent.address());
    let driven = "shop: { site: ./shop.json }";
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("shop.json", site);
    let hub = builder.config(&format!("peers: {{ {driven}, {agent}, {tool} }}\n")).start().await;
    for (peers, skill, class) in [
        (format!("{driven}, {agent}, {tool}"), "tools/find_rooms", "tool"),
        (format!("{driven}, {agent}"), "rooms/find_rooms", "agent"),
        (driven.to_owned(), "shop/find_rooms", "driven_site"),
    ] {
        hub.write("interlingua.yaml", format!("peers: {{ {peers} }}\n"));
        let mut answer = Value::Null;
        until(skill, async || {
            let body = json!({"skill": "find_rooms", "arguments": {"message": "rooms"}});
            answer = hub.post_json("/api/exchanges", &body).await.json();
            answer["route"]["skill"] == skill
        })
        .await;
        assert_eq!(answer["route"]["class"], class, "{answer}");
        let asked = pages.asked().iter().any(|line| line.starts_with("/ "));
        assert_eq!(asked, class == "driven_site", "a page is opened where nothing else is there");
    }
}

#[tokio::test]
async fn w_67_a_secret_is_in_no_log_trace_audit_journal_or_answer() {
    let page = "<input id='a'><p id='out'></p><script>a.addEventListener('input', () => out.textContent = 'typed ' + a.value.length)</script>";
    let pages = Pages::start([("/", html(page))]).await;
    let typed = json!({"action_type": "type", "selector": "#a", "value": "{pass}"});
    let absent = json!({"action_type": "click", "selector": "#absent", "timeout": "300ms"});
    let parameters = json!({"pass": {"secret": true}});
    let actions = json!({
        "enter": {"effects": "reads", "parameters": parameters, "steps": [open("/"), typed, read_out()]},
        "fail": {"effects": "reads", "parameters": parameters, "steps": [open("/"), typed, absent]},
    });
    let builder =
        Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("shop.json", definition(&pages, actions, json!({})));
    let config = "peers: { shop: { site: ./shop.json } }\ntelemetry: { log: { level: trace } }\n";
    let hub = builder.config(config).keeping_lines(200_000).start().await;
    let mut told = String::new();
    for skill in ["shop/enter", "shop/fail"] {
        let arguments = json!({"pass": "hunter2-and-more"});
        let task = crate::support::start(&hub, json!({"skill": skill, "arguments": arguments})).await;
        let state = if skill == "shop/enter" { "completed" } else { "failed" };
        told += &crate::support::reaches(&hub, &task, state).await["finished"].to_string();
        let events = hub.get(&format!("/api/tasks/{task}/events")).await.text();
        told += &events;
    }
    assert!(told.contains("typed 16"), "it was typed: {told}");
    told += &hub.get("/api/audit?limit=200").await.text();
    told += &hub.get("/metrics").await.text();
    until("the log tells of the failure, at its loudest level", async || hub.log().contains("shop/fail")).await;
    let log = hub.log();
    assert!(!told.contains("hunter2"), "{told}");
    let line = log.lines().find(|line| line.contains("hunter2"));
    assert_eq!(line, None);
}

#[tokio::test]
async fn w_68_a_hub_of_root_drives_no_site_unless_a_setting_says_so() {
    if !rustix::process::getuid().is_root() {
        return skipped("only root has no sandbox");
    }
    let pages = pages().await;
    let site = definition(&pages, json!({"look": [open("/"), read_out()]}), json!({}));
    let builder = |more: &str| {
        let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("shop.json", site.clone());
        builder
            .config(&format!("peers: {{ shop: {{ site: ./shop.json }} }}\n{more}"))
            .environment("INTERLINGUA_BROWSER_SANDBOX", "")
    };
    let hub = builder("").start().await;
    let refused = call(&hub, "shop/look", json!({})).await;
    assert!(refused.to_string().contains("browser.sandbox: off"), "{refused}");
    assert!(pages.asked().is_empty());
    let hub = builder("browser: { sandbox: off }\n").start().await;
    let found = call(&hub, "shop/look", json!({})).await;
    assert_eq!(found["finished"]["structured"]["extracted_data"], json!([{"said": "found"}]), "{found}");
    assert!(hub.log().contains("browser_without_sandbox"), "the operator is told");
}

/// One that a person reads, a definition, is all there is: nobody who only calls the hub can add to it or change it.
#[tokio::test]
async fn w_65_a_definition_holds_no_script_and_no_caller_can_register_one() {
    let pages = pages().await;
    for kind in ["evaluate", "script", "javascript", "execute", "eval"] {
        let actions = json!({"look": [open("/"), {"action_type": kind, "value": "fetch('/stolen')", "script": "fetch('/stolen')"}]});
        let builder =
            Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("shop.json", definition(&pages, actions, json!({})));
        let (status, text) = builder.config("peers: { shop: { site: ./shop.json } }\n").refused().await;
        assert_eq!(status.code(), Some(3), "{text}");
        assert!(text.contains(&format!("actions.look[2].action_type: `{kind}` is none of")), "{text}");
    }
    let site = definition(&pages, json!({"look": [open("/"), read_out()]}), json!({}));
    let tokens = "access: { tokens: [{ name: bob, token: ilg_bob-token-of-some-length, skills: ['*'] }] }\n";
    let hub = hub(site.clone(), tokens).await;
    let offered = async || {
        let listed = hub.get("/api/skills").await.json();
        listed["items"].as_array().expect("skills").iter().map(|skill| skill["id"].to_string()).collect::<Vec<_>>()
    };
    let before = offered().await;
    let other: Value = serde_json::from_str(&site.replace("\"look\"", "\"other\"")).expect("JSON");
    let bob = [("authorization", "Bearer ilg_bob-token-of-some-length")];
    for path in ["/api/peers", "/api/peers/shop", "/api/peers/more", "/api/sites", "/api/definitions", "/api/config"] {
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let body = json!({"name": "more", "site": other, "peers": {"more": {"site": other}}});
            let said = send(&hub, method.clone(), path, &bob, Some(body)).await;
            assert!([403, 404, 405].contains(&said.status), "{method} {path}: {} {}", said.status, said.text());
        }
    }
    let asked = json!({"skill": "shop/look", "arguments": {"site": other, "definition": other}});
    send(&hub, Method::POST, "/api/exchanges", &bob, Some(asked)).await;
    assert_eq!(offered().await, before, "as the configuration has it");
}

/// An approval is of what was shown: a definition that has changed since is another one.
#[tokio::test]
async fn w_65_an_approval_is_bound_to_the_definition_it_was_given_for() {
    let pages = Pages::start([("/shown", html(PAGE)), ("/other", html(PAGE))]).await;
    let press = json!({"action_type": "click", "selector": "#go"});
    let actions = |path: &str| json!({"pay_bill": [open(path), press, read_out()]});
    let hub = hub(definition(&pages, actions("/shown"), json!({})), "").await;
    let task = crate::support::start(&hub, json!({"skill": "shop/pay_bill", "arguments": {}})).await;
    crate::support::reaches(&hub, &task, "waiting").await;
    hub.write("shop.json", definition(&pages, actions("/other"), json!({"version": "2.0.0"})));
    until("the new definition", async || hub.get("/api/skills").await.text().contains("2.0.0")).await;
    let waiting = hub.get("/api/confirmations").await.json();
    let id = waiting["items"][0]["id"].as_str().expect("a question").to_owned();
    hub.post_json(&format!("/api/confirmations/{id}"), &json!({"approve": true})).await;
    let mut state = Value::Null;
    until("it ends or asks again", async || {
        state = hub.get(&format!("/api/tasks/{task}")).await.json();
        let again = hub.get("/api/confirmations").await.json();
        let asks = again["items"].as_array().expect("questions").iter().any(|item| item["id"] != id.as_str());
        asks || ["failed", "completed"].contains(&state["state"].as_str().unwrap_or_default())
    })
    .await;
    assert_ne!(state["state"], "completed", "{state}");
    assert!(!pages.asked().iter().any(|line| line.starts_with("/other")), "nobody approved this: {:?}", pages.asked());
}

#[tokio::test]
async fn w_45_results_are_of_one_site_and_content_and_are_forgotten_after_their_time() {
    let pages = pages().await;
    let steps = |path: &str| json!([open(path), read_out()]);
    let site = definition(
        &pages,
        json!({"kept": {"cacheable": "10m", "steps": steps("/?one")}, "brief": {"cacheable": "1s", "steps": steps("/?brief")}}),
        json!({}),
    );
    let other = definition(
        &pages,
        json!({"kept": {"cacheable": "10m", "steps": steps("/?two")}}),
        json!({"interface_id": "other"}),
    );
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("shop.json", site.clone());
    let config = |peers: &str| format!("peers: {{ shop: {{ site: ./shop.json }}{peers} }}\n");
    let hub = builder.file("other.json", other).config(&config("")).start().await;
    let asked = |what: &str| pages.asked().iter().filter(|line| line.starts_with(what)).count();
    for _ in 0..2 {
        call(&hub, "shop/kept", json!({})).await;
    }
    assert_eq!(asked("/?one"), 1);
    // The same content again is the same definition: it is neither compiled again nor does it forget.
    hub.write("shop.json", site);
    hub.write("interlingua.yaml", config(", other: { site: ./other.json }"));
    until("the other site", async || hub.get("/api/skills").await.text().contains("other/kept")).await;
    let found = call(&hub, "shop/kept", json!({})).await;
    assert_eq!(found["finished"]["structured"]["extracted_data"], json!([{"said": "found"}]), "{found}");
    call(&hub, "other/kept", json!({})).await;
    assert_eq!((asked("/?one"), asked("/?two")), (1, 1), "the same action and parameters of another site");
    call(&hub, "shop/brief", json!({})).await;
    until("its time is over", async || {
        call(&hub, "shop/brief", json!({})).await;
        asked("/?brief") >= 2
    })
    .await;
}

#[tokio::test]
async fn w_47_a_public_endpoint_of_the_web_comes_before_a_driven_site() {
    let pages = pages().await;
    let site = definition(&pages, json!({"ask": [open("/?q={query}"), read_out()]}), json!({}));
    let item = json!({"name": "from the endpoint", "url": "https://s.example/1"});
    let endpoint =
        Scripted::http(move |_, _| Say::Json(json!({"_meta": {"response_type": "answer"}, "results": [item.clone()]})))
            .await;
    let (driven, public) = (
        "shop: { site: ./shop.json }",
        format!("public: {{ nlweb: {{ url: \"http://{}/ask\" }} }}", endpoint.address()),
    );
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("shop.json", site);
    // The hub has a skill of this name too; who may call only these two is not led to it.
    let tokens =
        "access: { tokens: [{ name: bob, token: ilg_bob-token-of-some-length, skills: ['public/*', 'shop/*'] }] }\n";
    let hub = builder.config(&format!("peers: {{ {driven}, {public} }}\n{tokens}")).start().await;
    let ask = async || {
        let bob = [("authorization", "Bearer ilg_bob-token-of-some-length")];
        let body = json!({"skill": "ask", "arguments": {"query": "soap"}});
        send(&hub, Method::POST, "/api/exchanges", &bob, Some(body)).await.json()
    };
    let answer = ask().await;
    assert_eq!(answer["route"]["skill"], "public/ask", "{answer}");
    assert_eq!(answer["finished"]["structured"]["results"][0]["name"], "from the endpoint", "{answer}");
    assert!(pages.asked().is_empty(), "no page was opened");
    hub.write("interlingua.yaml", format!("peers: {{ {driven} }}\n{tokens}"));
    let mut answer = Value::Null;
    until("the site is all there is", async || {
        answer = ask().await;
        answer["route"]["skill"] == "shop/ask"
    })
    .await;
    assert_eq!(answer["route"]["class"], "driven_site", "{answer}");
}

#[tokio::test]
async fn q_63_a_driven_site_is_asked_by_its_name_its_interface_and_its_host() {
    let pages = pages().await;
    let find = json!({"phrases": ["find {what}"], "steps": [open("/?q={what}"), read_out()]});
    let site = definition(&pages, json!({"find_things": find}), json!({"interface_id": "soap_shop"}));
    let hub = hub(site, "").await;
    for named in ["shop", "soap_shop", "127.0.0.1"] {
        let before = pages.asked().len();
        let nested = json!({"query": {"text": "find soap", "site": named}, "prefer": {"streaming": false}});
        let mut said = hub.post_json("/ask", &nested).await.json();
        while let Some(token) = said["promise"]["token"].as_str() {
            let look = json!({"promise_token": token, "action": "checkin"});
            said = hub.post_json("/await", &look).await.json();
        }
        assert_eq!(said["results"][0]["said"], "found", "{named}: {said}");
        assert_eq!(said["_meta"]["route"]["skill"], "shop/find_things", "{named}: {said}");
        assert!(pages.asked()[before..].iter().any(|line| line.starts_with("/?q=soap")), "{named}");
    }
}
