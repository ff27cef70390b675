//! Endpoints beside `/ask` as JSON: forms, the hub's own tools, the file for models, and unknown paths.

use http::Method;
use http_body_util::Full;
use interlingua_testkit::{Answer, Hub, Say, Scripted, request};
use serde_json::{Value, json};

use super::{ask, asked, hub, hub_with, item, nested};
use crate::mcp::{Modern, Session};
use crate::support::{builder, send, until};

async fn form(hub: &Hub, body: &'static str, origin: Option<&str>) -> Answer {
    let mut sent = request(Method::POST, "/ask").header("content-type", "application/x-www-form-urlencoded");
    if let Some(origin) = origin {
        sent = sent.header("origin", origin);
    }
    hub.connect().await.send(sent.body(Full::new(body.into())).expect("a request")).await
}

#[tokio::test]
async fn q_01_a_form_is_taken_unless_a_foreign_page_sends_it() {
    let hub = hub().await;
    let answer = form(&hub, "query=recipes+with+leek&streaming=false&query_id=f1", None).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!((&answer.json()["query_id"], &answer.json()["results"][0]["name"]), (&json!("f1"), &json!("Soup")));
    let answer = form(&hub, "query=recipes+with+leek", Some("http://elsewhere.example")).await;
    assert_eq!(answer.status, 403, "{}", answer.text());
}

#[tokio::test]
async fn q_40_q_62_ask_list_sites_and_await_are_tools() {
    let hub = hub_with("mcp: { hub_tools: all }").await;
    let client = Modern::new(&hub);
    let names = client.result("tools/list", json!({})).await["tools"].to_string();
    for tool in ["hub__ask", "hub__list_sites", "hub__await"] {
        assert!(names.contains(tool), "{names}");
    }
    for query in [json!("recipes with leek"), json!({"text": "recipes with leek", "site": "local"})] {
        let said = client.call("hub__ask", json!({"query": query})).await;
        assert_eq!(said["structuredContent"]["recipes"][0]["name"], "Soup", "{said}");
        assert_eq!(said["_meta"]["interlingua/route"]["skill"], "local/find_recipes", "{said}");
    }
    let sites = client.call("hub__list_sites", json!({})).await;
    assert!(sites["structuredContent"]["sites"].as_array().unwrap().contains(&json!("local")), "{sites}");
    for (arguments, what) in [
        (json!({"query": ""}), "query"),
        (json!({"query": "x", "site": "nobody"}), "no site `nobody`"),
        (json!({"query": "recipes"}), "what"),
    ] {
        let refused = client.ask("tools/call", json!({"name": "hub__ask", "arguments": arguments})).await.text();
        assert!(refused.contains("rror") && refused.contains(what), "{refused}");
    }

    let promised = ask(&hub, nested("think about it", json!({}))).await;
    let token = promised.json()["promise"]["token"].clone();
    let said = client.call("hub__await", json!({"promise_token": token})).await;
    assert_eq!(said["structuredContent"]["thoughts"][0]["name"], "deep", "{said}");
    let promised = ask(&hub, nested("think about it", json!({}))).await;
    let token = promised.json()["promise"]["token"].clone();
    let said = client.call("hub__await", json!({"promise_token": token, "action": "cancel"})).await;
    assert_eq!(said["isError"], true, "{said}");
    let forged = json!({"name": "hub__await", "arguments": {"promise_token": "forged"}});
    let refused = client.ask("tools/call", forged).await.text();
    assert!(refused.contains("rror") && !refused.contains("deep"), "{refused}");
}

