//! Devices and orchestrators of several people on one hub: what a caller may not use is treated as not found, and it cannot take over a
//! name that another chose first.

use http::Method;
use interlingua_testkit::{Answer, Hub};
use serde_json::{Value, json};

use super::{Client, commands, constellation, device, task};
use crate::support::{builder, send, until};

/// `ann` has a device, `bob` another; `small` reaches nothing at all.
const TOKENS: &str = "
tools: { directory: ./tools }
aip: { list_tools: 0s, grace: 10m }
access:
  tokens:
    - { name: ann, token: ilg_ann, skills: [anns/*, hub/*] }
    - { name: bob, token: ilg_bob, skills: [bobs/*, hub/*] }
    - { name: small, token: ilg_small, skills: [local/nothing] }
";

async fn hub() -> Hub {
    builder().config(TOKENS).start().await
}

async fn http(hub: &Hub, who: &str, method: Method, path: &str, body: Option<Value>) -> Answer {
    send(hub, method, path, &[("x-api-key", &format!("ilg_{who}"))], body).await
}

async fn connected(hub: &Hub, who: &str, register: Value) -> Client {
    Client::registered(hub, &format!("/aip/ws?token=ilg_{who}"), register).await
}

/// What a REGISTER that is not taken is told.
async fn refused(hub: &Hub, who: &str, register: Value) -> Value {
    let mut client = Client::open(hub, &format!("/ws?token=ilg_{who}")).await;
    client.say(register).await;
    let told = client.hear_a("error").await;
    client.closed().await;
    told["error"].clone()
}

#[tokio::test]
async fn p_60_devices_are_listed_and_told_of_tasks_by_those_who_may_use_them() {
    let hub = hub().await;
    let mut anns = connected(&hub, "ann", device("anns")).await;
    let _bobs = connected(&hub, "bob", device("bobs")).await;
    for (who, expected) in [("ann", json!(["anns"])), ("bob", json!(["bobs"])), ("small", json!([]))] {
        for path in ["/api/clients", "/api/health"] {
            assert_eq!(
                http(&hub, who, Method::GET, path, None).await.json()["online_clients"],
                expected,
                "{who} {path}"
            );
        }
    }
    let all = hub.get("/api/clients").await.json();
    assert_eq!(all, json!({"online_clients": ["anns", "bobs"]}), "the hub's own user sees all");

    let body = |client: &str| json!({"client_id": client, "request": commands(&["ls"]), "task_name": "nightly"});
    let ghost = http(&hub, "bob", Method::POST, "/api/dispatch", Some(body("ghost"))).await;
    for (who, client) in [("bob", "anns"), ("small", "anns"), ("small", "local")] {
        let answer = http(&hub, who, Method::POST, "/api/dispatch", Some(body(client))).await;
        assert_eq!(
            (answer.status, answer.text()),
            (ghost.status, ghost.text()),
            "{who} to {client}: as if it were not there"
        );
    }
    anns.is_quiet("device").await;
    assert_eq!(http(&hub, "ann", Method::POST, "/api/dispatch", Some(body("anns"))).await.status, 200);
    let announced = anns.hear_a("task").await;
    let (name, request) = (&announced["task_name"], &announced["user_request"]);
    anns.say(json!({"type": "task", "status": "continue", "task_name": name, "request": request})).await;
    anns.hear_a("heartbeat").await;
    let command = anns.hear_a("command").await;
    anns.does(&command).await;
    anns.hear_a("task_end").await;
    let read = async |who: &str| http(&hub, who, Method::GET, "/api/task_result/nightly", None).await.json();
    assert_eq!(read("ann").await, json!({"status": "done", "result": ["ls"]}));
    let never = http(&hub, "bob", Method::GET, "/api/task_result/never", None).await.json();
    assert_eq!((read("bob").await, read("small").await), (never.clone(), never), "another's result looks like none");
}

#[tokio::test]
async fn two_who_choose_the_same_name_for_a_task_read_each_their_own_result() {
    let hub = hub().await;
    for who in ["ann", "bob"] {
        let body = json!({"client_id": "hub", "request": format!("echo {who}"), "task_name": "t"});
        assert_eq!(http(&hub, who, Method::POST, "/api/dispatch", Some(body)).await.status, 200);
        until("its result is there", async || {
            http(&hub, who, Method::GET, "/api/task_result/t", None).await.json()["status"] == "done"
        })
        .await;
    }
    for who in ["ann", "bob"] {
        let read = http(&hub, who, Method::GET, "/api/task_result/t", None).await.json();
        assert_eq!(read["result"], json!(format!("echo {who}")), "{who}");
    }
}

#[tokio::test]
async fn p_16_a_device_that_is_not_theirs_is_not_there_for_an_orchestrator() {
    let hub = hub().await;
    let mut anns = connected(&hub, "ann", device("anns")).await;
    let hidden = refused(&hub, "bob", constellation("bobs@x", "anns")).await;
    let absent = refused(&hub, "bob", constellation("bobs@x", "ghost")).await;
    assert_eq!(hidden.to_string().replace("anns", "…"), absent.to_string().replace("ghost", "…"));

    let mut register = constellation("bobs@hub", "hub");
    register.as_object_mut().expect("an object").remove("target_id");
    let mut bob = connected(&hub, "bob", register).await;
    let mut told = Vec::new();
    for target in ["anns", "ghost"] {
        bob.say(task(target, "s1", "x")).await;
        let (error, end) = (bob.hear_a("error").await, bob.hear_a("task_end").await);
        bob.say(json!({"type": "device_info_request", "status": "ok", "client_type": "constellation",
            "target_id": target, "request_id": "r"}))
            .await;
        let info = bob.hear().await;
        let said = json!([error["error"], end["error"], info["type"], info["error"], info["result"]]);
        told.push(said.to_string().replace(target, "…"));
    }
    assert_eq!(told[0], told[1]);
    anns.is_quiet("device").await;
    assert!(
        refused(&hub, "bob", device("anns")).await.as_str().is_some_and(|text| text.contains("may not be that device")),
        "nor is its name free to take"
    );
}

#[tokio::test]
async fn an_orchestrator_that_is_away_is_not_replaced_by_another_who_says_its_name() {
    let hub = hub().await;
    let mut dev = connected(&hub, "ann", device("anns")).await;
    let mut ann = connected(&hub, "ann", constellation("gal@anns", "anns")).await;
    ann.say(task("anns", "s1", &commands(&["secret"]))).await;
    ann.hear_a("heartbeat").await;
    let command = dev.hear_a("command").await;
    let here = refused(&hub, "bob", constellation("gal@anns", "hub")).await;
    assert!(here.as_str().is_some_and(|text| text.contains("already registered")), "{here}");
    drop(ann);
    until("the hub has heard of it", async || {
        hub.get("/api/clients").await.json() == json!({"online_clients": ["anns"]})
    })
    .await;
    dev.does(&command).await;
    dev.hear_a("task_end").await;
    let resuming = |target: &str| {
        let mut register = constellation("gal@anns", target);
        register["metadata"]["resume"] = json!({"s1": []});
        register
    };
    let mut bob = connected(&hub, "bob", resuming("hub")).await;
    let told = bob.hear_a("task_end").await;
    assert!(told["status"] == "failed" && !told.to_string().contains("secret"), "nothing of hers: {told}");
    drop(bob);
    until("he has left", async || hub.get("/api/clients").await.json() == json!({"online_clients": ["anns"]})).await;
    let mut ann = connected(&hub, "ann", resuming("anns")).await;
    assert_eq!(ann.hear_a("task_end").await["result"], json!(["secret"]));
}

#[tokio::test]
async fn p_02_a_token_that_is_taken_back_ends_the_connection_that_it_opened() {
    let list = "- { name: ann, token: ilg_ann, skills: [anns/*] }\n- { name: bob, token: ilg_bob, skills: [bobs/*] }\n";
    let config = "aip: { list_tools: 0s }\naccess: { tokens: file:./tokens.yaml }\n";
    let hub = builder().file("tokens.yaml", list).config(config).start().await;
    let mut anns = connected(&hub, "ann", device("anns")).await;
    let mut bobs = connected(&hub, "bob", device("bobs")).await;
    anns.is_quiet("device").await;
    hub.write("tokens.yaml", "- { name: bob, token: ilg_bob, skills: [bobs/*] }\n");
    until("it is taken back", async || http(&hub, "ann", Method::GET, "/api/clients", None).await.status == 401).await;
    anns.say(json!({"type": "heartbeat", "status": "ok", "client_type": "device"})).await;
    assert_eq!(anns.closed().await, 1008);
    bobs.is_quiet("device").await;
}
