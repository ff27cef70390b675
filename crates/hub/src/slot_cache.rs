//! Cache of slots that a model filled, for a short time: after a question of the hub, or for the same words again, the model must not make
//! another guess.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use interlingua_model::json::Count;
use interlingua_model::{Digest, Json, Principal, SkillId, Time};

/// Longer than a question is open.
const KEPT: Duration = Duration::from_secs(1_200);
const MAX: usize = 256;
/// Longer arguments, with the tree that is made of them, are not kept: 16 MiB in all.
const LONGEST: usize = 64 * 1024;

#[derive(Debug, Default)]
pub(super) struct SlotCache(Mutex<HashMap<Digest, (Time, SkillId, Json)>>);

/// The same words of the same owner.
pub(super) fn key(by: &Principal, words: &str) -> Digest {
    Digest::of_fields([by.owner().to_string().as_bytes(), words.trim().to_lowercase().as_bytes()])
}

impl SlotCache {
    pub(super) fn known(&self, key: &Digest, now: Time) -> Option<(SkillId, Json)> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (until, skill, args) = kept.get(key)?;
        (*until > now).then(|| (skill.clone(), args.clone()))
    }

    pub(super) fn keep(&self, key: Digest, skill: SkillId, args: Json, now: Time) {
        if args.as_bytes().len() + Count::of(args.as_bytes()).tree_bytes() > LONGEST {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX {
            kept.retain(|_, (until, ..)| *until > now);
        }
        if kept.len() < MAX {
            kept.insert(key, (now.after(KEPT), skill, args));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_of_words_is_known_for_a_while_and_only_to_their_owner() {
        let (filled, skill) = (SlotCache::default(), SkillId::new("p", "s"));
        let key = key(&Principal::anonymous(), "Some words ");
        assert_eq!(key, super::key(&Principal::anonymous(), "some words"));
        filled.keep(key, skill.clone(), Json::empty_object(), Time(0));
        assert_eq!(filled.known(&key, Time(1)), Some((skill, Json::empty_object())));
        assert_eq!(filled.known(&key, Time(0).after(KEPT)), None);
        assert_eq!(filled.known(&Digest([0; 32]), Time(1)), None);
        let other = super::key(&Principal::anonymous(), "other words");
        let long = Json::from_tree(serde_json::json!({"fill": "x".repeat(LONGEST)}));
        filled.keep(other, SkillId::new("p", "s"), long, Time(0));
        assert_eq!(filled.known(&other, Time(1)), None, "too long to be kept");
    }
}
