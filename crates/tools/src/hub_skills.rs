//! The peer `hub`: skills of the hub itself, for callers of any protocol.

use std::sync::{Arc, Weak};

use interlingua_machines::words::{Locale, menu, say};
use interlingua_model::peer::{Calling, Dispatch, Peer, Reply};
use interlingua_model::{
    Ask, CancelWhy, CardFrom, Effects, Event, Fault, FaultKind, Finished, Input, Noun, Output, Part, PeerId, Phrase,
    Principal, Provenance, Question, Schema, Signal, Skill, SkillId, SkillKind,
};
use serde_json::json;

use interlingua_hub::Hub;
use interlingua_hub::live::no_such_task;
use interlingua_hub::reserved;

pub use interlingua_hub::in_process::HUB as PEER;
/// How many skills one answer lists.
const MAX_LISTED: usize = 50;

/// Holds the hub weakly: the hub holds it.
#[derive(Debug)]
pub struct HubSkills {
    hub: Weak<Hub>,
}

/// Registers the peer.
pub async fn register(hub: &Arc<Hub>) -> Result<(), Fault> {
    let description = "What the hub itself can do.";
    let card = super::card(PEER.into(), "Hub", description, skills(), hub.now());
    hub.register(card, Arc::new(HubSkills { hub: Arc::downgrade(hub) })).await
}

/// What it is called for people, and for models when to use it and what it needs.
type Told = (&'static str, &'static str);

fn skill(name: &str, kind: SkillKind, (title, description): Told, input: serde_json::Value) -> Skill {
    let effects = Effects::reads_only(CardFrom::Configuration);
    let skill = Skill::new(SkillId::new(PEER, name), kind, description, Schema(input.into()), effects);
    Skill { title: title.into(), ..skill }
}

/// It hands on calls of others, or ends them: it can do whatever they can.
fn calling(skill: Skill) -> Skill {
    Skill { effects: Effects::calls(CardFrom::Configuration), ..skill }
}

fn phrases(pairs: &[(&str, &str)]) -> Vec<Phrase> {
    pairs.iter().map(|(locale, pattern)| Phrase { locale: (*locale).into(), pattern: (*pattern).into() }).collect()
}

const HELP: Told =
    ("What can be done here", "List what can be done here. Use this when somebody asks what is available.");
const FIND: Told = (
    "Find tools",
    "Search the tools that are available here by what you want to do. Use this first when no listed tool fits. The answer has the id, \
     the description and the input schema of each tool that was found; call one of them with call_skill.",
);
const ECHO: Told = ("Echo", "Say back what it is told. Use this only to test the connection.");
const CALL: Told = (
    "Call a tool by its id",
    "Call a tool by the id that find_skills gave. Use this for tools that are not listed. It does whatever that tool does, which may \
     change or delete something.",
);
const ASK: Told = (
    "Ask in plain words",
    "Hand a question or a request in plain words to the peer that fits it best, or to the one that you name. Use this for agents and \
     websites; where a tool fits, call the tool. It does whatever the peer does with it, which may change something.",
);
const SITES: Told = ("List peers", "List the names of the peers that hub/ask takes, and what each of them is for.");
const AWAIT: Told = (
    "Wait for a task",
    "Wait for a task that goes on, and get its result or the question that it asks. Use this when an earlier answer gave you the id \
     of a task or a promise token; one of the two is needed.",
);

fn skills() -> Vec<Skill> {
    let anything = json!({"type": "object"});
    let query = json!({
        "type": "object",
        "properties": {"query": {
            "type": "string",
            "description": "What you want to do, in a few words, such as: cancel an order. Without it all tools are listed, at most 50.",
        }},
    });
    let mut find = skill("find_skills", SkillKind::Tool, FIND, query);
    find.phrases = phrases(&reserved::LIST);
    let help = help_skill();
    let mut echo = skill("echo", SkillKind::Agent, ECHO, anything);
    echo.phrases = phrases(&[("en", "echo {text}"), ("es", "repite {text}")]);
    [help, find, echo, call_skill(), ask(), sites(), wait()].into_iter().map(Skill::sealed).collect()
}

/// Anyone may call it: nobody has anything kept by it.
fn help_skill() -> Skill {
    let input = json!({
        "type": "object",
        "properties": {
            "peer": {"type": "string", "description": "Only what this peer can do."},
            "unmatched": {"type": "boolean", "description": "Say first that no skill fits the words."},
        },
        "additionalProperties": false,
    });
    let mut help = skill("help", SkillKind::Tool, HELP, input);
    help.public = true;
    help.phrases = phrases(&reserved::HELP);
    help
}

