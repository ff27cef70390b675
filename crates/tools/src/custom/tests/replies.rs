//! The output of programs, and how it is decoded.

use interlingua_model::Level;

use super::*;

#[tokio::test]
async fn arguments_go_in_and_a_value_comes_out() {
    let args = json!({ "text": "ñandú \u{1f600}", "deep": [{ "n": 1.5 }] });
    assert_eq!(result(&Shop::tool("cat", ""), args.clone()).await.unwrap(), args);
}

#[tokio::test]
async fn arguments_larger_than_a_pipe_are_passed_whole() {
    let args = json!({ "text": "x".repeat(3_000_000) });
    assert_eq!(result(&Shop::tool("cat", "stdout: 8MiB"), args.clone()).await.unwrap(), args);
}

#[tokio::test]
async fn a_program_need_not_read_its_arguments() {
    let args = json!({ "text": "x".repeat(3_000_000) });
    assert_eq!(result(&Shop::tool("exec 0<&-; echo '\"done\"'", ""), args).await.unwrap(), json!("done"));
}

#[tokio::test]
async fn no_arguments_are_an_empty_object() {
    let shop = Shop::tool("cat", "");
    let tools = shop.open();
    let Reply::Live(exchange) = Arc::clone(&tools).call(dispatch(skill(&tools, "t"), None)).await.unwrap() else {
        panic!()
    };
    assert_eq!(drain(exchange).await.1.output.structured.unwrap().tree(), &json!({}));
    let list = Arc::clone(&tools).call(dispatch(skill(&tools, "t"), Some(json!([1])))).await.unwrap_err();
    assert_eq!(list.kind, FaultKind::InvalidInput);
}

#[tokio::test]
async fn a_text_is_said_as_text_and_a_structure_as_data() {
    let text = run(&Shop::tool("echo '\"hello\"'", "").open(), "t", json!({})).await.1.output;
    assert_eq!(text.parts[0].as_text(), Some("hello"));
    let data = run(&Shop::tool("echo '{\"a\": 1}'", "").open(), "t", json!({})).await.1.output;
    assert_eq!(data.parts[0].as_text(), None);
}

#[tokio::test]
async fn what_is_not_one_json_value_is_a_bad_reply() {
    let deep = format!("printf '%s' '{}'", "[".repeat(5_000));
    let bad = ["echo hello", "echo '1 2'", "true", "echo NaN", "printf '\"\\377\"'", "echo '{\"a\":1,\"a\":2}'", &deep];
    for body in bad {
        assert_eq!(fault(&Shop::tool(body, "")).await.kind, FaultKind::BadReply, "{body}");
    }
}

#[tokio::test]
async fn lines_tell_progress_and_notes_before_the_result() {
    let body = r#"cat <<'END'
{"progress": {"done": 1, "total": 3, "note": "one"}}
{"progress": "half way"}
{"log": "plain"}

{"log": {"level": "warning", "text": "careful"}}
{"result": [1, 2], "text": "two things"}
END"#;
    let (events, finished) = run(&Shop::tool(body, "reply: lines").open(), "t", json!({})).await;
    assert_eq!(events[0], Event::Progress { done: Some(1.0), total: Some(3.0), note: Some("one".into()) });
    assert_eq!(events[1], Event::Progress { done: None, total: None, note: Some("half way".into()) });
    assert_eq!(notes(&events), ["plain", "careful"]);
    assert!(matches!(&events[3], Event::Said { channel: Channel::Note(Level::Warning), .. }));
    assert_eq!(finished.outcome, Outcome::Completed);
    assert_eq!(finished.output.structured.unwrap().tree(), &json!([1, 2]));
    assert_eq!(finished.output.parts[0].as_text(), Some("two things"));
}

#[tokio::test]
async fn lines_that_are_none_of_ours_are_a_bad_reply() {
    let bad = [
        "{\"other\": 1}",
        "{\"log\": \"x\", \"result\": 1}",
        "[1]",
        "word",
        "{\"log\": {\"level\": \"loud\", \"text\": \"x\"}}",
        "{\"result\": 1}\\n{\"result\": 2}",
        "{\"log\": \"no result\"}",
    ];
    for line in bad {
        let shop = Shop::tool(&format!("printf '{line}\\n'"), "reply: lines");
        assert_eq!(fault(&shop).await.kind, FaultKind::BadReply, "{line}");
    }
}

#[tokio::test]
async fn an_error_line_is_a_failure_in_the_programs_own_words() {
    let failed = fault(&Shop::tool("echo '{\"error\": {\"message\": \"sold out\"}}'", "reply: lines")).await;
    assert_eq!((failed.kind, &*failed.public), (FaultKind::PeerFailed, "sold out"));
}
