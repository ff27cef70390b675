//! The hub asked by a page in a real browser, as the protocol's own user interface does it.

use std::net::SocketAddr;

use interlingua_testkit::pages::html;
use interlingua_testkit::{Hub, Say, Scripted};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use super::item;

/// An event source for the first generation, a streamed request for the last.
const PAGE: &str = "<p id='out'></p><script>
const flat = new Promise(done => {
  const kinds = [], source = new EventSource('/ask?query=soup&site=snacks');
  source.onmessage = e => { const m = JSON.parse(e.data); kinds.push(m.message_type); if (m.message_type === 'complete') { source.close(); done(kinds.join(' ')); } };
  source.onerror = () => { source.close(); done('error'); };
});
const body = JSON.stringify({query: {text: 'soup', site: 'snacks'}});
const named = fetch('/ask', {method: 'POST', headers: {'content-type': 'application/json'}, body})
  .then(answer => answer.text()).then(text => (text.match(/event: [a-z]+/g) ?? [text]).join(' '));
Promise.all([flat, named]).then(all => document.getElementById('out').textContent = `done: ${all.join(', ')}`);
</script>";

/// A web server in front of the hub, as a page of one's own would have it: the page itself, and the hub behind every other path.
async fn front() -> (SocketAddr, tokio::sync::watch::Sender<Option<SocketAddr>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("loopback");
    let address = listener.local_addr().expect("an address");
    let (behind, told) = tokio::sync::watch::channel(None::<SocketAddr>);
    tokio::runtime::Handle::current().spawn(async move {
        while let Ok((mut browser, _)) = listener.accept().await {
            let told = told.clone();
            tokio::runtime::Handle::current().spawn(async move {
                let mut head = vec![0; 16 * 1024];
                let count = browser.read(&mut head).await.unwrap_or(0);
                if head.starts_with(b"GET /page") {
                    let _ = browser.write_all(format!("HTTP/1.1 {}", html(PAGE)).as_bytes()).await;
                    return;
                }
                let Some(behind) = *told.borrow() else { return };
                let Ok(mut hub) = TcpStream::connect(behind).await else { return };
                let _ = hub.write_all(&head[..count]).await;
                let _ = copy_bidirectional(&mut browser, &mut hub).await;
            });
        }
    });
    (address, behind)
}

#[tokio::test]
async fn q_07_q_42_q_60_site_page_in_a_browser_asks_the_hub() {
    let snacks =
        Scripted::http(|_, _| Say::Json(json!({"_meta": {"response_type": "answer"}, "results": [item()]}))).await;
    let (front, behind) = front().await;
    let definition = json!({"interface_id": "c", "name": "C", "base_url": format!("http://{front}"), "description": "d",
        "actions": {"look": [{"action_type": "navigate", "value": "/page"}, {"action_type": "wait", "wait_condition": "text=done:"},
            {"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}}]}});
    let yaml = format!(
        "peers: {{ snacks: {{ nlweb: {{ url: \"http://{}/ask\" }}, public: true }}, client: {{ site: ./client.json }} }}\n",
        snacks.address()
    );
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("client.json", definition.to_string());
    let hub = builder.config(&yaml).start().await;
    behind.send_replace(Some(hub.address()));
    let answer = hub.post_json("/api/exchanges", &json!({"skill": "client/look"})).await.json();
    let said = answer["finished"]["structured"]["extracted_data"][0]["said"].as_str().unwrap_or_default().to_owned();
    assert!(
        said.starts_with("done: api_version") && said.contains("result_batch") && said.contains("complete"),
        "{answer}"
    );
    assert!(said.contains("event: start event: result event: complete"), "{answer}");
}
