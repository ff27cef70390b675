//! Events on topics: subscribers receive them in one order, and resume where they stopped.

use http::Method;
use interlingua_testkit::Hub;
use serde_json::{Value, json};

use super::{as_user, post};
use crate::support::{hub, send, streaming};

async fn publish(hub: &Hub, topic: &str, number: u64) -> u64 {
    let event = json!({"message_type": "event", "from_agent": "planner", "topic": topic, "content": {"n": number}});
    let answer = post(hub, event).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    answer.json()["content"]["seq"].as_u64().expect("a number")
}

#[tokio::test]
async fn a_subscriber_hears_its_topics_and_goes_on_after_the_last_one_it_saw() {
    let mut hub = hub("").await;
    let path = "/api/messages?topic=travel.**";
    let (connection, mut events) = streaming(&hub, Method::GET, path, &[], None).await;
    publish(&hub, "travel.flights", 1).await;
    publish(&hub, "weather", 2).await;
    publish(&hub, "travel.hotels.full", 3).await;
    let mut last = String::new();
    for expected in [1, 3] {
        let (id, data) = events.numbered().await.expect("an event");
        let message: Value = serde_json::from_str(&data).expect("JSON");
        assert_eq!((&message["content"]["n"], &message["by"]), (&json!(expected), &json!("owner")), "{message}");
        last = id;
    }
    drop((events, connection));
    publish(&hub, "travel.flights", 4).await;
    hub.kill_9();
    hub.restart().await;
    publish(&hub, "travel.flights", 5).await;
    let (_connection, mut events) = streaming(&hub, Method::GET, path, &[("last-event-id", &last)], None).await;
    for expected in [4, 5] {
        let message: Value = serde_json::from_str(&events.next().await.expect("an event")).expect("JSON");
        assert_eq!(message["content"]["n"], json!(expected), "what was missed comes first: {message}");
    }
    // The same as pages, from the beginning.
    let first = hub.get("/api/messages?topic=**&limit=3").await.json();
    let next = first["next"].as_str().expect("there is more");
    let second = hub.get(&format!("/api/messages?topic=**&after={next}")).await.json();
    let seen: Vec<&Value> = [&first, &second].iter().flat_map(|page| page["items"].as_array()).flatten().collect();
    assert_eq!(
        seen.iter().map(|event| event["content"]["n"].as_u64()).collect::<Vec<_>>(),
        (1..=5).map(Some).collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn an_event_comes_by_a2a_as_a_message_that_our_extension_marks() {
    let tokens = "access: { tokens: [{ name: ann, token: t-ann, register: true }, { name: bob, token: t-bob }] }";
    let hub = hub(tokens).await;
    let agent = json!({"agent_id": "anns", "name": "Ann's", "capabilities": []});
    assert_eq!(as_user(&hub, "t-ann", Method::POST, "/api/agents", Some(agent)).await.status, 201);
    let (_connection, mut events) = streaming(&hub, Method::GET, "/api/messages?topic=travel.*", &[], None).await;
    let says = async |token: &str, method: &str, part: Value, ours: Value| {
        let message = json!({"messageId": "m1", "role": "ROLE_USER", "parts": [part],
            "metadata": {"urn:interlingua:hub:1": ours}});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}});
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str()), ("a2a-version", "1.0")];
        send(&hub, Method::POST, "/a2a", &headers, Some(body)).await.json()
    };
    let event =
        json!({"type": "event", "topic": "travel.flights", "from": "anns", "priority": 8, "correlationId": "c"});
    let told = says("t-ann", "SendMessage", json!({"data": {"delayed": 20}}), event.clone()).await;
    let answer = &told["result"]["message"]["parts"][0]["data"];
    assert_eq!((&answer["status"], &answer["topic"]), (&json!("accepted"), &json!("travel.flights")), "{told}");
    let (number, data) = events.numbered().await.expect("an event");
    let heard: Value = serde_json::from_str(&data).expect("JSON");
    assert_eq!((&heard["content"], number), (&json!({"delayed": 20}), answer["seq"].to_string()), "{heard}");
    assert_eq!((&heard["from_agent"], &heard["by"]), (&json!("anns"), &json!("user:ann")), "{heard}");
    assert_eq!((&heard["priority"], &heard["correlation_id"]), (&json!(8), &json!("c")), "{heard}");
    let words =
        says("t-bob", "SendMessage", json!({"text": "late"}), json!({"type": "event", "topic": "travel.x"})).await;
    assert_eq!(words["result"]["message"]["role"], "ROLE_AGENT", "{words}");
    let heard: Value = serde_json::from_str(&events.next().await.expect("an event")).expect("JSON");
    assert_eq!(heard["content"], json!({"text": "late"}));
    for (token, method, part, ours, code) in [
        ("t-bob", "SendMessage", json!({"text": "x"}), event.clone(), -32600),
        ("t-ann", "SendStreamingMessage", json!({"text": "x"}), event.clone(), -32004),
        ("t-ann", "SendMessage", json!({"data": [1]}), event.clone(), -32602),
        ("t-ann", "SendMessage", json!({"text": "x"}), json!({"type": "event"}), -32602),
        ("t-ann", "SendMessage", json!({"text": "x"}), json!({"type": "event", "topic": "a b"}), -32602),
        ("t-ann", "SendMessage", json!({"text": "x"}), json!({"type": "nonsense"}), -32602),
        ("t-ann", "SendMessage", json!({"text": "x"}), json!({"type": "response"}), -32602),
    ] {
        let refused = says(token, method, part, ours.clone()).await;
        assert_eq!(refused["error"]["code"], code, "{method} {ours}: {refused}");
    }
    let for_one = json!({"type": "event", "skill": "hub/echo"});
    let echoed = says("t-ann", "SendMessage", json!({"data": {"text": "for one alone"}}), for_one).await;
    let echoed = &echoed["result"]["message"]["parts"][0]["text"];
    assert_eq!(echoed, "for one alone", "one that names a skill is a message to it");
    let all = hub.get("/api/messages?topic=**").await.json();
    assert_eq!(all["items"].as_array().map(Vec::len), Some(2), "nothing else was published: {all}");
    assert_eq!(hub.get("/api/tasks").await.json()["items"], json!([]), "an event is no task");
}

