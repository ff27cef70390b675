//! The store on PostgreSQL against the ports' contract, against the model, and with its connections cut.

mod fault;
mod hostile;
mod line;
mod members;
mod opening;
mod sealed;
mod stall;
mod tls;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use interlingua_keys::Keyring;
use interlingua_model::Secret;
use interlingua_model::ports::{SkillIndex, Store};
use interlingua_store_contract::{Driver, contract_names, quota_names};
use interlingua_store_sqlite::Beside;
use interlingua_testkit::{PostgresServer, postgres, skipped};

use super::{Joined, OpenFault, Options, Postgres};

/// The usual options, with this URL.
fn at(url: &str) -> Options {
    Options { url: Secret::new(url), ..Options::default() }
}

/// The index of the embedded store, as the program gives it.
fn index() -> Arc<dyn SkillIndex> {
    let dir = tempfile::tempdir().unwrap();
    Beside::open(dir.path()).unwrap().index.clone()
}

async fn open(options: &Options, ring: Option<&Keyring>) -> Result<Postgres, OpenFault> {
    Joined::join(options).await?.open(ring, index())
}

/// A store in a schema of its own.
struct InSchema {
    options: Options,
    ring: Option<Keyring>,
    store: Postgres,
}

impl InSchema {
    async fn with(options: Options, ring: Option<Keyring>) -> InSchema {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let schema = format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let options = Options { schema, ..options };
        let store = open(&options, ring.as_ref()).await.unwrap();
        InSchema { options, ring, store }
    }

    async fn plain(server: &PostgresServer) -> InSchema {
        InSchema::with(at(&server.url()), None).await
    }

    async fn sealed(server: &PostgresServer) -> InSchema {
        let ring = Keyring::from_text(&"07".repeat(32)).unwrap();
        InSchema::with(at(&server.url()), Some(ring)).await
    }
}

impl Driver for InSchema {
    fn ports(&self) -> Store {
        self.store.ports()
    }

    async fn reopened(self) -> InSchema {
        let InSchema { options, ring, store } = self;
        store.close().await;
        drop(store);
        let store = open(&options, ring.as_ref()).await.unwrap();
        InSchema { options, ring, store }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn k_48_the_whole_contract_holds_on_postgresql() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    contract_names! { in_turn, InSchema::plain(&server).await }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_whole_contract_holds_on_postgresql_with_sealed_values() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    contract_names! { in_turn, InSchema::sealed(&server).await }
}

#[tokio::test(flavor = "multi_thread")]
async fn quotas_hold_on_postgresql() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    quota_names! { quotas_in_turn, InSchema::plain(&server).await }
}

/// The same seeds as for every driver.
#[tokio::test(flavor = "multi_thread")]
async fn k_48_ten_thousand_random_sequences_are_answered_as_the_model_answers() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    interlingua_store_contract::model::compare(InSchema::plain(&server).await.ports(), 0..10_000).await;
}
