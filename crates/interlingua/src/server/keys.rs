//! Key management of a running hub: the source of the outer key, the list of keys, and rotation.
//!
//! Every holder of the ring follows its changes automatically. An old key is never discarded here, because data that it sealed may still be
//! needed. It is removed when that data has been sealed again ([`super::retire`]).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use interlingua_keys::{KeyFault, Keyring, Wrapping, wrapped_text};
use interlingua_model::ports::{AtRest, StoreFault};
use interlingua_model::{Digest, Fault, Secret};
use tokio::io::AsyncReadExt;
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use crate::config::Encryption;
use interlingua_access::{Access, Rules};
use interlingua_endpoint::ports::HeldKeys;
use interlingua_hub::Hub;

/// How long a program may take to print the outer key.
const COMMAND_PATIENCE: Duration = Duration::from_secs(30);
/// No list of keys is longer.
const LONGEST: u64 = 16 * 1024;

/// Why there is no outer key.
#[derive(Debug, thiserror::Error)]
pub enum OuterFault {
    #[error("cannot run {program}: {cause}")]
    NotRun { program: String, cause: std::io::Error },
    #[error("{program} printed no key: it {how}")]
    NoKey { program: String, how: &'static str },
    #[error("{0}")]
    Keys(#[from] KeyFault),
    #[error("the keys could not be kept with the data: {0}")]
    NotKept(StoreFault),
}

/// The outer key, from wherever configuration says.
pub(super) async fn outer(encryption: &Encryption) -> Result<Wrapping, OuterFault> {
    let text = match (&encryption.key, encryption.command.split_first()) {
        (Some(key), _) => Zeroizing::new(key.expose().text().unwrap_or_default().to_owned()),
        (None, Some((program, arguments))) => printed(program, arguments).await?,
        (None, None) => Zeroizing::default(),
    };
    Ok(Wrapping::from_text(&text)?)
}

/// What a program prints. What it says on its standard error is not kept: it may be part of the key.
async fn printed(program: &str, arguments: &[String]) -> Result<Zeroizing<String>, OuterFault> {
    let not_run = |cause| OuterFault::NotRun { program: program.to_owned(), cause };
    let no_key = |how| OuterFault::NoKey { program: program.to_owned(), how };
    let null = std::process::Stdio::null;
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).stdin(null()).stderr(null()).stdout(std::process::Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().map_err(not_run)?;
    let out = child.stdout.take().ok_or_else(|| no_key("has no output"))?;
    let read = async {
        let mut text = Zeroizing::new(String::with_capacity(usize::try_from(LONGEST).unwrap_or_default()));
        out.take(LONGEST).read_to_string(&mut text).await?;
        Ok::<_, std::io::Error>((text, child.wait().await?))
    };
    match tokio::time::timeout(COMMAND_PATIENCE, read).await {
        Err(_) => Err(no_key("took too long")),
        Ok(Err(_)) => Err(no_key("could not be read")),
        Ok(Ok((_, status))) if !status.success() => Err(no_key("failed")),
        Ok(Ok((text, _))) => Ok(text),
    }
}

/// The keys, and the files they are in.
pub struct KeyDesk {
    pub(super) data: PathBuf,
    pub(super) ring: Arc<Keyring>,
    /// Absent when the store is not encrypted.
    pub(super) outer: ArcSwapOption<Wrapping>,
    owner: ArcSwap<Secret>,
    /// What is kept, as it is sealed.
    pub(super) at_rest: Arc<dyn AtRest>,
    /// One change at a time.
    pub(super) turn: Semaphore,
    /// Old keys are being taken out.
    pub(super) retiring: AtomicBool,
}

impl std::fmt::Debug for KeyDesk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KeyDesk({:?})", self.ring)
    }
}

impl KeyDesk {
    pub(super) fn new(
        data: &Path,
        ring: Arc<Keyring>,
        outer: Option<Wrapping>,
        owner: Secret,
        at_rest: Arc<dyn AtRest>,
    ) -> KeyDesk {
        KeyDesk {
            data: data.to_owned(),
            ring,
            outer: ArcSwapOption::from_pointee(outer),
            owner: ArcSwap::from_pointee(owner),
            at_rest,
            turn: Semaphore::new(1),
            retiring: AtomicBool::new(false),
        }
    }

