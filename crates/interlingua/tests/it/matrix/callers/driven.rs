//! Programs on other people's SDKs: `conformance/matrix` has them.

use interlingua_testkit::Driver;
use serde_json::Value;

use super::super::behaviour::{Behaviour, Scene};
use super::super::seen::Seen;

pub(super) async fn call(driver: &Driver, scene: &Scene, on: Behaviour) -> Seen {
    seen(driver.call(scene.command(on)).await)
}

pub(super) async fn give_up(driver: &Driver, scene: &Scene, begun: impl Future<Output = ()>) -> Seen {
    let pending = driver.begin(scene.command(Behaviour::Cancel));
    begun.await;
    driver.give_up(pending.id);
    seen(pending.seen().await)
}

fn seen(said: Value) -> Seen {
    serde_json::from_value(said).expect("what a caller saw")
}
