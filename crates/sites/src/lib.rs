//! Driven websites as peers of the hub: the last resort of a route, where no other peer offers the same.
//!
//! There is no protocol here. The definition is read with the configuration, all sites share one browser, and [`crate::browser`] runs it. A
//! definition that changes on disk is a changed configuration: the peer is replaced whole, and running calls end with the definition they
//! began with.

pub mod browser;
pub mod definition;
#[doc(hidden)]
pub mod fuzzing;
pub mod keeper;
mod sessions;
pub mod settings;

pub use sessions::Sites;

use std::path::Path;
use std::sync::Arc;

use crate::browser::proxy::{Looking, Lookup};
use crate::browser::{Background, Browser, Sandbox, Settings, SitePeer};
use crate::definition::Site;
use interlingua_model::address::Origin;
use interlingua_model::{
    Card, CardFrom, CardSource, Fault, FaultKind, Health, PeerId, Provider, RouteClass, Skill, Text,
};

use interlingua_hub::Hub;
use interlingua_hub::listeners::Listeners;
use interlingua_settings::Peer;

use keeper::HubKeeper;

/// Where the browser's processes keep what they need, in the data directory.
const DIRECTORY: &str = "browser";
/// All pages together may take as much memory as so many of the largest.
const PAGES: u64 = 4;

/// Makes the hub's browser. Nothing is started before a site is called. `data`: the hub's data directory. `driven`: there are
/// sites.
pub fn open(sites: &Sites, hub: &Arc<Hub>, data: &Path, config: &settings::Browser, driven: bool) {
    let mut settings = Settings::new(data.join(DIRECTORY));
    settings.path = config.program().map(Into::into);
    settings.contexts = config.contexts.into();
    settings.sessions = config.sessions.into();
    settings.page_memory = config.page_memory.0;
    settings.memory = settings.page_memory.saturating_mul(PAGES);
    settings.sandbox = config.sandboxed();
    settings.shown = config.shown();
    if driven && settings.sandbox == Sandbox::Off {
        tracing::warn!(
            event = "browser_without_sandbox",
            "browser.sandbox is off: a page that escapes Chromium has the rights of the hub"
        );
    }
    let supervisor = hub.supervisor().clone();
    // All of it ends with the hub: the pipe closes, and with it the browser.
    let background: Background = Arc::new(move |work| supervisor.run_until_stop(work));
    let browser = Browser::new(settings, background);
    let (stopping, ending) = (hub.stopping().clone(), Arc::clone(&browser));
    hub.spawn(async move {
        stopping.cancelled().await;
        ending.stop();
    });
    sites.set(browser, HubKeeper::new(hub, config.model.as_deref().map(Into::into)));
}

/// A peer that is made and can be registered.
#[derive(Debug)]
pub struct Prepared {
    card: Card,
    peer: Arc<SitePeer>,
}

pub fn prepare(
    sites: &Sites,
    hub: &Arc<Hub>,
    name: &str,
    config: &Peer,
    site: &settings::SitePeer,
) -> Result<Prepared, Fault> {
    let missing = |what: &str| Fault::hub(FaultKind::Internal, format!("the site {name} has no {what}"));
    let definition = site.site.as_ref().ok_or_else(|| missing("definition"))?;
    let opened = sites.opened().ok_or_else(|| missing("browser"))?;
    let id = PeerId::from(name);
    let site = limited(definition, config);
    let peer = SitePeer::new(id.clone(), site, opened.browser.clone(), opened.keeper.clone());
    let peer = Arc::new(peer.looking_up(Arc::new(Outside(hub.listeners().clone()))));
    let skills = peer.skills().into_iter().filter(|skill| config.offers(skill.id.skill.as_str()));
    let skills = skills.map(|skill| offered(skill, config)).collect();
    Ok(Prepared { card: card(id, config, definition, skills, hub), peer })
}

impl Prepared {
    /// Adds the peer, or replaces it whole.
    pub async fn register(self, hub: &Arc<Hub>) -> Result<(), Fault> {
        hub.register(self.card, self.peer).await
    }
}

/// Where hosts are, without the hub's own doors: a page must not reach them by a name that leads there. A definition that spells
/// them out as a number means it.
struct Outside(Listeners);

impl Lookup for Outside {
    fn look_up(&self, host: &str, port: u16) -> Looking {
        let (host, listeners) = (host.to_owned(), self.0.clone());
        Box::pin(async move {
            let found: Vec<_> = tokio::net::lookup_host((host.as_str(), port)).await?.collect();
            let literal = Origin { secure: false, host, port }.is_literal();
            Ok(found.into_iter().filter(|address| literal || !listeners.include(*address)).collect())
        })
    }
}

/// No sequence takes longer than configuration lets a call of this peer take.
fn limited(definition: &Site, config: &Peer) -> Site {
    let mut site = definition.clone();
    if let Some(timeout) = config.timeout {
        site.actions.values_mut().for_each(|action| action.limit = action.limit.min(timeout.0));
    }
    site
}

fn offered(mut skill: Skill, config: &Peer) -> Skill {
    skill.public = config.public;
    skill.effects = config.said_of(skill.id.skill.as_str()).unwrap_or(skill.effects);
    let name = skill.id.skill.clone();
    config.phrased(name.as_str(), skill).sealed()
}

fn card(peer: PeerId, config: &Peer, site: &Site, skills: Vec<Skill>, hub: &Hub) -> Card {
    let said = |own: &Option<String>, otherwise: &Text| own.as_deref().map_or_else(|| otherwise.clone(), Text::from);
    Card {
        peer,
        title: said(&config.title, &site.name),
        description: said(&config.description, &site.description),
        version: site.version.clone(),
        class: RouteClass::DrivenSite,
        // By the name and host of the site it is found too.
        provider: Some(Provider { name: site.id.clone(), url: Some(site.base.to_string().into()), contact: None }),
        skills,
        resources: Vec::new(),
        sources: vec![CardSource { from: CardFrom::Configuration, digest: site.digest }],
        health: Health::Up,
        telemetry: None,
        seen: hub.now(),
        raw: None,
    }
}
