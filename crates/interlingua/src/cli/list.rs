//! `peers`, `skills` and `tasks`: lists.

use interlingua_model::percent::encoded;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::arguments::{HubArguments, ListArguments, SkillsArguments, TasksArguments};
use super::client::Client;
use super::screen::{Screen, plain};
use super::table::Table;
use super::{Exit, Failure, ids, pending, save};
use interlingua_api::view::{PageView, PeerView, QuestionView, SkillView, StandingView, TaskView};

/// More pages than this and a person wants a narrower question.
const PAGES: usize = 20;

pub(super) async fn peers(arguments: &ListArguments) -> Result<Exit, Failure> {
    let page: PageView<PeerView> = all(&arguments.hub, "/api/peers?limit=200").await?;
    let mut table = Table::new(&["name", "protocol", "health", "score", "signed", "class", "skills", "description"]);
    for peer in &page.items {
        let about = if peer.description.is_empty() { &peer.title } else { &peer.description };
        let (score, signed) = (score(&peer.standing), peer.signature.clone().unwrap_or_else(|| "-".to_owned()));
        let (skills, how) = (peer.skills.to_string(), &peer.protocol);
        table.row([&peer.name, how, &peer.health, &score, &signed, &peer.class, &skills, about]);
    }
    let exit = show(&arguments.hub, &page, &table)?;
    let screen = Screen { json: arguments.hub.json };
    let troubled = page.items.iter().filter(|_| !screen.json);
    for (name, problem) in troubled.flat_map(|peer| peer.problems.iter().map(move |problem| (&peer.name, problem))) {
        screen.note(&plain(&format!("{name}: {problem}")));
    }
    Ok(exit)
}

/// The score, or a dash where nothing has to be reached.
pub(super) fn score(standing: &StandingView) -> String {
    standing.score.map_or_else(|| "-".to_owned(), |score| score.to_string())
}

pub(super) async fn skills(arguments: &SkillsArguments) -> Result<Exit, Failure> {
    let query = arguments.query.join(" ");
    let path = match query.as_str() {
        "" => "/api/skills?limit=200".to_owned(),
        query => format!("/api/skills?limit=200&query={}", encoded(query)),
    };
    let page: PageView<SkillView> = all(&arguments.hub, &path).await?;
    let mut table = Table::new(&["skill", "kind", "effects", "description"]);
    for skill in &page.items {
        table.row([&skill.id, &skill.kind, &skill.effects.words(), &skill.description]);
    }
    let exit = show(&arguments.hub, &page, &table)?;
    // Those of the hub's own skills only to whoever looks for something.
    let own = |skill: &SkillView| ["hub/", "graph/", "local/"].iter().any(|peer| skill.id.starts_with(peer));
    let screen = Screen { json: arguments.hub.json };
    let mut head = Some("\nPHRASES");
    for skill in page.items.iter().filter(|skill| !screen.json && (!query.is_empty() || !own(skill))) {
        for phrase in &skill.phrases {
            head.take().map_or(Ok(()), |head| screen.say(head))?;
            screen.say(&plain(&format!("{}: \"{}\" ({})", skill.id, phrase.pattern, phrase.locale)))?;
        }
    }
    Ok(exit)
}

pub(super) async fn tasks(arguments: &TasksArguments) -> Result<Exit, Failure> {
    let Some(id) = &arguments.id else {
        let filter = arguments.state.as_ref().map(|state| format!("&state={state}")).unwrap_or_default();
        let mut page: PageView<TaskView> = all(&arguments.hub, &format!("/api/tasks?limit=200{filter}")).await?;
        let found = page.items.len();
        page.items.retain(|task| arguments.all || stands_alone(task));
        let mut table = Table::new(&["task", "state", "updated", "caller", "skill", "waits for"]);
        for task in &page.items {
            let (id, skill) = (ids::short(&task.id), task.skill.as_deref().unwrap_or("-"));
            table.row([&*id, &task.state, &briefly(&task.updated), &task.owner, skill, &waits_for(task)]);
        }
        let exit = show(&arguments.hub, &page, &table)?;
        let hidden = found - page.items.len();
        if hidden > 0 && !arguments.hub.json {
            Screen::people().note(&format!("{hidden} more that those above led to: --all"));
        }
        return Ok(exit);
    };
    let client = Client::new(&arguments.hub)?;
    let id = ids::task(&arguments.hub, id).await?;
    let path = format!("/api/tasks/{}", encoded(&id));
    if arguments.cancel {
        client.delete(&path).await?;
    }
    let task: TaskView = client.get(&path).await?;
    let screen = Screen { json: arguments.hub.json };
    if screen.json {
        screen.value(&task)?
    } else {
        screen.say(&described(&task))?
    }
    let parts = task.finished.map(|finished| finished.parts).unwrap_or_default();
    save::fetch_and_save(&client, screen, &arguments.save, parts).await?;
    Ok(Exit::Done)
}

