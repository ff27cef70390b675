//! A website that a browser drives, through every endpoint of the hub.

use std::os::unix::fs::{PermissionsExt, chown};
use std::process::Command;

use http::Method;
use interlingua_testkit::pages::{Pages, html};
use interlingua_testkit::{Hub, NOBODY, as_another_user, skipped};
use serde_json::{Value, json};

use crate::mcp::Modern;
use crate::support::{send, until};

const FLIGHTS: &str = include_str!("../../../../fixtures/site/airline/flights.html");
const REBUILT: &str = include_str!("../../../../fixtures/site/airline/rebuilt.html");
const AIRLINE: &str = include_str!("../../../../fixtures/site/airline_booking.json");
const EXAMPLE: &str = include_str!("../../../../examples/airline.yaml");

fn definition(pages: &Pages) -> String {
    AIRLINE.replace("https://www.airline.com", &pages.base())
}

/// A hub with the well-known example, at pages of our own.
async fn hub(pages: &Pages) -> Hub {
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("airline.json", definition(pages));
    builder.config("peers: { airline: { site: ./airline.json } }\n").start().await
}

const SAID: &str = "Search flights from NYC to Paris on 2027-05-01";

fn args() -> Value {
    json!({"origin": "NYC", "destination": "Paris", "date": "2027-05-01"})
}

fn first() -> Value {
    json!({"airline": "Air France", "price": "$650", "time": "10:00"})
}

#[tokio::test]
async fn w_47_site_is_called_from_the_program_mcp_a2a_nlip_and_plain_words() {
    let pages = Pages::start([("/flights", html(FLIGHTS))]).await;
    let hub = hub(&pages).await;
    let skills = hub.get("/api/skills").await.text();
    assert!(skills.contains("airline/search_flights"), "{skills}");

    let call = json!({"skill": "airline/search_flights", "arguments": args()});
    let answer = hub.post_json("/api/exchanges", &call).await;
    assert!(answer.text().contains("Air France"), "{}", answer.text());

    let called = tokio::task::spawn_blocking({
        let (url, token) = (hub.url(""), hub.token().expect("a token"));
        move || {
            let program = Command::new(env!("CARGO_BIN_EXE_interlingua"))
                .args([
                    "call",
                    "--hub",
                    &url,
                    "--token",
                    &token,
                    "--json",
                    "airline/search_flights",
                    &args().to_string(),
                ])
                .output();
            program.expect("the program runs")
        }
    });
    let called = called.await.unwrap();
    assert_eq!(called.status.code(), Some(0), "{}", String::from_utf8_lossy(&called.stderr));
    assert!(String::from_utf8_lossy(&called.stdout).contains("Air France"));

    let result =
        Modern::new(&hub).result("tools/call", json!({"name": "airline__search_flights", "arguments": args()})).await;
    assert_eq!(result["structuredContent"]["extracted_data"][0], first(), "{result}");

    let message = json!({"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": SAID}]});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
    let answer = send(&hub, Method::POST, "/a2a", &[("a2a-version", "1.0")], Some(body)).await.text();
    assert!(answer.contains("Air France"), "{answer}");

    let said = json!({"format": "text", "subformat": "english", "content": SAID});
    let answer = hub.post_json("/nlip", &said).await.text();
    assert!(answer.contains("Air France"), "{answer}");
}

