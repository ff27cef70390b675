//! The sections of the configuration that each component receives, and the few facts of others that it needs.

use super::Config;

use interlingua_access::settings;
use interlingua_endpoint::sections::{AgentDelivery, Around};
use interlingua_model::Text;

impl Config {
    /// What agents and teams are made from.
    pub(crate) fn agent_sections(&self) -> interlingua_agents::settings::Sections<'_> {
        interlingua_agents::settings::Sections {
            models: &self.models,
            agents: &self.agents,
            teams: &self.teams,
            data: self.data(),
            workspace: self.workspace(),
            shared_roots: interlingua_tools::shared_roots(&self.tools, self.data()),
            routed: self.sections().iter().find_map(|(_, section)| section.routes_agents()).unwrap_or(false),
            unknown: self.confirm.unknown.of_agents(),
        }
    }

    /// The same, with whose names they share a hub with.
    pub(super) fn agents_to_check(&self) -> interlingua_agents::settings::Checked<'_> {
        interlingua_agents::settings::Checked {
            models: &self.models,
            agents: &self.agents,
            teams: &self.teams,
            peers: self.peers.keys().map(String::as_str).collect(),
            scripts: self.scripts.keys().map(String::as_str).collect(),
        }
    }

    /// What runs inside the hub.
    pub(crate) fn local_sections(&self) -> interlingua_tools::settings::Sections<'_> {
        interlingua_tools::settings::Sections { tools: &self.tools, scripts: &self.scripts, data: self.data() }
    }

    /// What checks of `access` need of the rest.
    pub(super) fn around_access(&self) -> settings::Around<'_> {
        settings::Around {
            hub_url: self.hub.url.as_deref(),
            asks_certificates: self.tls.as_ref().is_some_and(|tls| tls.clients.is_some()),
            peers: self.peer_names().collect(),
            agents: self.agents.keys().chain(self.teams.keys()).map(String::as_str).collect(),
        }
    }

    /// What sections of protocols need of the rest.
    pub(crate) fn around_protocols(&self) -> Around<'_> {
        Around {
            url: self.hub.url.as_deref(),
            loopback: self.listen.0.ip().is_loopback(),
            anonymous: self.access.anonymous,
            own_files: self.tools != interlingua_tools::settings::Tools::default(),
            peers: self.configured_peers().collect(),
            deliveries: self
                .agents
                .iter()
                .filter_map(|(name, agent)| Some((name.as_str(), delivery(agent)?)))
                .collect(),
        }
    }

    /// Keys that agents and teams are made from.
    pub(crate) fn agent_keys(&self) -> Vec<&'static str> {
        let sections = self.sections();
        let routing = sections.iter().filter(|(_, section)| section.routes_agents().is_some()).map(|(key, _)| *key);
        ["models", "agents", "teams", "tools"].into_iter().chain(routing).collect()
    }

    /// The hub's own address: where the section of a protocol says one, that, else the one for all.
    pub(crate) fn public_url(&self) -> Option<String> {
        let sections = self.sections();
        let url = sections.iter().find_map(|(_, section)| section.url()).or(self.hub.url.as_deref());
        url.map(|url| url.trim_end_matches('/').to_owned())
    }

    /// Names of peers that only those take who prove that they are theirs.
    pub(crate) fn kept_names(&self) -> Vec<Text> {
        self.sections().iter().flat_map(|(_, section)| section.kept_names()).map(Text::from).collect()
    }
}

/// `None`: its own settings say nothing.
fn delivery(agent: &super::Agent) -> Option<AgentDelivery> {
    let delivery =
        AgentDelivery { streams: agent.router.enable_streaming, buffers: agent.router.buffer_partial_responses };
    (delivery != AgentDelivery::default()).then_some(delivery)
}
