//! The blobs port: bytes under their digest.

use std::time::Duration;

use bytes::Bytes;
use interlingua_model::digest::Digest;
use interlingua_model::ports::*;

async fn write_blob(store: &Store, pieces: &[&[u8]]) -> BlobInfo {
    let mut writer = store.blobs.create().await.unwrap();
    for piece in pieces {
        writer.write(Bytes::copy_from_slice(piece)).await.unwrap();
    }
    writer.finish().await.unwrap()
}

pub async fn a_blob_is_what_was_written(store: Store) {
    let info = write_blob(&store, &[b"hello ", b"world"]).await;
    assert_eq!(info, BlobInfo { digest: Digest::of(b"hello world"), len: 11 });
    assert_eq!(store.blobs.info(info.digest).await.unwrap(), Some(info));
    assert_eq!(store.blobs.read(info.digest, 6, 3).await.unwrap(), "wor");
    assert_eq!(store.blobs.read(info.digest, 9, 100).await.unwrap(), "ld");
    assert_eq!(store.blobs.read(info.digest, 11, 100).await.unwrap(), "");
    assert_eq!(store.blobs.read(info.digest, u64::MAX, 100).await.unwrap(), "");
    assert_eq!(write_blob(&store, &[b"hello world"]).await, info);
    let empty = write_blob(&store, &[]).await;
    assert_eq!(store.blobs.read(empty.digest, 0, 1).await.unwrap(), "");
    assert!(matches!(store.blobs.read(Digest::of(b"?"), 0, 1).await, Err(StoreFault::Missing(_))));
}

pub async fn a_blob_given_up_leaves_nothing(store: Store) {
    let mut writer = store.blobs.create().await.unwrap();
    writer.write(Bytes::from("half")).await.unwrap();
    drop(writer);
    assert_eq!(store.blobs.info(Digest::of(b"half")).await.unwrap(), None);
    assert_eq!(store.blobs.retain(0).await.unwrap(), 0);
}

pub async fn the_oldest_blobs_go_first(store: Store) {
    let mut infos = Vec::new();
    for text in [b"first1", b"second", b"third3"] {
        infos.push(write_blob(&store, &[text]).await);
        // File times are as coarse as the kernel's tick.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // Stored again: young again.
    write_blob(&store, &[b"first1"]).await;
    assert_eq!(store.blobs.retain(18).await.unwrap(), 0);
    assert_eq!(store.blobs.retain(12).await.unwrap(), 6);
    assert_eq!(store.blobs.info(infos[1].digest).await.unwrap(), None);
    assert!(store.blobs.info(infos[0].digest).await.unwrap().is_some());
    assert!(store.blobs.info(infos[2].digest).await.unwrap().is_some());
}