#[tokio::test]
async fn w_07_site_definitions_are_listed_called_replaced_and_removed_while_the_hub_runs() {
    let pages = Pages::start([("/old", html("<p id='out'>old</p>")), ("/new", html("<p id='out'>new</p>"))]).await;
    let definition = |version: &str, actions: &[(&str, &str)]| {
        let steps = |path: &str| {
            json!([{"action_type": "navigate", "value": path},
                {"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}}])
        };
        let actions: serde_json::Map<String, Value> =
            actions.iter().map(|(name, path)| ((*name).to_owned(), steps(path))).collect();
        json!({"interface_id": "shop", "version": version, "name": "Shop", "base_url": pages.base(), "description": "d",
            "actions": actions})
        .to_string()
    };
    let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config("{}\n").start().await;
    let skills = async || -> Vec<String> {
        let listed = hub.get("/api/skills").await.json();
        let ids = listed["items"].as_array().expect("skills").iter().filter_map(|skill| skill["id"].as_str());
        ids.filter(|id| id.starts_with("shop/")).map(str::to_owned).collect()
    };
    let said = async |skill: &str| {
        let answer = hub.post_json("/api/exchanges", &json!({"skill": skill, "arguments": {}})).await;
        (answer.status, answer.json()["finished"]["structured"]["extracted_data"][0]["said"].clone())
    };
    assert!(skills().await.is_empty());
    hub.write("shop.json", definition("1.0.0", &[("look", "/old"), ("ask", "/old")]));
    hub.write("interlingua.yaml", "peers: { shop: { site: ./shop.json } }\n");
    until("it is listed", async || skills().await == ["shop/ask", "shop/look"]).await;
    assert_eq!(said("shop/look").await, (200, json!("old")));
    hub.write("shop.json", definition("1.1.0", &[("look", "/new")]));
    until("it is replaced", async || skills().await == ["shop/look"]).await;
    assert_eq!(said("shop/look").await, (200, json!("new")));
    assert_eq!(said("shop/ask").await.0, 404, "what the new one does not have is gone");
    hub.write("interlingua.yaml", "{}\n");
    until("it is removed", async || skills().await.is_empty()).await;
    assert_eq!(said("shop/look").await.0, 404);
}

/// The processes below this one, with the words they were started with.
fn family(of: u32) -> Vec<(u32, String)> {
    let parent = |id: u32| -> Option<u32> {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
    };
    let all = std::fs::read_dir("/proc").expect("processes").flatten();
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let below = |id: &u32| std::iter::successors(parent(*id), |id| parent(*id)).any(|above| above == of);
    let line = |id: u32| std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    ids.filter(below).map(|id| (id, String::from_utf8_lossy(&line(id)).replace('\0', " "))).collect()
}

/// The addresses that a process listens at over TCP.
fn listens(id: u32) -> Vec<String> {
    let files = std::fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
    let links = files.filter_map(|file| std::fs::read_link(file.path()).ok()?.to_str().map(str::to_owned));
    let own: Vec<String> = links
        .filter_map(|link| link.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']')).map(str::to_owned))
        .collect();
    let tables =
        ["tcp", "tcp6"].map(|kind| std::fs::read_to_string(format!("/proc/{id}/net/{kind}")).unwrap_or_default());
    let rows =
        tables.iter().flat_map(|table| table.lines().skip(1)).map(|row| row.split_whitespace().collect::<Vec<_>>());
    // A row: number, own address, the other's, state (0A is LISTEN), …, and the socket in the tenth place.
    let listening = rows.filter(|row| row.len() > 9 && row[3] == "0A" && own.iter().any(|socket| socket == row[9]));
    listening.map(|row| row[1].to_owned()).collect()
}

/// A site whose one action opens a page and waits there.
fn waiting_room(pages: &Pages) -> String {
    json!({"interface_id": "room", "name": "Room", "base_url": pages.base(), "description": "d", "actions": {
        "sit": {"effects": "reads", "steps": [{"action_type": "navigate", "value": "/"},
            {"action_type": "wait", "wait_condition": "#never", "timeout": "60s"}]}}})
    .to_string()
}

#[tokio::test]
async fn w_21_site_browser_starts_with_the_first_call_and_ends_with_the_hub() {
    let pages = Pages::start([("/", html("<p>here</p>"))]).await;
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("room.json", waiting_room(&pages));
    let mut hub = builder.config("peers: { room: { site: ./room.json } }\n").start().await;
    assert!(hub.get("/api/skills").await.text().contains("room/sit"));
    let browsers =
        |id: u32| family(id).into_iter().filter(|(_, line)| line.contains("--user-data-dir")).collect::<Vec<_>>();
    assert!(browsers(hub.id()).is_empty(), "nobody has called it yet");
    let body = json!({"skill": "room/sit", "arguments": {}});
    assert_eq!(hub.post_json("/api/tasks", &body).await.status, 202);
    until("a page is asked for", async || !pages.asked().is_empty()).await;
    let started = browsers(hub.id());
    assert!(!started.is_empty(), "a page was opened, by whom?");
    assert!(started.iter().any(|(_, line)| line.contains("--headless")), "it has no window: {started:?}");
    hub.stop().await;
    let is_there = |(id, line): &(u32, String)| {
        let now = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&now).replace('\0', " ") == *line
    };
    until("every one of them ends", async || !started.iter().any(is_there)).await;
}

