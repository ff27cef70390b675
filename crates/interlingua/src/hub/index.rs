//! The registry as the rest of the hub uses it: registering a peer also puts its skills into the full-text index.

use std::sync::Arc;

use interlingua_core::peer::Peer;
use interlingua_core::ports::Indexed;
use interlingua_core::{Card, Fault, PeerId, Skill};

use super::Hub;
use super::audit::AuditLine;

impl Hub {
    /// Adds a peer or replaces it whole.
    pub async fn register(&self, card: Card, peer: Arc<dyn Peer>) -> Result<(), Fault> {
        let indexed = card.skills.iter().map(indexed).collect();
        self.store.index.replace(card.peer.as_str(), indexed).await?;
        let line = AuditLine::new("register", "hub").on(&card.peer);
        self.registry.register(card, peer)?;
        self.audit.write(line);
        Ok(())
    }

    pub async fn unregister(&self, peer: &PeerId) -> Result<bool, Fault> {
        self.store.index.replace(peer.as_str(), Vec::new()).await?;
        let found = self.registry.unregister(peer)?;
        if found {
            self.audit.write(AuditLine::new("unregister", "hub").on(peer));
        }
        Ok(found)
    }
}

/// What of a skill can be found by words.
fn indexed(skill: &Skill) -> Indexed {
    let words = skill.tags.iter().chain(&skill.examples).map(|text| &**text);
    let patterns = skill.phrases.iter().map(|phrase| &*phrase.pattern);
    let extras = skill.category.iter().chain(&skill.capability).map(|text| &**text);
    let keywords: Vec<&str> = words.chain(patterns).chain(extras).collect();
    Indexed {
        skill: skill.id.to_string().into(),
        title: skill.title.clone(),
        description: skill.description.clone(),
        keywords: keywords.join(" ").into(),
    }
}
