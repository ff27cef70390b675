//! Phrases that an operator gives the skills of a peer, whatever the peer speaks.

use super::*;

const PHRASES: &str = "skills: { get_order: { effects: reads, phrases: [\"(where is|track) [my] order {order_id}\"] }, \
    list_orders: { effects: reads, phrases: { en: [\"orders that are {status}\"], es: [\"pedidos {status}\"] } } }";

#[tokio::test]
async fn the_operators_phrases_fill_arguments_over_every_protocol() {
    let hub = hub(PHRASES).await;
    for way in WAYS {
        for (words, answered) in [
            ("Where is my order 1001?", "order 1001: open"),
            ("track order 1002", "order 1002: shipped"),
            ("orders that are shipped", "shipped orders: [1002]"),
            ("pedidos open", "open orders: [1001, 1003]"),
        ] {
            let answer = said_by(&hub, way, words).await;
            assert!(texts(&answer).contains(answered), "{way}: {words}: {answer}");
            // A message of A2A has no place for the route that was taken.
            assert!(way == "a2a" || answer.to_string().contains("\"phrase\""), "{way}: {words}: {answer}");
        }
    }
    let (code, out, err) = ended(&typed(&hub, &["ask", "where is order 1003"]));
    assert_eq!((code, out.as_str()), (Some(0), "order 1003: open\n"), "{err}");
    assert!(err.contains("→ orders/get_order with {\"order_id\":1003} (phrase)"), "{err}");
    let (_, out, _) = ended(&typed(&hub, &["skills"]));
    assert!(out.contains("orders/get_order: \"(where is|track) [my] order {order_id}\" (en)"), "{out}");
    assert!(out.contains("orders/list_orders: \"pedidos {status}\" (es)"), "{out}");
}

#[tokio::test]
async fn phrases_come_and_go_with_the_configuration() {
    let mut hub = hub(READS).await;
    let route = async |hub: &Hub| said_by(hub, "api", "track order 1001").await["route"]["why"].clone();
    assert_ne!(route(&hub).await, "phrase");
    hub.write("interlingua.yaml", config(PHRASES));
    hub.reload();
    until("the phrase is known", async || route(&hub).await == "phrase").await;
    hub.write("interlingua.yaml", config(READS));
    hub.reload();
    until("the phrase is gone", async || route(&hub).await != "phrase").await;
}

#[tokio::test]
async fn a_slot_that_a_tool_does_not_take_is_a_problem_of_the_peer_and_the_others_work() {
    let skills = "skills: { get_order: { effects: reads, phrases: [\"track {number}\", \"trace {order_id}\"] } }";
    let hub = hub(skills).await;
    let answer = said_by(&hub, "api", "trace 1001").await;
    assert!(answer.to_string().contains("order 1001: open"), "{answer}");
    let peers = hub.get("/api/peers").await.text();
    let told = "phrase `track {number}` of orders/get_order: at character 0: the slot `number` is not in the input";
    assert!(peers.contains(told), "{peers}");
    assert!(!hub.get("/api/skills?limit=200").await.text().contains("track {number}"));
}

