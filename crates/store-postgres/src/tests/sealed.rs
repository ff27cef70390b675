//! Blobs in chunks, and keys that are rotated: what is stored stays readable, and nothing of it is readable without them.

#![expect(clippy::disallowed_methods, reason = "ends with the runtime of the test")]

use bytes::Bytes;
use interlingua_keys::Keyring;
use interlingua_model::digest::Digest;
use interlingua_model::id::Time;
use interlingua_model::journal::Log;
use interlingua_model::ports::{Expect, Store, StoreFault};
use interlingua_store_contract::{Driver, append};
use interlingua_testkit::{postgres, skipped, within};
use tokio_postgres::{Client, NoTls};

use super::super::Options;
use super::{InSchema, at, open};

const OLD: &str = "0707070707070707070707070707070707070707070707070707070707070707";
const NEW: &str = "0808080808080808080808080808080808080808080808080808080808080808";

async fn operator(store: &InSchema) -> Client {
    let (client, connection) = tokio_postgres::connect(store.options.url.text().unwrap(), NoTls).await.unwrap();
    tokio::spawn(async move { drop(connection.await) });
    client.batch_execute(&format!("SET search_path = {}", store.options.schema)).await.unwrap();
    client
}

async fn count(operator: &Client, table: &str) -> i64 {
    operator.query_one(&format!("SELECT count(*) FROM {table}"), &[]).await.unwrap().get(0)
}

/// More than two chunks, and no two of them alike.
fn long() -> Vec<u8> {
    (0..600_000_u32).flat_map(|number| (number % 251).to_le_bytes()[..1].to_vec()).collect()
}

async fn write(store: &Store, bytes: &[u8]) -> Digest {
    let mut writer = store.blobs.create().await.unwrap();
    for piece in bytes.chunks(100_000) {
        writer.write(Bytes::copy_from_slice(piece)).await.unwrap();
    }
    writer.finish().await.unwrap().digest
}

async fn is_whole(store: &Store, digest: Digest, bytes: &[u8]) {
    assert_eq!(store.blobs.read(digest, 0, usize::MAX >> 1).await.unwrap(), bytes);
    for (offset, limit) in [(0, 1), (262_143, 2), (262_144, 262_144), (524_287, 400_000), (599_999, 7)] {
        let end = (offset + limit).min(bytes.len());
        let part = store.blobs.read(digest, offset as u64, limit).await.unwrap();
        assert_eq!(part, bytes[offset..end], "{offset} {limit}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blob_of_several_chunks_is_read_in_parts_and_the_same_one_is_held_once() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    for store in [InSchema::plain(&server).await, InSchema::sealed(&server).await] {
        let (ports, operator, bytes) = (store.ports(), operator(&store).await, long());
        let digest = write(&ports, &bytes).await;
        assert_eq!(digest, Digest::of(&bytes));
        is_whole(&ports, digest, &bytes).await;
        assert_eq!(write(&ports, &bytes).await, digest);
        assert_eq!((count(&operator, "blobs").await, count(&operator, "chunks").await), (1, 3), "held once");
        assert_eq!(ports.blobs.retain(0).await.unwrap(), bytes.len() as u64);
        assert_eq!((count(&operator, "chunks").await, count(&operator, "parts").await), (0, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blob_that_is_given_up_or_whose_hub_dies_leaves_no_chunk() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let store = InSchema::with(Options { lock_id: "lock".into(), ..at(&server.url()) }, None).await;
    let (ports, operator) = (store.ports(), operator(&store).await);
    let mut given_up = ports.blobs.create().await.unwrap();
    given_up.write(Bytes::from(long())).await.unwrap();
    assert_eq!(count(&operator, "chunks").await, 2);
    drop(given_up);
    within("the chunks to go", async {
        while count(&operator, "chunks").await + count(&operator, "parts").await > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    })
    .await;
    let mut unfinished = ports.blobs.create().await.unwrap();
    unfinished.write(Bytes::from(long())).await.unwrap();
    // As kill -9: the writer is never dropped.
    std::mem::forget(unfinished);
    let InSchema { options, store, .. } = store;
    drop((ports, store));
    let _next = open(&options, None).await.unwrap();
    assert_eq!((count(&operator, "chunks").await, count(&operator, "parts").await), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn attack_chunks_that_are_changed_swapped_or_missing_are_damage() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let store = InSchema::sealed(&server).await;
    let (ports, operator, bytes) = (store.ports(), operator(&store).await, long());
    let digest = write(&ports, &bytes).await;
    let stored: Vec<Vec<u8>> =
        operator.query("SELECT bytes FROM chunks", &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert!(stored.iter().all(|chunk| !chunk.windows(64).any(|part| part == &bytes[..64])), "sealed");
    let tag: Vec<u8> = operator.query_one("SELECT tag FROM blobs", &[]).await.unwrap().get(0);
    assert_ne!(tag, digest.0, "nobody can ask the database whether it has known content");
    for change in [
        "UPDATE chunks SET bytes = set_byte(bytes, 9, get_byte(bytes, 9) # 1) WHERE n = 1",
        "UPDATE chunks SET n = n + 10 WHERE n < 2; UPDATE chunks SET n = 11 - n WHERE n > 9",
        "DELETE FROM chunks WHERE n = 1",
    ] {
        operator.batch_execute(change).await.unwrap();
        let read = ports.blobs.read(digest, 0, bytes.len()).await;
        assert!(matches!(read, Err(StoreFault::Damaged(_))), "{change}: {read:?}");
        operator.batch_execute("DELETE FROM blobs; DELETE FROM chunks").await.unwrap();
        write(&ports, &bytes).await;
        is_whole(&ports, digest, &bytes).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_an_old_key_sealed_is_sealed_by_the_newest() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let ring = Keyring::from_text(OLD).unwrap();
    let store = InSchema::with(at(&server.url()), Some(ring)).await;
    let (ports, bytes) = (store.ports(), long());
    for place in 0..300 {
        ports.journal.append(append(Log::Audit, place, &["line"])).await.unwrap();
    }
    ports.journal.snapshot(Log::Audit, 300, Time(1), Bytes::from_static(b"fold")).await.unwrap();
    ports.records.put("kind", "key", Bytes::from_static(b"value"), None, Expect::Anything, Time(1)).await.unwrap();
    let digest = write(&ports, &bytes).await;
    let at_rest = store.store.at_rest();
    assert_eq!(at_rest.counts().await.unwrap().values().sum::<u64>(), 303);
    store.ring.as_ref().unwrap().replace(&Keyring::from_text(&format!("{NEW}\n{OLD}")).unwrap());
    assert_eq!(at_rest.reseal().await.unwrap(), 303);
    assert_eq!(at_rest.reseal().await.unwrap(), 0, "nothing is done twice");
    let counts = at_rest.counts().await.unwrap();
    assert_eq!((counts.len(), counts.values().sum::<u64>()), (1, 303), "{counts:?}");
    // The old key is not needed any more.
    store.ring.as_ref().unwrap().replace(&Keyring::from_text(NEW).unwrap());
    assert_eq!(ports.journal.read(Log::Audit, 0, 1000).await.unwrap().len(), 300);
    assert_eq!(ports.journal.latest(Log::Audit).await.unwrap().unwrap().bytes, "fold");
    assert_eq!(ports.records.get("kind", "key", Time(1)).await.unwrap().unwrap().value, "value");
    is_whole(&ports, digest, &bytes).await;
}
