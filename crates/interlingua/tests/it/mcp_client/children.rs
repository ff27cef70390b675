//! Servers that are child processes: one for all callers, restarted, ended with the hub, and nothing left behind.

use super::*;

fn alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

fn pids(log: &Log) -> Vec<String> {
    log.lines("start").iter().filter_map(|line| line.split(' ').nth(1).map(str::to_owned)).collect()
}

#[tokio::test]
async fn m_29_concurrent_first_calls_start_one_program() {
    let log = Log::new();
    let hub = hub(&[("near", program("legacy", &log))]).await;
    let before = log.count("start");
    // Ended by a call, it is not there when all of these arrive.
    let died = call(&hub, "near/die", json!({})).await;
    assert_eq!(fault(&died), "outcome_unknown", "{died}");
    let calls = (0..32).map(|_| call(&hub, "near/pid", json!({})));
    let answers = futures_util::future::join_all(calls).await;
    let mut seen: Vec<String> = answers.iter().map(said).collect();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert_eq!(log.count("start"), before + 1);
}

#[tokio::test]
async fn m_28_a_program_that_ends_is_started_again_and_none_is_left_behind() {
    let log = Log::new();
    let mut hub = hub(&[("near", program("modern", &log))]).await;
    for round in 0..20 {
        let died = call(&hub, "near/die", json!({})).await;
        assert_eq!(fault(&died), "outcome_unknown", "{round}: {died}");
        let again = call(&hub, "near/echo", json!({"text": "back"})).await;
        assert_eq!(said(&again), "back", "{round}: {again}");
    }
    let started = pids(&log);
    assert_eq!(started.len(), 21);
    until("one program", async || started.iter().filter(|pid| alive(pid)).count() == 1).await;
    let children = format!("/proc/{0}/task/{0}/children", hub.id());
    let zombies = std::fs::read_to_string(children).unwrap_or_default().split_whitespace().count();
    assert!(zombies <= 1, "{zombies} children");
    hub.stop().await;
    until("none after the hub", async || !started.iter().any(|pid| alive(pid))).await;
}

#[tokio::test]
async fn a_program_nobody_uses_is_ended_and_starts_when_it_is_needed() {
    let log = Log::new();
    let line = program("legacy", &log).replace("mcp: {", "mcp: { idle: 100ms,");
    let hub = hub(&[("near", line)]).await;
    let first = said(&call(&hub, "near/pid", json!({})).await);
    until("the program to be ended", async || !alive(&first)).await;
    assert_ne!(peer(&hub, "near").await["health"], "down");
    assert_ne!(said(&call(&hub, "near/pid", json!({})).await), first);
}

#[tokio::test]
async fn a_program_that_ends_over_a_question_it_does_not_know_is_greeted_without_it() {
    let everywhere = Everywhere::start(&[("strict", "stdio", "strict")]).await;
    assert_eq!(said(&call(&everywhere.hub, "strict/echo", json!({"text": "a"})).await), "a");
    assert_eq!(everywhere.logs[0].count("start"), 2);
}

#[tokio::test]
async fn what_a_program_that_does_not_start_says_is_shown() {
    let line = "{ mcp: { command: sh, args: [-c, 'echo no licence >&2; exit 1'] } }".to_owned();
    let hub = builder(&[("broken", line)]).start().await;
    until("a peer that is down", async || peer(&hub, "broken").await["health"] == "down").await;
    let shown = peer(&hub, "broken").await;
    assert!(shown["problems"].to_string().contains("no licence"), "{shown}");
    let refused = call(&hub, "broken/anything", json!({})).await;
    assert_eq!(refused["error"]["kind"], "unreachable", "{refused}");
    assert!(refused.to_string().contains("broken is down"), "{refused}");
}

/// A server of a few lines that ends whenever a tool is called.
const MORTAL: &str = r#"
while read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case $line in
    *'"initialize"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"m\",\"version\":\"1\"}}}" ;;
    *'"tools/list"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[{\"name\":\"end\",\"inputSchema\":{\"type\":\"object\"}}]}}" ;;
    *'"tools/call"'*) exit 3 ;;
    *'"id":'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"unknown\"}}" ;;
  esac
done
"#;

/// A hundred in `make test`, a thousand in `make soak`.
#[tokio::test]
async fn m_28_no_program_is_left_behind_after_many_restarts_of_a_server() {
    let rounds = if std::env::var_os("SOAK_SECONDS").is_some() { 1_000 } else { 100 };
    let line = "{ mcp: { command: sh, args: [mortal.sh] } }".to_owned();
    let hub = builder(&[("mortal", line)]).file("mortal.sh", MORTAL).start().await;
    listed(&hub, "mortal").await;
    for round in 0..rounds {
        let ended = call(&hub, "mortal/end", json!({})).await;
        assert_eq!(fault(&ended), "outcome_unknown", "{round}: {ended}");
    }
    let children = format!("/proc/{0}/task/{0}/children", hub.id());
    let count = || std::fs::read_to_string(&children).unwrap_or_default().split_whitespace().count();
    until("one program at most", async || count() <= 1).await;
}
