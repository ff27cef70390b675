//! The driver under fault: a proxy cuts the connection at every message of a commit, backends are ended and statements are
//! cancelled. Each append is in once or not at all, and its caller heard which.

use std::pin::pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join;
use interlingua_model::id::{TaskId, Time};
use interlingua_model::journal::Log;
use interlingua_model::ports::{Append, Appended, Condition, Expect, Expected, StoreFault, TaskPhase};
use interlingua_store_contract::{Driver, accepted, append, row, unique};
use interlingua_testkit::{PostgresServer, postgres, skipped, within};
use tokio::task::JoinSet;
use tokio_postgres::NoTls;

use super::super::Options;
use super::super::connection::Target;
use super::line::Line;
use super::{InSchema, at, open};

/// What the log of a task holds, read by the server's own address.
async fn entries(store: &InSchema, task: u128) -> usize {
    store.ports().journal.read(Log::Task(TaskId(task)), 0, 100).await.unwrap().len()
}

async fn with_line(server: &PostgresServer) -> (Line, InSchema) {
    let line = Line::to(server.address()).await;
    // One lane, so that every append goes over the same connection.
    let options = Options { writers: 1, ..at(&server.url_at(line.address)) };
    let store = InSchema::with(options, None).await;
    (line, store)
}

/// Appends with the line cut at a message of it; whether it has that many. Where the caller hears that it is not in, it is not,
/// and it comes again.
async fn settled(store: &InSchema, counter: &AtomicI64, message: i64, task: u128, one: Append) -> (Appended, bool) {
    counter.store(message, Ordering::SeqCst);
    let heard = within("an append to be settled", store.ports().journal.append(one.clone())).await;
    let reached = counter.swap(-1, Ordering::SeqCst) < 0;
    match heard {
        Ok(appended) => (appended, reached),
        Err(StoreFault::Away(_)) => {
            assert!(reached, "nothing was in the way: message {message}");
            assert_eq!(entries(store, task).await, 0, "it was said not to be in: message {message}");
            (store.ports().journal.append(one).await.unwrap(), reached)
        }
        Err(other) => panic!("{other:?}"),
    }
}

/// Cuts one append after the other at one message after the other, until there is none left; how many there are.
async fn cut_at_every_message(store: &InSchema, counter: &AtomicI64, tasks: u128, one: fn(u128) -> Append) -> i64 {
    for (message, task) in (0..).zip(tasks..) {
        let (appended, reached) = settled(store, counter, message, task, one(task)).await;
        assert_eq!(appended, Appended::At(1), "message {message}");
        assert_eq!(entries(store, task).await, 1, "once, not twice: message {message}");
        if !reached {
            return message;
        }
    }
    unreachable!("an append has an end")
}

/// Written by one statement.
fn by_statement(task: u128) -> Append {
    let unique = Some(unique(&format!("key {task}"), "body", 9_000));
    Append { unique, ..accepted(row(task, "ann", TaskPhase::Running, 1)) }
}

/// Written by a transaction.
fn by_transaction(task: u128) -> Append {
    Append { expected: Expected::Any, ..append(Log::Task(TaskId(task)), 0, &["entry"]) }
}

#[tokio::test(flavor = "multi_thread")]
async fn k_49_a_connection_cut_at_any_message_of_a_commit_leaves_each_append_once() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let (line, store) = with_line(&server).await;
    // At the least: bind, execute, sync; begin, the step of the lane, commit. And what is answered to them.
    for (counter, one, tasks, least) in [
        (&line.cuts.up, by_statement as fn(u128) -> Append, 1_000, 3),
        (&line.cuts.down, by_statement, 2_000, 4),
        (&line.cuts.up, by_transaction, 3_000, 5),
        (&line.cuts.down, by_transaction, 4_000, 6),
    ] {
        let messages = cut_at_every_message(&store, counter, tasks, one).await;
        assert!(messages >= least, "{messages}");
    }
    assert_eq!(*store.store.condition().borrow(), Condition::Writable);
}

/// A connection to the server for what the test itself does.
async fn operator(server: &PostgresServer) -> (tokio_postgres::Client, JoinSet<()>) {
    let (client, connection) = tokio_postgres::connect(&server.url(), NoTls).await.unwrap();
    let mut driving = JoinSet::new();
    driving.spawn(async move { drop(connection.await) });
    (client, driving)
}

