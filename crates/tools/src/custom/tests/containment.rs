//! Programs that crash, hang, flood, leave others behind or refuse to end harm their own call only.

use interlingua_model::{CancelWhy, Signal};

use super::*;

#[tokio::test]
async fn a_crash_is_a_failure_of_the_tool() {
    let crashed = fault(&Shop::tool("kill -SEGV $$", "")).await;
    assert_eq!((crashed.kind, &*crashed.public), (FaultKind::PeerFailed, "t was ended by signal 11"));
}

#[tokio::test]
async fn an_exit_code_is_a_failure_even_with_a_result() {
    let failed = fault(&Shop::tool("echo 1; exit 3", "")).await;
    assert_eq!((failed.kind, &*failed.public), (FaultKind::PeerFailed, "t ended with exit code 3"));
}

#[tokio::test]
async fn a_failing_program_may_choose_its_words_but_not_tell_secrets() {
    let body = r#"printf '{"error": "%s has no seats\n"}' "$CARGO_PKG_NAME"; exit 1"#;
    let failed = fault(&Shop::tool(&body.replace("\\n", ""), "environment: [CARGO_PKG_NAME]")).await;
    assert_eq!((failed.kind, &*failed.public), (FaultKind::PeerFailed, "[redacted] has no seats"));
}

