//! The driver under fault: a proxy cuts the connection at every message of a commit, backends are ended and statements are
//! cancelled. Each append is in once or not at all, and its caller heard which.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use interlingua_model::id::TaskId;
use interlingua_model::journal::Log;
use interlingua_model::ports::{Append, Appended, Expected, StoreFault, TaskPhase};
use interlingua_store_contract::{Driver, accepted, append, row, unique};
use interlingua_testkit::{PostgresServer, postgres, skipped, within};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_postgres::NoTls;

use super::super::{Condition, Options, Postgres};
use super::InSchema;

/// Which pieces still pass from either end before a connection is cut, once; negative when it is not to be cut.
#[derive(Debug, Default)]
struct Pieces {
    up: AtomicI64,
    down: AtomicI64,
}

impl Pieces {
    fn none() -> Arc<Pieces> {
        Arc::new(Pieces { up: AtomicI64::new(-1), down: AtomicI64::new(-1) })
    }

    /// Is this piece the one at which it is cut? The counter is then spent.
    fn cuts(counter: &AtomicI64) -> bool {
        counter.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| (left >= 0).then_some(left - 1)) == Ok(0)
    }
}

/// A line to the server that is cut at a piece: what one end wrote at once, which for this driver is one message or more of one
/// step of the protocol.
struct Line {
    address: SocketAddr,
    pieces: Arc<Pieces>,
    _accepting: JoinSet<()>,
}

impl Line {
    async fn to(server: SocketAddr) -> Line {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, pieces) = (listener.local_addr().unwrap(), Pieces::none());
        let (seen, mut accepting) = (pieces.clone(), JoinSet::new());
        accepting.spawn(async move {
            let mut carried = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                carried.spawn(carry(client, server, seen.clone()));
            }
        });
        Line { address, pieces, _accepting: accepting }
    }
}

async fn carry(client: TcpStream, server: SocketAddr, pieces: Arc<Pieces>) {
    let Ok(server) = TcpStream::connect(server).await else { return };
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    tokio::select! {
        () = pass(from_client, to_server, &pieces.up) => {}
        () = pass(from_server, to_client, &pieces.down) => {}
    }
}

async fn pass(mut from: tokio::net::tcp::OwnedReadHalf, mut to: tokio::net::tcp::OwnedWriteHalf, left: &AtomicI64) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let Ok(count @ 1..) = from.read(&mut buffer).await else { return };
        if Pieces::cuts(left) || to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}

/// What the log of a task holds, read by the server's own address.
async fn entries(store: &InSchema, task: u128) -> usize {
    store.ports().journal.read(Log::Task(TaskId(task)), 0, 100).await.unwrap().len()
}

async fn with_line(server: &PostgresServer) -> (Line, InSchema) {
    let line = Line::to(server.address()).await;
    let store = InSchema::at(server.url_at(line.address), None).await;
    (line, store)
}

/// Appends with the line cut at a piece of it. Where the caller hears that it is not in, it is not, and it comes again.
async fn settled(store: &InSchema, counter: &AtomicI64, piece: i64, task: u128, one: Append) -> Appended {
    let before = entries(store, task).await;
    counter.store(piece, Ordering::SeqCst);
    let heard = within("an append to be settled", store.ports().journal.append(one.clone())).await;
    counter.store(-1, Ordering::SeqCst);
    match heard {
        Ok(appended) => appended,
        Err(StoreFault::Away(_)) => {
            assert_eq!(entries(store, task).await, before, "it was said not to be in: piece {piece}");
            store.ports().journal.append(one).await.unwrap()
        }
        Err(other) => panic!("{other:?}"),
    }
}

/// One append by one statement, and one by a transaction of its own.
async fn cut_at(store: &InSchema, counter: &AtomicI64, piece: i64, task: u128) {
    let first = Append {
        unique: Some(unique(&format!("key {task}"), "body", 9_000)),
        ..accepted(row(task, "ann", TaskPhase::Running, 1))
    };
    assert_eq!(settled(store, counter, piece, task, first).await, Appended::At(1), "piece {piece}");
    let second = Append { expected: Expected::Any, ..append(Log::Task(TaskId(task)), 0, &["more"]) };
    assert_eq!(settled(store, counter, piece, task, second).await, Appended::At(2), "piece {piece}");
    assert_eq!(entries(store, task).await, 2, "once, not twice: piece {piece}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_cut_at_any_message_of_a_commit_leaves_each_append_once() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let (line, store) = with_line(&server).await;
    for piece in 0..24 {
        cut_at(&store, &line.pieces.up, piece, 1_000 + piece as u128).await;
        cut_at(&store, &line.pieces.down, piece, 2_000 + piece as u128).await;
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
            tokio::time::sleep(std::time::Duration::from_millis(15)).await;
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
async fn backends_that_are_ended_during_commits_lose_and_double_nothing() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    appended_while(&server, "pg_terminate_backend").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_that_are_cancelled_during_commits_lose_and_double_nothing() {
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
    let dir = tempfile::tempdir().unwrap();
    let second = Postgres::open(&first.options, dir.path(), None).await.unwrap();
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

#[tokio::test]
async fn a_database_that_cannot_be_reached_is_said_when_the_store_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let nowhere = interlingua_testkit::port::free();
    let options = Options { url: format!("postgres://hub@{nowhere}/postgres"), ..Options::default() };
    let refused = Postgres::open(&options, dir.path(), None).await.map(drop);
    assert!(matches!(refused, Err(super::super::OpenFault::Database { doing: "reach", .. })), "{refused:?}");
}
