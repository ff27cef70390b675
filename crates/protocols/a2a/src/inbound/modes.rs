//! Content negotiation: a cache of the media types that an agent accepts from a caller. A message whose parts declare their type is checked
//! against it without a decision for every skill that the caller may see.

use std::sync::Arc;
use std::time::Duration;

use crate::discover;
use interlingua_model::{Digest, Media, Owner, PeerId, Principal, Skill, Time};
use moka::sync::Cache;

use interlingua_hub::Hub;

/// How many bytes of them are kept ready.
const MAX_KEPT: u64 = 4 * 1024 * 1024;
/// Rules may depend on the hour: a list is used for as long as a card may be without asking again.
const MAX_AGE: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct Modes {
    kept: Cache<(Owner, Option<PeerId>), Arc<Kept>>,
}

/// What they were made of, and they themselves.
#[derive(Debug)]
struct Kept {
    catalogue: u64,
    policy: Digest,
    /// One owner may show credentials that reach different skills.
    by: Principal,
    until: Time,
    modes: Arc<[Media]>,
}

impl Kept {
    fn weight(&self) -> u32 {
        let modes: usize = self.modes.iter().map(|mode| size_of::<Media>() + mode.len()).sum();
        let scopes: usize = self.by.links().iter().flat_map(|link| &link.scopes).map(|scope| scope.len()).sum();
        u32::try_from(size_of::<Kept>() + modes + scopes + 512).unwrap_or(u32::MAX)
    }
}

impl Default for Modes {
    fn default() -> Self {
        let weigher = |_: &(Owner, Option<PeerId>), kept: &Arc<Kept>| kept.weight();
        Modes { kept: Cache::builder().max_capacity(MAX_KEPT).weigher(weigher).build() }
    }
}

impl Modes {
    /// Of this peer's skills, or of all.
    pub(super) fn taken(&self, hub: &Hub, by: &Principal, of: Option<&PeerId>) -> Arc<[Media]> {
        let (catalogue, policy, now) = (hub.catalogue().generation, hub.policy_version(), hub.now());
        let key = (by.owner(), of.cloned());
        let holds = |kept: &Arc<Kept>| {
            (kept.catalogue, kept.policy) == (catalogue, policy) && kept.by == *by && now < kept.until
        };
        if let Some(kept) = self.kept.get(&key).filter(holds) {
            return kept.modes.clone();
        }
        let modes: Arc<[Media]> = discover::modes(visible(hub, by, of).iter().map(|skill| &**skill)).0.into();
        let kept = Kept { catalogue, policy, by: by.clone(), until: now.after(MAX_AGE), modes: modes.clone() };
        self.kept.insert(key, Arc::new(kept));
        modes
    }
}

/// What somebody may call of a peer, or of all: what its card lists to them.
pub(super) fn visible(hub: &Hub, by: &Principal, of: Option<&PeerId>) -> Vec<Arc<Skill>> {
    hub.visible(by).skills_of(of).cloned().collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use interlingua_keys::Keyring;
    use interlingua_model::peer::{Calling, Dispatch, Peer};
    use interlingua_model::policy::{Asked, Could, Decision, Effect, Judge};
    use interlingua_model::{
        Card, CardFrom, Effects, Health, Json, Link, Proof, RouteClass, Schema, SkillId, SkillKind, Subject,
    };
    use interlingua_store_sqlite::{Embedded, Options};
    use serde_json::json;

    use super::*;
    use interlingua_hub::Settings;
    use interlingua_hub::admission::AdmissionLimits;
    use interlingua_hub::policy::Policy;

    struct Silent;

    impl Peer for Silent {
        fn call(self: Arc<Self>, _: Dispatch) -> Calling {
            Box::pin(std::future::pending())
        }
    }

    /// Allows everything, and counts.
    #[derive(Debug, Default)]
    struct Counting(AtomicUsize);

    impl Judge for Counting {
        fn version(&self) -> Digest {
            Digest::of(b"")
        }

        fn could(&self, _: &Asked<'_>) -> Could {
            self.0.fetch_add(1, Ordering::Relaxed);
            Could::Yes
        }

        fn decide(&self, _: &Asked<'_>, _: Option<&Json>) -> Decision {
            self.0.fetch_add(1, Ordering::Relaxed);
            Decision { effect: Effect::Allowed, because: [].into() }
        }
    }

    fn card(peer: &str, takes: &str) -> Card {
        let schema = Schema(json!({"type": "object"}).into());
        let effects = Effects::reads_only(CardFrom::Configuration);
        let mut skill = Skill::new(SkillId::new(peer, "look"), SkillKind::Agent, "looks", schema, effects);
        skill.takes = vec![takes.into()];
        Card {
            peer: peer.into(),
            title: peer.into(),
            description: "".into(),
            version: "1".into(),
            class: RouteClass::InProcess,
            provider: None,
            skills: vec![skill.sealed()],
            resources: Vec::new(),
            sources: Vec::new(),
            health: Health::Up,
            telemetry: None,
            seen: Time(0),
            raw: None,
        }
    }

    fn by(scope: &str) -> Principal {
        let (subject, proof) = (Subject::User("ann".into()), Proof::None);
        Principal::new(Link { subject, proof, scopes: vec![scope.into()], until: None })
    }

    #[tokio::test]
    async fn a_second_message_asks_the_policy_nothing_until_something_changes() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Embedded::open(dir.path(), Options::default()).expect("opens");
        let keys = Arc::new(Keyring::from_text(&"07".repeat(32)).expect("a key"));
        let hub = Hub::new("test".into(), store.ports(), keys, AdmissionLimits::default(), Settings::default());
        hub.registry().register(card("eyes", "image/png"), Arc::new(Silent)).expect("registers");
        let counting = Arc::new(Counting::default());
        hub.set_policy(Policy::new(Digest::of(b"1"), Some(counting.clone())));
        let modes = Modes::default();
        let asked = |by: &Principal, of: Option<&PeerId>| {
            let before = counting.0.load(Ordering::Relaxed);
            let taken: Vec<String> = modes.taken(&hub, by, of).iter().map(ToString::to_string).collect();
            (taken, counting.0.load(Ordering::Relaxed) > before)
        };
        let (png, wav) = ("image/png".to_owned(), "audio/wav".to_owned());
        let all = by("*");
        assert_eq!(asked(&all, None), (vec![png.clone()], true));
        assert_eq!(asked(&all, None), (vec![png.clone()], false), "the second message");
        assert_eq!(asked(&by("eyes/*"), None), (vec![png.clone()], true), "the same owner with another credential");
        assert_eq!(asked(&all, Some(&"eyes".into())), (vec![png.clone()], true), "another agent");
        assert_eq!(asked(&all, Some(&"eyes".into())), (vec![png.clone()], false));
        hub.registry().register(card("ears", "audio/wav"), Arc::new(Silent)).expect("registers");
        let (mut taken, was_asked) = asked(&all, None);
        taken.sort();
        assert_eq!((taken, was_asked), (vec![wav, png], true), "another catalogue");
        assert!(!asked(&all, None).1);
        hub.set_policy(Policy::new(Digest::of(b"2"), Some(counting.clone())));
        assert!(asked(&all, None).1, "other rules");
        assert!(!asked(&all, None).1);
    }
}