/// The hub runs as a user for whom Chromium has a sandbox: root becomes another one.
#[tokio::test]
async fn w_68_site_is_drawn_in_a_sandbox_and_no_debugging_port_is_open() {
    let pages = Pages::start([("/", html("<p>here</p>"))]).await;
    let program = env!("CARGO_BIN_EXE_interlingua");
    let place = tempfile::tempdir().expect("a directory");
    let wrapped = place.path().join("hub");
    let root = rustix::process::getuid().is_root();
    let builder = if root {
        let unshared = as_another_user("unshare").map(|mut command| command.args(["--user", "true"]).output());
        match unshared {
            Err(missing) => return skipped(&missing),
            Ok(Ok(output)) if output.status.success() => {}
            Ok(_) => return skipped("a user of this machine may make no namespace, which the browser's sandbox needs"),
        }
        let may_run = as_another_user("test").map(|mut command| command.args(["-x", program]).status());
        if !may_run.is_ok_and(|status| status.is_ok_and(|status| status.success())) {
            return skipped("another user may not run the program where it was built");
        }
        let script =
            format!("#!/bin/sh\nexec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups -- '{program}' \"$@\"\n");
        std::fs::write(&wrapped, script).expect("written");
        std::fs::set_permissions(&wrapped, PermissionsExt::from_mode(0o755)).expect("may be run");
        Hub::builder(&wrapped)
    } else {
        Hub::builder(program)
    };
    let builder = builder.file("room.json", waiting_room(&pages)).config("peers: { room: { site: ./room.json } }\n");
    if root {
        for path in ["", "room.json", "interlingua.yaml"] {
            chown(builder.directory().join(path), Some(NOBODY), Some(NOBODY)).expect("root may");
        }
    }
    let hub = builder.environment("INTERLINGUA_BROWSER_SANDBOX", "").start().await;
    let task = crate::support::start(&hub, json!({"skill": "room/sit", "arguments": {}})).await;
    until("a page is asked for", async || {
        let state = hub.get(&format!("/api/tasks/{task}")).await.text();
        assert!(!state.contains("\"failed\""), "{state}");
        !pages.asked().is_empty()
    })
    .await;
    let family = family(hub.id());
    let drawn: Vec<&(u32, String)> = family.iter().filter(|(_, line)| line.contains("--type=renderer")).collect();
    assert!(!drawn.is_empty(), "a page is drawn: {family:?}");
    for (id, line) in drawn {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("it lives");
        let filtered = status.lines().any(|line| line.split_whitespace().collect::<Vec<_>>() == ["Seccomp:", "2"]);
        assert!(filtered, "the kernel lets it ask for anything: {line}\n{status}");
    }
    for (id, line) in &family {
        assert!(!line.split(' ').any(|word| word == "--no-sandbox"), "{line}");
        assert_eq!(listens(*id), Vec::<String>::new(), "{line}");
    }
    assert!(!listens(hub.id()).is_empty(), "a port that is open is seen: the hub's own");
}

