//! Decoder of the plan format.

use std::time::Duration;

use bytes::Bytes;
use interlingua_machines::graph::{Condition, Dependency, Edge, Ending, GPU, Node, Plan, Want};
use interlingua_model::json::Reader;
use interlingua_model::{CancelWhy, EdgeId, Fault, FaultKind, Json, Meta, NodeId, SkillId, Text};

use super::invalid::{Invalid, Problem};
use super::{PRIORITIES, priority};
use interlingua_wire::members::{Members, elements};

/// A plan from its JSON. Whether it is one (no circles, no strangers) is for the graph to say.
pub fn read(text: &Bytes, depth: usize) -> Result<Plan, Invalid> {
    let mut reader = Reader::new(text, depth)?;
    let whole = Members::read(text, &mut reader)?;
    reader.end()?;
    if !whole.is_object() {
        return Err(Invalid::at("", Problem::NotAnObject));
    }
    let mut plan = Plan { name: whole.text("name").as_deref().unwrap_or_default().into(), ..Plan::default() };
    for (at, task) in items(&whole, "tasks")? {
        let (node, ending) = node(&task, at)?;
        plan.ended.extend(ending.map(|ending| (node.id.clone(), ending)));
        plan.nodes.push(node);
    }
    for (at, line) in items(&whole, "dependencies")? {
        plan.edges.push(edge(&line, at)?);
    }
    plan.meta = Meta(whole.json().map(|json| without(json, &["tasks", "dependencies"])));
    Ok(plan)
}

/// Where an item stands, for errors.
struct At {
    list: &'static str,
    /// The key of a map, or the place in a list.
    name: String,
    keyed: bool,
}

impl At {
    fn bad(&self, member: &str, problem: Problem) -> Invalid {
        Invalid::at(format!("{}[{}].{member}", self.list, self.name), problem)
    }
}

/// The items of a map or of a list; absent is none.
fn items(whole: &Members, list: &'static str) -> Result<Vec<(At, Json)>, Invalid> {
    let Some(value) = whole.get(list).filter(|value| !value.is_null()) else { return Ok(Vec::new()) };
    if value.is_object() {
        let members = Members::of(&value);
        let each = |(key, value): (&str, Json)| (At { list, name: key.to_owned(), keyed: true }, value);
        return Ok(members.iter().map(each).collect());
    }
    let each = |(index, value): (usize, Json)| (At { list, name: index.to_string(), keyed: false }, value);
    match elements(&value) {
        Some(list) => Ok(list.into_iter().enumerate().map(each).collect()),
        None => Err(Invalid::at(list, Problem::NotAList)),
    }
}

fn text(members: &Members, key: &str, at: &At) -> Result<Option<Text>, Invalid> {
    match members.get(key) {
        None => Ok(None),
        Some(value) if value.is_null() => Ok(None),
        Some(_) => members.text(key).map(|text| Some((&*text).into())).ok_or_else(|| at.bad(key, Problem::NotText)),
    }
}

/// Its id: said, else the key it stands under.
fn id(members: &Members, key: &str, at: &At) -> Result<Option<Text>, Invalid> {
    let said = text(members, key, at)?.filter(|id| !id.is_empty());
    Ok(said.or_else(|| at.keyed.then(|| at.name.as_str().into())))
}

fn object(item: &Json, at: &At) -> Result<Members, Invalid> {
    if item.is_object() { Ok(Members::of(item)) } else { Err(at.bad("", Problem::NotAnObject)) }
}

