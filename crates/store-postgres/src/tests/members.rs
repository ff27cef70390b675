//! One name, one hub: who is refused, who is evicted, and what that takes.

#![expect(clippy::disallowed_methods, reason = "ends with the runtime of the test")]

use std::time::Duration;

use interlingua_model::journal::Log;
use interlingua_model::ports::{Appended, Condition, StoreFault};
use interlingua_store_contract::{Driver, append};
use interlingua_testkit::proxy::Weather;
use interlingua_testkit::{postgres, skipped, within};

use super::super::{Joined, OpenFault, Options};
use super::line::Line;
use super::{InSchema, at, index, open};

/// Longer than any test.
const NEVER: Duration = Duration::from_secs(3600);
const SOON: Duration = Duration::from_secs(3);

#[tokio::test(flavor = "multi_thread")]
async fn k_02_a_second_living_hub_of_the_same_name_is_refused_and_the_first_goes_on() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let first = InSchema::with(Options { dead_after: SOON, ..at(&server.url()) }, None).await;
    let began = tokio::time::Instant::now();
    let second = within("the second", open(&first.options, None)).await.map(drop);
    let Err(OpenFault::NameTaken { name, .. }) = &second else { panic!("{second:?}") };
    assert_eq!(name, "hub");
    let said = second.unwrap_err().to_string();
    assert!(said.starts_with("another hub named `hub` runs on this database"), "{said}");
    assert!(began.elapsed() >= SOON, "it waits for the first to leave or to be silent");
    assert_eq!(first.ports().journal.append(append(Log::Audit, 0, &["line"])).await.unwrap(), Appended::At(1));
    // One that leaves makes way at once, for whoever waits too.
    let options = Options { dead_after: NEVER, ..first.options.clone() };
    let waiting = tokio::spawn(async move { open(&options, None).await.map(drop) });
    first.store.close().await;
    within("the name to be free", waiting).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn k_02_whoever_holds_the_lock_of_its_predecessor_does_not_wait() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let options = Options { dead_after: NEVER, lock_id: "of this directory".into(), ..at(&server.url()) };
    let InSchema { options, store, .. } = InSchema::with(options, None).await;
    store.ports().journal.append(append(Log::Audit, 0, &["line"])).await.unwrap();
    // As kill -9: nothing is said to the database, and the lock is free.
    drop(store);
    let next = within("the same hub again", open(&options, None)).await.unwrap();
    assert_eq!(next.ports().journal.append(append(Log::Audit, 1, &["line"])).await.unwrap(), Appended::At(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ring_and_the_id_of_a_hub_are_kept_with_its_data() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let first = Joined::join(&at(&server.url())).await.unwrap();
    assert_eq!((first.ring().await.unwrap(), first.hub_id("one").await.unwrap()), (None, "one".to_owned()));
    first.keep_ring("wrapped").await.unwrap();
    let store = first.open(None, index()).unwrap();
    store.at_rest().keep_ring("wrapped anew".into()).await.unwrap();
    store.close().await;
    let second = Joined::join(&at(&server.url())).await.unwrap();
    assert_eq!(second.ring().await.unwrap().as_deref(), Some("wrapped anew"));
    assert_eq!(second.hub_id("two").await.unwrap(), "one");
}

#[tokio::test(flavor = "multi_thread")]
async fn k_02_a_hub_that_is_silent_is_evicted_and_writes_nothing_when_it_wakes() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let line = Line::to(server.address()).await;
    let first = InSchema::with(at(&server.url_at(line.address)), None).await;
    let journal = first.ports().journal;
    journal.append(append(Log::Audit, 0, &["before"])).await.unwrap();
    // As a machine that stands still.
    line.turn(Weather::Stalled);
    let options = Options { schema: first.options.schema.clone(), dead_after: SOON, ..at(&server.url()) };
    let second = within("the silent one to be evicted", open(&options, None)).await.unwrap();
    line.turn(Weather::Fair);
    let mut condition = first.store.condition();
    within("the first to notice", condition.wait_for(|now| *now == Condition::Failed)).await.unwrap();
    let refused = journal.append(append(Log::Audit, 1, &["after"])).await;
    assert!(matches!(refused, Err(StoreFault::Broken(_))), "{refused:?}");
    assert_eq!(second.ports().journal.append(append(Log::Audit, 1, &["mine"])).await.unwrap(), Appended::At(2));
}