/// Resolved by the hub to the skill it names, so it never reaches this peer.
fn call_skill() -> Skill {
    let input = json!({
        "type": "object",
        "properties": {
            "skill": {"type": "string", "description": "The id of the tool, as find_skills lists it: peer/skill."},
            "arguments": {
                "type": "object",
                "description": "The arguments of that tool, by the input schema that find_skills shows. Leave this out for a tool without.",
            },
        },
        "required": ["skill"],
    });
    calling(skill("call_skill", SkillKind::Tool, CALL, input))
}

/// Put into words by the hub, so it never reaches this peer.
fn ask() -> Skill {
    let text = json!({"type": "string", "description": "What is wanted, in plain words."});
    let input = json!({
        "type": "object",
        "properties": {
            "query": {"anyOf": [text, {"type": "object", "properties": {"text": text}, "required": ["text"]}]},
            "site": {
                "type": ["string", "array"], "items": {"type": "string"},
                "description": "The peer that is asked, as list_sites names it. Without it, the one that fits best.",
            },
            "prev": {"type": "array", "items": {"type": "string"}, "description": "Earlier questions, oldest first."},
        },
        "required": ["query"],
    });
    calling(skill("ask", SkillKind::Tool, ASK, input))
}

fn sites() -> Skill {
    let (anything, name) = (json!({"type": "object"}), json!({"type": "string"}));
    let mut sites = skill("list_sites", SkillKind::Tool, SITES, anything);
    let output =
        json!({"type": "object", "properties": {"sites": {"type": "array", "items": name}}, "required": ["sites"]});
    sites.output = Some(Schema(output.into()));
    sites
}

fn wait() -> Skill {
    let input = json!({
        "type": "object",
        "properties": {
            "task": {"type": "string", "description": "The id of the task."},
            "promise_token": {"type": "string", "description": "The token that an earlier answer promised a result for, instead of an id."},
            "action": {"type": "string", "enum": ["checkin", "cancel"], "description": "Wait for the task, or cancel it. Default: wait."},
        },
    });
    calling(skill("await", SkillKind::Tool, AWAIT, input))
}

impl Peer for HubSkills {
    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        Box::pin(async move {
            let hub = self.hub.upgrade().ok_or_else(Fault::shutting_down)?;
            let input = match dispatch.call.ask {
                Ask::Invoke { input, .. } => input,
                Ask::Read { .. } | Ask::Complete { .. } => {
                    return Err(Fault::caller(
                        FaultKind::NotFound(Noun::Resource),
                        "the hub has no resources of its own",
                    ));
                }
            };
            let output = match dispatch.skill.id.skill.as_str() {
                "echo" => echo(input),
                "find_skills" => find_skills(&hub, &dispatch.by, &input).await?,
                "list_sites" => list_sites(&hub, &dispatch.by),
                "await" => return await_task(&hub, &dispatch.by, &input).await,
                _ => help(&hub, &dispatch.by, &input),
            };
            Ok(Reply::Done(Box::new(Finished::completed(output)), None))
        })
    }
}

/// The parts as they came; of words that a phrase was found in, what the phrase says.
fn echo(input: Input) -> Output {
    let text = input.args.as_ref().and_then(|args| args.get("text")?.as_str()).map(str::to_owned);
    let parts = match text {
        Some(text) => vec![Part::text(text, Provenance::hub())],
        None => input.parts,
    };
    let structured = if parts.is_empty() { input.args } else { None };
    Output { parts, structured, ..Output::default() }
}

/// What the caller may call, newest versions only.
fn listed(hub: &Hub, by: &Principal) -> Vec<Arc<Skill>> {
    hub.visible(by).skills().cloned().collect()
}

async fn find_skills(hub: &Hub, by: &Principal, input: &Input) -> Result<Output, Fault> {
    let query = input.args.as_ref().and_then(|args| args.get("query")?.as_str()).unwrap_or_default();
    let mut skills = listed(hub, by);
    if !query.is_empty() {
        let hits = hub.search_skills(query, MAX_LISTED).await?;
        let rank = |skill: &Arc<Skill>| {
            let name = skill.id.to_string();
            hits.iter().position(|hit| *hit.skill == *name)
        };
        skills.retain(|skill| rank(skill).is_some());
        skills.sort_by_key(rank);
    }
    skills.truncate(MAX_LISTED);
    let rows: Vec<_> = skills.iter().map(|skill| row(skill)).collect();
    let lines: Vec<String> = skills.iter().map(|skill| format!("{}: {}", skill.id, skill.description)).collect();
    let text = if lines.is_empty() { "no skill fits".to_owned() } else { lines.join("\n") };
    Ok(Output {
        parts: vec![Part::text(text, Provenance::hub())],
        structured: Some(json!({ "skills": rows }).into()),
        ..Output::default()
    })
}

