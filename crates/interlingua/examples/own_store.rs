//! A hub without HTTP, on ports of your own: `Hub::new` takes any store. Here the skill index is this program's, and the rest is the
//! embedded store. `crates/model/src/ports.rs` defines what a journal, records and blobs must do, and
//! `crates/store-sqlite/src/tests/contract.rs` tests it for the embedded store.
//!
//! `cargo run -p interlingua --example own_store`
//!
//! A `Server` opens the embedded store itself and takes no other.

#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::{Arc, Mutex, PoisonError};

use interlingua_hub::admission::AdmissionLimits;
use interlingua_hub::{Hub, Settings};
use interlingua_keys::Keyring;
use interlingua_model::peer::{Calling, Dispatch, Peer, Reply};
use interlingua_model::ports::{Hit, Indexed, Pending, SkillIndex, Store};
use interlingua_model::{CardFrom, Effects, Finished, HubId, Json, Output, Schema, Skill, SkillId, SkillKind};
use interlingua_store_sqlite::{Embedded, Options};

/// Finds skills by the letters they share with the words: forgiving of typing errors, and of little else.
#[derive(Debug, Default)]
struct Letters(Mutex<BTreeMap<String, Vec<Indexed>>>);

/// The part of the pairs of letters in `words` that `text` has, too.
fn shared(words: &str, text: &str) -> f64 {
    let pairs = |text: &str| -> Vec<(char, char)> {
        let letters: Vec<char> = text.to_lowercase().chars().collect();
        letters.windows(2).filter_map(|pair| Some((*pair.first()?, *pair.last()?))).collect()
    };
    let (asked, there) = (pairs(words), pairs(text));
    let found = asked.iter().filter(|pair| there.contains(pair)).count();
    f64::from(u32::try_from(found).unwrap_or(u32::MAX)) / f64::from(u32::try_from(asked.len().max(1)).unwrap_or(1))
}

impl SkillIndex for Letters {
    fn replace(&self, peer: &str, skills: Vec<Indexed>) -> Pending<'_, ()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(peer.to_owned(), skills);
        Box::pin(ready(Ok(())))
    }

    fn search(&self, words: &str, limit: usize) -> Pending<'_, Vec<Hit>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let scored = all.values().flatten().map(|skill| Hit {
            skill: skill.skill.clone(),
            score: shared(words, &format!("{} {}", skill.title, skill.description)),
        });
        let mut hits: Vec<Hit> = scored.filter(|hit| hit.score > 0.0).collect();
        hits.sort_by(|one, other| other.score.total_cmp(&one.score));
        hits.truncate(limit);
        Box::pin(ready(Ok(hits)))
    }
}

/// Answers with nothing.
struct Idle;

impl Peer for Idle {
    fn call(self: Arc<Self>, _: Dispatch) -> Calling {
        Box::pin(ready(Ok(Reply::Done(Box::new(Finished::completed(Output::default())), None))))
    }
}

fn skill(name: &str, description: &str) -> Skill {
    let (id, effects) = (SkillId::new("tools", name), Effects::reads_only(CardFrom::Configuration));
    Skill::new(id, SkillKind::Tool, description, Schema(Json::empty_object()), effects)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = std::env::temp_dir().join(format!("interlingua-own-store-{}", std::process::id()));
    let embedded = Embedded::open(&data, Options::default())?;
    let store = Store { index: Arc::new(Letters::default()), ..embedded.ports() };
    let keys = Arc::new(Keyring::from_directory(&data)?);
    let hub = Hub::new(HubId::from("example"), store, keys, AdmissionLimits::default(), Settings::default());

    let skills = vec![skill("forecast", "Says what the weather will be."), skill("translate", "Translates a text.")];
    let card = interlingua_tools::card("tools".into(), "Tools", "An example.", skills, hub.now());
    hub.register(card, Arc::new(Idle)).await?;
    let hits = hub.search_skills("wether forcast", 1).await.map_err(interlingua_model::Fault::from)?;
    let best = hits.first().ok_or("nothing was found")?;
    println!("'wether forcast' is {} ({:.2})", best.skill, best.score);
    assert_eq!(&*best.skill, "tools/forecast");
    hub.stop(std::time::Duration::from_secs(5)).await;
    embedded.close().await;
    std::fs::remove_dir_all(data)?;
    Ok(())
}
