//! Pages that try to lead the hub where it must not go.

use interlingua_core::FaultKind;
use serde_json::json;

use super::{Bench, fault, rows, site};
use interlingua_testkit::pages::{Pages, answer, html};

#[tokio::test]
async fn w_60_w_61_a_page_leads_nowhere_else() {
    let evil = Pages::start([("/", html("<p id='out'>evil</p>"))]).await;
    let away = answer("302 Found", "text/html", &format!("Location: {}/\r\n", evil.base()), "");
    let scripted = html(&format!("<script>location = '{}/'</script>", evil.base()));
    let file = html("<a id='f' href='file:///etc/hostname'>f</a><p id='out'>still here</p>");
    let framed = html(&format!(
        "<iframe src='{0}/'></iframe><img src='{0}/x.png'><p id='out'></p><script>
        fetch('{0}/', {{mode: 'no-cors'}}).finally(() => out.textContent = 'tried')</script>",
        evil.base()
    ));
    let pages = [("/away", away), ("/scripted", scripted), ("/file", file), ("/framed", framed)];
    let (bench, server) = (Bench::new(), Pages::start(pages).await);
    let read = json!({"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}});
    let open = |path: &str| json!({"action_type": "navigate", "value": path});
    let peer = bench.site(site(
        &server,
        json!({"get_away": [open("/away"), read], "get_scripted": [open("/scripted"), {"action_type": "wait", "wait_condition": "#out", "timeout": "2s"}, read],
            "get_file": [open("/file"), {"action_type": "click", "selector": "#f"}, read],
            "get_framed": [open("/framed"), {"action_type": "wait", "wait_condition": "text=tried"}, read]}),
    ));
    for action in ["get_away", "get_scripted"] {
        let (fault, code) = fault(peer.try_out(action, json!({})).await);
        assert_eq!((fault.kind, code.as_str()), (FaultKind::Denied, "navigation_blocked"), "{action}: {fault}");
    }
    assert_eq!(rows(&peer.try_out("get_file", json!({})).await.unwrap()), &json!([{"said": "still here"}]));
    assert_eq!(rows(&peer.try_out("get_framed", json!({})).await.unwrap()), &json!([{"said": "tried"}]));
    assert_eq!(evil.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn w_63_sockets_and_workers_go_through_the_same_door() {
    let evil = Pages::start([("/", html("x"))]).await;
    let page = html(&format!(
        "<p id='out'></p><script>
        const socket = new Promise(done => {{ const s = new WebSocket('ws://127.0.0.1:{0}/'); s.onopen = () => done('open'); s.onerror = () => done('closed'); }});
        const text = `fetch('http://127.0.0.1:{0}/', {{mode: 'no-cors'}}).finally(() => postMessage('tried'))`;
        const worker = new Promise(done => {{ const w = new Worker(URL.createObjectURL(new Blob([text]))); w.onmessage = e => done(e.data); }});
        Promise.all([socket, worker]).then(all => out.textContent = all.join(' '));
        </script>",
        evil.port()
    ));
    let (bench, server) = (Bench::new(), Pages::start([("/", page)]).await);
    let peer = bench.site(site(
        &server,
        json!({"get": [{"action_type": "navigate", "value": "/"}, {"action_type": "wait", "wait_condition": "text=closed tried"},
            {"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}}]}),
    ));
    assert_eq!(rows(&peer.try_out("get", json!({})).await.unwrap()), &json!([{"said": "closed tried"}]));
    assert_eq!(evil.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn w_64_w_69_downloads_and_permissions_are_refused() {
    let page = html(
        r#"<a id="load" href="/big">get</a><p id="out"></p><script>
        navigator.geolocation.getCurrentPosition(() => out.textContent = 'located', () => out.textContent = 'denied');
        </script>"#,
    );
    let big = answer("200 OK", "application/octet-stream", "Content-Disposition: attachment; filename=x.bin\r\n", "x");
    let (bench, server) = (Bench::new(), Pages::start([("/", page), ("/big", big)]).await);
    let peer = bench.site(site(
        &server,
        json!({"get": [{"action_type": "navigate", "value": "/"}, {"action_type": "wait", "wait_condition": "text=denied"},
            {"action_type": "click", "selector": "#load"}, {"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}}],
            "load": [{"action_type": "navigate", "value": "/big"}]}),
    ));
    assert_eq!(rows(&peer.try_out("get", json!({})).await.unwrap()), &json!([{"said": "denied"}]));
    assert_eq!(fault(peer.try_out("load", json!({})).await).1, "navigation_failed");
    let left: Vec<_> = walk(bench.directory.path()).into_iter().filter(|name| name.ends_with("x.bin")).collect();
    assert!(left.is_empty(), "{left:?}");
}

fn walk(directory: &std::path::Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    entries
        .flatten()
        .flat_map(|entry| match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => walk(&entry.path()),
            false => vec![entry.path().display().to_string()],
        })
        .collect()
}
