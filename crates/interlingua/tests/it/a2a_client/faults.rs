//! Agents with wrong answers.

use super::*;

async fn outcome(card: Value, script: impl Fn(&Heard) -> Say + Send + Sync + 'static) -> (Value, Vec<String>) {
    let agent = Agent::start(card, script).await;
    let hub = agent.hub().await;
    let answer = say(&hub, "x").await;
    assert_eq!(hub.get("/healthz").await.status, 200);
    let heard = agent.heard().iter().map(|heard| String::from_utf8_lossy(&heard.body).into_owned()).collect();
    (answer, heard)
}

#[tokio::test]
async fn what_is_no_answer_is_a_bad_reply_that_says_so() {
    let garbage: [fn() -> Say; 5] = [
        || Say::Raw(200, "application/json", "{\"jsonrpc\":".into()),
        || Say::Raw(200, "text/html", "<html>hello</html>".into()),
        || Say::Json(result(json!({"neither": 1}))),
        || Say::Json(json!([])),
        || Say::Stream(vec![Piece::Bytes("data: not json\n\n".into()), Piece::Bytes("data: x\n\n".into())]),
    ];
    for say in garbage {
        let (answer, heard) = outcome(card(), move |_| say()).await;
        assert_eq!(fault(&answer), "bad_reply", "{answer}");
        assert_eq!(heard.len(), 1, "what may have happened is not sent again");
    }
}

#[tokio::test]
async fn an_answer_of_more_than_is_read_is_a_bad_reply() {
    let (answer, _) = outcome(card(), |_| Say::Raw(200, "application/json", vec![b' '; 65 << 20].into())).await;
    assert_eq!(fault(&answer), "bad_reply", "{answer}");
}

#[tokio::test]
async fn a_connection_that_ends_without_an_answer_is_an_outcome_nobody_knows() {
    let (answer, heard) = outcome(card(), |_| Say::Nothing).await;
    assert_eq!((fault(&answer), heard.len()), (&json!("outcome_unknown"), 1), "{answer}");
}

#[tokio::test]
async fn a_31_an_agents_errors_are_known_by_their_names() {
    for (code, reason, kind) in [
        (-32602, "INVALID_INPUT", "invalid_input"),
        (-32005, "CONTENT_TYPE_NOT_SUPPORTED", "invalid_input"),
        (-32006, "INVALID_AGENT_RESPONSE", "bad_reply"),
        (-32603, "INTERNAL", "peer_failed"),
        (-32600, "BUSY", "busy"),
    ] {
        let (answer, _) = outcome(plain_card(), move |_| error(code, reason)).await;
        let told = if fault(&answer).is_null() { &answer["error"]["kind"] } else { fault(&answer) };
        assert_eq!(told, kind, "{reason}: {answer}");
    }
}

#[tokio::test]
async fn a_card_that_promises_streams_falsely_is_called_without_them() {
    let agent = Agent::start(card(), |heard| match method(heard).as_str() {
        "SendMessage" => Say::Json(result(message("without"))),
        _ => error(-32004, "UNSUPPORTED_OPERATION"),
    })
    .await;
    let hub = agent.hub().await;
    assert_eq!(texts(&say(&hub, "x").await), ["without"]);
    assert_eq!(agent.methods(), ["SendStreamingMessage", "SendMessage"]);
}

#[tokio::test]
async fn a_35_chunks_of_an_artifact_that_was_never_begun_end_the_call_and_the_agents_task() {
    let agent = Agent::start(card(), |heard| match method(heard).as_str() {
        "CancelTask" => Say::Json(result(task("CANCELED"))),
        _ => Say::Stream(stream(&[json!({"task": task("WORKING")}), artifact("x", true, false), status("COMPLETED")])),
    })
    .await;
    let hub = agent.hub().await;
    assert_eq!(fault(&say(&hub, "x").await), "bad_reply");
    agent.is_asked("CancelTask").await;
}

#[tokio::test]
async fn what_is_told_of_another_task_is_not_believed() {
    let mut other = status("COMPLETED");
    other["statusUpdate"]["taskId"] = "t2".into();
    let (answer, _) =
        outcome(card(), move |_| Say::Stream(stream(&[json!({"task": task("WORKING")}), other.clone()]))).await;
    assert_eq!(fault(&answer), "bad_reply", "{answer}");
}
