//! Life of contexts and processes, and their leftovers.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use interlingua_model::FaultKind;
use interlingua_model::fault::Retry;
use interlingua_model::json::Tree;
use serde_json::json;

use super::{Bench, fault, rows, site};
use interlingua_testkit::pages::{Pages, answer, html};

/// The processes that use this directory.
fn processes(directory: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0 };
    let wanted = directory.canonicalize().unwrap_or_default();
    let wanted = wanted.display().to_string();
    let uses = |path: std::path::PathBuf| {
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&wanted)
    };
    entries.flatten().filter(|entry| uses(entry.path())).count()
}

/// Where the browser of this directory has put its socket.
fn socket_in(directory: &Path) -> Option<std::path::PathBuf> {
    let homes = std::fs::read_dir(directory).ok()?.flatten();
    let links = homes.filter_map(|home| std::fs::read_link(home.path().join("SingletonSocket")).ok());
    links.filter_map(|link| link.parent().map(ToOwned::to_owned)).find(|parent| parent.exists())
}

pub(super) async fn until(what: &str, condition: impl Fn() -> bool) {
    for _ in 0..1_000 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{what} did not come");
}

#[tokio::test]
async fn w_50_w_52_a_call_leaves_nothing_to_the_next_and_the_end_leaves_no_process() {
    let page = answer(
        "200 OK",
        "text/html",
        "Set-Cookie: mark=1\r\n",
        "<p id='out'></p><script>out.textContent = `${localStorage.seen ?? 'new'} ${document.cookie}`; localStorage.seen = 'again'</script>",
    );
    let (bench, server) = (Bench::new(), Pages::start([("/", page)]).await);
    let peer = bench.site(site(
        &server,
        json!({"get": [{"action_type": "navigate", "value": "/"}, {"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}}]}),
    ));
    for _ in 0..3 {
        assert_eq!(rows(&peer.try_out("get", json!({})).await.unwrap()), &json!([{"said": "new mark=1"}]));
    }
    assert!(server.asked().iter().filter(|line| line.starts_with("/ ")).all(|line| !line.contains("mark")));
    let directory = bench.directory.path().to_owned();
    assert!(processes(&directory) > 0);
    let socket = socket_in(&directory).expect("a browser has a socket");
    bench.browser.stop();
    until("the end of every process", || processes(&directory) == 0).await;
    until("the end of its socket", || !socket.exists()).await;
    until("the end of its directory", || homes(&directory).is_empty()).await;
    until("nobody left who was not waited for", || zombies() == 0).await;
}

/// The directories of browsers below this one.
fn homes(directory: &Path) -> Vec<OsString> {
    std::fs::read_dir(directory).map_or_else(|_| Vec::new(), |all| all.flatten().map(|one| one.file_name()).collect())
}

/// Children of this process that have ended and were not waited for.
fn zombies() -> usize {
    let own = format!("PPid:\t{}\n", std::process::id());
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let status = all.filter_map(|entry| std::fs::read_to_string(entry.path().join("status")).ok());
    status.filter(|status| status.contains("State:\tZ") && status.contains(&own)).count()
}

/// What a call leaves behind, whether it succeeded, failed or ran out of time.
#[tokio::test]
async fn w_50_cookies_storage_and_cache_are_of_one_call_alone_whatever_became_of_it() {
    let page = html(
        "<p id='out'></p><button id='hang' onclick='for (;;) {}'>x</button><script src='/lib.js'></script><script>
        const seen = [document.cookie, localStorage.mark, sessionStorage.mark].join('');
        const who = new URLSearchParams(location.search).get('who');
        document.cookie = `mark=${who}`; localStorage.mark = sessionStorage.mark = who;
        indexedDB.databases().then(all => { indexedDB.open('mark'); out.textContent = `${seen || 'new'} ${all.length} ${kept}`; });
        setTimeout(() => out.className = document.cookie, 700);
        </script>",
    );
    let lib = answer("200 OK", "text/javascript", "Cache-Control: max-age=3600\r\n", "const kept = 'lib';");
    let (bench, server) = (Bench::new(), Pages::start([("/", page), ("/lib.js", lib)]).await);
    let open = json!({"action_type": "navigate", "value": "/?who={who}"});
    let wait = |selector: &str, time: &str| json!({"action_type": "wait", "wait_condition": selector, "timeout": time});
    let read =
        json!({"action_type": "extract", "selector": "#out", "extract_schema": {"said": ".", "cookie": "@class"}});
    let late = wait("#out[class]", "20s");
    let absent = json!({"action_type": "click", "selector": "#absent", "timeout": "300ms"});
    let hang = json!({"action_type": "click", "selector": "#hang", "timeout": "2s"});
    let peer = bench.site(site(
        &server,
        json!({"get": [open, wait("text=lib", "20s"), late, read], "get_again": [open, wait("text=lib", "20s"), open, wait("text=lib", "20s"), read],
            "fail": [open, wait("text=lib", "20s"), absent], "hang": [open, wait("text=lib", "20s"), hang]}),
    ));
    let libs = || server.asked().iter().filter(|line| line.starts_with("/lib.js")).count();
    let said = peer.try_out("get_again", json!({"who": "a"})).await.unwrap();
    assert_eq!((&rows(&said)[0]["said"], libs()), (&json!("mark=aaa 1 lib"), 1), "within a call all of it is kept");
    for (call, code) in [("fail", "selector_not_found"), ("hang", "timeout")] {
        let (fault_, said) = fault(peer.try_out(call, json!({"who": call})).await);
        assert_eq!(said, code, "{call}: {fault_}");
    }
    let before = libs();
    assert_eq!(before, 3, "the cache is of one call too");
    // At once: each has the cookie that it set itself.
    let calls = ["x", "y", "z"].map(|who| peer.try_out("get", json!({ "who": who })));
    for (finished, who) in futures_util::future::join_all(calls).await.into_iter().zip(["x", "y", "z"]) {
        let alone = json!([{"said": "new 0 lib", "cookie": format!("mark={who}")}]);
        assert_eq!(rows(&finished.unwrap()), &alone);
    }
    assert_eq!(libs(), before + 3);
}

#[tokio::test]
async fn w_52_one_process_serves_many_calls_at_once_and_another_takes_over_after_so_many() {
    let (bench, server) =
        (Bench::with(|settings| settings.calls = 6), Pages::start([("/", html("<p id='out'>x</p>"))]).await);
    let read = json!({"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}});
    let peer = bench.site(site(&server, json!({"get": [{"action_type": "navigate", "value": "/"}, read]})));
    let three = || futures_util::future::join_all((0..3).map(|_| peer.try_out("get", json!({}))));
    let directory = bench.directory.path().to_owned();
    three().await.into_iter().for_each(|done| drop(rows(&done.unwrap()).clone()));
    let (first, home) = (bench.browser.running().unwrap(), homes(&directory));
    assert_eq!(home.len(), 1, "three at once are one process");
    three().await.into_iter().for_each(|done| drop(rows(&done.unwrap()).clone()));
    assert!(Arc::ptr_eq(&first, &bench.browser.running().unwrap()), "the sixth call still has the first one");
    rows(&peer.try_out("get", json!({})).await.unwrap());
    assert!(!Arc::ptr_eq(&first, &bench.browser.running().unwrap()), "the seventh has another");
    drop(first);
    until("the directory of the first is gone, and the second has its own", || {
        let now = homes(&directory);
        now.len() == 1 && now != home
    })
    .await;
    until("the first is waited for", || zombies() == 0).await;
}

/// It is there and answers nothing: only asking it tells.
#[tokio::test]
async fn w_52_a_browser_that_stands_still_is_replaced() {
    let (bench, server) = (Bench::new(), Pages::start([("/", html("<p id='out'>x</p>"))]).await);
    let read = json!({"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}});
    let steps = json!([{"action_type": "navigate", "value": "/", "timeout": "10s"}, read]);
    let peer = bench.site(site(&server, json!({"get": steps})));
    rows(&peer.try_out("get", json!({})).await.unwrap());
    let directory = bench.directory.path().to_owned();
    signal(&directory, rustix::process::Signal::STOP);
    let mut codes = Vec::new();
    for _ in 0..5 {
        let tried = peer.try_out("get", json!({})).await;
        if tried.as_ref().unwrap().outcome == interlingua_model::Outcome::Completed {
            break;
        }
        codes.push(fault(tried).1);
    }
    assert!((1..5).contains(&codes.len()), "it was seen and replaced: {codes:?}");
    rows(&peer.try_out("get", json!({})).await.unwrap());
    until("the one that stood still has ended", || homes(&directory).len() == 1).await;
}

#[tokio::test]
async fn w_52_a_browser_that_dies_is_replaced_and_one_that_served_long_enough_too() {
    let (bench, server) =
        (Bench::with(|settings| settings.calls = 2), Pages::start([("/", html("<p id='out'>x</p>"))]).await);
    let peer = bench.site(site(
        &server,
        json!({"get": [{"action_type": "navigate", "value": "/"}, {"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}}],
            "hang": [{"action_type": "navigate", "value": "/"}, {"action_type": "wait", "wait_condition": "#never", "timeout": "60s"}]}),
    ));
    let work = |action: &'static str| peer.try_out(action, json!({}));
    rows(&work("get").await.unwrap());
    let directory = bench.directory.path().to_owned();
    let killed = async {
        until("a page", || server.asked().len() >= 2).await;
        kill(&directory);
    };
    let (hung, ()) = tokio::join!(work("hang"), killed);
    let (fault_, code) = fault(hung);
    assert_eq!((code.as_str(), fault_.kind.as_str()), ("browser_crashed", "unreachable"), "{fault_}");
    for _ in 0..4 {
        rows(&work("get").await.unwrap());
    }
    until("old processes gone", || homes(&directory).len() <= 2).await;
}

/// Kills the processes that use this directory, hard.
pub(super) fn kill(directory: &Path) {
    signal(directory, rustix::process::Signal::KILL);
}

fn signal(directory: &Path, signal: rustix::process::Signal) {
    let wanted = directory.canonicalize().unwrap().display().to_string();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let Some(id) = rustix::process::Pid::from_raw(id) else { continue };
        if String::from_utf8_lossy(&line).contains(&wanted) {
            let _ = rustix::process::kill_process(id, signal);
        }
    }
}

#[tokio::test]
async fn w_33_w_53_a_page_that_hangs_ends_alone_and_whoever_waits_too_long_is_told() {
    let hang = html("<p id='out'>x</p><button id='go' onclick='for(;;){}'>go</button>");
    let (bench, server) = (
        Bench::with(|settings| {
            settings.contexts = 2;
            settings.queue = Duration::from_millis(300);
        }),
        Pages::start([("/hang", hang), ("/", html("<p id='out'>x</p>"))]).await,
    );
    let peer = bench.site(site(
        &server,
        json!({"hang": [{"action_type": "navigate", "value": "/hang"}, {"action_type": "click", "selector": "#go", "timeout": "2s"}],
            "get": [{"action_type": "navigate", "value": "/"}, {"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}}],
            "sit": [{"action_type": "navigate", "value": "/"}, {"action_type": "wait", "wait_condition": "#never", "timeout": "4s"}]}),
    ));
    rows(&peer.try_out("get", json!({})).await.unwrap());
    let beside = async {
        until("the page that hangs", || server.asked().iter().any(|line| line.starts_with("/hang"))).await;
        peer.try_out("get", json!({})).await
    };
    let (hung, fine) = tokio::join!(peer.try_out("hang", json!({})), beside);
    let (fault_, code) = fault(hung);
    assert_eq!(code, "timeout", "{fault_}");
    rows(&fine.unwrap());
    let third = async {
        until("two that sit", || server.asked().len() >= 5).await;
        peer.try_out("get", json!({})).await
    };
    let (_, _, refused) = tokio::join!(peer.try_out("sit", json!({})), peer.try_out("sit", json!({})), third);
    let (fault_, code) = fault(refused);
    assert_eq!((code.as_str(), fault_.kind.as_str()), ("pool_exhausted", "busy"));
}

#[tokio::test]
async fn w_35_an_address_that_does_not_answer_is_named() {
    let bench = Bench::new();
    // Taken, so that nobody else listens there either.
    let taken = tokio::net::TcpSocket::new_v4().unwrap();
    taken.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let place = taken.local_addr().unwrap();
    let peer = bench.site(super::site_at(&format!("http://{place}"), json!({"get": [{"action_type": "navigate", "value": "/"}, {"action_type": "wait", "wait_condition": "#x", "timeout": "500ms"}]})));
    let (fault_, code) = fault(peer.try_out("get", json!({})).await);
    assert_eq!(code, "navigation_failed", "{fault_}");
    assert!(fault_.public.contains(&place.to_string()), "{fault_}");
    let bench = Bench::with(|settings| settings.path = Some("/nowhere/chromium".into()));
    let peer =
        bench.site(super::site_at("http://127.0.0.1:9", json!({"get": [{"action_type": "navigate", "value": "/"}]})));
    assert_eq!(fault(peer.try_out("get", json!({})).await).1, "no_browser");
}

#[tokio::test]
async fn w_35_what_went_wrong_is_told_with_its_step_its_selector_and_what_was_tried() {
    let page = html("<p id='out'>x</p><button id='go'>Buy</button>");
    let other = Pages::start([("/", html("x"))]).await;
    let away = answer("302 Found", "text/html", &format!("Location: {}/secret\r\n", other.base()), "");
    let broken = answer("200 OK", "application/zip", "Content-Disposition: attachment\r\n", "x");
    let (bench, server) = (Bench::new(), Pages::start([("/", page), ("/away", away), ("/broken", broken)]).await);
    let open = |path: &str| json!({"action_type": "navigate", "value": path});
    let press = |commits: bool| json!({"action_type": "click", "selector": "#go", "commits": commits});
    let hang = json!({"action_type": "wait", "wait_condition": "#never", "timeout": "60s"});
    let tries = json!({"action_type": "wait", "wait_condition": ["#no", ".no", "text=no such"], "timeout": "300ms"});
    let steps = |second: &Tree| json!({"effects": "reads", "steps": [open("/"), second, hang]});
    let peer = bench.site(site(
        &server,
        json!({"tries": [open("/"), tries], "away": [open("/"), open("/away")], "broken": [open("/"), open("/broken")],
            "looks": steps(&press(false)), "buys": steps(&press(true))}),
    ));
    for (action, code, told) in [
        ("tries", "selector_not_found", vec!["step 2", "nothing matches #no", "#no; .no; text=no such"]),
        ("away", "navigation_blocked", vec!["step 2", "is not among the addresses", "127.0.0.1"]),
        ("broken", "navigation_failed", vec!["step 2", "net::ERR_"]),
    ] {
        let (fault_, said) = fault(peer.try_out(action, json!({})).await);
        assert_eq!(said, code, "{fault_}");
        assert!(told.iter().all(|one| fault_.public.contains(one)), "{fault_}");
    }
    // The browser dies in the third step: what may be done again depends on whether the second could be taken back.
    for (action, kind, retry) in
        [("looks", FaultKind::Unreachable, Retry::After(None)), ("buys", FaultKind::OutcomeUnknown, Retry::No)]
    {
        let before = server.asked().len();
        let killed = async {
            until("a page", || server.asked().len() > before).await;
            tokio::time::sleep(Duration::from_secs(3)).await;
            kill(bench.directory.path());
        };
        let (hung, ()) = tokio::join!(peer.try_out(action, json!({})), killed);
        let (fault_, code) = fault(hung);
        assert_eq!((code.as_str(), fault_.kind), ("browser_crashed", kind), "{action}: {fault_}");
        assert_eq!(fault_.retry, retry, "{action}");
        assert!(fault_.public.contains("step 3"), "{action}: {fault_}");
    }
}

#[tokio::test]
async fn w_45_results_are_remembered_only_where_the_definition_allows_it() {
    let (bench, server) = (Bench::new(), Pages::start([("/", html("<p id='out'>x</p>"))]).await);
    let steps = json!([{"action_type": "navigate", "value": "/?q={q}"}, {"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}}]);
    let peer = bench.site(site(&server, json!({"kept": {"cacheable": "10m", "steps": steps}, "fresh": steps})));
    rows(&peer.try_out("kept", json!({"q": "1"})).await.unwrap());
    assert!(peer.remembers("kept", &json!({"q": "1"})));
    assert!(!peer.remembers("kept", &json!({"q": "2"})));
    rows(&peer.try_out("fresh", json!({"q": "1"})).await.unwrap());
    assert!(!peer.remembers("fresh", &json!({"q": "1"})));
}

#[tokio::test]
async fn a_site_that_is_not_there_is_said_to_be_not_there_whatever_else_the_browser_asks_for() {
    let bench = Bench::new();
    // Taken, so that nobody else listens there either.
    let taken = tokio::net::TcpSocket::new_v4().unwrap();
    taken.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let place = taken.local_addr().unwrap();
    let actions = json!({"load": [{"action_type": "navigate", "value": "/"}]});
    let peer = bench.site(super::site_at(&format!("https://{place}"), actions));
    let (fault_, code) = fault(peer.try_out("load", json!({})).await);
    assert_eq!(code, "navigation_failed", "{fault_}");
    assert!(fault_.public.contains(&format!("nobody answers at {place}")), "{fault_}");
}
