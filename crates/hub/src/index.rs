//! Registration of peers with the full-text index: registering a peer also indexes its skills.

use std::sync::Arc;
use std::time::Duration;

use interlingua_machines::words;
use interlingua_model::peer::Peer;
use interlingua_model::ports::{Hit, Indexed, StoreFault};
use interlingua_model::{Card, Fault, Kinds, PeerId, Skill, Text};

use super::Hub;
use super::audit::AuditLine;
use super::registry::Change;

/// How many values of enumerations a skill is found by.
const MAX_VALUES: usize = 64;
/// How long a search waits for peers that are being indexed. A store that hangs holds up nobody for longer.
const INDEX_PATIENCE: Duration = Duration::from_secs(2);

impl Hub {
    /// Adds a peer or replaces it whole.
    pub async fn register(&self, card: Card, peer: Arc<dyn Peer>) -> Result<(), Fault> {
        let line = AuditLine::new("register", "hub").on(&card.peer);
        let id = card.peer.clone();
        let _indexing = self.indexing.read().await;
        let changed = self.registry.register(card, peer)?;
        // As it is listed now: a skill that was closed is not found by words.
        let catalogue = self.registry.catalogue();
        let skills = catalogue.peers.get(&id).map(|registered| &*registered.card.skills).unwrap_or_default();
        self.store.index.replace(id.as_str(), skills.iter().map(indexed).collect()).await?;
        self.audit.write(line);
        self.news.changed(id, changed);
        Ok(())
    }

    /// Registers many peers at once: they can be called when `placed` runs; a search by words waits until they are indexed.
    pub async fn register_all(&self, changes: Vec<Change>, placed: impl FnOnce()) -> Result<(), Fault> {
        let lines: Vec<(&'static str, PeerId)> = changes.iter().map(written).collect();
        let _indexing = self.indexing.read().await;
        let changed = self.registry.apply(changes);
        placed();
        let catalogue = self.registry.catalogue();
        for ((action, _), (peer, kinds)) in lines.into_iter().zip(changed?) {
            // Health and telemetry come and go all the time; the audit is of what can be called.
            if kinds == Kinds::default() {
                continue;
            }
            let skills = catalogue.peers.get(&peer).map(|registered| &*registered.card.skills).unwrap_or_default();
            self.store.index.replace(peer.as_str(), skills.iter().map(indexed).collect()).await?;
            self.audit.write(AuditLine::new(action, "hub").on(&peer));
            self.news.changed(peer, kinds);
        }
        Ok(())
    }

    /// Searches the index for skills, best first. It waits for a peer that is listed but not indexed yet: else a caller that has just seen
    /// it would learn that it has no such skill.
    pub(crate) async fn search_index(&self, words: &str, limit: usize) -> Result<Vec<Hit>, StoreFault> {
        // Only to wait for those that hold it: what is registered after this search began need not be found by it.
        drop(tokio::time::timeout(INDEX_PATIENCE, self.indexing.write()).await);
        self.store.index.search(words, limit).await
    }

    /// Removes a peer: it is not listed, found or called any more. False when there was none.
    pub async fn unregister(&self, peer: &PeerId) -> Result<bool, Fault> {
        self.store.index.replace(peer.as_str(), Vec::new()).await?;
        let Some(changed) = self.registry.unregister(peer)? else { return Ok(false) };
        self.audit.write(AuditLine::new("unregister", "hub").on(peer));
        self.news.changed(peer.clone(), changed);
        Ok(true)
    }
}

/// What the audit says of a change.
fn written(change: &Change) -> (&'static str, PeerId) {
    match change {
        Change::Put(card, _) => ("register", card.peer.clone()),
        Change::Remove(peer) => ("unregister", peer.clone()),
    }
}

/// What of a skill can be found by words. The hub's own skills are found by their names and phrases: their descriptions speak of tools,
/// of searching and of calling, and would be found for every wish that does.
fn indexed(skill: &Skill) -> Indexed {
    let tags = skill.tags.iter().map(|text| &**text);
    let examples = skill.examples.iter().flat_map(|text| unquoted(text));
    let patterns = skill.phrases.iter().map(|phrase| &*phrase.pattern);
    let extras = skill.category.iter().chain(&skill.capability).map(|text| &**text);
    let values = words::choices(&skill.input, MAX_VALUES);
    let keywords: Vec<&str> = tags.chain(examples).chain(patterns).chain(extras).chain(values).collect();
    let (title, description) = match skill.id.peer.as_str() {
        "hub" => (skill.id.skill.as_str().into(), Text::default()),
        _ => (skill.title.clone(), skill.description.clone()),
    };
    Indexed { skill: skill.id.to_string().into(), title, description, keywords: keywords.join(" ").into() }
}

/// The pieces of an example outside quotation marks. What is inside is a value and says nothing of the skill: `write "hello"
/// to notes.txt` must not make a greeting a wish to write files.
fn unquoted(example: &str) -> impl Iterator<Item = &str> {
    example.split('"').step_by(2)
}

#[cfg(test)]
mod tests {
    use super::unquoted;

    #[test]
    fn values_in_an_example_are_no_keywords() {
        assert_eq!(unquoted("write \"hello\" to notes.txt").collect::<Vec<_>>(), ["write ", " to notes.txt"]);
        assert_eq!(unquoted("list the files").collect::<Vec<_>>(), ["list the files"]);
    }
}
