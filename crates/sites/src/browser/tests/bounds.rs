//! Timeouts, page limits and leftovers: after a success, a failure, a deadline and a cancel.

use std::time::Duration;

use interlingua_model::json::Tree;
use serde_json::json;

use super::life::until;
use super::{Bench, fault, rows, site};
use interlingua_testkit::pages::{Pages, html};

fn open(path: &str) -> Tree {
    json!({"action_type": "navigate", "value": path})
}

fn read_out() -> Tree {
    json!({"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}})
}

/// How many contexts the one process has, besides the spare one.
async fn contexts(bench: &Bench) -> usize {
    let chromium = bench.browser.running().unwrap();
    let said: Tree = chromium.link.ask(None, "Target.getBrowserContexts", json!({})).await.unwrap();
    said["browserContextIds"].as_array().map_or(0, Vec::len).saturating_sub(1)
}

async fn until_disposed(bench: &Bench, after: &str) {
    for _ in 0..400 {
        if contexts(bench).await == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("after {after}: {} contexts are left", contexts(bench).await);
}

#[tokio::test]
async fn w_33_a_sequence_ends_at_its_deadline_whatever_its_steps_may_take_and_names_the_step() {
    let page = html("<p id='out'>x</p><script>setTimeout(() => out.className = 'late', 600)</script>");
    let (bench, server) = (Bench::new(), Pages::start([("/", page), ("/never", html("x"))]).await);
    let wait = |selector: &str| json!({"action_type": "wait", "wait_condition": selector, "timeout": "600s"});
    let steps = json!([open("/"), wait(".late"), wait("#nowhere"), open("/never")]);
    let peer = bench.site(site(&server, json!({"look": {"timeout": "3s", "steps": steps}})));
    let ended = tokio::time::timeout(5 * Duration::from_secs(3), peer.try_out("look", json!({}))).await;
    let (fault_, _) = fault(ended.expect("it ends within five times its deadline"));
    assert!(fault_.public.contains("step 3"), "{fault_}");
    assert!(!server.asked().iter().any(|line| line.starts_with("/never")), "nothing after the deadline");
    until_disposed(&bench, "a deadline").await;
}

#[tokio::test]
async fn w_33_w_50_a_context_is_disposed_of_after_success_failure_timeout_and_cancel() {
    let hang = html("<p id='out'>x</p><button id='go' onclick='for(;;){}'>go</button>");
    let pages = [("/", html("<p id='out'>x</p>")), ("/hang", hang)];
    let (bench, server) = (Bench::new(), Pages::start(pages).await);
    let absent = json!({"action_type": "click", "selector": "#absent", "timeout": "300ms"});
    let press = json!({"action_type": "click", "selector": "#go", "timeout": "2s"});
    let sit = json!({"action_type": "wait", "wait_condition": "#never", "timeout": "600s"});
    let peer = bench.site(site(
        &server,
        json!({"get": [open("/"), read_out()], "fails": [open("/"), absent], "hangs": [open("/hang"), press], "sit": [open("/"), sit]}),
    ));
    rows(&peer.try_out("get", json!({})).await.unwrap());
    until_disposed(&bench, "a success").await;
    assert_eq!(fault(peer.try_out("fails", json!({})).await).1, "selector_not_found");
    until_disposed(&bench, "a failure").await;
    assert_eq!(fault(peer.try_out("hangs", json!({})).await).1, "timeout");
    until_disposed(&bench, "a page that hangs").await;
    let before = server.asked().len();
    {
        let sitting = peer.try_out("sit", json!({}));
        tokio::pin!(sitting);
        let begun = until("its page", || server.asked().len() > before);
        tokio::select! {
            ended = &mut sitting => panic!("{ended:?}"),
            () = begun => {}
        }
        // Whoever called is gone: what they began is dropped.
    }
    until_disposed(&bench, "a cancel").await;
}

#[tokio::test]
async fn w_52_a_browser_is_replaced_after_its_time_and_after_its_memory() {
    let look = json!({"get": [open("/"), read_out()]});
    let aged: fn(&mut crate::browser::Settings) = |settings| settings.age = Duration::ZERO;
    // What is looked at counts from the sixteenth call on.
    let heavy: fn(&mut crate::browser::Settings) = |settings| settings.memory = 1 << 20;
    for (change, calls, what) in [(aged, 2, "its time"), (heavy, 40, "its memory")] {
        let (bench, server) = (
            Bench::with(|settings| {
                change(settings);
                settings.page_memory = 1 << 40;
            }),
            Pages::start([("/", html("<p id='out'>x</p>"))]).await,
        );
        let peer = bench.site(site(&server, look.clone()));
        peer.try_out("get", json!({})).await.unwrap();
        let first = bench.browser.running().unwrap();
        let mut renewed = false;
        for _ in 0..calls {
            // Whole memory above its bound ends the largest process at once, which may be the page's.
            let _ = peer.try_out("get", json!({})).await.unwrap();
            renewed |= bench.browser.running().is_some_and(|now| !std::sync::Arc::ptr_eq(&now, &first));
            if renewed {
                break;
            }
        }
        assert!(renewed, "the same process after {what}");
    }
}

#[tokio::test]
async fn w_53_calls_that_wait_for_a_place_come_in_their_turn() {
    let (bench, server) = (
        Bench::with(|settings| settings.contexts = 1),
        Pages::start(["/0", "/1", "/2", "/3", "/4"].map(|path| (path, html("<p id='out'>x</p>")))).await,
    );
    let peer = bench.site(site(&server, json!({"get": [open("/{n}"), read_out()]})));
    let mut calls = Vec::new();
    for number in 0..5 {
        calls.push(peer.try_out("get", json!({ "n": number })));
    }
    // Polled in this order, they come to the queue in this order.
    for done in futures_util::future::join_all(calls).await {
        rows(&done.unwrap());
    }
    let asked = server.asked();
    let order: Vec<&str> =
        asked.iter().filter_map(|line| line.split(' ').next()).filter(|path| path.len() == 2).collect();
    assert_eq!(order, ["/0", "/1", "/2", "/3", "/4"]);
}
