//! A caller chooses the address of its webhook: the hub's own endpoint, another hub of the same user, a receiver that redirects to one of
//! them.

use std::net::SocketAddr;

use http::Method;
use interlingua_testkit::{Hub, HubBuilder, Names, Say, Scripted, port};
use serde_json::{Value, json};

use crate::support::{send, until};

const NAME: &str = "hook.example.com";

/// Leaves a line for each time that it ran, for anybody with a token and by plain words.
fn hub(address: SocketAddr, more: &str) -> HubBuilder {
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua"));
    let done = builder.directory().join("look.done").display().to_string();
    let look = format!(
        "name: look\ndescription: Looks.\nphrases: {{ en: [please look] }}\ninput: {{ type: object }}\n\
         effects: {{ reads: true }}\ncommand: [sh, -c, 'echo x >> {done}; echo \"{{}}\"']\n"
    );
    let erase = "name: erase\ndescription: Erases.\neffects: { destroys: true }\ncommand: [sh, -c, 'echo \"{}\"']\n";
    let config = format!(
        "tools: {{ directory: ./tools }}\ntelemetry: {{ log: {{ level: debug }} }}\na2a: {{ push_private_addresses: true }}\n\
         access: {{ tokens: [{{ name: ann, token: token-of-ann }}] }}\n{more}"
    );
    builder.file("tools/look.yaml", look).file("tools/erase.yaml", erase).config(&config).listen(address)
}

fn looked(hub: &Hub) -> usize {
    std::fs::read_to_string(hub.directory().join("look.done")).unwrap_or_default().lines().count()
}

/// Ann's task, which waits for an approval and tells this address of that, with her own credential.
async fn tell(hub: &Hub, url: &str) {
    let answer = asked(hub, url).await;
    assert!(answer["result"]["task"]["id"].is_string(), "{url}: {answer}");
}

async fn asked(hub: &Hub, url: &str) -> Value {
    let headers = [("authorization", "Bearer token-of-ann"), ("a2a-version", "1.0")];
    let message = json!({"messageId": url, "role": "ROLE_USER", "parts": [{"data": {}}],
        "metadata": {"urn:interlingua:hub:1": {"skill": "local/erase"}}});
    let push = json!({"url": url, "authentication": {"scheme": "Bearer", "credentials": "token-of-ann"}});
    let configuration = json!({"returnImmediately": true, "taskPushNotificationConfig": push});
    let params = json!({"message": message, "configuration": configuration});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params});
    send(hub, Method::POST, "/a2a", &headers, Some(body)).await.json()
}

fn lines(hub: &Hub, words: &str) -> usize {
    hub.log().lines().filter(|line| line.contains(words)).count()
}

/// What a request has done that came in with Ann's credential: this needs no approval and is asked for in the address alone.
fn acting(host: &str, port: u16) -> String {
    format!("http://{host}:{port}/ask?query=please+look&site=local&streaming=false")
}

const NOT_TOLD: &str = "a webhook was not told";
const ANSWERED: &str = "a webhook refused an event";

/// Nothing of it came in: no connection was made, though it was tried.
async fn leads_nowhere(hub: &Hub, host: &str) {
    let (before, answered) = (lines(hub, NOT_TOLD), lines(hub, ANSWERED));
    tell(hub, &acting(host, hub.address().port())).await;
    until(&format!("{host}: it is tried twice"), async || lines(hub, NOT_TOLD) > before + 1).await;
    assert_eq!((lines(hub, ANSWERED), looked(hub)), (answered, 0), "{host}: it came in: {}", hub.log());
}

#[tokio::test]
async fn attack_a_webhook_is_the_hubs_own_door() {
    let builder = hub(port::free(), "");
    let names = Names::below(builder.directory(), NAME, "127.0.0.1".parse().expect("an address"));
    let builder = names.environment().iter().fold(builder, |builder, (name, value)| builder.environment(name, value));
    let loopback = builder.start().await;
    for host in ["127.0.0.1", "localhost", "0.0.0.0", "[::]", "[::ffff:127.0.0.1]", NAME] {
        leads_nowhere(&loopback, host).await;
    }
    // A number that one reads as a name and another as this machine is refused before anything is tried.
    for host in ["127.1", "2130706433", "0x7f.1", "[127.0.0.1]"] {
        let answer = asked(&loopback, &acting(host, loopback.address().port())).await;
        assert_eq!((&answer["error"]["code"], looked(&loopback)), (&json!(-32602), 0), "{host}: {answer}");
    }
    assert!(names.asked() > 0, "the name was looked up");
    let everywhere = SocketAddr::from(([0, 0, 0, 0], port::free().port()));
    let everywhere = hub(everywhere, "insecure: true\n").start().await;
    for host in ["127.0.0.1", "localhost", "127.0.0.9", "0.0.0.0", "[::ffff:127.3.2.1]"] {
        leads_nowhere(&everywhere, host).await;
    }
    let six = SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, port::free().port()));
    let six = hub(six, "").start().await;
    for host in ["[::1]", "localhost", "[0:0:0:0:0:0:0:1]"] {
        leads_nowhere(&six, host).await;
    }
}

/// Without a credential of its own it is nobody there; with Ann's it is Ann, who could have asked herself.
#[tokio::test]
async fn attack_a_webhook_is_another_hub_of_the_same_user() {
    let (left, right) = (hub(port::free(), "").start().await, hub(port::free(), "").start().await);
    let owner = std::fs::read_to_string(right.data().join("token")).expect("the Owner's token");
    let owner = format!("Bearer {}", owner.trim());
    let audit = async || {
        let page = send(&right, Method::GET, "/api/audit?limit=200", &[("authorization", &*owner)], None).await.json();
        page["items"].as_array().cloned().unwrap_or_default()
    };
    tell(&left, &acting("127.0.0.1", right.address().port())).await;
    until("it is told or refused", async || lines(&left, ANSWERED) > 0 || looked(&right) > 0).await;
    for path in ["/api/exchanges", "/api/keys/rotate", "/nlip", "/a2a", "/a2a/v1/message:send", "/mcp", "/nlip/route"] {
        let before = lines(&left, ANSWERED);
        tell(&left, &format!("http://127.0.0.1:{}{path}", right.address().port())).await;
        until(&format!("{path} refuses it"), async || lines(&left, ANSWERED) > before).await;
    }
    assert!(
        audit().await.iter().all(|line| line["who"] != "owner" || line["action"] == "start"),
        "{:#?}",
        audit().await
    );
}

#[tokio::test]
async fn attack_a_receiver_of_a_webhook_leads_on_to_the_hub() {
    let (left, right) = (hub(port::free(), "").start().await, hub(port::free(), "").start().await);
    for (number, status) in [301, 302, 303, 307, 308].into_iter().enumerate() {
        for to in [&left, &right] {
            let place = acting("127.0.0.1", to.address().port());
            let receiver =
                Scripted::http(move |_, _| Say::Status(status, vec![("location", place.clone())], Value::Null)).await;
            tell(&left, &format!("http://{}/hook{number}", receiver.address())).await;
            until(&format!("{status}: it is told again"), async || receiver.heard().len() > 1).await;
            assert_eq!((looked(&left), looked(&right)), (0, 0), "{status}");
        }
    }
}
