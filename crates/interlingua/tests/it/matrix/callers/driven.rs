//! Programs on other people's SDKs: `conformance/matrix` has them.

use interlingua_testkit::Driver;
use serde_json::Value;

use super::super::behaviour::{Behaviour, Scene};
use super::super::seen::Seen;
use super::super::stage::Stage;

pub(super) async fn call(driver: &Driver, scene: &Scene, on: Behaviour) -> Seen {
    seen(driver.call(scene.command(on)).await)
}

pub(super) async fn give_up(driver: &Driver, stage: &Stage, scene: &Scene) -> Seen {
    let pending = driver.begin(scene.command(Behaviour::Cancel));
    stage.at_work().await;
    driver.give_up(pending.id);
    seen(pending.seen().await)
}

fn seen(said: Value) -> Seen {
    serde_json::from_value(said).expect("what a caller saw")
}
