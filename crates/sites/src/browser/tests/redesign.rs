//! The site is redesigned; the call still succeeds, reports the repair, and offers the repaired definition, which then needs no repair.

use crate::definition::read;
use interlingua_model::json::Tree;
use serde_json::json;

use super::{Bench, airline, fault, rows, site, structured};
use interlingua_testkit::pages::{Pages, html};

const PREFIXED: &str = include_str!("../../../../../fixtures/site/airline/prefixed.html");
const REBUILT: &str = include_str!("../../../../../fixtures/site/airline/rebuilt.html");
const SHADOW: &str = include_str!("../../../../../fixtures/site/airline/shadow.html");

fn args() -> Tree {
    json!({"origin": "NYC", "destination": "Paris", "date": "2027-05-01"})
}

async fn still_works(page: &str) {
    let (bench, server) = (Bench::new(), Pages::start([("/flights", html(page))]).await);
    let peer = bench.site(airline(&server));
    let finished = peer.try_out("search_flights", args()).await.unwrap();
    let said = structured(&finished);
    let found = rows(&finished);
    assert_eq!(found[0], json!({"airline": "Air France", "price": "$650", "time": "10:00"}), "{said}");
    assert_eq!(found.as_array().unwrap().len(), 3);
    let healed = said["trace"].as_array().unwrap().iter().filter(|line| line["healed"] == true).count();
    assert!(healed > 0, "{said}");
    let proposed = read(said["proposed"].clone()).unwrap();
    assert_eq!(&*proposed.version, "1.0.1");
    let finished = bench.site(proposed).try_out("search_flights", args()).await.unwrap();
    let said = structured(&finished);
    assert_eq!(rows(&finished)[2]["price"], "$1,080.50", "{said}");
    assert!(said["trace"].as_array().unwrap().iter().all(|line| line.get("healed").is_none()), "{said}");
    assert!(said.get("proposed").is_none());
}

#[tokio::test]
async fn w_46_w_48_every_id_and_class_renamed() {
    still_works(PREFIXED).await;
}

#[tokio::test]
async fn w_46_w_48_another_form_and_another_list() {
    still_works(REBUILT).await;
}

#[tokio::test]
async fn w_46_w_48_rebuilt_of_components() {
    still_works(SHADOW).await;
}

#[tokio::test]
async fn w_46_what_was_seen_before_helps_and_drift_is_told() {
    let before = html(
        "<label for='a'>Coupon code</label><input id='a' name='coupon'><button id='b'>Apply</button><p id='out'>x</p>",
    );
    let after = html("<label for='a'>Your e-mail</label><input id='a' name='mail'><p id='out'>x</p>");
    let (bench, server) = (Bench::new(), Pages::start([("/before", before), ("/after", after)]).await);
    let steps = json!([{"action_type": "navigate", "value": "/{page}"}, {"action_type": "type", "selector": "#a", "value": "SAVE"},
        {"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}}]);
    let peer = bench.site(site(&server, json!({"get_price": steps})));
    let first = peer.try_out("get_price", json!({"page": "before"})).await.unwrap();
    assert!(structured(&first)["trace"][1].get("drift").is_none());
    let second = peer.try_out("get_price", json!({"page": "after"})).await.unwrap();
    assert!(structured(&second)["trace"][1]["drift"].as_f64().is_some(), "{}", structured(&second));
}

#[tokio::test]
async fn w_46_a_press_that_may_change_something_is_never_guessed() {
    let page = html(
        "<button id='new-buy'>Buy now</button><p id='out'></p><script>document.getElementById('new-buy').onclick = () => out.textContent = 'bought'</script>",
    );
    let (bench, server) = (Bench::new(), Pages::start([("/", page)]).await);
    let click = json!({"action_type": "click", "selector": "#buy", "timeout": "4s"});
    let open = json!({"action_type": "navigate", "value": "/"});
    let peer = bench.site(site(&server, json!({"buy": [open, click], "show": [open, click, {"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}}]})));
    let (fault_, code) = fault(peer.try_out("buy", json!({})).await);
    assert_eq!(code, "selector_not_found", "{fault_}");
    // The same press in a sequence that only looks is mended.
    let finished = peer.try_out("show", json!({})).await.unwrap();
    assert_eq!(rows(&finished), &json!([{"said": "bought"}]));
}
