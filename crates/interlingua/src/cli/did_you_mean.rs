//! Suggestions for a name that the hub does not know. They are looked up only then, among what the caller may see.

use super::arguments::HubArguments;
use super::list::all;
use super::{Exit, Failure};
use crate::config::nearest;
use interlingua_api::view::{PeerView, SkillView};

/// The failure of a call, with the skill that was probably meant where that was all that was wrong.
pub(super) async fn skill(hub: &HubArguments, typed: &str, failure: Failure) -> Failure {
    // A name without its peer is a capability, which nobody may have.
    let unknown = [format!("no skill '{typed}'"), format!("no peer offers '{typed}'")];
    if !unknown.iter().any(|said| failure.message.starts_with(said)) {
        return failure;
    }
    let Ok(known) = all::<SkillView>(hub, "/api/skills?limit=200").await else { return failure };
    let known: Vec<&str> = known.items.iter().map(|skill| skill.id.as_str()).collect();
    suggested(failure, nearest_skill(typed, &known))
}

/// The failure of words to a peer, with the peer that was probably meant where that was all that was wrong.
pub(super) async fn peer(hub: &HubArguments, typed: &str, failure: Failure) -> Failure {
    if !failure.message.starts_with(&format!("no peer '{typed}'")) {
        return failure;
    }
    let Ok(known) = all::<PeerView>(hub, "/api/peers?limit=200").await else { return failure };
    suggested(failure, nearest(typed, known.items.iter().map(|peer| peer.name.as_str())))
}

/// Nobody is left typing to somebody who is not there.
pub(super) async fn known_peer(hub: &HubArguments, typed: &str) -> Result<(), Failure> {
    let known = all::<PeerView>(hub, "/api/peers?limit=200").await?;
    if known.next.is_some() || known.items.iter().any(|peer| peer.name == typed) {
        return Ok(());
    }
    let failure = Failure::new(Exit::Usage, format!("no peer '{typed}'\n  {WHO}"));
    Err(suggested(failure, nearest(typed, known.items.iter().map(|peer| peer.name.as_str()))))
}

/// Said of a skill that is not there.
pub(super) const WHAT: &str = "`interlingua skills` lists what there is";
/// Said of a peer that is not there.
pub(super) const WHO: &str = "`interlingua peers` lists who there is";

fn suggested(failure: Failure, near: Option<&str>) -> Failure {
    match near {
        Some(near) => Failure::new(failure.exit, format!("{}\n  did you mean {near}?", failure.message)),
        None => failure,
    }
}

/// By the whole name; one without its peer by what follows the peer's.
fn nearest_skill<'a>(typed: &str, known: &[&'a str]) -> Option<&'a str> {
    if typed.contains('/') {
        return nearest(typed, known.iter().copied());
    }
    let bare = |id: &'a str| id.split_once('/').map_or(id, |(_, skill)| skill);
    let near = nearest(typed, known.iter().map(|id| bare(id)))?;
    known.iter().copied().find(|id| bare(id) == near)
}

#[cfg(test)]
mod tests {
    use super::nearest_skill;

    #[test]
    fn a_skill_is_known_by_a_name_that_is_nearly_right_or_lacks_its_peer() {
        let known = ["local/list_directory", "local/read_file", "printer/print"];
        for (typed, meant) in [
            ("local/read_fil", Some("local/read_file")),
            ("locl/read_file", Some("local/read_file")),
            ("read_file", Some("local/read_file")),
            ("pint", Some("printer/print")),
            ("weather", None),
        ] {
            assert_eq!(nearest_skill(typed, &known), meant, "{typed}");
        }
    }
}
