//! The records port: revisions, compare-and-set and expiry.

use bytes::Bytes;
use interlingua_model::id::Time;
use interlingua_model::ports::*;

pub async fn a_record_that_is_rewritten_keeps_its_revision_and_its_expiry(store: Store) {
    let put = |value: &'static str, expect| {
        store.records.put("kind", "key", Bytes::from(value), Some(Time(100)), expect, Time(1))
    };
    let first = put("one", Expect::Absent).await.unwrap();
    assert!(store.records.rewrite("kind", "key", Bytes::from("the same"), first).await.unwrap());
    let found = store.records.get("kind", "key", Time(1)).await.unwrap().unwrap();
    assert_eq!((&found.value[..], found.revision, found.expires), (&b"the same"[..], first, Some(Time(100))));
    // Who read it before writes on as if nothing had happened; who would rewrite what that one wrote does not.
    put("two", Expect::Revision(first)).await.unwrap();
    assert!(!store.records.rewrite("kind", "key", Bytes::from("old"), first).await.unwrap());
    assert!(!store.records.rewrite("kind", "other", Bytes::from("new"), first).await.unwrap());
    assert_eq!(store.records.get("kind", "key", Time(1)).await.unwrap().unwrap().value, "two");
    assert_eq!(store.records.get("kind", "other", Time(1)).await.unwrap(), None);
}

async fn put(
    store: &Store,
    key: &str,
    value: &'static str,
    expires: Option<u64>,
    expect: Expect,
) -> Result<u64, StoreFault> {
    store.records.put("kind", key, Bytes::from(value), expires.map(Time), expect, Time(1000)).await
}

pub async fn a_record_is_put_where_it_is_expected(store: Store) {
    let first = put(&store, "k", "one", None, Expect::Absent).await.unwrap();
    assert!(
        matches!(put(&store, "k", "x", None, Expect::Absent).await, Err(StoreFault::Moved { expected: 0, found }) if found == first)
    );
    let second = put(&store, "k", "two", None, Expect::Revision(first)).await.unwrap();
    assert!(
        matches!(put(&store, "k", "x", None, Expect::Revision(first)).await, Err(StoreFault::Moved { found, .. }) if found == second)
    );
    assert!(matches!(
        put(&store, "new", "x", None, Expect::Revision(1)).await,
        Err(StoreFault::Moved { found: 0, .. })
    ));
    put(&store, "k", "three", None, Expect::Anything).await.unwrap();
    let found = store.records.get("kind", "k", Time(0)).await.unwrap().unwrap();
    assert_eq!((&*found.key, found.value), ("k", Bytes::from("three")));
    assert_eq!(store.records.get("other", "k", Time(0)).await.unwrap(), None);
}

pub async fn a_revision_is_never_given_twice(store: Store) {
    let first = put(&store, "k", "one", None, Expect::Absent).await.unwrap();
    store.records.take("kind", "k", Time(0)).await.unwrap();
    let second = put(&store, "k", "one", None, Expect::Absent).await.unwrap();
    assert!(second > first);
    assert!(put(&store, "k", "two", None, Expect::Revision(first)).await.is_err());
}

pub async fn an_expired_record_is_gone(store: Store) {
    put(&store, "short", "v", Some(2000), Expect::Anything).await.unwrap();
    put(&store, "long", "v", None, Expect::Anything).await.unwrap();
    assert!(store.records.get("kind", "short", Time(1999)).await.unwrap().is_some());
    assert!(store.records.get("kind", "short", Time(2000)).await.unwrap().is_none());
    assert!(store.records.take("kind", "short", Time(2000)).await.unwrap().is_none());
    for key in 0..1100 {
        put(&store, &format!("s{key}"), "v", Some(1500), Expect::Anything).await.unwrap();
    }
    store.records.put("zone", "z", Bytes::new(), Some(Time(1500)), Expect::Absent, Time(0)).await.unwrap();
    assert_eq!(store.records.count("kind", Time(1499)).await.unwrap(), 1101);
    assert_eq!(store.records.count("kind", Time(1500)).await.unwrap(), 1);
    assert_eq!(store.records.list("kind", None, 10, Time(1500)).await.unwrap().len(), 1);
    assert_eq!(store.records.expire(Time(1500)).await.unwrap(), 1101);
    assert_eq!(store.records.count("kind", Time(0)).await.unwrap(), 1);
}

pub async fn a_record_is_taken_once(store: Store) {
    put(&store, "secret", "v", None, Expect::Absent).await.unwrap();
    let takes = (0..16).map(|_| store.records.take("kind", "secret", Time(0)));
    let taken = futures_util::future::join_all(takes).await;
    assert_eq!(taken.into_iter().filter(|item| item.as_ref().unwrap().is_some()).count(), 1);
}

pub async fn records_are_listed_in_key_order(store: Store) {
    for key in ["b", "c", "a", ""] {
        put(&store, key, "v", None, Expect::Absent).await.unwrap();
    }
    let keys = async |after: Option<&'static str>, limit| {
        let page = store.records.list("kind", after, limit, Time(0)).await.unwrap();
        page.iter().map(|item| item.key.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(keys(None, 10).await, ["", "a", "b", "c"]);
    assert_eq!(keys(Some("a"), 1).await, ["b"]);
    assert_eq!(keys(Some("c"), 1).await, [""; 0]);
}