fn node(item: &Json, at: At) -> Result<(Node, Option<Ending>), Invalid> {
    let task = object(item, &at)?;
    let id = id(&task, "task_id", &at)?.unwrap_or_else(|| format!("task_{}", at.name).into());
    let data = task.object("task_data").unwrap_or_else(Members::absent);
    let word =
        |members: &Members, key: &str| members.text(key).filter(|text| !text.is_empty()).map(|text| Text::from(&*text));
    let skill = word(&data, "skill");
    let whole = skill.as_deref().and_then(|skill| skill.parse::<SkillId>().ok());
    let want = match (word(&task, "target_device_id"), &whole) {
        (Some(device), _) => Want::Peer(device.as_ref().into()),
        // A skill with its peer says who is meant.
        (None, Some(whole)) => Want::Peer(whole.peer.clone()),
        (None, None) => Want::Any {
            capability: word(&data, "capability").map(spelt),
            platform: word(&task, "device_type").map(|kind| kind.to_lowercase().into()),
            memory: data.number::<f64>("memory_gb").and_then(mebibytes),
        },
    };
    let mut node = Node::new(NodeId(id.clone()), want);
    node.name = text(&task, "name", &at)?.filter(|name| !name.is_empty()).unwrap_or_else(|| default_name(&id));
    node.words = text(&task, "description", &at)?.unwrap_or_default();
    for tip in task.list("tips").unwrap_or_default() {
        node.hints.push(tip.tree().as_str().map(Text::from).ok_or_else(|| at.bad("tips", Problem::NotText))?);
    }
    node.skill = whole.map(|whole| whole.skill).or_else(|| skill.map(|skill| skill.as_ref().into()));
    node.args = data.get("arguments").filter(Json::is_object);
    node.repeatable = data.bool("idempotent").unwrap_or_default();
    node.priority = priority(spoken_priority(&task));
    node.retries = task.number("retry_count").unwrap_or_default();
    let seconds: Option<f64> = task.number("timeout");
    node.timeout =
        seconds.filter(|seconds| *seconds > 0.0).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let ending = ending(&task);
    node.meta = Meta(Some(item.clone()));
    Ok((node, ending))
}

/// The one capability that the hub knows by itself has one spelling.
fn spelt(capability: Text) -> Text {
    if capability.eq_ignore_ascii_case(GPU) { GPU.into() } else { capability }
}

fn mebibytes(gibibytes: f64) -> Option<u64> {
    (gibibytes.is_finite() && gibibytes > 0.0).then_some((gibibytes * 1024.0) as u64)
}

fn default_name(id: &str) -> Text {
    format!("task_{}", id.chars().take(8).collect::<String>()).into()
}

fn spoken_priority(task: &Members) -> u64 {
    if let Some(number) = task.number("priority") {
        return number;
    }
    let word = task.text("priority").map(|word| word.to_lowercase()).unwrap_or_default();
    PRIORITIES.iter().find(|(name, _, _)| *name == word).map_or(2, |(_, number, _)| *number)
}

fn ending(task: &Members) -> Option<Ending> {
    let result = task.get("result").filter(|result| !result.is_null());
    match task.text("status")?.to_lowercase().as_str() {
        "completed" => Some(Ending::Completed(result)),
        "failed" => {
            let said = task.text("error").map_or_else(|| "it failed".to_owned(), std::borrow::Cow::into_owned);
            Some(Ending::Failed(Fault::hub(FaultKind::PeerFailed, said)))
        }
        "cancelled" => Some(Ending::Cancelled(CancelWhy::Asked)),
        // What ran elsewhere does not run here: it begins anew, as everything that is not over.
        _ => None,
    }
}

fn edge(item: &Json, at: At) -> Result<Edge, Invalid> {
    let line = object(item, &at)?;
    let end = |key: &str| text(&line, key, &at)?.ok_or_else(|| at.bad(key, Problem::Missing));
    let (from, to) = (end("from_task_id")?, end("to_task_id")?);
    let id = id(&line, "line_id", &at)?.unwrap_or_else(|| format!("{from}->{to}#{}", at.name).into());
    let condition = line.object("metadata").and_then(|metadata| metadata.object("condition")).map(|said| Condition {
        pointer: said.text("pointer").as_deref().unwrap_or_default().into(),
        equals: said.get("equals"),
    });
    let kind = match line.text("dependency_type").map(|word| word.to_lowercase()).as_deref() {
        Some("success_only") => Dependency::SuccessOnly,
        Some("completion_only") => Dependency::CompletionOnly,
        Some("conditional") => Dependency::Conditional(condition),
        _ => Dependency::Unconditional,
    };
    let note = text(&line, "condition_description", &at)?.unwrap_or_default();
    let meta = Meta(Some(item.clone()));
    Ok(Edge { id: EdgeId(id), from: NodeId(from), to: NodeId(to), kind, note, meta })
}

/// An object without some of its members.
fn without(object: &Json, keys: &[&str]) -> Json {
    let members = Members::of(object);
    interlingua_wire::object::Object::json(|out| {
        for (key, value) in members.iter().filter(|(key, _)| !keys.contains(key)) {
            out.value(key, &value);
        }
    })
}
