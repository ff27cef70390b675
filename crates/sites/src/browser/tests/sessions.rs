//! Sessions: a login that persists for its owner, and ends when it should.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::definition::read;
use interlingua_model::json::Tree;
use interlingua_model::{Finished, Owner, PeerId, Subject};
use interlingua_testkit::pages::{Pages, html};
use serde_json::json;

use super::life::{kill, until};
use super::{Bench, House, fault, rows, structured};
use crate::browser::{SessionKey, SessionStands, SitePeer};

/// A press logs in; the page says who is.
const HOME: &str = "<p id='who'></p><button id='in'>Log in</button><input id='a'><button id='hang'>Hang</button><script>
    const show = () => who.textContent = `${document.cookie || 'no cookie'} / ${localStorage.who ?? 'nobody'}`;
    document.getElementById('in').onclick = () => { document.cookie = 'id=ann; max-age=3600'; localStorage.who = 'ann'; show() };
    hang.onclick = () => { for (;;); };
    show()</script>";
const IN: &str = "id=ann / ann";
const OUT: &str = "no cookie / nobody";

async fn pages() -> Pages {
    Pages::start([("/", html(HOME))]).await
}

fn site(bench: &Bench, pages: &Pages, session: Tree) -> SitePeer {
    let (open, tell) = (
        json!({"action_type": "navigate", "value": "/"}),
        json!({"action_type": "extract", "selector": "#who", "extract_schema": {"said": "."}}),
    );
    let definition = json!({"interface_id": "s", "name": "S", "base_url": pages.base(), "description": "d", "session": session,
    "actions": {
        "log_in": {"effects": "reads", "steps": [open, {"action_type": "click", "selector": "#in"}, tell]},
        "look": [open, tell],
        "again": [tell],
        "hang": {"effects": "reads", "steps": [open, {"action_type": "click", "selector": "#hang", "timeout": "6s"}]},
        "sit": [open, {"action_type": "wait", "wait_condition": "#never", "timeout": "50s"}],
        "write": {"effects": "reads", "steps": [open, {"action_type": "type", "selector": "#a", "value": "{text}"},
            {"action_type": "extract", "selector": "#a", "extract_schema": {"said": ".@value"}}]},
    }});
    bench.kept(read(definition).unwrap(), Arc::new(House::default()))
}

/// What the page said, and how the session was found.
async fn call(site: &SitePeer, who: &str, action: &str, session: &str) -> (String, String) {
    told(&site.try_out_by(who, action, json!({"session": session})).await.unwrap())
}

fn told(finished: &Finished) -> (String, String) {
    let text = |tree: &Tree| tree.as_str().unwrap_or_default().to_owned();
    (text(&rows(finished)[0]["said"]), text(&structured(finished)["session"]["found"]))
}

fn said(what: &str, found: &str) -> (String, String) {
    (what.to_owned(), found.to_owned())
}

fn key(who: &str, name: &str) -> SessionKey {
    SessionKey { site: PeerId::from("site"), owner: Owner([Subject::User(who.into())].into()), name: name.into() }
}

fn homes(directory: &Path) -> usize {
    std::fs::read_dir(directory).map_or(0, Iterator::count)
}

#[tokio::test]
async fn w_51_a_login_stays_with_its_owner_and_nobody_else_has_it() {
    let (bench, pages) = (Bench::new(), pages().await);
    let site = site(&bench, &pages, json!({"keep": "30m"}));
    assert_eq!(call(&site, "ann", "log_in", "main").await, said(IN, "begun"));
    assert_eq!(call(&site, "ann", "look", "main").await, said(IN, "continued"));
    // The page itself is as it was left.
    assert_eq!(call(&site, "ann", "again", "main").await, said(IN, "continued"));
    assert_eq!(call(&site, "bob", "look", "main").await, said(OUT, "begun"));
    assert_eq!(call(&site, "ann", "look", "other").await, said(OUT, "begun"));
    let fresh = site.try_out_by("ann", "look", json!({})).await.unwrap();
    assert_eq!(told(&fresh), said(OUT, ""), "a call that names none begins with nothing");
    let seen = bench.browser.sessions(&House::default()).await;
    let seen: Vec<_> = seen.iter().map(|seen| (seen.key.clone(), seen.calls, seen.stands)).collect();
    let idle = SessionStands::Idle;
    assert_eq!(seen, [(key("ann", "main"), 3, idle), (key("ann", "other"), 1, idle), (key("bob", "main"), 1, idle)]);
}

#[tokio::test]
async fn w_51_a_session_that_was_ended_asks_to_log_in_again_and_takes_a_call_along() {
    let (bench, pages) = (Bench::new(), pages().await);
    let (site, house) = (site(&bench, &pages, json!({"keep": "30m", "default": "main"})), House::default());
    let look = async || told(&site.try_out_by("ann", "look", json!({})).await.unwrap());
    assert_eq!(call(&site, "ann", "log_in", "main").await, said(IN, "begun"));
    assert_eq!(look().await, said(IN, "continued"), "the definition's own where the call names none");
    bench.browser.end_session(&house, &key("ann", "main")).await;
    assert!(bench.browser.sessions(&house).await.is_empty());
    assert_eq!(look().await, said(OUT, "begun"));

    let before = pages.asked().len();
    let ended = async {
        until("a page", || pages.asked().len() > before).await;
        bench.browser.end_session(&house, &key("ann", "main")).await;
    };
    let (sat, ()) = tokio::join!(site.try_out_by("ann", "sit", json!({})), ended);
    let (fault_, code) = fault(sat);
    assert_eq!((code.as_str(), fault_.kind.as_str()), ("session_ended", "session_expired"), "{fault_}");
    assert_eq!(look().await, said(OUT, "begun"));
}

