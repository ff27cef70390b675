//! Invariants of an agent's answers for any bytes: no panic in its card or its answers, and a call ends at most once.

use bytes::Bytes;
use interlingua_a2a::Version;
use interlingua_a2a::client::follow::{Following, Teller, Told};
use interlingua_a2a::client::{decode, skills};
use interlingua_a2a::discover::read;
use interlingua_a2a::method::Method;
use interlingua_model::{Principal, Proof, TaskId, Time};

const DEPTH: usize = 64;

pub(crate) fn said(data: &[u8]) {
    let frame = Bytes::copy_from_slice(data);
    if let Ok(card) = read::decode(&frame, DEPTH) {
        let (found, _) = skills::skills(&card, &"p".into());
        for skill in found {
            let _ = skills::theirs(&card, &skill.id.skill);
        }
    }
    for version in [Version::V1, Version::V03] {
        for method in [Method::Send, Method::Get, Method::Cancel] {
            for heard in [decode::rpc(&frame, method, version, DEPTH), decode::http(&frame, method, version, DEPTH)] {
                let Ok(Ok(update)) = heard else { continue };
                let owner = Principal::hub_owner(Proof::InProcess).owner();
                let teller = Teller { peer: "p".into(), speaks_ours: true, is_hub: true, task: TaskId(1), owner };
                let mut following = Following::new(teller, None);
                for _ in 0..2 {
                    let told = following.hear(update.clone(), Time(1)).unwrap_or_default();
                    assert!(told.iter().filter(|told| matches!(told, Told::Finished(..))).count() <= 1);
                }
            }
        }
    }
}
