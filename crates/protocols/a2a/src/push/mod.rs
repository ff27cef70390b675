//! Push notifications (section 3.5.3, 4.3): a webhook is sent a task's events, in their order, until each is accepted.
//!
//! [`config`] is the webhook, sealed in a record with its delivery position; the queue of a webhook is the task's own journal from there,
//! so nothing is lost with the hub. [`deliver`] delivers to one webhook, [`guard`] refuses internal addresses.
//!
//! Every delivery checks again, by credential and rules, whether the caller that registered the webhook may still read the task, as for its
//! own requests.
//!
//! Deliberately absent: order between two webhooks, and redirects.

mod config;
mod deliver;
mod guard;
mod http;

use std::sync::Arc;

use crate::Version;
use crate::wire::PushConfig;
use interlingua_model::{Fault, FaultKind, Principal, Secret, TaskId, Text};

pub(crate) use self::config::KIND;
pub use self::guard::Private;

use self::config::{Configs, Kept};
use self::http::Webhooks;
use crate::Endpoint;
use interlingua_access::KnownBy;
use interlingua_hub::entropy;

/// How many webhooks one task may tell.
const MAX_CONFIGS: usize = 16;
/// How many bytes one configuration has, all its texts together.
const MAX_CONFIG: usize = 64 * 1024;

/// Where a webhook begins to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// With the task itself.
    Beginning,
    /// With what comes after this entry.
    After(u64),
}

/// Who wants a webhook told, and by what they are known.
#[derive(Debug)]
pub(super) struct Asker<'a> {
    pub(super) by: &'a Principal,
    pub(super) known: KnownBy,
}

/// Webhooks and who tells them.
#[derive(Debug)]
pub struct Push {
    webhooks: Arc<Webhooks>,
}

impl Push {
    pub fn new(hub: &interlingua_hub::Hub) -> Result<Push, Fault> {
        Ok(Push { webhooks: Arc::new(Webhooks::new(hub)?) })
    }

    /// Nothing is begun for a webhook that will not be called.
    pub(super) fn check(&self, shared: &Endpoint, wanted: &PushConfig) -> Result<(), Fault> {
        guard::check_url(&wanted.url, shared.own.settings.load().push_private).map(drop)
    }

    /// Keeps a configuration and begins to tell. The same id replaces the one before.
    pub(super) async fn create(
        &self,
        shared: &Endpoint,
        asker: &Asker<'_>,
        task: TaskId,
        mut wanted: PushConfig,
        version: Version,
        from: From,
    ) -> Result<PushConfig, Fault> {
        self.check(shared, &wanted)?;
        if weight(&wanted) > MAX_CONFIG {
            let text = format!("a configuration has at most {MAX_CONFIG} bytes");
            return Err(Fault::caller(FaultKind::TooLarge, text));
        }
        let configs = Configs::of(&shared.hub);
        let there = configs.list(task).await?;
        let id = wanted.id.take().unwrap_or_else(|| unnamed(version));
        let replaces = there.iter().any(|kept| kept.id == id);
        if !replaces && there.len() >= MAX_CONFIGS {
            let text = format!("a task tells at most {MAX_CONFIGS} webhooks");
            return Err(Fault::caller(FaultKind::InvalidInput, text));
        }
        let kept = Kept::new(id.clone(), asker, &wanted, version, from);
        let revision = if replaces { configs.put(task, &kept).await? } else { configs.add(task, &kept).await? };
        self.tell(shared, task, kept, revision);
        Ok(PushConfig { id: Some(id), task: Some(task.to_string().into()), ..wanted })
    }

    pub(super) async fn get(
        &self,
        shared: &Endpoint,
        task: TaskId,
        id: Option<&Text>,
    ) -> Result<Option<PushConfig>, Fault> {
        let configs = Configs::of(&shared.hub).list(task).await?;
        let found = configs.into_iter().find(|kept| id.is_none_or(|id| kept.id == *id));
        Ok(found.map(|kept| kept.config(task)))
    }

    pub(super) async fn list(&self, shared: &Endpoint, task: TaskId) -> Result<Vec<PushConfig>, Fault> {
        Ok(Configs::of(&shared.hub).list(task).await?.into_iter().map(|kept| kept.config(task)).collect())
    }

    pub(super) async fn delete(&self, shared: &Endpoint, task: TaskId, id: &str) -> Result<(), Fault> {
        Configs::of(&shared.hub).delete(task, id).await
    }

    /// After a start: every webhook that was not told all of its task.
    pub async fn resume(&self, shared: &Endpoint) -> Result<(), Fault> {
        for (task, kept, revision) in Configs::of(&shared.hub).all().await? {
            self.tell(shared, task, kept, revision);
        }
        Ok(())
    }

    fn tell(&self, shared: &Endpoint, task: TaskId, kept: Kept, revision: u64) {
        let delivery = deliver::Delivery {
            hub: shared.hub.clone(),
            access: shared.access.clone(),
            webhooks: self.webhooks.clone(),
            private: shared.own.settings.load().push_private,
            task,
            kept,
            revision,
        };
        shared.hub.spawn_until_stop(delivery.run());
    }
}

fn weight(wanted: &PushConfig) -> usize {
    let secret = |secret: Option<&Secret>| secret.and_then(Secret::text).map_or(0, str::len);
    let authentication = wanted.authentication.as_ref();
    let scheme = authentication.map_or(0, |shown| shown.scheme.len());
    let credentials = secret(authentication.and_then(|shown| shown.credentials.as_ref()));
    wanted.url.len()
        + wanted.id.as_ref().map_or(0, |id| id.len())
        + secret(wanted.token.as_ref())
        + scheme
        + credentials
}

/// What a configuration is called whose sender did not name it. Clients of 0.3 mostly know of one for a task, and set it anew.
fn unnamed(version: Version) -> Text {
    match version {
        Version::V1 => format!("{:032x}", entropy::bits()).into(),
        Version::V03 => "default".into(),
    }
}
