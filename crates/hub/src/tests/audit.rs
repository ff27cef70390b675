//! The audit log in its store: truncation stays detectable, and an unreadable page stops nothing.

use interlingua_machines::audit::{Broken, Checkpoint, Verifier};
use interlingua_model::journal;
use interlingua_model::ports::{Expect, StoreFault};

use super::*;
use crate::audit::AuditLine;

async fn signing(hub: &Hub, bench: &Bench) {
    hub.open_audit_key(&bench.dir.path().join("audit.pem")).await.expect("a key");
}

async fn echo(hub: &Arc<Hub>) {
    let mut running = hub.open(request(call("echo", json!({"n": 1})))).await.expect("opens");
    outcome(&mut running).await;
}

async fn checkpoint(hub: &Hub) -> Checkpoint {
    hub.audit_checkpoint(&owner()).await.expect("read").expect("there is one")
}

/// What somebody finds who verifies it all.
async fn verified(hub: &Hub) -> Result<u64, Broken> {
    let kept = checkpoint(hub).await;
    let mut verifier = Verifier::default();
    for half in hub.audit.keys() {
        verifier.know(hex::decode(&*half.public).expect("a key"));
    }
    verifier.expect(kept.record, kept.head);
    let mut after = 0;
    loop {
        let pages = hub.audit_pages(&owner(), after, 16).await.expect("read");
        let Some((last, _)) = pages.last() else { break };
        after = *last;
        for (record, page) in pages {
            let page = page.ok_or(Broken::Unreadable(record))?;
            verifier.page(record, &page, &|_, _, _| true)?;
        }
    }
    verifier.finish().map(|found| found.lines)
}

#[tokio::test]
async fn what_was_cut_off_the_audit_stays_seen_however_it_goes_on() {
    let bench = bench();
    signing(&bench.hub, &bench).await;
    echo(&bench.hub).await;
    let kept = checkpoint(&bench.hub).await;
    verified(&bench.hub).await.expect("it holds");
    bench.hub.stop(Duration::from_secs(30)).await;
    // The same store, as if records after the newest one had been removed from it.
    let lost = Checkpoint { record: kept.record + 100, ..kept };
    let bytes = journal::to_bytes(&lost).expect("written");
    let records = &bench.hub.store.records;
    records.put("audit", "checkpoint", bytes, None, Expect::Anything, bench.hub.now()).await.expect("put");
    let (hub, _) = hub_on(&bench.store);
    signing(&hub, &bench).await;
    for _ in 0..3 {
        echo(&hub).await;
        assert_eq!(checkpoint(&hub).await, lost, "it is not replaced by one that knows nothing of the loss");
    }
    assert!(matches!(verified(&hub).await, Err(Broken::CutOff { expected, .. }) if expected == lost.record));
}

#[tokio::test]
async fn a_record_of_the_audit_that_cannot_be_read_is_named_and_stops_nothing() {
    let bench = bench();
    signing(&bench.hub, &bench).await;
    echo(&bench.hub).await;
    checkpoint(&bench.hub).await;
    let hub = &bench.hub;
    assert!(hub.store.journal.redact(Log::Audit, 1, bytes::Bytes::from_static(b"\x01{}")).await.expect("replaced"));
    echo(hub).await;
    assert_eq!(verified(hub).await, Err(Broken::Unreadable(1)));
    let lines = hub.audit_lines(&owner(), None, 100).await.expect("the rest is read");
    assert!(lines.iter().any(|(_, line)| line.action == "return" && line.outcome == "completed"), "{lines:?}");
}

/// The record that holds the audit's key, opened.
async fn kept_key(hub: &Hub) -> serde_json::Value {
    let item = hub.store.records.get("audit-key", "signing", hub.now()).await.expect("read").expect("it is there");
    let plain = hub.keys.open("audit-key", b"signing", &item.value).expect("it opens");
    serde_json::from_slice(&plain).expect("JSON")
}

/// As a hub leaves it that is killed while it changes the key: both, and perhaps the checkpoint between them.
async fn killed_between(hub: &Hub, old: &serde_json::Value, new: &serde_json::Value) {
    let mut known = vec![new["known"][0].clone()];
    known.extend(old["known"].as_array().expect("a list").iter().cloned());
    let both = json!({"signs": [old["signs"][0], new["signs"][0]], "known": known});
    let sealed = hub.keys.seal("audit-key", b"signing", both.to_string().as_bytes()).expect("sealed");
    let put = hub.store.records.put("audit-key", "signing", sealed.into(), None, Expect::Anything, hub.now());
    put.await.expect("put");
}

