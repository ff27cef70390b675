//! Live reload of the configuration: applied as a whole or not at all.
//!
//! Everything that can be refused is made first: certificates, peers, the workspace. Then the change takes effect. Running exchanges end
//! with the settings they began with, but a caller that the new rules forbid receives nothing more of them. A change that a running hub
//! cannot apply (its address, its store) is refused as a whole.

use std::sync::Arc;

use interlingua_model::json::set_most_values;
use interlingua_model::{Fault, PeerId};

use super::keys::{self, OuterFault};
use super::peers;
use super::run::{
    Server, admission_limits, answer_limits, bounds, certificate, holding_limits, limit_rules, purge_rules, settings,
    values,
};
use crate::config::diff::{Changes, PeerChange, diff};
use crate::config::{Config, Loaded, Rejected};
use crate::endpoints::AllSettings;
use interlingua_access::issuers::Issuers;
use interlingua_access::rights;
use interlingua_endpoint::protocol::SettingsFault;
use interlingua_hub::audit::AuditLine;
use interlingua_net::tls::TlsFault;

/// Why a configuration was not applied. The one before it stays.
#[derive(Debug, thiserror::Error)]
pub enum ReloadFault {
    #[error("{0}")]
    Rejected(#[from] Rejected),
    #[error("a running hub cannot change {}: restart it", .0.join(", "))]
    Restart(Vec<&'static str>),
    #[error("tls: {0}")]
    Tls(#[from] TlsFault),
    #[error("{0}")]
    Settings(#[from] SettingsFault),
    #[error("store.encryption: {0}")]
    Outer(#[from] OuterFault),
    #[error("{0}")]
    Fault(#[from] Fault),
}

impl Server {
    /// Applies what was loaded, and says so in the log and in the metrics, as it says why it did not.
    pub async fn reload(&mut self, loaded: Result<Loaded, Rejected>) -> Result<Changes, ReloadFault> {
        let applied = match loaded {
            Ok(loaded) => {
                for warning in &loaded.warnings {
                    tracing::warn!(event = "config_warning", problem = %warning, "the configuration has a problem");
                }
                self.apply(loaded.config).await
            }
            Err(rejected) => Err(rejected.into()),
        };
        let meters = self.hub.meters();
        let line = AuditLine::new("reload", "hub").on("configuration");
        self.hub.write_audit(if applied.is_ok() { line } else { line.outcome("refused") });
        match &applied {
            Ok(changes) => {
                meters.config_reloads.increment(1);
                meters.config_current.set(1.0);
                tracing::info!(event = "config_applied", changed = changes.live.join(" "), "configuration applied");
            }
            Err(fault) => {
                meters.config_reload_failures.increment(1);
                meters.config_current.set(0.0);
                tracing::error!(event = "config_refused", error = %fault, "configuration not applied; the previous one stays");
            }
        }
        applied
    }

    async fn apply(&mut self, new: Config) -> Result<Changes, ReloadFault> {
        let changes = diff(&self.config, &new);
        if !changes.restart.is_empty() {
            return Err(ReloadFault::Restart(changes.restart));
        }
        // Read again whatever the paths: a certificate is renewed in place.
        let tls = certificate(&new)?;
        let settings = AllSettings::new(&self.hub, &new)?;
        let hooks = interlingua_hooks::prepare(&self.hub, &new.hooks)?;
        let wanted = changes.peers.iter().filter(|(_, change)| *change != PeerChange::Removed);
        let mut prepared = Vec::new();
        for (name, peer) in wanted.filter_map(|(name, _)| Some((name, new.peers.get(name)?))) {
            prepared.push(peers::prepare(&self.peers, name, peer).await?);
        }
        let roster = self.peers.roster(&new)?;
        let mut issuers = self.shared.access.rules().issuers.clone();
        if changes.live.contains(&"access") {
            issuers = Arc::new(Issuers::start(
                &self.hub,
                &new.access,
                new.hub.url.as_deref(),
                &issuers,
                &self.shared.access.changed(),
            )?);
        }
        if changes.live.contains(&"tools") {
            interlingua_tools::register(&self.hub, self.peers.lent.clone(), new.local_sections()).await?;
        }
        let outer = match &new.store.encryption {
            Some(encryption) => Some(keys::outer(encryption).await?),
            None => None,
        };
        self.keys.desk.read_again(outer).await?;
        // From here on only the store can fail.
        for peer in prepared {
            peer.register(&self.hub).await?;
        }
        for (name, _) in changes.peers.iter().filter(|(_, change)| *change == PeerChange::Removed) {
            self.hub.unregister(&PeerId::from(name.as_str())).await?;
        }
        let agent_keys = new.agent_keys();
        if changes.live.iter().any(|key| agent_keys.contains(key)) {
            roster.register(&self.hub).await?;
            let (old, kept) = (&self.config, |name: &&String| {
                !new.agents.contains_key(*name) && !new.teams.contains_key(*name) && !new.peers.contains_key(*name)
            });
            for name in old.agents.keys().chain(old.teams.keys()).filter(kept) {
                self.hub.unregister(&PeerId::from(name.as_str())).await?;
            }
            self.peers.listen(&new).await?;
        }
        peers::forget_tokens(&self.hub, &new).await?;
        self.hub.hooks().rcu(|all| all.replaced(&self.hooks, &hooks));
        self.hooks = Arc::new(hooks);
        self.tls.store(tls);
        self.shared.url.store(new.public_url().map(Arc::new));
        self.endpoints.apply(settings, &changes.live);
        self.take_effect(&new, &changes, issuers);
        self.config = new;
        Ok(changes)
    }

    fn take_effect(&self, new: &Config, changes: &Changes, issuers: Arc<Issuers>) {
        // A program that embeds the hub may have set others.
        if settings(&self.config) != settings(new) {
            self.hub.set_settings(settings(new));
        }
        self.hub.admission().set_limits(admission_limits(new));
        self.hub.limits().set(limit_rules(new));
        self.hub.answers().set(answer_limits(new));
        self.hub.holdings().set(holding_limits(new));
        set_most_values(values(new));
        if changes.live.contains(&"access") {
            // A yes was given under the rules of its time: it does not outlive them.
            self.hub.set_policy(rights::policy(&new.access));
        }
        self.shared.access.set_session_rules(new.console.rules());
        // Last of these: whoever is connected is asked again by all of them.
        let owner = self.keys.desk.owner();
        self.shared.access.replace(rights::rules(&new.access, &owner, issuers));
        self.shared.bounds.store(Arc::new(bounds(new)));
        self.shared.room.resize(new.limits.bodies.0);
        self.retention.store(Arc::new(purge_rules(new)));
    }
}
