//! A task in words for a device, and its planning.
//!
//! A list of commands is executed as it is. Otherwise the configured planner, an agent like any other, receives the words and calls the
//! device's tools as it calls any skill; without a planner, the words must match one of the tools, as words to a peer without an agent do.

use std::sync::Arc;

use crate::encode;
use crate::link::Tongue;
use crate::plan::commands;
use crate::say::End;
use crate::server::{Assignment, LATE};
use crate::wire::{Command, CommandResult, ResultStatus};
use interlingua_model::peer::{Dispatch, Peer};
use interlingua_model::{
    Ask, Event, FaultKind, Finished, Input, Json, Maker, Output, PeerId, Request, SkillId, Target, Text, Transcript,
};

use super::device::{DevicePeer, REQUEST};
use crate::discover::DO;
use crate::server_runtime::{Hearing, OwnSession};
use interlingua_hub::Hub;
use interlingua_net::client::going::{FinalResult, News};

pub(super) async fn run(peer: Arc<DevicePeer>, hub: Arc<Hub>, dispatch: Dispatch, news: News) -> FinalResult {
    let request = request(&dispatch);
    // A task that a client asked for has its session; for any other caller there is one from here on.
    let (session, own) = match peer.runtime.opened(&dispatch.call.id) {
        Some(session) => (session, None),
        None => {
            let own = OwnSession::begin(&peer.runtime, &peer.device, dispatch.task, "task");
            (own.session.clone(), Some(own))
        }
    };
    let _works = peer.runtime.works_in(dispatch.task, session.clone());
    let ended = match commands(&request, |tool| peer.tool_type(tool)) {
        Some(batches) => listed(&peer, &hub, &dispatch, &session, batches, &news).await,
        None if request.trim().is_empty() => peer.failed(FaultKind::InvalidInput, "nothing was asked of the device"),
        None => match peer.runtime.settings().planner.clone() {
            Some(planner) => planned(&peer, &hub, &dispatch, &session, &planner, &request, &news).await,
            None if peer.takes_words() => assigned(&peer, &hub, &dispatch, &session, request, &news).await,
            None => matched(&peer, &hub, &dispatch, &request, &news).await,
        },
    };
    if let Some(own) = own {
        let end: End = encode::end(&ended.0, &[], Tongue::Plain).value;
        own.finish(end);
    }
    ended
}

fn request(dispatch: &Dispatch) -> String {
    let Some(input) = dispatch.call.input() else { return String::new() };
    let given = input.args.as_ref().and_then(|args| args.get(REQUEST)?.as_str());
    given.map_or_else(|| input.words().into_owned(), str::to_owned)
}

/// One COMMAND after the other; the first action that fails ends it.
async fn listed(
    peer: &DevicePeer,
    hub: &Hub,
    dispatch: &Dispatch,
    session: &Text,
    batches: Vec<Vec<Command>>,
    news: &News,
) -> FinalResult {
    let settings = peer.runtime.settings();
    let refused = batches.iter().flatten().find(|action| !settings.offers(&peer.device, &action.tool_name));
    if let Some(action) = refused {
        return peer.failed(FaultKind::Denied, format!("the tool {} is not offered here", action.tool_name));
    }
    for action in batches.iter().flatten() {
        let id = SkillId::new(peer.name.clone(), &*action.tool_name);
        let lets = hub.lets_also(&dispatch.by, &dispatch.call, dispatch.task, &id, action.parameters.as_ref());
        if let Err(fault) = lets {
            return (Finished::failed(fault), Vec::new());
        }
    }
    let hearing = Hearing::new(news, &dispatch.key, &peer.name);
    let mut all = Vec::new();
    for batch in batches {
        let timeout = DevicePeer::time_left(hub, dispatch);
        let count = batch.len();
        let given = match peer.runtime.command(session, peer.agent(), batch, timeout, Some(hearing.clone())).await {
            Ok(given) => given,
            Err(why) => return peer.without_result(why, &hearing),
        };
        hearing.hear(&given.lines, 0);
        let failed = given.results.iter().find(|result| result.status != ResultStatus::Success);
        let error = match failed {
            Some(result) => Some(result.error.clone().unwrap_or_else(|| "an action failed".into())),
            None if given.results.len() != count => Some("the device left out a result".into()),
            None => None,
        };
        all.extend(given.results);
        if let Some(error) = error {
            let kind = if *error == *LATE { FaultKind::Deadline } else { FaultKind::PeerFailed };
            let (mut finished, mut losses) = peer.failed(kind, error);
            finished.output = results(&all);
            losses.extend(hearing.loss());
            return (finished, losses);
        }
    }
    (Finished::completed(results(&all)), hearing.loss().into_iter().collect())
}

