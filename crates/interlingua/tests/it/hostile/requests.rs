//! Requests no HTTP client would write.

use interlingua_testkit::{hostile::http, raw::Raw};

use super::{assert_well, hub, under_watch};

#[tokio::test]
async fn hostile_requests_get_a_4xx_or_a_close() {
    let hub = hub().await;
    let attack = async {
        for case in http::cases(&hub.address().to_string()) {
            let mut raw = Raw::connect(hub.address()).await;
            raw.write(&case.bytes).await;
            raw.finish().await;
            if let Some((status, text)) = raw.read_status().await {
                assert!((400..500).contains(&status) || status == 505, "{}: {text}", case.name);
            }
        }
    };
    under_watch(&hub, attack).await;
    assert_well(&hub).await;
}