/// Appends of many tasks while the operator does something to every backend of the hub, again and again.
async fn appended_while(server: &PostgresServer, disturb: &str) {
    let store = InSchema::plain(server).await;
    let journal = store.ports().journal;
    let (operator, _driving) = operator(server).await;
    let sql = format!("SELECT {disturb}(pid) FROM pg_stat_activity WHERE application_name = 'interlingua'");
    let work = futures_util::future::join_all((0..60_u128).map(async |task| {
        let mut last = 0;
        for place in 0..20 {
            match journal.append(append(Log::Task(TaskId(task)), last, &[&format!("{place}")])).await {
                Ok(Appended::At(seq)) => last = seq,
                // Said to be not in: so the same place is still free.
                Err(StoreFault::Away(_)) => {}
                other => panic!("{other:?}"),
            }
        }
        (task, last)
    }));
    let disturbing = async {
        loop {
            operator.execute(&sql, &[]).await.unwrap();
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
    };
    let done = tokio::select! {
        done = within("every append to be settled", work) => done,
        () = disturbing => unreachable!("it goes on"),
    };
    for (task, last) in done {
        assert_eq!(
            within("a read", async {
                loop {
                    if let Ok(page) = journal.read(Log::Task(TaskId(task)), 0, 100).await {
                        return page.len() as u64;
                    }
                }
            })
            .await,
            last,
            "what was said to be in is in, and nothing else"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn k_49_backends_that_are_ended_during_commits_lose_and_double_nothing() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    appended_while(&server, "pg_terminate_backend").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn k_49_statements_that_are_cancelled_during_commits_lose_and_double_nothing() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    appended_while(&server, "pg_cancel_backend").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_whose_place_was_taken_writes_nothing_more() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let first = InSchema::plain(&server).await;
    let journal = first.ports().journal;
    journal.append(append(Log::Audit, 0, &["before"])).await.unwrap();
    // As another hub does it that saw this one silent.
    let (operator, _driving) = operator(&server).await;
    let schema = &first.options.schema;
    let evict = format!("UPDATE {schema}.hubs SET state = 4 WHERE state < 3; DELETE FROM {schema}.lanes");
    operator.batch_execute(&evict).await.unwrap();
    let second = open(&first.options, None).await.unwrap();
    let refused = journal.append(append(Log::Audit, 1, &["after"])).await;
    assert!(matches!(refused, Err(StoreFault::Broken(_))), "{refused:?}");
    assert_eq!(*first.store.condition().borrow(), Condition::Failed);
    assert_eq!(second.ports().journal.append(append(Log::Audit, 1, &["mine"])).await.unwrap(), Appended::At(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lane_that_stands_below_what_was_acknowledged_is_noticed() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let store = InSchema::plain(&server).await;
    let journal = store.ports().journal;
    for place in 0..3 {
        journal.append(append(Log::Audit, place, &["line"])).await.unwrap();
    }
    // As a fail-over to a standby that had not got the last commit.
    let (operator, _driving) = operator(&server).await;
    let schema = &store.options.schema;
    operator.execute(&format!("UPDATE {schema}.lanes SET n = n - 1 WHERE n > 0"), &[]).await.unwrap();
    let refused = journal.append(append(Log::Audit, 3, &["line"])).await;
    assert!(matches!(refused, Err(StoreFault::Broken(_))), "{refused:?}");
    assert_eq!(*store.store.condition().borrow(), Condition::Failed);
}

/// The server believes in a standby that is not there, so that no commit is acknowledged; or it does so no more.
async fn standby(operator: &tokio_postgres::Client, names: &str) {
    operator.batch_execute(&format!("ALTER SYSTEM SET synchronous_standby_names = '{names}'")).await.unwrap();
    operator.batch_execute("SELECT pg_reload_conf()").await.unwrap();
}

/// Waits for commits of the hub that wait for a standby, and cancels them: the server then says that they are done, and warns.
async fn cancel_waiting(operator: &tokio_postgres::Client) {
    let sql = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity
        WHERE application_name = 'interlingua' AND wait_event = 'SyncRep'";
    within("a commit to wait for the standby", async {
        while operator.query_one(sql, &[]).await.unwrap().get::<_, i64>(0) == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn k_49_a_commit_that_no_standby_may_have_is_answered_when_one_has_it() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let store = InSchema::plain(&server).await;
    let journal = store.ports().journal;
    assert_eq!(journal.append(append(Log::Audit, 0, &["first"])).await.unwrap(), Appended::At(1));
    let (operator, _driving) = operator(&server).await;
    operator.batch_execute("SET synchronous_commit = off").await.unwrap();
    standby(&operator, "nobody").await;
    let mut waiting = pin!(journal.append(append(Log::Audit, 1, &["second"])));
    let cancelling = async {
        // The commit itself, and then every attempt to settle it.
        for _ in 0..3 {
            cancel_waiting(&operator).await;
        }
    };
    tokio::select! {
        heard = &mut waiting => panic!("no standby has it: {heard:?}"),
        () = cancelling => {}
    }
    assert_eq!(entries_of_audit(&store).await, 2, "it is in, and that was not said");
    standby(&operator, "").await;
    assert_eq!(within("the commit to be settled", waiting).await.unwrap(), Appended::At(2));
    assert_eq!(entries_of_audit(&store).await, 2, "once, not twice");
}

async fn entries_of_audit(store: &InSchema) -> usize {
    store.ports().journal.read(Log::Audit, 0, 100).await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_bounds_what_stands_still_and_never_commits_with_less_than_a_sync() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    for (asked, given) in [("off", "on"), ("local", "on"), ("on", "on"), ("remote_apply", "remote_apply")] {
        let url = format!("{}?options=-c%20synchronous_commit%3D{asked}", server.url());
        let target = Target::new(&at(&url)).unwrap();
        let session = target.connect().await.unwrap();
        let settings =
            "SELECT current_setting('idle_in_transaction_session_timeout'), current_setting('statement_timeout'),
            current_setting('lock_timeout'), current_setting('synchronous_commit')";
        let row = session.query(settings, &[]).await.unwrap().remove(0);
        let found: Vec<String> = (0..4).map(|column| row.get(column)).collect();
        assert_eq!(found, ["5s", "10s", "6s", given]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_whose_caller_leaves_is_not_cancelled() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let store = InSchema::plain(&server).await;
    let journal = store.ports().journal;
    let (operator, _driving) = operator(&server).await;
    operator.batch_execute("SET synchronous_commit = off").await.unwrap();
    standby(&operator, "nobody").await;
    let waits =
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'interlingua' AND wait_event = 'SyncRep'";
    let begun = async {
        while operator.query_one(waits, &[]).await.unwrap().get::<_, i64>(0) == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        heard = journal.append(append(Log::Audit, 0, &["line"])) => panic!("no standby has it: {heard:?}"),
        () = within("the commit to wait", begun) => {}
    }
    // The caller has left, and later ones come behind it: its commit still waits, and is in when it has what it waits for.
    assert_eq!(operator.query_one(waits, &[]).await.unwrap().get::<_, i64>(0), 1);
    standby(&operator, "").await;
    assert_eq!(journal.append(append(Log::Audit, 1, &["next"])).await.unwrap(), Appended::At(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn k_10_an_append_is_held_against_the_head_and_leaves_no_gap_where_entries_were_lost() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let store = InSchema::plain(&server).await;
    let journal = store.ports().journal;
    let log = Log::Task(TaskId(7));
    for place in 0..3 {
        journal.append(append(log.clone(), place, &["entry"])).await.unwrap();
    }
    // As a fail-over that lost the last entry: the place that the hub asks for next is free.
    let (operator, _driving) = operator(&server).await;
    let schema = &store.options.schema;
    let lose = format!("DELETE FROM {schema}.journal WHERE seq = 3; UPDATE {schema}.logs SET head = 2");
    operator.batch_execute(&lose).await.unwrap();
    let next = append(log.clone(), 3, &["fourth"]);
    // Alone in one statement, and in a transaction with another of the same log.
    let (alone, with_another) =
        (journal.append(next.clone()).await, join(journal.append(next.clone()), journal.append(next)).await);
    for refused in [alone, with_another.0, with_another.1] {
        assert!(matches!(refused, Err(StoreFault::Moved { expected: 3, found: 2 })), "{refused:?}");
    }
    let found: Vec<u64> = journal.read(log.clone(), 0, 100).await.unwrap().iter().map(|entry| entry.seq).collect();
    assert_eq!(found, [1, 2], "no gap");
    assert_eq!(journal.append(append(log, 2, &["third"])).await.unwrap(), Appended::At(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_found_by_one_request_of_many_shows_in_the_condition_and_passes() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let store = InSchema::plain(&server).await;
    let (records, condition) = (store.ports().records, store.store.condition());
    let put = || records.put("kind", "key", Bytes::from_static(b"value"), None, Expect::Anything, Time(1));
    put().await.unwrap();
    // What the server says when its disk is full, where the row is written.
    let (operator, _driving) = operator(&server).await;
    let schema = &store.options.schema;
    let full = format!(
        "CREATE FUNCTION {schema}.no_room() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = 'disk_full'; END $$;
         CREATE TRIGGER no_room BEFORE INSERT OR UPDATE ON {schema}.records FOR EACH ROW EXECUTE FUNCTION {schema}.no_room()"
    );
    operator.batch_execute(&full).await.unwrap();
    assert!(matches!(put().await, Err(StoreFault::Full(_))));
    assert_eq!(*condition.borrow(), Condition::Full);
    operator.batch_execute(&format!("DROP TRIGGER no_room ON {schema}.records")).await.unwrap();
    put().await.unwrap();
    assert_eq!(*condition.borrow(), Condition::Writable);
}

#[tokio::test(flavor = "multi_thread")]
async fn attack_a_write_larger_than_a_message_of_the_protocol_is_refused_and_others_go_on() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let store = InSchema::plain(&server).await;
    let (journal, records) = (store.ports().journal, store.ports().records);
    let huge = Bytes::from(vec![0; 256 * 1024 * 1024 + 1]);
    let refused = journal.append(Append { records: vec![huge.clone()], ..append(Log::Audit, 0, &[]) }).await;
    assert!(matches!(refused, Err(StoreFault::Broken(_))), "{refused:?}");
    let refused = records.put("kind", "key", huge, None, Expect::Anything, Time(1)).await;
    assert!(matches!(refused, Err(StoreFault::Broken(_))), "{refused:?}");
    assert_eq!(journal.append(append(Log::Audit, 0, &["line"])).await.unwrap(), Appended::At(1));
    assert_eq!(*store.store.condition().borrow(), Condition::Writable);
}