#[tokio::test]
async fn a_hub_that_is_killed_while_the_audit_s_key_changes_goes_on_with_the_key_that_the_chain_knows() {
    for handed_over in [false, true] {
        let bench = bench();
        signing(&bench.hub, &bench).await;
        echo(&bench.hub).await;
        let old = kept_key(&bench.hub).await;
        let new = if handed_over {
            bench.hub.rotate_audit_key().await.expect("a new key");
            kept_key(&bench.hub).await
        } else {
            let other = super::bench();
            signing(&other.hub, &other).await;
            kept_key(&other.hub).await
        };
        bench.hub.stop(Duration::from_secs(30)).await;
        killed_between(&bench.hub, &old, &new).await;
        let (hub, _) = hub_on(&bench.store);
        signing(&hub, &bench).await;
        let expected = if handed_over { &new } else { &old };
        assert_eq!(kept_key(&hub).await["signs"], expected["signs"]);
        echo(&hub).await;
        verified(&hub).await.expect("the chain holds");
    }
}

/// Nothing is decided that cannot be written down; what was decided before is, and what found no room is told.
#[tokio::test(flavor = "multi_thread")]
async fn calls_wait_while_the_audit_is_behind_and_lines_that_find_no_room_are_told_as_missing() {
    let bench = super::work::Bench::new(AdmissionLimits::default());
    let hub = &bench.hub;
    hub.audit_lines(&owner(), None, 1).await.expect("the writer has looked where it ends");
    bench.observed.hold(true);
    let long = || {
        let mut line = AuditLine::new("return", "eve");
        line.losses = vec!["x".repeat(8_000)];
        line
    };
    for _ in 0..1_100 {
        hub.audit.write(long().refused(FaultKind::Denied).on("x"));
    }
    assert!(hub.audit.dropped() > 0, "refusals have half of the room");
    let refused = hub.audit.dropped();
    hub.audit.write(long());
    assert_eq!(hub.audit.dropped(), refused, "what is decided has the rest");
    let busy = hub.open(request(call("echo", json!({"n": 1})))).await.expect_err("nothing more is decided");
    assert_eq!(busy.kind, FaultKind::Busy, "{busy:?}");
    for _ in 0..3_000 {
        hub.audit.write(long());
    }
    let missing = hub.audit.dropped();
    assert!(missing > refused && missing < 3_500, "{missing} of 4101 lines of 8 KiB found no room in 16 MiB");
    bench.observed.hold(false);
    let opened = async || !matches!(hub.open(request(call("echo", json!({"n": 1})))).await, Err(fault) if fault.kind == FaultKind::Busy);
    while !opened().await {}
    let lines = hub.audit_lines(&owner(), None, 5_000).await.expect("read");
    let told = lines.iter().filter(|(_, line)| line.action == "missing").filter_map(|(_, line)| line.on.clone());
    let told: u64 = told.filter_map(|on| on.strip_suffix(" lines")?.parse::<u64>().ok()).sum();
    assert!(told > 0 && told <= missing, "{told} of {missing} in the newest lines");
}

/// What the audit says of tasks that went to a peer or came back from it.
async fn sent_and_returned(hub: &Hub) -> Vec<(String, String)> {
    let lines = hub.audit_lines(&owner(), None, 100).await.expect("read");
    let told = lines.into_iter().filter(|(_, line)| matches!(&*line.action, "dispatch" | "return"));
    told.map(|(_, line)| (line.action.into_owned(), line.outcome.into_owned())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn k_29_audit_lines_of_a_decision_are_written_after_its_append() {
    let bench = work::Bench::new(AdmissionLimits::default());
    let refuse = |why| bench.observed.refuse(|log| matches!(log, Log::Task(_)), why);
    // Its first append is refused: it was never sent.
    refuse(StoreFault::Broken("test".into()));
    bench.hub.open(work::kept("write", json!({}))).await.expect_err("it cannot be kept");
    assert_eq!(sent_and_returned(&bench.hub).await, [], "nothing was dispatched");
    // Its last append is refused: its end is not told before it is stored.
    bench.observed.accept();
    let mut running = bench.hub.open(work::kept("write", json!({}))).await.expect("opens");
    let sent = ("dispatch".to_owned(), "sent".to_owned());
    assert_eq!(sent_and_returned(&bench.hub).await, std::slice::from_ref(&sent));
    refuse(StoreFault::Full("test".into()));
    let refused = bench.observed.refused();
    bench.work.release();
    work::eventually(|| bench.observed.refused() > refused, || "no append".to_owned()).await;
    assert_eq!(sent_and_returned(&bench.hub).await, std::slice::from_ref(&sent), "it has not ended yet");
    bench.observed.accept();
    bench.idle().await;
    let returned = ("return".to_owned(), "completed".to_owned());
    assert_eq!(sent_and_returned(&bench.hub).await, [returned, sent]);
    while let Ok(Some(_)) = running.next().await {}
}