#[tokio::test]
async fn q_10_a_client_of_the_first_generation_speaks_mcp_and_reads_whole_json() {
    let site = Scripted::http(|_, _| Say::Json(json!({"results": []}))).await;
    let snacks = format!("peers: {{ snacks: {{ nlweb: {{ url: \"http://{}/ask\" }} }} }}\n", site.address());
    let builder = builder().file("recipes/recipes.yaml", super::RECIPES);
    let hub = builder.config(&format!("tools: {{ directory: ./recipes }}\n{snacks}")).start().await;
    // Sessions::begin also sends the notification, which has no answer here.
    let session = Session::begin(&hub, "2024-11-05", json!({})).await;
    let call = |name: &str, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments});
        async { session.result("tools/call", params).await }
    };
    // The names of its time, which it calls without looking at a list; another peer may have a skill of the same name.
    let said = call("ask", json!({"query": "recipes with leek", "site": ["local"], "generate_mode": "list"})).await;
    let texts: Vec<Value> = said["content"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|part| serde_json::from_str(part["text"].as_str()?).ok())
        .collect();
    assert!(texts.iter().any(|text| text["recipes"][1]["name"] == "Pie"), "{said}");
    let sites = call("list_sites", json!({})).await;
    assert!(sites.to_string().contains("local") && sites.to_string().contains("snacks"), "{sites}");
    let nobody = json!({"name": "ask", "arguments": {"query": "x", "site": ["nobody"]}});
    let refused = session.ask("tools/call", nobody).await.text();
    assert!(refused.contains("no site `nobody`"), "{refused}");
}

#[tokio::test]
async fn q_27_only_the_safe_ones_of_the_other_doors_are_there() {
    let hub = hub().await;
    for path in ["/config", "/site-configs/a.example", "/site-configs/a.example/x", "/mcp-sse", "/a2a-sse"] {
        assert_eq!(hub.get(path).await.status, 404, "{path}");
    }
    assert_eq!(hub.get("/metrics").await.status, 200);
    let answer = hub.get("/ask?query=recipes%20with%20leek&streaming=false").await;
    assert_eq!(answer.header("access-control-allow-origin"), None, "no page of another origin reads an answer");
    let origin = [("origin", "http://elsewhere.example"), ("access-control-request-method", "POST")];
    let asked_before = send(&hub, Method::OPTIONS, "/ask", &origin, None).await;
    assert_eq!((asked_before.status, asked_before.header("access-control-allow-origin")), (403, None));
}

#[tokio::test]
async fn q_46_a_site_is_found_by_its_file_for_models_and_the_hub_has_one() {
    let own = hub().await.get("/llms.txt").await;
    assert!(own.text().contains("](/ask)"), "{}", own.text());
    assert_eq!(own.header("content-type"), Some("text/plain; charset=utf-8"));
    let site = Scripted::web(|heard, _| match heard.path.as_str() {
        "/llms.txt" => Say::Raw(200, "text/plain", "# S\n- [other](http://127.0.0.2/ask)\n- [Ask](/deep/ask)\n".into()),
        "/deep/ask" => Say::Json(json!({"_meta": {"response_type": "answer"}, "results": [item()]})),
        // Is anybody there?
        _ => Say::Status(404, Vec::new(), json!({})),
    })
    .await;
    let yaml = format!("peers: {{ snacks: {{ nlweb: {{ url: \"http://{}\" }} }} }}\n", site.address());
    let hub = builder().config(&yaml).start().await;
    for _ in 0..2 {
        let answer = asked(&hub).await;
        let heard: Vec<String> = site.heard().iter().map(|heard| heard.path.clone()).collect();
        assert_eq!(answer["finished"]["structured"]["results"], json!([item()]), "{answer} {heard:?}");
    }
    assert_eq!(site.heard().iter().filter(|heard| heard.path == "/llms.txt").count(), 1, "it is looked for once");
}

/// What the model of these tests says: words for an answer, and a call for words that nobody understands.
const LINES: &str = r#"
replies:
  - { when: '"results"', again: true, say: "Soup, and also pie." }
  - when: something warm
    call: [{ name: local__find_recipes, arguments: { what: 7 } }]
  - when: refused
    call: [{ name: local__find_recipes, arguments: { what: leek } }]
"#;