fn row(skill: &Skill) -> serde_json::Value {
    json!({
        "skill": skill.id.to_string(),
        "kind": skill.kind.as_str(),
        "description": &*skill.description,
        "version": &*skill.version,
        "input": skill.input.0.tree(),
    })
}

/// Who can be asked, for those who speak of sites.
fn list_sites(hub: &Hub, by: &Principal) -> Output {
    let sites = hub.peers_seen_by(by);
    let lines: Vec<String> = sites.iter().map(|(name, description)| format!("{name}: {description}")).collect();
    let names: Vec<&String> = sites.keys().collect();
    Output {
        parts: vec![Part::text(lines.join("\n"), Provenance::hub())],
        structured: Some(json!({ "sites": names }).into()),
        ..Output::default()
    }
}

/// The task's own outcome, or the question it waits on. Watching is not calling: to leave is not to cancel.
async fn await_task(hub: &Arc<Hub>, by: &Principal, input: &Input) -> Result<Reply, Fault> {
    let said = |key: &str| input.args.as_ref().and_then(|args| args.get(key)?.as_str());
    let id = match (said("task"), said("promise_token")) {
        (Some(id), _) => id.parse().map_err(|_| no_such_task())?,
        (None, Some(token)) => hub.promised(by, token)?.0,
        (None, None) => {
            let fault = Fault::caller(FaultKind::InvalidInput, "which task? 'task' or 'promise_token' says");
            return Err(fault.field("/task", "is missing"));
        }
    };
    if said("action") == Some("cancel") {
        match hub.signal(by.clone(), id, Signal::Cancel(CancelWhy::Asked)).await {
            Ok(()) => {}
            // It is over: then that is the answer.
            Err(fault) if fault.kind == FaultKind::AlreadyFinished => {}
            Err(fault) => return Err(fault),
        }
    }
    let mut reader = hub.watch(by, id, 0).await?;
    let mut open: Vec<Question> = Vec::new();
    while let Some(entry) = reader.next().await? {
        match entry.record.event() {
            Some(Event::Finished(finished)) => return Ok(Reply::Done(Box::new(finished.clone()), None)),
            Some(Event::Asked(question)) => open.push(question.clone()),
            Some(Event::Settled { question, .. }) => open.retain(|asked| asked.id != *question),
            _ => {}
        }
        if let Some(question) = open.first().filter(|_| reader.is_at_head()) {
            return Ok(Reply::Done(Box::new(Finished::completed(waiting(question))), None));
        }
    }
    Err(no_such_task())
}

fn waiting(question: &Question) -> Output {
    let told = json!({"state": "waiting", "question": question.id.to_string(), "text": &*question.text});
    let parts = vec![Part::text(question.text.clone(), Provenance::hub())];
    Output { parts, structured: Some(told.into()), ..Output::default() }
}

/// A greeting, and what this caller can ask for: of one peer, or of all. Words that fit nothing are told so.
fn help(hub: &Hub, by: &Principal, input: &Input) -> Output {
    let language = Locale::detect(None, &input.words()).language;
    let argument = |name: &str| input.args.as_ref().and_then(|args| args.get(name));
    let of = argument("peer").and_then(serde_json::Value::as_str);
    let (of, visible) = (of.map(PeerId::from), hub.visible(by));
    let skills: Vec<&Skill> = visible.skills_of(of.as_ref()).map(|skill| &**skill).collect();
    let unmatched = argument("unmatched").and_then(serde_json::Value::as_bool).unwrap_or_default();
    let said = match unmatched {
        true => menu::nothing_fits(language, &skills),
        false => menu::greeting(language, &skills),
    };
    let hint = by.is_anonymous().then(|| say::to_anonymous(language).to_owned());
    let text = std::iter::once(said).chain(hint).collect::<Vec<_>>().join("\n");
    Output { parts: vec![Part::text(text, Provenance::hub())], ..Output::default() }
}
