//! What each component is given of a configuration: its own sections, and the few facts of others that it needs.

use super::Config;

use interlingua_access::settings;

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
            nlip: self.nlip.agents,
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

    pub(crate) fn mcp_settings(&self) -> interlingua_mcp::inbound::Settings {
        let own_files = self.tools != interlingua_tools::settings::Tools::default();
        interlingua_mcp::inbound::Settings::new(&self.mcp, own_files, self.configured_peers())
    }

    pub(crate) fn a2a_settings(&self) -> interlingua_a2a::Settings {
        interlingua_a2a::Settings::new(&self.a2a, self.access.anonymous, self.hub.url.as_deref())
    }
}
