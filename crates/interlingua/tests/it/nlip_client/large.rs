//! Out-of-band transfer as a client (ECMA-430 clause 6.4).

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use interlingua_testkit::{Say, Scripted, scripted};
use serde_json::json;

use super::*;

/// 300,000 bytes that are not text, in base64.
fn picture() -> (Vec<u8>, Value) {
    use base64::Engine;
    let bytes: Vec<u8> = (0..300_000_u32).map(|n| u8::try_from(n * 7 % 251).expect("a byte")).collect();
    let content = base64::engine::general_purpose::STANDARD.encode(&bytes);
    (bytes, json!({"format": "binary", "subformat": "image/png", "content": content}))
}

/// Answers a question for a place with this address, everything else with a word. The address is known once it listens.
async fn offering(address: Arc<OnceLock<String>>) -> Scripted {
    Scripted::http(move |heard, _| {
        if heard.path != "/nlip" {
            return says("stored");
        }
        match (heard.json()["messagetype"] == "control", address.get()) {
            (true, Some(address)) => {
                let place = json!({"format": "structured", "subformat": "uri", "content": address});
                Say::Json(control(with(text("Upload here."), [place])))
            }
            (true, None) | (false, _) => says("what a picture"),
        }
    })
    .await
}

#[tokio::test]
async fn n_50_n_71_large_content_is_asked_about_uploaded_and_referred_to() {
    let address = Arc::new(OnceLock::new());
    let scripted = offering(address.clone()).await;
    let place = format!("http://{}/up/77", scripted.address());
    address.set(place.clone()).expect("set once");
    let hub = hub(&[("desk", agent(scripted.address()))]).await;
    let (bytes, picture) = picture();
    let answer = hub.post_json("/agents/desk/nlip", &with(text("look"), [picture])).await;
    assert_eq!(answer.json()["content"], "what a picture", "{}", answer.text());

    let heard = scripted.heard();
    let [asked, uploaded, said] = heard.as_slice() else { panic!("ask, upload, refer: {}", heard.len()) };
    assert_eq!(asked.json()["messagetype"], "control");
    [asked, said].into_iter().for_each(|heard| crate::nlip::assert_fits_annex_a(&heard.json()));
    assert_eq!((uploaded.path.as_str(), uploaded.header("content-type")), ("/up/77", Some("application/octet-stream")));
    assert_eq!(uploaded.body, bytes);
    let referred = json!({"format": "structured", "subformat": "uri", "content": place});
    assert_eq!(submessages(&said.json()), [referred]);
}

#[tokio::test]
async fn n_71_an_agent_that_names_no_place_gets_it_in_the_message_and_is_not_asked_every_time() {
    let scripted = offering(Arc::default()).await;
    let hub = hub(&[("desk", agent(scripted.address()))]).await;
    let (_, picture) = picture();
    for _ in 0..2 {
        hub.post_json("/agents/desk/nlip", &with(text("look"), [picture.clone()])).await;
    }
    let heard = scripted.heard();
    let [asked, first, second] = heard.as_slice() else { panic!("one question: {}", heard.len()) };
    assert_eq!(asked.json()["messagetype"], "control");
    for said in [first, second] {
        assert_eq!(submessages(&said.json()), std::slice::from_ref(&picture));
    }
}

#[tokio::test]
async fn n_71_content_is_not_sent_to_a_place_that_is_not_the_agents() {
    let (elsewhere, connections) = scripted::counting_listener().await;
    let address = Arc::new(OnceLock::new());
    let scripted = offering(address.clone()).await;
    address.set(format!("http://localhost:{}/up", elsewhere.port())).expect("set once");
    let hub = hub(&[("desk", agent(scripted.address()))]).await;
    let (_, picture) = picture();
    hub.post_json("/agents/desk/nlip", &with(text("look"), [picture.clone()])).await;
    assert_eq!(connections.load(Ordering::SeqCst), 0);
    assert_eq!(submessages(&scripted.heard()[1].json()), [picture]);
}

#[tokio::test]
async fn large_content_of_an_agent_can_be_fetched_from_the_hub() {
    let (bytes, picture) = picture();
    let scripted = Scripted::http(move |_, _| Say::Json(with(text("look"), [picture.clone()]))).await;
    let hub = hub(&[("desk", agent(scripted.address()))]).await;
    let answer = hub.post_json("/agents/desk/nlip", &text("a picture, please")).await.json();
    let link = submessages(&answer).into_iter().find(|part| part["subformat"] == "uri").expect("an address");
    let address = link["content"].as_str().expect("a text");
    let path = address.strip_prefix(&hub.url("")).unwrap_or_else(|| panic!("an address of the hub: {address}"));
    assert_eq!(hub.get(path).await.body, bytes);
}
