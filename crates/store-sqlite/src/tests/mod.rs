//! The embedded store against the ports' contract, and under load, on full and damaged disks, and after power cuts.

mod embedded;
mod million;
mod powercut;
mod sealed;

use std::path::Path;

use interlingua_model::ports::Store;
use interlingua_store_contract::Driver;

use super::{Embedded, Options};
use interlingua_keys::Wrapping;

fn open(dir: &Path) -> Embedded {
    Embedded::open(dir, Options::default()).unwrap()
}

/// The outer key of the encrypted stores here.
const OUTER: &str = "0909090909090909090909090909090909090909090909090909090909090909";

fn open_sealed(dir: &Path) -> Embedded {
    Embedded::open_sealed(dir, Options::default(), &Wrapping::from_text(OUTER).unwrap()).unwrap().0
}

/// A store in a directory that goes with it.
struct InDirectory {
    dir: tempfile::TempDir,
    store: Embedded,
    open: fn(&Path) -> Embedded,
}

impl InDirectory {
    fn new(open: fn(&Path) -> Embedded) -> InDirectory {
        let dir = tempfile::tempdir().unwrap();
        InDirectory { store: open(dir.path()), dir, open }
    }
}

impl Driver for InDirectory {
    fn ports(&self) -> Store {
        self.store.ports()
    }

    async fn reopened(self) -> InDirectory {
        self.store.close().await;
        drop(self.store);
        InDirectory { store: (self.open)(self.dir.path()), ..self }
    }
}

async fn on_a_new_one(test: impl AsyncFnOnce(InDirectory)) {
    test(InDirectory::new(open)).await;
}

async fn on_an_encrypted_one(test: impl AsyncFnOnce(InDirectory)) {
    test(InDirectory::new(open_sealed)).await;
}

mod contract {
    interlingua_store_contract::whole_contract!(super::on_a_new_one);
}

mod encrypted {
    interlingua_store_contract::whole_contract!(super::on_an_encrypted_one);
}

mod held {
    interlingua_store_contract::quotas!(super::on_a_new_one);
}

/// The same seeds for every driver.
#[tokio::test(flavor = "multi_thread")]
async fn k_48_ten_thousand_random_sequences_are_answered_as_the_model_answers() {
    on_a_new_one(async |driver| interlingua_store_contract::model::compare(driver.ports(), 0..10_000).await).await;
}
