//! Against a real browser and pages of our own that behave as badly as real ones.

mod actions;
mod attacks;
mod bounds;
mod elements;
mod life;
mod models;
mod redesign;
mod sessions;
mod soak;
mod untrusted;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::definition::{Site, Trouble, read};
use interlingua_machines::llm::{Prompt, Reply, Stop};
use interlingua_model::json::Tree;
use interlingua_model::ports::Records;
use interlingua_model::{Fault, Finished, Outcome, PeerId, Principal, Time};
use serde_json::json;

use super::{Advice, Background, Browser, BrowserHost, Sandbox, Settings, SitePeer};
use interlingua_testkit::pages::Pages;

/// A browser with a directory of its own, which is gone afterwards.
pub(super) struct Bench {
    pub(super) browser: Arc<Browser>,
    pub(super) directory: tempfile::TempDir,
}

impl Bench {
    pub(super) fn new() -> Bench {
        Bench::with(|_| {})
    }

    pub(super) fn with(change: impl FnOnce(&mut Settings)) -> Bench {
        let directory = tempfile::tempdir().unwrap();
        let mut settings = Settings::new(directory.path());
        // Tests may run as root.
        settings.sandbox = Sandbox::Off;
        change(&mut settings);
        Bench { browser: Browser::new(settings, background()), directory }
    }

    pub(super) fn site(&self, site: Site) -> SitePeer {
        self.kept(site, Arc::new(House::default()))
    }

    pub(super) fn kept(&self, site: Site, house: Arc<House>) -> SitePeer {
        SitePeer::new(PeerId::from("site"), site, Arc::clone(&self.browser), house)
    }
}

/// A keeper whose model says what it is told to, and notes what it was asked.
#[derive(Debug, Default)]
pub(super) struct House {
    says: Mutex<VecDeque<String>>,
    asked: Mutex<Vec<Prompt>>,
}

impl House {
    pub(super) fn saying<const N: usize>(says: [&str; N]) -> Arc<House> {
        Arc::new(House { says: Mutex::new(says.iter().map(ToString::to_string).collect()), ..House::default() })
    }

    pub(super) fn asked(&self) -> Vec<Prompt> {
        self.asked.lock().unwrap().clone()
    }
}

impl BrowserHost for House {
    fn now(&self) -> Time {
        Time(0)
    }

    fn approves(&self, _: &Principal) -> bool {
        true
    }

    fn records(&self) -> Option<Arc<dyn Records>> {
        None
    }

    fn seal(&self, _: &[u8], plain: &[u8]) -> Option<Vec<u8>> {
        Some(plain.to_vec())
    }

    fn unseal(&self, _: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        Some(sealed.to_vec())
    }

    fn advise(&self, prompt: Prompt) -> Advice<'_> {
        self.asked.lock().unwrap().push(prompt);
        let said = self.says.lock().unwrap().pop_front();
        let reply = |text: String| Reply {
            text: text.into(),
            reasoning: "".into(),
            calls: Vec::new(),
            stop: Stop::Done,
            tokens: None,
        };
        Box::pin(async move { said.map(reply) })
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.browser.stop();
    }
}

pub(super) fn background() -> Background {
    let runtime = tokio::runtime::Handle::current();
    Arc::new(move |work| {
        runtime.spawn(work);
    })
}

/// A site of these actions at this server.
pub(super) fn site(server: &Pages, actions: Tree) -> Site {
    site_at(&server.base(), actions)
}

pub(super) fn site_at(base: &str, actions: Tree) -> Site {
    read(json!({"interface_id": "s", "name": "S", "base_url": base, "description": "d", "actions": actions})).unwrap()
}

pub(super) fn airline(server: &Pages) -> Site {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/site/airline_booking.json");
    let text = std::fs::read_to_string(path).unwrap();
    read(serde_json::from_str(&text.replace("https://www.airline.com", &server.base())).unwrap()).unwrap()
}

pub(super) fn structured(finished: &Finished) -> &Tree {
    assert_eq!(finished.outcome, Outcome::Completed, "{finished:?}");
    finished.output.structured.as_ref().unwrap().tree()
}

pub(super) fn rows(finished: &Finished) -> &Tree {
    &structured(finished)["extracted_data"]
}

/// The fault and its code.
pub(super) fn fault(tried: Result<Finished, Trouble>) -> (Fault, String) {
    match tried.unwrap().outcome {
        Outcome::Failed(fault) => {
            let code = fault.peer_code.clone().unwrap_or_default().to_string();
            (fault, code)
        }
        other => panic!("{other:?}"),
    }
}
