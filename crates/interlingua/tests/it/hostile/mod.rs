//! Hostile input. Each case gets an error in the caller's own protocol or a clean close: never a 5xx, never silence; and the hub answers
//! others all the while.

mod bombs;
mod browser;
mod floods;
mod frames;
mod messages;
mod mix;
mod requests;
mod slow;

use std::time::Duration;

use interlingua_testkit::Hub;

/// A hub that does not answer `/healthz` for so long is stalled. Far above any honest delay of a busy machine.
const STALL: Duration = Duration::from_secs(10);

async fn hub() -> Hub {
    Hub::builder(env!("CARGO_BIN_EXE_interlingua")).start().await
}

/// Runs an attack while another client asks for `/healthz` again and again; panics when that client is kept waiting.
async fn under_watch<T>(hub: &Hub, attack: impl Future<Output = T>) -> T {
    let watch = async {
        loop {
            let answer = tokio::time::timeout(STALL, hub.get("/healthz")).await.expect("/healthz is stalled");
            assert_eq!(answer.status, 200, "/healthz: {}", answer.text());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        outcome = attack => outcome,
        () = watch => unreachable!("the watch has no end"),
    }
}

/// Panics with every complaint at once: one run shows all there is to mend.
fn settle(complaints: &[String]) {
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// The hub still works for an honest caller.
async fn assert_well(hub: &Hub) {
    let greeting = serde_json::json!({"format": "text", "subformat": "english", "content": "hello"});
    let answer = hub.post_json("/nlip", &greeting).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(!hub.log().contains("panicked"), "{}", hub.log());
}
