//! Real streams: in pieces, with odd line ends, and broken off.

use interlingua_testkit::Piece;

use super::*;

#[tokio::test]
async fn a_44_a_stream_is_read_however_it_is_cut_and_whatever_its_line_ends() {
    let frames = [json!({"task": task("WORKING")}), artifact("Grüße ", false, false), artifact("日本", true, true)];
    let mut bytes = b"\xef\xbb\xbf: keep-alive\r\n\r\n".to_vec();
    for frame in &frames {
        // Over several lines of data, with a carriage return alone, and with an unknown field.
        let text = result(frame.clone()).to_string().replacen(",\"", ",\r\ndata: \"", 1);
        bytes.extend_from_slice(format!("event: message\rid: 7\rfoo: bar\r\ndata: {text}\r\n\r\n").as_bytes());
    }
    // The last event has no blank line behind it.
    bytes.extend_from_slice(format!("data: {}", result(status("COMPLETED"))).as_bytes());
    let agent = Agent::start(card(), move |_| {
        Say::Stream(bytes.chunks(7).map(|chunk| Piece::Bytes(chunk.to_vec().into())).collect())
    })
    .await;
    let hub = agent.hub().await;
    let answer = say(&hub, "x").await;
    assert_eq!(texts(&answer), ["Grüße ", "日本"], "{answer}");
    assert_eq!(agent.methods(), ["SendStreamingMessage"], "nothing was asked again");
}

/// A stream that breaks off after its first artifact, and what the agent then answers.
async fn broken(card: Value, then: impl Fn(&Heard) -> Say + Send + Sync + 'static) -> Agent {
    Agent::start(card, move |heard| match method(heard).as_str() {
        "SendStreamingMessage" => {
            let mut pieces =
                stream(&[json!({"task": task("SUBMITTED")}), status("WORKING"), artifact("one ", false, false)]);
            pieces.push(Piece::Cut);
            Say::Stream(pieces)
        }
        _ => then(heard),
    })
    .await
}

fn so_far(state: &str) -> Value {
    let mut task = task(state);
    task["artifacts"] = json!([{"artifactId": "page", "name": "page", "parts": [{"text": "one "}, {"text": "two "}]}]);
    task
}

#[tokio::test]
async fn a_45_a_stream_that_breaks_off_is_taken_up_by_a_subscription_and_nothing_is_told_twice() {
    let agent = broken(card(), |heard| match method(heard).as_str() {
        "SubscribeToTask" => Say::Stream(stream(&[
            json!({"task": so_far("WORKING")}),
            artifact("three", true, true),
            status("COMPLETED"),
        ])),
        other => panic!("{other} was not needed"),
    })
    .await;
    let hub = agent.hub().await;
    let answer = say(&hub, "x").await;
    assert_eq!(texts(&answer), ["one ", "two ", "three"], "{answer}");
    assert_eq!(agent.methods(), ["SendStreamingMessage", "SubscribeToTask"]);
    assert_eq!(agent.heard()[1].json()["params"]["id"], "t1");
}

#[tokio::test]
async fn a_45_what_ended_meanwhile_is_asked_for() {
    let agent = broken(card(), |heard| match method(heard).as_str() {
        "SubscribeToTask" => error(-32004, "UNSUPPORTED_OPERATION"),
        _ => Say::Json(result(so_far("COMPLETED"))),
    })
    .await;
    let hub = agent.hub().await;
    let answer = say(&hub, "x").await;
    assert_eq!(texts(&answer), ["one ", "two "], "{answer}");
    assert_eq!(agent.methods(), ["SendStreamingMessage", "SubscribeToTask", "GetTask"]);
}

#[tokio::test]
async fn a_17_a_subscription_by_get_is_found_where_post_is_not_taken() {
    let mut card = card();
    card["supportedInterfaces"] = json!([{"url": "/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"}]);
    let agent = Agent::start(card, |heard| match (heard.method.as_str(), heard.path.as_str()) {
        ("POST", "/rest/message:stream") => {
            Say::Stream(vec![Piece::event(&json!({"task": task("WORKING")})), Piece::Cut])
        }
        ("GET", "/rest/tasks/t1:subscribe") => {
            let events = [json!({"task": so_far("WORKING")}), status("COMPLETED")];
            Say::Stream(events.iter().map(Piece::event).collect())
        }
        _ => Say::Status(405, Vec::new(), Value::Null),
    })
    .await;
    let hub = agent.hub().await;
    assert_eq!(texts(&say(&hub, "x").await), ["one ", "two "]);
}

#[tokio::test]
async fn an_agent_that_is_gone_for_good_leaves_an_outcome_nobody_knows() {
    let agent = broken(card(), |_| Say::Nothing).await;
    let hub = agent.hub().await;
    let id = begin(&hub, "x").await;
    agent.is_asked("SubscribeToTask").await;
    drop(agent);
    let failed = reaches(&hub, &id, "failed").await;
    assert_eq!(fault(&failed), "outcome_unknown", "{failed}");
}

#[tokio::test]
async fn a_task_the_agent_has_forgotten_is_an_outcome_nobody_knows() {
    let agent = broken(card(), |_| error(-32001, "TASK_NOT_FOUND")).await;
    let hub = agent.hub().await;
    assert_eq!(fault(&say(&hub, "x").await), "outcome_unknown");
}
