//! Repeated calls leave nothing behind. `make soak` does a thousand, `make test` a few.

use std::sync::atomic::Ordering;
use std::time::Duration;

use interlingua_model::json::Tree;
use serde_json::json;

use super::{Bench, rows, site};
use interlingua_testkit::pages::{Pages, html};

fn calls() -> usize {
    if std::env::var_os("SOAK_SECONDS").is_some() { 1_000 } else { 24 }
}

/// Contexts, pages and memory of the one process.
async fn weight(bench: &Bench) -> (usize, usize, u64) {
    let chromium = bench.browser.running().unwrap();
    let count = async |method: &str, list: &str| {
        let said: Tree = chromium.link.ask(None, method, json!({})).await.unwrap();
        said[list].as_array().map_or(0, Vec::len)
    };
    // Disposing of a context is not waited for by the call that had it.
    for _ in 0..200 {
        if count("Target.getBrowserContexts", "browserContextIds").await <= 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    chromium.weigh();
    let contexts = count("Target.getBrowserContexts", "browserContextIds").await;
    (contexts, count("Target.getTargets", "targetInfos").await, chromium.memory.load(Ordering::Relaxed))
}

#[tokio::test]
async fn w_50_w_52_many_calls_leave_no_context_page_or_memory() {
    let page = html(
        "<input id='a'><button id='b'>go</button><p id='out'></p><script>b.onclick = () => out.textContent = a.value</script>",
    );
    let (bench, server) = (Bench::new(), Pages::start([("/", page)]).await);
    let peer = bench.site(site(
        &server,
        json!({"get": [{"action_type": "navigate", "value": "/"}, {"action_type": "type", "selector": "#a", "value": "{a}"},
            {"action_type": "click", "selector": "#b"}, {"action_type": "wait", "wait_condition": "#out"},
            {"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}}]}),
    ));
    let (total, mut done, mut early) = (calls(), 0, None);
    while done < total {
        let four = (done..total.min(done + 4)).map(|number| peer.try_out("get", json!({"a": number})));
        for (finished, number) in futures_util::future::join_all(four).await.into_iter().zip(done..) {
            assert_eq!(rows(&finished.unwrap()), &json!([{"said": number.to_string()}]));
            done += 1;
        }
        if early.is_none() && done >= total / 6 {
            early = Some(weight(&bench).await);
        }
    }
    let (first, last) = (early.unwrap(), weight(&bench).await);
    assert!(last.0 <= 1 && last.1 <= first.1 + 1, "contexts and pages stay: {first:?}, {last:?}");
    assert!(last.2 <= first.2 + first.2 / 2 + (64 << 20), "memory grows: {first:?}, {last:?}");
}
