//! Lists of peers, skills, conversations and audit lines. Each list shows only what its reader may see; an anonymous caller sees public
//! entries only.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Path, State};
use http::{StatusCode, Uri};
use interlingua_model::peer::Vouched;
use interlingua_model::{ConversationId, Fault, Principal, Skill};

use super::page::{self, Paged, Searched};
use super::{Answered, Asker, answer, no_such_conversation, nothing};
use crate::Endpoint;
use crate::view::{ConversationView, PageView, PeerView, SkillView};
use interlingua_endpoint::Shared;
use interlingua_hub::registry::Registered;

/// How many skills a search ranks.
const RANKED: usize = 1_000;

pub(super) async fn peers(State(shared): State<Arc<Endpoint>>, asker: Asker, uri: Uri) -> Answered {
    let query: Paged = page::query(&uri)?;
    let visible = shared.hub.visible(&asker.by);
    let after = query.after.as_deref().unwrap_or_default();
    let peers = visible.peers().filter(|peer| peer.card.peer.as_str() > after);
    let peers = peers.filter_map(|peer| {
        let skills = visible.skills_of(Some(&peer.card.peer)).count();
        view(&asker.by, peer, skills)
    });
    let (items, next) = page::cut(peers, query.limit(), |peer: &PeerView| peer.name.clone());
    answer(StatusCode::OK, &PageView { items, next })
}

/// A peer with nothing that this principal may see is seen by the Owner alone, and so is what there is to mend.
fn view(by: &Principal, peer: &Registered, skills: usize) -> Option<PeerView> {
    let owner = by.is_hub_owner();
    if skills == 0 && !owner {
        return None;
    }
    let problems = peer.problems.iter().filter(|_| owner).map(ToString::to_string).collect();
    let (standing, vouched) = (peer.peer.standing().into(), peer.peer.vouched());
    let signature = vouched.as_ref().map(|vouched| vouched.as_str().to_owned());
    let signed_by = match vouched {
        Some(Vouched::Verified(key)) => Some(key.to_string()),
        Some(Vouched::Unsigned | Vouched::Unknown | Vouched::Altered) | None => None,
    };
    let shown = PeerView::from(&*peer.card);
    let protocol = peer.peer.speaks().map_or_else(|| shown.protocol.clone(), str::to_owned);
    Some(PeerView { skills, problems, standing, signature, signed_by, protocol, ..shown })
}

pub(super) async fn skills(State(shared): State<Arc<Endpoint>>, asker: Asker, uri: Uri) -> Answered {
    let query: Searched = page::query(&uri)?;
    let visible = shared.hub.visible(&asker.by);
    let skills = visible.skills();
    let words = query.query.as_deref().map(str::trim).filter(|words| !words.is_empty());
    let (items, next) = match words {
        None => {
            let after = query.after.as_deref().unwrap_or_default();
            let rest = skills.map(|skill| (skill.id.to_string(), skill)).filter(|(id, _)| id.as_str() > after);
            let mut rest: Vec<(String, &Arc<Skill>)> = rest.collect();
            rest.sort_by(|(a, _), (b, _)| a.cmp(b));
            page::cut(rest.into_iter(), query.limit(), |(id, _)| id.clone())
        }
        Some(words) => {
            let by_id: BTreeMap<String, &Arc<Skill>> = skills.map(|skill| (skill.id.to_string(), skill)).collect();
            ranked(&shared, words, &by_id, &query).await?
        }
    };
    let items = items.into_iter().map(|(_, skill)| SkillView::from(&**skill)).collect();
    answer(StatusCode::OK, &PageView { items, next })
}

type Found<'a> = (Vec<(String, &'a Arc<Skill>)>, Option<String>);

/// Best first. The cursor is a place in the ranking, which is made anew for each page.
async fn ranked<'a>(
    shared: &Shared,
    words: &str,
    skills: &BTreeMap<String, &'a Arc<Skill>>,
    query: &Searched,
) -> Result<Found<'a>, Fault> {
    let skip: usize = query.after.as_deref().unwrap_or("0").parse().map_err(|_| page::bad_cursor())?;
    let hits = shared.hub.search_skills(words, RANKED).await?;
    let found = hits.iter().filter_map(|hit| Some((hit.skill.to_string(), *skills.get(&*hit.skill)?)));
    let (page, more) = page::cut(found.skip(skip), query.limit(), |_| String::new());
    let next = more.map(|_| (skip + page.len()).to_string());
    Ok((page, next))
}

pub(super) async fn conversations(State(shared): State<Arc<Endpoint>>, asker: Asker, uri: Uri) -> Answered {
    let query: Paged = page::query(&uri)?;
    let (conversations, next) = shared.hub.conversations(&asker.by, query.after.as_deref(), query.limit()).await?;
    answer(StatusCode::OK, &PageView { items: conversations.iter().map(ConversationView::from).collect(), next })
}

pub(super) async fn forget_conversation(
    State(shared): State<Arc<Endpoint>>,
    asker: Asker,
    Path(named): Path<String>,
) -> Answered {
    // A conversation may be remembered by an agent alone: one that a caller named in another protocol.
    let by_name = || (!asker.by.is_anonymous()).then(|| ConversationId::from(named.as_str()));
    let hub = &shared.hub;
    let id = hub.open_conversation(&asker.by, &named).or_else(by_name).ok_or_else(no_such_conversation)?;
    let forgotten = hub.forget_conversation(&asker.by, &id).await?.ok_or_else(no_such_conversation)?;
    let was_remembered = shared.own.memories.forget(&forgotten.owner, &id).await?;
    match forgotten.was_kept || was_remembered {
        true => Ok(nothing()),
        false => Err(no_such_conversation().into()),
    }
}