/// The device gets the words and says itself when it is done, and what came of it.
async fn assigned(
    peer: &DevicePeer,
    hub: &Hub,
    dispatch: &Dispatch,
    session: &Text,
    request: String,
    news: &News,
) -> FinalResult {
    let hearing = Hearing::new(news, &dispatch.key, &peer.name);
    let timeout = DevicePeer::time_left(hub, dispatch);
    let to = Assignment { agent: peer.agent(), request: request.into(), timeout };
    match peer.runtime.assign(session, to, hearing.clone()).await {
        Err(why) => peer.without_result(why, &hearing),
        // An order without actions has no results.
        Ok(_) => peer.lost(),
    }
}

/// What each action gave, in order.
fn results(all: &[CommandResult]) -> Output {
    let values =
        all.iter().map(|result| result.result.as_ref().map_or(serde_json::Value::Null, |it| it.tree().clone()));
    Output { structured: Some(Json::from_tree(values.collect())), ..Output::default() }
}

async fn planned(
    peer: &Arc<DevicePeer>,
    hub: &Arc<Hub>,
    dispatch: &Dispatch,
    session: &Text,
    planner: &PeerId,
    request: &str,
    news: &News,
) -> FinalResult {
    if peer.tool_names().is_empty() && !peer.runtime.registrar.has_tools(&peer.device) {
        peer.runtime.list_tools(&peer.device).await;
        peer.runtime.registrar.settled().await;
    }
    let catalogue = hub.catalogue();
    let skills = catalogue.peers.get(&peer.name).map(|registered| &*registered.card.skills).unwrap_or_default();
    let tools: Vec<String> =
        skills.iter().filter(|skill| skill.id.skill.as_str() != DO).map(|s| s.id.to_string()).collect();
    let told = format!("{request}\n\nThe device is {}. Its skills: {}", peer.name, tools.join(", "));
    child(peer, hub, dispatch, Some(session), Target::Peer(planner.clone()), Input::text(&told), news).await
}

/// The tool that the words mean, as the hub finds it for whoever speaks to this device.
async fn matched(
    peer: &Arc<DevicePeer>,
    hub: &Arc<Hub>,
    dispatch: &Dispatch,
    request: &str,
    news: &News,
) -> FinalResult {
    let input = Input::text(request);
    match peer.leaves_words(&input) {
        true => child(peer, hub, dispatch, None, Target::Peer(peer.name.clone()), input, news).await,
        false => peer.failed(FaultKind::Unanswered, NO_TOOLS),
    }
}

const NO_TOOLS: &str =
    "no planner is configured, and the device has told of no tools; a list of commands is done as it stands";

/// A call on behalf of this one: in its caller's name, within its time, and gone when it goes.
async fn child(
    peer: &Arc<DevicePeer>,
    hub: &Arc<Hub>,
    dispatch: &Dispatch,
    session: Option<&Text>,
    target: Target,
    input: Input,
    news: &News,
) -> FinalResult {
    let (id, ask) = (format!("{}-plan", dispatch.task), Ask::Invoke { target, input });
    let mut call = dispatch.call.child(dispatch.task, hub.id(), Maker::Device, id, ask);
    call.limits.deadline = dispatch.call.limits.deadline;
    let request = Request { by: dispatch.by.clone(), connection: 0, call: Box::new(call) };
    let mut running = match hub.open(request).await {
        Ok(running) => running,
        Err(fault) => return (Finished::failed(fault), Vec::new()),
    };
    let _works = session.map(|session| peer.runtime.works_in(running.id(), session.clone()));
    let hear = |event: &Event| match event {
        Event::Said { .. } | Event::Progress { .. } => news.tell(event.clone()),
        Event::Step(step) => {
            if let Some(note) = step.note() {
                news.tell(Event::Progress { done: None, total: None, note: Some(note.into()) });
            }
        }
        Event::Asked(question) => news.tell(Event::Progress {
            done: None,
            total: None,
            note: Some(format!("waits for an answer: {}", question.text).into()),
        }),
        Event::Started(_) | Event::Artifact(_) | Event::Settled { .. } | Event::Finished(_) => {}
    };
    let ended = running.finish(&mut Transcript::of_messages(), hear).await;
    let mut finished = ended.unwrap_or_else(Finished::failed);
    // All of it is in the output.
    finished.output.said = None;
    (finished, Vec::new())
}