#[tokio::test]
async fn an_event_is_seen_by_those_its_list_names() {
    let tokens = "access: { tokens: [{ name: ann, token: t-ann, register: true }, { name: bob, token: t-bob }] }";
    let hub = hub(tokens).await;
    let agent = json!({"agent_id": "anns", "name": "Ann's", "capabilities": []});
    assert_eq!(as_user(&hub, "t-ann", Method::POST, "/api/agents", Some(agent)).await.status, 201);
    for (list, number) in [(json!([]), 1), (json!(["anns"]), 2), (json!(["user:bob"]), 3), (json!(["*"]), 4)] {
        let event = json!({"message_type": "event", "topic": "t", "content": {"n": number}, "access_control": list});
        assert_eq!(post(&hub, event).await.status, 202);
    }
    for (token, expected) in [("t-ann", vec![1, 2, 4]), ("t-bob", vec![1, 3, 4])] {
        let seen = as_user(&hub, token, Method::GET, "/api/messages?topic=t", None).await.json();
        let seen: Vec<u64> =
            seen["items"].as_array().into_iter().flatten().filter_map(|event| event["content"]["n"].as_u64()).collect();
        assert_eq!(seen, expected, "{token}");
    }
    let all = hub.get("/api/messages?topic=t").await.json();
    assert_eq!(all["items"].as_array().map(Vec::len), Some(4), "whoever published sees its own");
    let origin = hub.url("");
    let nobody = [("origin", origin.as_str())];
    let stranger = crate::support::send(&hub, Method::GET, "/api/messages?topic=t", &nobody, None).await;
    assert_eq!(stranger.status, 401, "{}", stranger.text());
}

#[tokio::test]
async fn many_subscribers_hear_the_same_in_the_same_order() {
    let hub = hub("").await;
    let mut listening = Vec::new();
    for _ in 0..5 {
        listening.push(streaming(&hub, Method::GET, "/api/messages?topic=**", &[], None).await);
    }
    let publishing = (0..20).map(|number| publish(&hub, "t", number));
    futures_util::future::join_all(publishing).await;
    let mut heard = Vec::new();
    for (_, events) in &mut listening {
        let mut ids = Vec::new();
        for _ in 0..20 {
            ids.push(events.numbered().await.expect("an event"));
        }
        heard.push(ids);
    }
    assert!(heard.windows(2).all(|pair| pair[0] == pair[1]), "{heard:?}");
}
