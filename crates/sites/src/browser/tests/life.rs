//! Contexts, processes and what is left of them.

use std::time::Duration;

use serde_json::json;

use super::{Bench, fault, rows, site};
use interlingua_testkit::pages::{Pages, answer, html};

/// The processes that use this directory.
fn processes(directory: &std::path::Path) -> usize {
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
fn socket_in(directory: &std::path::Path) -> Option<std::path::PathBuf> {
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
    let homes = || std::fs::read_dir(&directory).map_or(0, Iterator::count);
    until("old processes gone", || homes() <= 2).await;
}

/// Kills the processes that use this directory, hard.
pub(super) fn kill(directory: &std::path::Path) {
    let wanted = directory.canonicalize().unwrap().display().to_string();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let Some(id) = rustix::process::Pid::from_raw(id) else { continue };
        if String::from_utf8_lossy(&line).contains(&wanted) {
            let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
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