/// Was it asked for itself, or does it wait for somebody? The rest are steps of another: rounds of a team, calls of an agent or a
/// plan.
fn stands_alone(task: &TaskView) -> bool {
    task.parent.is_none() || !task.questions.is_empty()
}

/// What a task waits for: an approval of which arguments, or an answer to which question.
fn waits_for(task: &TaskView) -> String {
    let one = |question: &QuestionView| match question.kind.as_str() {
        "confirm" => format!("approval {}", pending::arguments(question).unwrap_or_default()).trim_end().to_owned(),
        kind => format!("{kind}: {}", question.text),
    };
    match task.questions.as_slice() {
        [] => "-".to_owned(),
        questions => questions.iter().map(one).collect::<Vec<_>>().join("; "),
    }
}

/// A moment without what a list does not need: `11-16 11:57:19`.
pub(super) fn briefly(moment: &str) -> String {
    let second = moment.split('.').next().unwrap_or(moment).replace('T', " ");
    second.split_once('-').map_or_else(|| second.clone(), |(_, rest)| rest.to_owned())
}

/// One task, a line for each thing there is to say.
fn described(task: &TaskView) -> String {
    let mut lines = vec![format!("task      {}", task.id), format!("state     {}", task.state)];
    let mut line = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            lines.push(format!("{name:<9} {}", plain(value)));
        }
    };
    line("skill", task.skill.as_deref());
    line("owner", Some(&task.owner));
    line("created", Some(&task.created));
    line("updated", Some(&task.updated));
    line("stopping", task.cancelling.as_deref());
    for question in &task.questions {
        line("asks", Some(&format!("{} ({}, {})", question.text, question.kind, question.id)));
        line("with", super::answer::unsaid(question).as_deref());
        line("until", Some(&question.expires));
        let how = match question.kind.as_str() {
            "confirm" => format!("interlingua approve {0}   or   interlingua deny {0}", ids::short(&question.task)),
            _ => format!("interlingua answer {} ANSWER", ids::short(&question.task)),
        };
        line("decide", Some(&how));
    }
    for artifact in &task.artifacts {
        line("artifact", Some(artifact));
    }
    if let Some(finished) = &task.finished {
        line("fault", finished.fault.as_ref().map(|fault| fault.message.as_str()));
        line("cancelled", finished.cancelled_why.as_deref());
        let result = super::call::result(finished);
        line("result", (!result.is_empty()).then_some(result.as_str()));
    }
    for loss in &task.losses {
        line("loss", Some(&format!("{}: {}", loss.what, loss.kind)));
    }
    lines.join("\n")
}

/// Every page, within reason; what is left has its cursor.
pub(super) async fn all<T: DeserializeOwned>(hub: &HubArguments, path: &str) -> Result<PageView<T>, Failure> {
    let client = Client::new(hub)?;
    let mut page: PageView<T> = client.get(path).await?;
    for _ in 1..PAGES {
        let Some(next) = page.next.take() else { break };
        let more: PageView<T> = client.get(&format!("{path}&after={}", encoded(&next))).await?;
        page.items.extend(more.items);
        page.next = more.next;
    }
    Ok(page)
}

pub(super) fn show<T: Serialize>(hub: &HubArguments, page: &PageView<T>, table: &Table) -> Result<Exit, Failure> {
    let screen = Screen { json: hub.json };
    if screen.json {
        screen.value(page)?;
    } else {
        screen.say(&table.render(screen.width()))?;
        if page.next.is_some() {
            screen.note("there are more; narrow it down, or use --json and /api");
        }
    }
    Ok(Exit::Done)
}