#[tokio::test]
async fn w_66_site_whose_text_is_cut_says_so() {
    let page = |length: usize| html(&format!("<p id='out'>{}</p>", "x".repeat(length)));
    let pages = Pages::start([("/short", page(16 * 1024)), ("/long", page(16 * 1024 + 1))]).await;
    let steps = |path: &str| {
        json!([
            {"action_type": "navigate", "value": path, "timeout": 120_000},
            {"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}, "timeout": 120_000},
        ])
    };
    let action = |path: &str| json!({"effects": "reads", "timeout": "10m", "steps": steps(path)});
    let definition = json!({
        "interface_id": "tale", "name": "Tale", "base_url": pages.base(), "description": "A long tale.",
        "actions": {"short": action("/short"), "long": action("/long")},
    });
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("tale.json", definition.to_string());
    let hub = builder.config("peers: { tale: { site: ./tale.json } }\n").start().await;
    for (skill, losses) in
        [("tale/short", json!([])), ("tale/long", json!([{"what": "output.structured", "kind": "dropped"}]))]
    {
        let answer = hub.post_json("/api/exchanges", &json!({"skill": skill, "arguments": {}})).await.json();
        let said = answer["finished"]["structured"]["extracted_data"][0]["said"].as_str().unwrap_or_default();
        assert_eq!(said.len(), 16 * 1024, "{skill}: {}", answer["finished"]["fault"]);
        let told = if answer["losses"].is_null() { json!([]) } else { answer["losses"].clone() };
        assert_eq!(told, losses, "{skill}");
    }
}

#[tokio::test]
async fn w_69_site_runs_are_audited_whether_they_succeed_or_not() {
    let (hub, _pages) = ordering("<p id='help'>x</p>").await;
    for (skill, outcome) in [("shop/look", "completed"), ("shop/order", "failed")] {
        let answer = hub.post_json("/api/exchanges", &json!({"skill": skill, "arguments": {"card": "4111"}})).await;
        assert_eq!(answer.json()["finished"]["outcome"], outcome, "{}", answer.text());
    }
    until("the lines are written", async || {
        let lines = hub.get("/api/audit?limit=200").await.json();
        let lines = lines["items"].as_array().expect("lines").clone();
        let of = |skill: &str| -> Vec<String> {
            let own = lines.iter().filter(|line| line["on"] == skill && line["action"] == "return");
            own.map(|line| line["outcome"].as_str().unwrap_or_default().to_owned()).collect()
        };
        of("shop/look") == ["completed"] && of("shop/order").len() == 1 && of("shop/order") != ["completed"]
    })
    .await;
}

#[tokio::test]
async fn w_13_w_41_site_asks_for_what_is_missing_before_a_page_is_opened() {
    let pages = Pages::start([("/flights", html(FLIGHTS))]).await;
    let hub = hub(&pages).await;
    let said = json!({"format": "text", "subformat": "english", "content": "search flights from NYC to Paris"});
    let asked = hub.post_json("/nlip", &said).await.json();
    assert!(asked["content"].as_str().is_some_and(|text| text.contains("date")), "{asked}");
    assert!(pages.asked().is_empty());
    let client = Modern::new(&hub);
    let refused = client.ask("tools/call", json!({"name": "airline__search_flights", "arguments": {"origin": "NYC"}}));
    let refused = refused.await.text();
    assert!(refused.contains("destination") && refused.contains("isError"), "{refused}");
    let unknown = json!({"skill": "airline/fly", "arguments": {}});
    assert_eq!(hub.post_json("/api/exchanges", &unknown).await.status, 404);
    assert!(pages.asked().is_empty());
}

#[tokio::test]
async fn w_48_site_redesigned_is_mended_and_the_proposal_takes_its_place() {
    let pages = Pages::start([("/flights", html(REBUILT))]).await;
    let hub = hub(&pages).await;
    let client = Modern::new(&hub);
    let call = || client.result("tools/call", json!({"name": "airline__search_flights", "arguments": args()}));
    let result = call().await["structuredContent"].clone();
    assert_eq!(result["extracted_data"][0], first(), "{result}");
    assert_eq!(result["proposed"]["version"], "1.0.1", "{result}");
    hub.write("airline.json", result["proposed"].to_string());
    until("the proposed version", async || hub.get("/api/skills").await.text().contains("1.0.1")).await;
    let result = call().await["structuredContent"].clone();
    assert_eq!(result["extracted_data"][0], first(), "{result}");
    assert!(result.get("proposed").is_none(), "{result}");
}

#[tokio::test]
async fn w_01_w_06_site_with_mistakes_is_refused_with_file_action_and_step() {
    let broken = json!({"interface_id": "a", "name": "A", "base_url": "https://a.example", "description": "d",
        "actions": {"go": [{"action_type": "navigate", "value": "/"}, {"action_type": "press"}, {"action_type": "type", "selector": "#a"}]}});
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("a.json", broken.to_string());
    let (status, text) = builder.config("peers: { a: { site: ./a.json } }\n").refused().await;
    assert_eq!(status.code(), Some(3), "{text}");
    assert!(text.contains("a.json") && text.contains("actions.go[2].action_type"), "{text}");
    assert!(text.contains("actions.go[3].value: is missing"), "{text}");
}

#[tokio::test]
async fn w_15_site_of_the_example_file_speaks_english_and_spanish() {
    let pages = Pages::start([("/flights", html(FLIGHTS))]).await;
    let yaml = EXAMPLE.replace("https://www.airline.example", &pages.base());
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("airline.yaml", yaml);
    let directory = builder.directory().join("airline.yaml");
    let hub = builder.arguments(&["--site", &directory.display().to_string()]).start().await;
    for said in ["search flights from NYC to Paris on May 1", "busca vuelos de Madrid a París el 1 de mayo"] {
        let answer = hub.post_json("/api/exchanges", &json!({"words": said})).await.text();
        assert!(answer.contains("Air France") && answer.contains("USD"), "{answer}");
    }
}

/// A form whose button was renamed since the definition was written.
const RENAMED: &str = "<button id='new-send'>Send order</button><button id='help'>Help</button><p id='out'></p><script>
    document.getElementById('new-send').onclick = () => { out.textContent = 'sent'; fetch('/sent') }</script>";

async fn ordering(page: &str) -> (Hub, Pages) {
    ordering_with(page, "").await
}

async fn ordering_with(page: &str, more: &str) -> (Hub, Pages) {
    let pages = Pages::start([("/", html(page)), ("/sent", html("ok"))]).await;
    let order = json!({"interface_id": "shop", "name": "Shop", "base_url": pages.base(), "description": "d", "actions": {
        "order": {"effects": "writes", "parameters": {"card": {"secret": true}}, "steps": [
            {"action_type": "navigate", "value": "/?{card}"},
            {"action_type": "click", "selector": "#send-order", "commits": true, "timeout": "8s"},
            {"action_type": "wait", "wait_condition": "text=sent"},
            {"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}}]},
        "look": [{"action_type": "navigate", "value": "/"}, {"action_type": "extract", "selector": "#help", "extract_schema": {"said": "."}}]}});
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("shop.json", order.to_string());
    let config = format!("peers: {{ shop: {{ site: ./shop.json }} }}\n{more}");
    (builder.config(&config).start().await, pages)
}

fn sent(pages: &Pages) -> bool {
    pages.asked().iter().any(|line| line.starts_with("/sent"))
}

#[tokio::test]
async fn w_43_w_46_site_whose_mended_press_that_commits_waits_for_a_yes_in_the_callers_protocol() {
    let (hub, pages) = ordering(RENAMED).await;
    let mut client = Modern::new(&hub);
    client.capabilities = json!({"elicitation": {}});
    let call = json!({"name": "shop__order", "arguments": {"card": "4111-1111"}});
    let asked = client.result("tools/call", call.clone()).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let (key, request) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
    let text = request["params"]["message"].as_str().unwrap();
    assert!(text.contains("#send-order") && text.contains("Send order") && text.contains("#new-send"), "{text}");
    assert!(!asked.to_string().contains("4111"), "a secret is not shown: {asked}");
    assert!(!sent(&pages), "nothing is pressed before the yes");
    let mut again = call;
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] = json!({key: {"action": "accept", "content": {"approve": true}}});
    let done = client.result("tools/call", again).await["structuredContent"].clone();
    assert_eq!(done["extracted_data"], json!([{"said": "sent"}]), "{done}");
    assert_eq!((&done["trace"][1]["healed"], &done["proposed"]["version"]), (&json!(true), &json!("1.0.1")), "{done}");
}

#[tokio::test]
async fn w_46_site_that_got_a_no_leaves_everything_as_it_is() {
    let (hub, pages) = ordering(RENAMED).await;
    let id = crate::support::start(&hub, json!({"skill": "shop/order", "arguments": {"card": "4111"}})).await;
    crate::support::reaches(&hub, &id, "waiting").await;
    let waiting = hub.get("/api/confirmations").await.json();
    assert!(waiting["items"][0]["text"].as_str().unwrap().contains("Send order"), "{waiting}");
    let question = waiting["items"][0]["id"].as_str().unwrap();
    hub.post_json(&format!("/api/confirmations/{question}"), &json!({"approve": false})).await;
    let ended = crate::support::reaches(&hub, &id, "failed").await.to_string();
    assert!(ended.contains("nobody said yes") && !sent(&pages), "{ended}");
}

#[tokio::test]
async fn w_46_w_53_site_that_waits_for_a_yes_leaves_its_place_to_others_and_not_all_may_wait() {
    let (hub, pages) = ordering_with(RENAMED, "browser: { contexts: 1 }\n").await;
    let order = json!({"skill": "shop/order", "arguments": {"card": "4111"}});
    let id = crate::support::start(&hub, order.clone()).await;
    crate::support::reaches(&hub, &id, "waiting").await;
    // There is one place, and whoever waits for a person does not take it.
    let looked = hub.post_json("/api/exchanges", &json!({"skill": "shop/look", "arguments": {}})).await.json();
    assert_eq!(looked["finished"]["structured"]["extracted_data"], json!([{"said": "Help"}]), "{looked}");
    // One page waits; a second one may not.
    let second = crate::support::start(&hub, order).await;
    let refused = crate::support::reaches(&hub, &second, "failed").await;
    assert_eq!(refused["finished"]["fault"]["kind"], "busy", "{refused}");
    let question = hub.get("/api/confirmations").await.json()["items"][0]["id"].as_str().unwrap().to_owned();
    hub.post_json(&format!("/api/confirmations/{question}"), &json!({"approve": true})).await;
    let done = crate::support::reaches(&hub, &id, "completed").await;
    assert!(sent(&pages), "{done}");
}

#[tokio::test]
async fn w_46_site_memory_outlives_a_restart_and_another_element_in_its_place_is_noticed() {
    let before = "<button id='send-order' name='order'>Send order</button><p id='out'></p><script>
        document.getElementById('send-order').onclick = () => { out.textContent = 'sent'; fetch('/sent') }</script>";
    let after = "<button id='send-order' name='wipe' class='danger'>Delete my account</button><p id='out'></p>
        <button id='b2' name='order'>Send order</button><script>b2.onclick = () => { out.textContent = 'sent'; fetch('/sent') }</script>";
    let pages = Pages::start([("/before", html(before)), ("/after", html(after)), ("/sent", html("ok"))]).await;
    let order = json!({"interface_id": "shop", "name": "Shop", "base_url": pages.base(), "description": "d", "actions": {
        "look_order": {"effects": "reads", "steps": [{"action_type": "navigate", "value": "/{page}"},
            {"action_type": "click", "selector": "#send-order"}, {"action_type": "wait", "wait_condition": "text=sent"},
            {"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}}]}}});
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("shop.json", order.to_string());
    let mut hub = builder.config("peers: { shop: { site: ./shop.json } }\n").start().await;
    let call = async |hub: &Hub, page: &str| {
        let body = json!({"skill": "shop/look_order", "arguments": {"page": page}});
        hub.post_json("/api/exchanges", &body).await.json()["finished"]["structured"].clone()
    };
    let first = call(&hub, "before").await;
    assert_eq!(first["extracted_data"], json!([{"said": "sent"}]), "{first}");
    hub.restart().await;
    let second = call(&hub, "after").await;
    assert_eq!(second["extracted_data"], json!([{"said": "sent"}]), "{second}");
    let line = &second["trace"][1];
    assert_eq!(
        (&line["healed"], &line["level"], &line["to"]),
        (&json!(true), &json!("fingerprint"), &json!("#b2")),
        "{line}"
    );
}

#[tokio::test]
async fn w_47_site_is_the_last_resort_and_the_answer_says_which_way_was_taken() {
    const TOOL: &str = "name: flights\ndescription: Knows flights.\ninput: { type: object, additionalProperties: true }\ncapability: flights\neffects: { reads: true, idempotent: true }\n\
        command: [sh, -c, 'echo \"{\\\"from\\\":\\\"tool\\\"}\"']\n";
    let pages = Pages::start([("/flights", html(FLIGHTS))]).await;
    let mut definition: Value = serde_json::from_str(&self::definition(&pages)).unwrap();
    let steps = definition["actions"]["search_flights"].take();
    definition["actions"]["search_flights"] = json!({"capability": "flights", "steps": steps});
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("airline.json", definition.to_string());
    let builder = builder.file("tools/flights.yaml", TOOL);
    let hub =
        builder.config("peers: { airline: { site: ./airline.json } }\ntools: { directory: ./tools }\n").start().await;
    let call = json!({"skill": "flights", "arguments": args()});
    let answer = hub.post_json("/api/exchanges", &call).await.json();
    assert_eq!(answer["finished"]["structured"]["from"], "tool", "{answer}");
    assert_eq!(
        (&answer["route"]["skill"], &answer["route"]["class"]),
        (&json!("local/flights"), &json!("in_process")),
        "{answer}"
    );
    assert!(pages.asked().is_empty(), "no browser was needed");
    hub.write("interlingua.yaml", "peers: { airline: { site: ./airline.json } }\n");
    until("the tool to go", async || !hub.get("/api/skills").await.text().contains("local/flights")).await;
    let answer = hub.post_json("/api/exchanges", &call).await.json();
    assert_eq!(answer["finished"]["structured"]["extracted_data"][0], first(), "{answer}");
    assert_eq!(
        (&answer["route"]["class"], &answer["route"]["why"]),
        (&json!("driven_site"), &json!("only_one")),
        "{answer}"
    );
}