#[tokio::test]
async fn what_is_wrong_with_a_phrase_is_told_with_its_place() {
    let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).start().await;
    let site = interlingua_testkit::root().join("examples/airline.yaml");
    let yaml = format!(
        "peers:
  orders:
    mcp: {{ command: python3 }}
    skills:
      a: {{ phrases: [\"get {{x}}\", \"get {{x\"] }}
      b: {{ phrases: {{ es: [\"{{x}}\"] }} }}
      c: {{}}
      d: {{ phrases: 7 }}
  desk: {{ nlip: {{ url: \"http://127.0.0.1:9/nlip\" }}, skills: {{ chat: {{ phrases: [\"tell {{words}}\"] }} }} }}
  shop: {{ site: {:?}, skills: {{ \"*\": {{ phrases: [\"go {{nowhere_at_all}}\"] }} }} }}
",
        site.display()
    );
    let checked = |yaml: &str| {
        hub.write("phrases.yaml", yaml);
        ended(&typed_in(&hub, &["check", "phrases.yaml"]))
    };
    // What cannot be read at all is told first.
    let (code, _, err) = checked(&yaml);
    assert!(code == Some(3) && err.contains("phrases.yaml:8:"), "{err}");
    let (code, _, err) = checked(&yaml.replace("      d: { phrases: 7 }\n", ""));
    assert_eq!(code, Some(3), "{err}");
    for told in [
        "phrases.yaml:5:33: peers.orders.skills.a.phrases.1: `get {x`: at character 4: `{` is not closed",
        "phrases.yaml:6:28: peers.orders.skills.b.phrases.es.0: `{x}`: at character 0: every way to say it needs",
        "phrases.yaml:7:7: peers.orders.skills.c: expected `effects`, `phrases`, or both",
        "peers.desk.skills.chat.phrases.0: `tell {words}`: at character 0: the slot `words` is not in the input",
        "peers.shop.skills.*.phrases.0: `go {nowhere_at_all}`: at character 0: the slot `nowhere_at_all` is not in",
    ] {
        assert!(err.contains(told), "{told}\nin\n{err}");
    }
}

fn typed_in(hub: &Hub, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlingua"));
    command.args(arguments).current_dir(hub.directory()).stdin(Stdio::null()).output().expect("the program runs")
}

/// An agent, a site that is asked, a site that is driven, a device and another hub.
#[tokio::test]
async fn a_peer_of_any_protocol_can_have_phrases() {
    let other = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("data/workspace/a.txt", "lemons").start().await;
    let agent = interlingua_testkit::Peer::nlip_server("concierge:app").await;
    let site = interlingua_testkit::root().join("examples/travel/airline.yaml");
    let token = other.token().expect("a token");
    let yaml = format!(
        "peers:
  desk: {{ nlip: {{ url: \"{}/nlip/\" }}, effects: reads, skills: {{ chat: {{ phrases: [\"tell the desk {{message}}\"] }} }} }}
  recipes: {{ nlweb: {{ url: \"http://127.0.0.1:9/ask\" }}, skills: {{ ask: {{ phrases: [\"recipes with {{query}}\"] }} }} }}
  airline: {{ site: {:?}, skills: {{ find_fares: {{ phrases: [\"cheap seats to {{destination}}\"] }} }} }}
  box: {{ aip: {{ url: \"ws://127.0.0.1:9/ws\", target: box }}, skills: {{ \"*\": {{ phrases: [\"have the box do it\"] }} }} }}
  far: {{ a2a: {{ url: \"{}\", token: {token:?} }}, hub: true, effects: reads, skills: {{ local.read_file: {{ phrases: [\"fetch {{path}}\"] }} }} }}
",
        format_args!("http://{}", agent.address()),
        site.display(),
        other.url("")
    );
    let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(&yaml).start().await;
    let phrases = [
        "tell the desk {message}",
        "recipes with {query}",
        "cheap seats to {destination}",
        "have the box do it",
        "fetch {path}",
    ];
    until("every peer has its phrase", async || {
        let listed = hub.get("/api/skills?limit=200").await.text();
        phrases.iter().all(|phrase| listed.contains(phrase))
    })
    .await;
    let answer = said_by(&hub, "api", "fetch a.txt").await;
    assert!(answer.to_string().contains("lemons"), "{answer}");
    // The agent hears what the slot took out of the words, once.
    let answer = said_by(&hub, "api", "tell the desk a table for two").await;
    let text = answer.to_string();
    assert!(text.contains("a table for two") && !text.contains("tell the desk"), "{answer}");
    let answer = said_by(&hub, "api", "cheap seats to Paris").await;
    assert!(answer["questions"][0]["text"].as_str().is_some_and(|text| text.contains("I still need")), "{answer}");
}

#[tokio::test]
async fn a_phrase_that_is_the_hubs_own_is_a_warning_with_its_place_and_a_problem_of_its_peer() {
    let skills = "skills: { get_order: { effects: reads, phrases: [\"help\", \"track order {order_id}\"] } }";
    let hub = hub(skills).await;
    let (code, out, err) = ended(&typed_in(&hub, &["check", "interlingua.yaml"]));
    assert_eq!(code, Some(0), "{out}{err}");
    let told = "peers.orders.skills.get_order.phrases.0: `help`: the hub answers `help` itself";
    assert!(err.contains("warning: interlingua.yaml:1:") && err.contains(told), "{err}");
    let (_, out, err) = ended(&typed(&hub, &["peers"]));
    assert!(format!("{out}{err}").contains("the hub answers `help` itself"), "{out}{err}");
    assert_eq!(said_by(&hub, "api", "help").await["route"]["skill"], "hub/help");
    assert_eq!(said_by(&hub, "api", "track order 1001").await["route"]["skill"], "orders/get_order");
}
