//! Scripted agents: their replies are written in a file. They serve demonstrations, tests of a client, and conformance kits that need an
//! agent whose behaviour a message selects.
//!
//! [`mod@file`] is the form of the file, [`play`] an exchange that follows it.

mod file;
mod play;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;
use interlingua_model::peer::{Calling, Dispatch, Peer, Reply};
use interlingua_model::{CardFrom, Effects, Fault, FaultKind, PeerId, Schema, Skill, SkillId, SkillKind};
use serde_json::json;

use self::file::Script;
use self::play::Playing;
use interlingua_hub::Hub;

/// An agent that follows a file.
#[derive(Debug)]
struct Scripted {
    peer: PeerId,
    script: Arc<Script>,
}

/// Registers every agent that configuration gives a script.
pub(super) async fn register(hub: &Arc<Hub>, scripts: &IndexMap<String, PathBuf>) -> Result<(), Fault> {
    for (name, path) in scripts {
        let script = Arc::new(read(path)?);
        let peer = PeerId::from(name.as_str());
        let title = script.title.clone().unwrap_or_else(|| name.clone());
        let card =
            super::card(peer.clone(), &title, script.description.clone(), vec![skill(&peer, &script)], hub.now());
        hub.register(card, Arc::new(Scripted { peer, script })).await?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<Script, Fault> {
    let wrong = |text: String| Fault::hub(FaultKind::InvalidInput, format!("{}: {text}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    serde_saphyr::from_str(&text).map_err(|error| wrong(error.to_string()))
}

/// Reading its lines again changes nothing.
fn skill(peer: &PeerId, script: &Script) -> Skill {
    let effects = Effects::reads_only(CardFrom::Configuration);
    let schema = Schema(json!({"type": "object"}).into());
    let id = SkillId::new(peer.clone(), "chat");
    let mut skill = Skill::new(id, SkillKind::Agent, script.description.as_str(), schema, effects);
    skill.public = script.public;
    skill.takes = script.takes.iter().map(|media| media.as_str().into()).collect();
    skill.sealed()
}

impl Peer for Scripted {
    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        Box::pin(
            async move { Ok(Reply::Live(Box::new(Playing::begin(&self.peer, self.script.clone(), &dispatch.call)))) },
        )
    }
}