#[tokio::test]
async fn w_51_sessions_are_counted_by_owner_and_in_all() {
    let (bench, pages) = (Bench::with(|settings| settings.sessions = 4), pages().await);
    let site = site(&bench, &pages, json!({"keep": "30m"}));
    for (who, name) in [("ann", "one"), ("ann", "two"), ("bob", "one"), ("cat", "one")] {
        assert_eq!(call(&site, who, "look", name).await, said(OUT, "begun"));
    }
    // Ann has her half, and for others there is no room.
    for (who, name) in [("ann", "three"), ("bob", "two"), ("dan", "one")] {
        let (fault_, code) = fault(site.try_out_by(who, "look", json!({"session": name})).await);
        assert_eq!((code.as_str(), fault_.kind.as_str()), ("too_many_sessions", "busy"), "{fault_}");
    }
    assert_eq!(call(&site, "ann", "look", "two").await, said(OUT, "continued"));
    bench.browser.end_session(&House::default(), &key("ann", "one")).await;
    assert_eq!(call(&site, "dan", "look", "one").await, said(OUT, "begun"));
}

#[tokio::test]
async fn w_51_w_52_a_browser_that_dies_takes_sessions_along_and_the_next_call_is_told() {
    let (bench, pages) = (Bench::new(), pages().await);
    let site = site(&bench, &pages, json!({"keep": "30m"}));
    assert_eq!(call(&site, "ann", "log_in", "main").await, said(IN, "begun"));
    let chromium = bench.browser.running().unwrap();
    kill(bench.directory.path());
    until("the end of the browser", || chromium.link.is_gone()).await;
    drop(chromium);
    assert_eq!(call(&site, "ann", "look", "main").await, said(OUT, "anew"));
    assert_eq!(call(&site, "ann", "log_in", "main").await, said(IN, "continued"));
}

#[tokio::test]
async fn w_51_w_52_a_browser_that_is_replaced_hands_its_sessions_on() {
    let (bench, pages) = (Bench::with(|settings| settings.calls = 3), pages().await);
    let site = site(&bench, &pages, json!({"keep": "30m"}));
    assert_eq!(call(&site, "ann", "log_in", "main").await, said(IN, "begun"));
    assert_eq!(call(&site, "ann", "log_in", "aside").await, said(IN, "begun"));
    let mut found = Vec::new();
    for _ in 0..6 {
        let (who, how) = call(&site, "ann", "look", "main").await;
        assert_eq!(who, IN, "after {found:?}");
        found.push(how);
    }
    assert!(found.contains(&"moved".to_owned()) && found.contains(&"continued".to_owned()), "{found:?}");
    let (who, _) = call(&site, "ann", "look", "aside").await;
    assert_eq!(who, IN, "one that nobody used went along");
    let directory = bench.directory.path().to_owned();
    until("old processes gone", || homes(&directory) <= 2).await;
}

#[tokio::test]
async fn w_33_w_51_a_page_that_hangs_is_replaced_and_its_session_stays() {
    let (bench, pages) = (Bench::new(), pages().await);
    let site = site(&bench, &pages, json!({"keep": "30m"}));
    assert_eq!(call(&site, "ann", "log_in", "main").await, said(IN, "begun"));
    let (fault_, code) = fault(site.try_out_by("ann", "hang", json!({"session": "main"})).await);
    assert_eq!(code, "timeout", "{fault_}");
    assert_eq!(call(&site, "ann", "look", "main").await, said(IN, "continued"));
}

#[tokio::test]
async fn w_51_a_session_that_nobody_uses_ends() {
    let (bench, pages) = (Bench::new(), pages().await);
    let (site, house) = (site(&bench, &pages, json!({"keep": "400ms"})), House::default());
    assert_eq!(call(&site, "ann", "log_in", "main").await, said(IN, "begun"));
    for _ in 0..600 {
        if bench.browser.sessions(&house).await.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(call(&site, "ann", "look", "main").await, said(OUT, "begun"));
}

#[tokio::test]
async fn w_51_w_53_one_call_at_a_time_in_a_session_each_in_its_turn() {
    let (bench, pages) = (Bench::new(), pages().await);
    let site = site(&bench, &pages, json!({"keep": "30m"}));
    let calls = (0..6).map(|number| {
        let text = format!("text {number}");
        let site = &site;
        async move {
            let done = site.try_out_by("ann", "write", json!({"session": "main", "text": text})).await.unwrap();
            assert_eq!(told(&done).0, text);
        }
    });
    futures_util::future::join_all(calls).await;
    let seen = bench.browser.sessions(&House::default()).await;
    assert_eq!((seen.len(), seen[0].calls), (1, 6));
}
