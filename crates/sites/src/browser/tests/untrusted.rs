//! Pages that navigate to invalid places, and page texts that are invisible to people.

use interlingua_model::json::Tree;
use serde_json::json;

use super::{Bench, fault, rows, site};
use crate::definition::Trouble;
use interlingua_testkit::pages::{Pages, answer, html};

fn read_out() -> Tree {
    json!({"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}})
}

fn open(path: &str) -> Tree {
    json!({"action_type": "navigate", "value": path})
}

/// Goes there by itself, and says after a while that it is still here.
fn leaving(to: &str) -> String {
    html(&format!(
        "<p id='out'>still here</p><script>
        const evil = '<p id=out class=tried>evil</p>', blob = URL.createObjectURL(new Blob([evil], {{ type: 'text/html' }}));
        try {{ {to} }} catch {{ }}
        setTimeout(() => out.className = 'tried', 700);</script>"
    ))
}

#[tokio::test]
async fn w_61_nothing_but_the_web_is_opened_as_a_page_by_a_step_a_redirect_or_a_page() {
    let schemes = [
        "file:///etc/hostname",
        "chrome://version",
        "devtools://devtools/bundled/inspector.html",
        "view-source:http://127.0.0.1/",
        "data:text/html,<p id=out class=tried>evil</p>",
        "blob:http://127.0.0.1/1",
        "javascript:document.write('<p id=out class=tried>evil</p>')",
    ];
    let bench = Bench::new();
    for to in schemes {
        let leads = answer("302 Found", "text/html", &format!("Location: {to}\r\n"), "");
        let goes = leaving(&format!("location = `{to}`; location.assign(`{to}`);"));
        let opens = leaving(&format!("open(`{to}`); open(`{to}`, '_top');"));
        let script = to.starts_with("javascript:");
        let server = Pages::start([("/", html("x")), ("/redirect", leads), ("/goes", goes), ("/opens", opens)]).await;
        let wait = json!({"action_type": "wait", "wait_condition": "#out.tried", "timeout": "4s"});
        let peer = bench.site(site(
            &server,
            json!({"open_said": [open("{url}"), read_out()], "open_written": [open(to), read_out()],
                "get_redirect": [open("/redirect"), read_out()], "get_goes": [open("/goes"), wait, read_out()],
                "get_opens": [open("/opens"), wait, read_out()]}),
        ));
        for (action, args) in [("open_said", json!({"url": to})), ("open_written", json!({}))] {
            let tried = peer.try_out(action, args).await;
            assert!(matches!(tried, Err(Trouble::NavigationBlocked { step: 1, .. })), "{to}: {tried:?}");
        }
        let (fault_, code) = fault(peer.try_out("get_redirect", json!({})).await);
        assert_eq!(code, "navigation_failed", "{to}: {fault_}");
        // A script of a page's own may write what it likes into the page that it is in.
        for action in ["get_goes", "get_opens"].into_iter().filter(|_| !script) {
            let finished = peer.try_out(action, json!({})).await.unwrap();
            assert_eq!(rows(&finished), &json!([{"said": "still here"}]), "{action} {to}");
        }
    }
}

/// Chromium lets a page open what it made itself; the hub does not take it for the site.
#[tokio::test]
async fn w_61_what_a_page_made_itself_is_not_taken_for_a_page_of_the_site() {
    let (bench, server) = (Bench::new(), Pages::start([("/", leaving("location = blob;"))]).await);
    let wait = json!({"action_type": "wait", "wait_condition": "#out.tried", "timeout": "10s"});
    let peer = bench.site(site(&server, json!({"get": [open("/"), wait, read_out()]})));
    let (fault_, code) = fault(peer.try_out("get", json!({})).await);
    assert_eq!(code, "navigation_failed", "{fault_}");
}

#[tokio::test]
async fn w_66_text_that_nobody_can_see_wins_nowhere() {
    let page = html(
        "<p class='out'>Good<span style='opacity:0'> evil</span> news</p>
        <p class='out'>Good<b style='display:inline-block;width:0;height:0;overflow:hidden'> evil</b> news</p>
        <div class='out'><div style='opacity:0'><p>evil</p></div><p>Good</p><p>news</p></div>
        <p class='out'>Good<span style='visibility:hidden'> evil</span> news</p>
        <p class='out'><b style='opacity:0'>evil</b><i>Good</i> news</p>
        <div class='out' style='padding:9px'><div style='height:0'><div style='float:left'>Good news</div></div></div>",
    );
    let (bench, server) = (Bench::new(), Pages::start([("/", page)]).await);
    let all = json!({"action_type": "extract", "selector": ".out", "extract_schema": {"said": "."}});
    let first = json!({"action_type": "extract", "selector": ".out", "extract_schema": {"said": "b, i"}});
    let peer = bench.site(site(&server, json!({"get": [open("/"), all], "get_first": [open("/"), first]})));
    let finished = peer.try_out("get", json!({})).await.unwrap();
    let said: Vec<String> = rows(&finished)
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["said"].as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(said, ["Good news"; 6]);
    let finished = peer.try_out("get_first", json!({})).await.unwrap();
    assert_eq!(rows(&finished)[4], json!({"said": "Good"}), "the first that can be seen");
    assert!(!rows(&finished).to_string().contains("evil"));
}

#[tokio::test]
async fn w_66_what_a_page_calls_its_elements_is_cleaned_and_short_where_it_is_told() {
    let page = html(
        "<button id='go'>Go</button><script>
        const veil = document.createElement('div');
        veil.id = 'say\\u200b\\u202e yes\\u0007 ' + 'x'.repeat(5000);
        veil.style = 'position:fixed;inset:0;z-index:9';
        document.body.append(veil);
        </script>",
    );
    let (bench, server) = (Bench::new(), Pages::start([("/", page)]).await);
    let press = json!({"action_type": "click", "selector": "#go", "timeout": "1s"});
    let peer = bench.site(site(&server, json!({"get": [open("/"), press]})));
    let (fault_, code) = fault(peer.try_out("get", json!({})).await);
    assert_eq!(code, "not_actionable");
    assert!(fault_.public.contains("covered by div#say yes xxx"), "{fault_}");
    assert!(fault_.public.len() < 200, "{fault_}");
}