    pub fn held(&self) -> HeldKeys {
        let outer = self.outer.load().as_ref().map(|outer| outer.keys());
        HeldKeys { ring: self.ring.keys(), outer, retiring: self.retiring.load(Ordering::Acquire) }
    }

    /// The Owner's token as it is now.
    pub(super) fn owner(&self) -> Arc<Secret> {
        self.owner.load_full()
    }

    /// A new key, which seals from now on.
    pub async fn rotate(&self, hub: &Hub) -> Result<HeldKeys, Fault> {
        let _turn = self.turn.acquire().await.map_err(Fault::internal)?;
        let (data, outer) = (self.data.clone(), self.outer.load_full());
        let rotated = tokio::task::spawn_blocking(move || match outer {
            Some(outer) => outer.rotate(&data),
            None => Keyring::rotate(&data),
        });
        let ring = rotated.await.map_err(Fault::internal)?.map_err(Fault::internal)?;
        self.keep_ring().await?;
        self.ring.replace(&ring);
        // Nothing else would ever write it again.
        hub.reseal_audit_key().await?;
        Ok(self.held())
    }

    /// A new key signs the audit from now on; the one before it hands over to it.
    pub async fn rotate_audit(&self, hub: &Hub) -> Result<HeldKeys, Fault> {
        let _turn = self.turn.acquire().await.map_err(Fault::internal)?;
        hub.rotate_audit_key().await?;
        Ok(self.held())
    }

    /// Keeps the ring of the file with the data, before anything is sealed by it.
    pub(super) async fn keep_ring(&self) -> Result<(), StoreFault> {
        let data = self.data.clone();
        let read = tokio::task::spawn_blocking(move || wrapped_text(&data)).await;
        match read {
            Ok(Ok(Some(wrapped))) => self.at_rest.keep_ring(wrapped).await,
            // A ring that is not wrapped stays where it is.
            Ok(Ok(None)) => Ok(()),
            Ok(Err(fault)) => Err(StoreFault::Broken(fault.to_string().into())),
            Err(_) => Err(StoreFault::Closed),
        }
    }

    /// Reads the ring again, with this outer key, which wraps it from now on.
    pub(super) async fn read_again(&self, outer: Option<Wrapping>) -> Result<(), OuterFault> {
        let Ok(_turn) = self.turn.acquire().await else { return Ok(()) };
        let data = self.data.clone();
        let read = tokio::task::spawn_blocking(move || match outer {
            Some(outer) => outer.open(&data).map(|opened| (opened.ring, Some(outer))),
            None => Keyring::from_directory(&data).map(|ring| (ring, None)),
        });
        let Ok(read) = read.await else { return Ok(()) };
        let (ring, outer) = read?;
        self.keep_ring().await.map_err(OuterFault::NotKept)?;
        self.ring.replace(&ring);
        self.outer.store(outer.map(Arc::new));
        Ok(())
    }

    /// A new token for the Owner, in the place of the one before it.
    pub async fn rotate_owner(&self, access: &Access) -> Result<HeldKeys, Fault> {
        let _turn = self.turn.acquire().await.map_err(Fault::internal)?;
        let data = self.data.clone();
        let made = tokio::task::spawn_blocking(move || interlingua_access::owner_token::renewed(&data));
        let token = made.await.map_err(Fault::internal)?.map_err(Fault::internal)?;
        let rules = access.rules();
        let mut grants = rules.grants.clone();
        let name = |token: &Secret| Digest::of(token.value().unwrap_or_default());
        if let Some(grant) = grants.remove(&name(&self.owner.load())) {
            grants.insert(name(&token), grant);
        }
        let Rules { certificates, issuers, anonymous, .. } = &*rules;
        let (certificates, issuers) = (certificates.clone(), issuers.clone());
        access.replace(Rules { grants, certificates, issuers, anonymous: *anonymous });
        self.owner.store(Arc::new(token));
        Ok(self.held())
    }
}
