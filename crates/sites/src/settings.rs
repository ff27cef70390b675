//! Settings of driven websites, and the section `browser`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::browser::{self, file};
use crate::definition::{self, Site};
use interlingua_model::{PeerId, Schema};
use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_settings::Size;

/// A website that is driven as its definition says.
#[derive(Debug, Clone, PartialEq)]
pub struct SitePeer {
    /// The definition, in YAML or JSON.
    pub file: PathBuf,
    /// What it says. Part of the configuration: a changed definition is a changed peer.
    pub site: Option<Arc<Site>>,
}

impl SitePeer {
    pub fn new(file: impl Into<PathBuf>) -> SitePeer {
        SitePeer { file: file.into(), site: None }
    }

    /// Reads the definition; every problem names file, action and step.
    pub fn read(&mut self) -> Result<(), Vec<String>> {
        self.site = Some(Arc::new(file::read(&self.file)?));
        Ok(())
    }

    /// Inputs of the skills that the definition has, by their names.
    pub fn known_inputs(&self) -> Vec<(String, Schema)> {
        let skills = self.site.iter().flat_map(|site| definition::skills(site, &PeerId::from("site")));
        skills.map(|skill| (skill.id.skill.to_string(), skill.input)).collect()
    }
}

/// The browser for driven websites: the system's Chromium, started when it is first needed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Browser {
    /// The program; `auto` searches the usual places of Chromium and Chrome.
    pub path: PathBuf,
    /// Maximum pages open at the same time; each takes about 60 MB.
    pub contexts: u16,
    /// Maximum idle sessions of all callers, for definitions that keep sessions; one caller has at most half. Each
    /// takes about 60 MB.
    pub sessions: u16,
    /// The model that may choose among a page's elements if nothing else finds the right one, and that reads rows
    /// for definitions that request it. It receives the content of the page. Default: none.
    pub model: Option<String>,
    /// Chromium's own sandbox around pages. It cannot work for root: a hub that runs as root drives no site unless this is
    /// `off`. `INTERLINGUA_BROWSER_SANDBOX=off` in the environment has the same effect.
    pub sandbox: Sandbox,
    /// Memory limit of a page. A page over the limit is ended, and its call fails. All pages together may use four times as
    /// much.
    pub page_memory: Size,
    /// Pages have no window. `false` shows each page in a window on the display of this machine (`DISPLAY` or `WAYLAND_DISPLAY`).
    pub headless: bool,
}

/// Whether Chromium contains its own pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sandbox {
    #[default]
    On,
    Off,
}

/// Switches it off where a configuration is not at hand, as in a container that runs as root.
const SANDBOX: &str = "INTERLINGUA_BROWSER_SANDBOX";

impl Default for Browser {
    fn default() -> Self {
        Browser {
            path: "auto".into(),
            contexts: 8,
            sessions: 16,
            model: None,
            sandbox: Sandbox::On,
            page_memory: Size(1 << 30),
            headless: true,
        }
    }
}

impl Browser {
    /// Numbers that must be more than 0, by their keys.
    pub fn numbers(&self) -> [(&'static str, u64); 3] {
        [
            ("browser.contexts", self.contexts.into()),
            ("browser.sessions", self.sessions.into()),
            ("browser.page_memory", self.page_memory.0),
        ]
    }

    /// Off only where the file or the environment says so.
    pub fn sandboxed(&self) -> browser::Sandbox {
        match (self.sandbox, std::env::var(SANDBOX).as_deref()) {
            (Sandbox::Off, _) | (Sandbox::On, Ok("off")) => browser::Sandbox::Off,
            (Sandbox::On, _) => browser::Sandbox::On,
        }
    }

    /// Whether people at this machine see the pages.
    pub fn shown(&self) -> browser::Shown {
        if self.headless { browser::Shown::Nowhere } else { browser::Shown::InWindows }
    }

    /// The program that is named, if one is.
    pub fn program(&self) -> Option<&Path> {
        (self.path != Path::new("auto")).then_some(self.path.as_path())
    }
}