async fn thinking() -> Hub {
    let builder = builder().file("recipes/recipes.yaml", super::RECIPES).file("lines.yaml", LINES);
    let builder = builder.file("recipes/late.yaml", super::LATE);
    let models = "models: { default: { provider: scripted, file: ./lines.yaml } }\nhub: { model: default }\n";
    builder.config(&format!("tools: {{ directory: ./recipes }}\n{models}")).start().await
}

#[tokio::test]
async fn q_09_q_45_summaries_and_answers_are_made_where_there_is_a_model() {
    let hub = thinking().await;
    let body = nested("recipes with leek", json!({"prefer": {"streaming": false, "mode": "summarize"}}));
    let said = ask(&hub, body).await.json();
    let summary = json!({"@type": "SearchSummary", "text": "Soup, and also pie."});
    assert_eq!((&said["results"][0]["name"], &said["results"][2]), (&json!("Soup"), &summary), "{said}");
    let said = hub.get("/ask?query=recipes%20with%20leek&mode=generate&streaming=false").await.json();
    assert_eq!(said["nlws"]["answer"], "Soup, and also pie.", "{said}");
    assert_eq!(said["nlws"]["items"][0]["name"], "Soup", "{said}");
    let text = hub.get("/ask?query=recipes%20with%20leek&mode=summarize").await.text();
    assert!(text.contains("Soup, and also pie."), "{text}");
    let said = ask(&hub, nested("recipes with leek", json!({}))).await.json();
    assert_eq!(said["results"].as_array().unwrap().len(), 2, "who asks for a list gets a list: {said}");
}

#[tokio::test]
async fn q_09_q_25_q_43_a_promise_is_kept_in_the_mode_and_the_generation_of_its_request() {
    let hub = thinking().await;
    for (version, answer) in [("0.55", "answer"), ("0.54", "Answer")] {
        let body = nested(
            "think about it",
            json!({"meta": {"api_version": version},
            "prefer": {"streaming": false, "mode": "list,summarize"}}),
        );
        let promised = ask(&hub, body).await.json();
        let token = &promised["promise"]["token"];
        assert!(token.is_string(), "{promised}");
        let mut said = json!(null);
        let look = json!({"promise_token": token, "action": "checkin"});
        until("the answer", async || {
            said = hub.post_json("/await", &look).await.json();
            said.get("results").is_some()
        })
        .await;
        assert_eq!(
            (&said["_meta"]["response_type"], &said["results"][0]["name"]),
            (&json!(answer), &json!("deep")),
            "{said}"
        );
        assert_eq!(said["results"][1]["text"], "Soup, and also pie.", "{said}");
    }
}

#[tokio::test]
async fn w_40_w_41_words_nobody_understands_are_filled_in_by_a_model_and_checked() {
    let hub = thinking().await;
    // The first call does not fit the schema and is told so; the second does.
    let said = ask(&hub, nested("I fancy something warm tonight", json!({}))).await.json();
    assert_eq!(said["results"][0]["name"], "Soup", "{said}");
    assert_eq!(said["_meta"]["route"]["skill"], "local/find_recipes", "{said}");
}

#[tokio::test]
async fn w_41_a_model_that_never_fits_the_schema_runs_nothing() {
    let wrong = "call: [{ name: local__find_recipes, arguments: { what: 7 } }]";
    let lines = format!("replies:\n  - {{ when: something warm, {wrong} }}\n  - {{ when: refused, {wrong} }}\n");
    let builder = builder().file("recipes/recipes.yaml", super::RECIPES).file("lines.yaml", lines);
    let models = "models: { default: { provider: scripted, file: ./lines.yaml } }\nhub: { model: default }\n";
    let hub = builder.config(&format!("tools: {{ directory: ./recipes }}\n{models}")).start().await;
    let said = hub.post_json("/api/exchanges", &json!({"words": "I fancy something warm tonight"})).await.json();
    assert_eq!(said["route"]["skill"], "hub/help", "nothing matches: {said}");
}