#[tokio::test]
async fn standard_error_becomes_notes_without_secrets_and_never_part_of_an_error() {
    let shop = Shop::tool(r#"echo "key $CARGO_PKG_NAME" >&2; exit 1"#, "environment: [CARGO_PKG_NAME]");
    let (events, finished) = run(&shop.open(), "t", json!({})).await;
    assert_eq!(notes(&events), ["key [redacted]"]);
    assert!(matches!(finished.outcome, Outcome::Failed(fault) if &*fault.public == "t ended with exit code 1"));
}

#[tokio::test]
async fn a_program_that_hangs_is_ended_when_its_time_is_up() {
    let shop = Shop::tool("echo $$ > pid; exec sleep 600", "timeout: 300ms");
    let late = fault(&shop).await;
    assert_eq!((late.kind, &*late.public), (FaultKind::Deadline, "t took more than 300ms"));
    is_collected(number_in(&shop.path("pid")).await).await;
}

#[tokio::test]
async fn a_program_that_does_not_listen_is_ended_hard() {
    let shop = Shop::tool("trap '' TERM; echo $$ > pid; while :; do sleep 1; done", "timeout: 200ms");
    assert_eq!(fault(&shop).await.kind, FaultKind::Deadline);
    is_collected(number_in(&shop.path("pid")).await).await;
}

#[tokio::test]
async fn a_flood_on_standard_output_ends_the_call() {
    for reply in ["value", "lines"] {
        let shop = Shop::tool("echo $$ > pid; exec yes '{\"log\": \"x\"}'", &format!("stdout: 64KiB\nreply: {reply}"));
        let flooded = fault(&shop).await;
        assert_eq!(flooded.kind, FaultKind::BadReply);
        assert_eq!(&*flooded.public, "t: the reply is larger than 65536 bytes");
        is_collected(number_in(&shop.path("pid")).await).await;
    }
}

#[tokio::test]
async fn a_flood_on_standard_error_is_dropped_and_the_result_kept() {
    let body =
        "i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done; head -c 1000000 /dev/zero >&2; echo 7";
    let shop = Shop::tool(body, "");
    let (events, finished) = run(&shop.open(), "t", json!({})).await;
    assert_eq!(finished.output.structured.unwrap().tree(), &json!(7));
    let notes = notes(&events);
    assert!(notes.len() <= 502, "{}", notes.len());
    assert_eq!(notes[0], "line 0");
}

#[tokio::test]
async fn a_line_without_end_on_standard_error_is_bounded() {
    let (events, finished) = run(&Shop::tool("head -c 5000000 /dev/zero >&2; echo 7", "").open(), "t", json!({})).await;
    assert!(matches!(finished.outcome, Outcome::Completed));
    assert_eq!(notes(&events), ["standard error is too long; the rest is dropped"]);
}

#[tokio::test]
async fn what_a_program_leaves_behind_ends_with_it() {
    let shop = Shop::tool("echo $$ > pid; sh -c 'sleep 600 & echo $! > grandchild; wait' & sleep 0.2; echo 1", "");
    assert_eq!(result(&shop, json!({})).await.unwrap(), json!(1));
    ends(number_in(&shop.path("grandchild")).await).await;
    is_collected(number_in(&shop.path("pid")).await).await;
}

#[tokio::test]
async fn a_grandchild_that_holds_the_pipe_does_not_hold_the_call() {
    let shop = Shop::tool("sleep 600 & echo $! > grandchild; echo 1", "");
    assert_eq!(result(&shop, json!({})).await.unwrap(), json!(1));
    ends(number_in(&shop.path("grandchild")).await).await;
}

#[tokio::test]
async fn dropping_a_call_ends_the_program_and_all_it_started() {
    let shop = Shop::tool("trap '' TERM; sleep 600 & echo $! > grandchild; echo $$ > pid; wait", "");
    let tools = shop.open();
    let mut exchange = start(&tools, "t", json!({})).await.unwrap();
    // The program runs by itself; only its pipes wait for the reader.
    let (pid, grandchild) = tokio::select! {
        _ = next(&mut exchange) => panic!("it does not end by itself"),
        pids = async { (number_in(&shop.path("pid")).await, number_in(&shop.path("grandchild")).await) } => pids,
    };
    drop(exchange);
    ends(grandchild).await;
    is_collected(pid).await;
}

#[tokio::test]
async fn a_cancelled_program_is_asked_first() {
    // Only builtins after the number is written: some shells lose a signal that comes while they start a program.
    let shop = Shop::tool("trap 'echo 1 > asked; exit 0' TERM; sleep 600 & echo $$ > pid; wait", "");
    let tools = shop.open();
    let mut exchange = start(&tools, "t", json!({})).await.unwrap();
    let pid = number_in(&shop.path("pid")).await;
    exchange.signal(Signal::Cancel(CancelWhy::Asked)).unwrap();
    exchange.signal(Signal::Cancel(CancelWhy::Disconnected)).unwrap();
    let (_, finished) = drain(exchange).await;
    assert!(matches!(finished.outcome, Outcome::Cancelled { why: CancelWhy::Asked, .. }), "{finished:?}");
    assert_eq!(number_in(&shop.path("asked")).await, 1);
    is_collected(pid).await;
}

#[tokio::test]
async fn nothing_can_be_said_to_a_running_program() {
    let shop = Shop::tool("echo 1", "");
    let tools = shop.open();
    let mut exchange = start(&tools, "t", json!({})).await.unwrap();
    let said = Signal::Said { message: "m".into(), input: Input::text("more") };
    assert!(exchange.signal(said).is_err());
    drain(exchange).await;
}

#[tokio::test]
async fn calls_beyond_the_limit_wait_for_their_turn() {
    let shop = Shop::tool("cat", "parallel: 1");
    let tools = shop.open();
    let first = start(&tools, "t", json!({})).await.unwrap();
    let mut second = Box::pin(start(&tools, "t", json!({ "second": true })));
    assert!(futures_util::FutureExt::now_or_never(&mut second).is_none());
    drain(first).await;
    let (_, finished) = drain(second.await.unwrap()).await;
    assert_eq!(finished.output.structured.unwrap().tree(), &json!({ "second": true }));
}

#[tokio::test]
async fn the_environment_is_empty_but_for_what_is_allowed() {
    let body = r#"echo "[\"${HOME-no}\", \"${CARGO_MANIFEST_DIR-no}\", \"$CARGO_PKG_NAME\", \"$INTERLINGUA_KEY\", $INTERLINGUA_ATTEMPT]""#;
    let seen = result(&Shop::tool(body, "environment: [CARGO_PKG_NAME]"), json!({})).await.unwrap();
    assert_eq!(seen, json!(["no", "no", "interlingua-tools", "key-1", 2]));
}

#[tokio::test]
async fn a_program_that_went_away_is_unreachable_and_nothing_was_begun() {
    let shop = Shop::tool("echo 1", "");
    let tools = shop.open();
    fs::remove_file(shop.path("t")).unwrap();
    assert_eq!(start(&tools, "t", json!({})).await.err().unwrap().kind, FaultKind::Unreachable);
}

#[tokio::test]
async fn many_calls_at_once_leave_nothing_behind() {
    let shop = Shop::tool("echo $$ >> pids; cat", "parallel: 8");
    let tools = shop.open();
    let calls = (0..40).map(|number| {
        let tools = &tools;
        async move { run(tools, "t", json!({ "number": number })).await.1.output.structured.unwrap() }
    });
    let results = futures_util::future::join_all(calls).await;
    for (number, result) in results.iter().enumerate() {
        assert_eq!(result.tree(), &json!({ "number": number }));
    }
    for pid in fs::read_to_string(shop.path("pids")).unwrap().lines() {
        is_collected(pid.parse().unwrap()).await;
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_that_takes_more_memory_than_its_share_fails_alone() {
    let greedy = "x=$(head -c 150000000 /dev/zero | tr '\\0' x); echo ${#x}";
    assert_eq!(result(&Shop::tool(greedy, ""), json!({})).await.unwrap(), json!(150_000_000));
    assert_eq!(fault(&Shop::tool(greedy, "memory: 32MiB")).await.kind, FaultKind::PeerFailed);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_that_uses_more_processor_time_than_its_share_is_ended() {
    let busy = fault(&Shop::tool("while :; do :; done", "cpu: 1s\ntimeout: 10m")).await;
    assert_eq!((busy.kind, &*busy.public), (FaultKind::PeerFailed, "t used more processor time than it may"));
}
