//! A server that says nothing: the connection stands, and no byte passes. Nobody waits for it without end, and what was in doubt
//! is settled when it speaks again.

use std::pin::pin;
use std::time::Duration;

use interlingua_model::id::TaskId;
use interlingua_model::journal::Log;
use interlingua_model::ports::{Appended, Condition, StoreFault};
use interlingua_store_contract::{Driver, append};
use interlingua_testkit::proxy::Weather;
use interlingua_testkit::{PostgresServer, postgres, skipped, within};

use super::super::{OpenFault, Options};
use super::line::Line;
use super::{InSchema, at, open};

const PATIENCE: Duration = Duration::from_secs(2);

async fn impatient(server: &PostgresServer) -> (Line, InSchema) {
    let line = Line::to(server.address()).await;
    let options = Options { writers: 1, readers: 1, patience: PATIENCE, ..at(&server.url_at(line.address)) };
    let store = InSchema::with(options, None).await;
    (line, store)
}

async fn silent_for_a_while(weather: Weather) {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let (line, store) = impatient(&server).await;
    let (journal, log) = (store.ports().journal, Log::Task(TaskId(1)));
    journal.append(append(log.clone(), 0, &["first"])).await.unwrap();
    assert_eq!(journal.read(log.clone(), 0, 10).await.unwrap().len(), 1);
    line.turn(weather);
    let mut doubtful = pin!(journal.append(append(log.clone(), 1, &["second"])));
    let others = async {
        let read = journal.read(log.clone(), 0, 10).await;
        assert!(matches!(read, Err(StoreFault::Away(_))), "{read:?}");
        // What waits behind the write in doubt is in no doubt itself: it was not sent.
        let behind = journal.append(append(Log::Task(TaskId(2)), 0, &["behind"])).await;
        assert!(matches!(behind, Err(StoreFault::Away(_))), "{behind:?}");
        let mut condition = store.store.condition();
        condition.wait_for(|now| *now == Condition::Away).await.unwrap();
    };
    tokio::select! {
        heard = &mut doubtful => panic!("nobody knows yet what became of it: {heard:?}"),
        () = within("whoever waits for a silent database", others) => {}
    }
    line.turn(Weather::Fair);
    assert_eq!(within("the write in doubt", doubtful).await.unwrap(), Appended::At(2));
    assert_eq!(journal.read(log.clone(), 0, 10).await.unwrap().len(), 2, "once, not twice");
    assert_eq!(journal.append(append(Log::Task(TaskId(2)), 0, &["again"])).await.unwrap(), Appended::At(1));
    let mut condition = store.store.condition();
    within("the store to be writable", condition.wait_for(|now| *now == Condition::Writable)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn k_49_a_stalled_connection_is_away_and_what_was_in_doubt_is_settled_after_it() {
    silent_for_a_while(Weather::Stalled).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn k_49_a_connection_that_is_half_open_is_away_and_what_was_in_doubt_is_settled_after_it() {
    silent_for_a_while(Weather::HalfOpen).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn k_49_a_slow_connection_loses_and_doubles_nothing() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let line = Line::to(server.address()).await;
    let options = Options { writers: 1, readers: 1, ..at(&server.url_at(line.address)) };
    let store = InSchema::with(options, None).await;
    line.turn(Weather::Slow(Duration::from_millis(20)));
    let (journal, log) = (store.ports().journal, Log::Task(TaskId(1)));
    for place in 0..3 {
        let appended = within("an append", journal.append(append(log.clone(), place, &["entry"]))).await;
        assert_eq!(appended.unwrap(), Appended::At(place + 1));
    }
    assert_eq!(journal.read(log, 0, 10).await.unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_silent_when_the_store_is_opened_or_closed_is_not_waited_for() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let (line, store) = impatient(&server).await;
    line.turn(Weather::Stalled);
    let opened = within("an open", open(&store.options, None)).await.map(drop);
    assert!(matches!(opened, Err(OpenFault::Unreachable(_))), "{opened:?}");
    within("a close", store.store.close()).await;
    let late = store.ports().journal.append(append(Log::Audit, 0, &["line"])).await;
    assert!(matches!(late, Err(StoreFault::Closed | StoreFault::Away(_))), "{late:?}");
}
