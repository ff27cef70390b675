//! The store that a hub opens, as its configuration says: the data directory, or a database with a directory beside it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use interlingua_hub::entropy;
use interlingua_keys::{Keyring, Wrapping, put_wrapped, wrapped_text};
use interlingua_model::HubId;
use interlingua_model::ports::{AtRest, Condition, Store};
use interlingua_store_postgres::{Joined, Postgres};
use interlingua_store_sqlite::{Beside, Embedded, OpenFault, Options};
use tokio::sync::watch;

use super::run::StartFault;
use crate::config::{Config, PostgresStore};

/// An open store.
#[derive(Debug)]
pub(super) enum OpenStore {
    Embedded(Embedded),
    /// With the lock of the directory beside it.
    Postgres(Box<Postgres>, #[expect(dead_code, reason = "held until it is dropped")] Beside),
}

impl OpenStore {
    pub(super) fn ports(&self) -> Store {
        match self {
            OpenStore::Embedded(store) => store.ports(),
            OpenStore::Postgres(store, _) => store.ports(),
        }
    }

    pub(super) fn condition(&self) -> watch::Receiver<Condition> {
        match self {
            OpenStore::Embedded(store) => store.condition(),
            OpenStore::Postgres(store, _) => store.condition(),
        }
    }

    pub(super) fn at_rest(&self) -> Arc<dyn AtRest> {
        match self {
            OpenStore::Embedded(store) => store.at_rest(),
            OpenStore::Postgres(store, _) => store.at_rest(),
        }
    }

    pub(super) async fn close(&self) {
        match self {
            OpenStore::Embedded(store) => store.close().await,
            OpenStore::Postgres(store, _) => store.close().await,
        }
    }
}

/// A store with what belongs to its data.
pub(super) struct Opened {
    pub(super) store: OpenStore,
    pub(super) ring: Keyring,
    pub(super) id: HubId,
}

pub(super) async fn open(config: &Config, outer: Option<&Wrapping>) -> Result<Opened, StartFault> {
    match &config.store.postgres {
        Some(postgres) => open_postgres(config, postgres, outer).await,
        None => {
            let (store, ring) = open_embedded(config.data(), outer).await?;
            Ok(Opened { store: OpenStore::Embedded(store), ring, id: local_id(config)? })
        }
    }
}

/// A hub that was killed while it started a program lets go of the directory only when that program runs: worth a moment.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(100);

async fn open_embedded(data: &Path, outer: Option<&Wrapping>) -> Result<(Embedded, Keyring), StartFault> {
    for _ in 1..TRIES {
        match open_once(data, outer) {
            Err(StartFault::Store(OpenFault::InUse { .. })) => tokio::time::sleep(PAUSE).await,
            opened => return opened,
        }
    }
    open_once(data, outer)
}

fn open_once(data: &Path, outer: Option<&Wrapping>) -> Result<(Embedded, Keyring), StartFault> {
    let opened = match outer {
        Some(outer) => Embedded::open_sealed(data, Options::default(), outer),
        None => match Embedded::open(data, Options::default()) {
            Ok(store) => return Ok((store, Keyring::from_directory(data)?)),
            Err(fault) => Err(fault),
        },
    };
    opened.map_err(|fault| match fault {
        OpenFault::Sealed { .. } | OpenFault::Keys(_) => StartFault::Encrypted(fault),
        fault => StartFault::Store(fault),
    })
}

async fn open_postgres(
    config: &Config,
    postgres: &PostgresStore,
    outer: Option<&Wrapping>,
) -> Result<Opened, StartFault> {
    let beside = beside(config.data()).await?;
    let mut options = postgres.options().map_err(StartFault::Authority)?;
    beside.lock_id().clone_into(&mut options.lock_id);
    let joined = Joined::join(&options).await.map_err(StartFault::Postgres)?;
    let ring = match outer {
        Some(outer) => shared_ring(&joined, config.data(), outer).await?,
        // The check of the configuration asks for encryption; a program that embeds the hub may do without.
        None => Keyring::from_directory(config.data())?,
    };
    let id = shared_id(config, &joined).await?;
    let sealing = outer.is_some().then_some(&ring);
    let store = joined.open(sealing, beside.index.clone()).map_err(StartFault::Postgres)?;
    Ok(Opened { store: OpenStore::Postgres(Box::new(store), beside), ring, id })
}

async fn beside(data: &Path) -> Result<Beside, StartFault> {
    for _ in 1..TRIES {
        match Beside::open(data) {
            Err(OpenFault::InUse { .. }) => tokio::time::sleep(PAUSE).await,
            opened => return opened.map_err(StartFault::Store),
        }
    }
    Beside::open(data).map_err(StartFault::Store)
}

/// The ring is kept in the database, wrapped; the file in the directory is a copy of it. A directory that is lost takes no key
/// with it.
async fn shared_ring(joined: &Joined, data: &Path, outer: &Wrapping) -> Result<Keyring, StartFault> {
    let kept = joined.ring().await.map_err(StartFault::Postgres)?;
    match &kept {
        Some(wrapped) => put_wrapped(data, wrapped)?,
        // A new ring would open nothing of what is there.
        None if wrapped_text(data)?.is_none() && !joined.is_empty().await.map_err(StartFault::Postgres)? => {
            return Err(StartFault::Postgres(interlingua_store_postgres::OpenFault::KeysGone));
        }
        None => {}
    }
    let ring = outer.open(data)?.ring;
    // Everything in such a database is sealed from its beginning.
    if !outer.opens(data)? {
        outer.settle(data)?;
    }
    let wrapped = wrapped_text(data)?;
    if kept != wrapped {
        joined.keep_ring(wrapped.as_deref().unwrap_or_default()).await.map_err(StartFault::Postgres)?;
    }
    Ok(ring)
}

/// The database's own id, which the configuration must agree with.
async fn shared_id(config: &Config, joined: &Joined) -> Result<HubId, StartFault> {
    let proposed = config.hub.id.clone().unwrap_or_else(new_id);
    let kept = joined.hub_id(&proposed).await.map_err(StartFault::Postgres)?;
    match &config.hub.id {
        Some(configured) if *configured != kept => Err(StartFault::OtherHub { configured: configured.clone(), kept }),
        Some(_) | None => Ok(HubId::from(kept)),
    }
}

/// Configured, else made once and kept in the data directory: peers know the hub by it.
fn local_id(config: &Config) -> Result<HubId, StartFault> {
    if let Some(id) = &config.hub.id {
        return Ok(HubId::from(id.as_str()));
    }
    let path = config.data().join("hub.id");
    let failed = |cause| StartFault::File { path: path.clone(), cause };
    match std::fs::read_to_string(&path) {
        Ok(id) if !id.trim().is_empty() => Ok(HubId::from(id.trim())),
        Ok(_) | Err(_) => {
            let id = new_id();
            write_whole(&path, &id).map_err(failed)?;
            Ok(HubId::from(id))
        }
    }
}

fn new_id() -> String {
    format!("{:016x}", entropy::bits() >> 64)
}

/// Whole or not at all, also through a power cut.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let part = path.with_extension("new");
    let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
    // The mode above is for a new file; one that is there may have been opened to others.
    file.set_permissions(PermissionsExt::from_mode(0o600))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&part, path)?;
    std::fs::File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}
