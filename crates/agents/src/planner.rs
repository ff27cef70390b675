//! A planner: an agent whose model does not call skills itself but writes plans, which the hub carries out.
//!
//! Its one tool is `graph/carry_out`. The skills and devices that steps may use stand in the description of the tool, so that the model
//! knows them without being able to call them. A plan is a child task of the run: its steps are called through the hub by the caller
//! through the planner, each with the approval that it needs, and the model reads how each step ended. To change a plan it continues the
//! task with changes. Everything else (journal, budget, questions, cancel) is the run loop of any agent.

use interlingua_machines::agent::{Tool, offer};
use interlingua_machines::graph::{Node, Plan, Want};
use interlingua_model::{Card, DeviceLoad, Health, Input, Json, RouteClass, Schema, Skill, SkillId};
use interlingua_wire::members::Members;
use interlingua_wire::object::Object;

use super::plans;
use super::settings;

/// How many calls a run makes where its budget does not say: the plan, changes of it, and questions.
pub(super) const MAX_PLANS: u32 = 10;
/// How many skills and devices its model is shown.
const MAX_SHOWN: usize = 128;
/// Characters of one description.
const MAX_DESCRIPTION: usize = 300;
/// Bytes of one input schema; of a larger one only the names of its properties are shown.
const MAX_SCHEMA: usize = 800;

/// Characters of the outline of a plan.
const MAX_OUTLINE: usize = 4_000;
/// Members of the input that are not the model's to set.
const LIMITS: [&str; 4] = ["max_steps", "width", "planner", "patience"];

const TASK: &str = "You turn requests into plans and have them carried out by the tool graph__carry_out. A plan has steps, each a call of one \
    skill, and dependencies between steps. Use only the skills and devices that the tool lists. Use the result of a step in a later step where \
    you can, and a conditional dependency where a step is to run only if a result says so. Prefer the fewest steps that do what was asked.\n\
    The result of the tool says how each step ended. If steps failed, call the tool again with `continues` set to `last` and the changes that get \
    around the failure, such as another device; do not repeat what failed in the same way. If nothing can be done about it, stop.\n\
    Steps that change something may wait for an approval, and may be declined. Never try to get around that.\n\
    At the end explain in a few sentences what was done, on which device and why there, what failed, and what was not done.";

#[derive(Debug)]
pub(super) struct Planner {
    /// Maximum steps of one plan.
    steps: u32,
    /// Maximum steps that run at once.
    width: u16,
}

/// The skill by which its plans are carried out.
pub(super) fn skill() -> SkillId {
    SkillId::new(plans::PEER, plans::CARRY_OUT)
}

/// What its model is told first, and then what the configuration adds.
pub(super) fn instructions(own: &str) -> String {
    format!("{TASK}\n\n{own}").trim_end().to_owned()
}

impl Planner {
    pub(super) fn of(config: &settings::Agent) -> Option<Planner> {
        match config.kind {
            settings::Kind::Chat => None,
            settings::Kind::Planner => Some(Planner { steps: config.plan.steps, width: config.parallel }),
        }
    }

    /// Its tool, where the caller may use it, with what steps may use.
    pub(super) fn tools<'a>(
        &self,
        callable: &[&Skill],
        usable: &[&Skill],
        peers: impl Iterator<Item = &'a Card>,
        load: impl Fn(&Card) -> DeviceLoad,
    ) -> Vec<Tool> {
        let own = skill();
        let mut tools = offer(callable.iter().copied(), |id| *id == own);
        let devices = peers.filter(|card| card.class == RouteClass::Device).take(MAX_SHOWN);
        let devices: Vec<String> = devices.map(|card| device(card, load(card))).collect();
        for tool in &mut tools {
            let mut text = format!("{} A plan has at most {} steps.", tool.description, self.steps);
            let usable = usable.iter().filter(|skill| skill.id.peer.as_str() != plans::PEER);
            text.push_str("\n\nSkills that steps may call:");
            usable.take(MAX_SHOWN).for_each(|skill| text.push_str(&shown(skill)));
            if !devices.is_empty() {
                text.push_str("\n\nDevices:");
                devices.iter().for_each(|device| text.push_str(device));
            }
            tool.description = text.into();
        }
        tools
    }

    /// The limits are the configuration's, whatever the model says.
    pub(super) fn bounded(&self, input: Input) -> Input {
        let said = input.args.as_ref().map_or_else(Members::absent, Members::of);
        let args = Object::json(|out| {
            said.iter().filter(|(key, _)| !LIMITS.contains(key)).for_each(|(key, value)| out.value(key, &value));
            out.number("max_steps", self.steps.into());
            out.number("width", self.width.into());
        });
        Input { args: Some(args), ..input }
    }
}

/// A plan, or what is to change of it, in a few words for whoever watches the run.
pub(super) fn outline(args: Option<&Json>) -> Option<String> {
    let args = args?;
    if let Some(plan) = args.get("plan") {
        let plan = plans::change::plan(&Json::from_tree(plan.clone())).ok()?;
        let steps: Vec<String> = plan.nodes.iter().take(MAX_SHOWN).map(|node| step(node, &plan)).collect();
        return Some(cut_to(&format!("plan of {} steps: {}", plan.nodes.len(), steps.join("; ")), MAX_OUTLINE));
    }
    let changes = Object::json(|out| {
        let kept = |(key, _): &(&str, Json)| !LIMITS.contains(key) && *key != "continues";
        Members::of(args).iter().filter(kept).for_each(|(key, value)| out.value(key, &value));
    });
    Some(cut_to(&format!("changes the plan: {}", changes.as_str()), MAX_OUTLINE))
}

fn step(node: &Node, plan: &Plan) -> String {
    let what = match (&node.want, &node.skill) {
        (Want::Peer(peer), Some(skill)) => format!("{peer}/{skill}"),
        (Want::Peer(peer), None) => peer.to_string(),
        (Want::Any { capability, .. }, _) => capability.as_ref().map_or("any device", |name| &**name).to_owned(),
    };
    let after: Vec<&str> =
        plan.edges.iter().filter(|edge| edge.to == node.id).map(|edge| edge.from.as_str()).take(MAX_SHOWN).collect();
    let after = if after.is_empty() { String::new() } else { format!(", after {}", after.join(", ")) };
    format!("{} ({what}{after})", node.id)
}

fn shown(skill: &Skill) -> String {
    let arguments = match skill.input.0.as_bytes().len() {
        0..=MAX_SCHEMA => skill.input.0.as_str().to_owned(),
        _ => names(&skill.input),
    };
    format!("\n- {}: {} Arguments: {arguments}", skill.id, cut(&skill.description))
}

fn names(schema: &Schema) -> String {
    let properties = schema.0.get("properties").and_then(|properties| properties.as_object());
    let names: Vec<&str> = properties.into_iter().flatten().map(|(name, _)| name.as_str()).take(MAX_SHOWN).collect();
    cut(&names.join(", "))
}

fn device(card: &Card, load: DeviceLoad) -> String {
    let fresh = load.is_fresh();
    let mut facts: Vec<String> = load.platform.iter().map(|platform| cut(platform)).collect();
    facts.extend(load.cpu_percent.filter(|_| fresh).map(|percent| format!("{percent} % CPU")));
    facts.extend(load.free_memory.filter(|_| fresh).map(|mebibytes| format!("{mebibytes} MiB free")));
    facts.extend(load.has_gpu.then(|| "has a GPU".to_owned()));
    facts.extend(matches!(card.health, Health::Down { .. }).then(|| "away".to_owned()));
    let tags: Vec<&str> = card.skills.iter().flat_map(|skill| &skill.tags).map(|tag| &**tag).collect();
    if !tags.is_empty() {
        facts.push(format!("can {}", cut(&tags.join(", "))));
    }
    format!("\n- {}: {}", card.peer, facts.join(", "))
}

fn cut(text: &str) -> String {
    cut_to(text, MAX_DESCRIPTION)
}

fn cut_to(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use interlingua_model::{CardFrom, Effects, SkillKind};
    use serde_json::json;

    use super::*;

    fn skill_of(id: &str, schema: serde_json::Value) -> Skill {
        let effects = Effects::reads_only(CardFrom::Configuration);
        Skill::new(id.parse().expect("an id"), SkillKind::Tool, "Does it.", Schema(schema.into()), effects)
    }

    #[test]
    fn its_one_tool_says_what_steps_may_call_and_what_they_may_not_is_not_there() {
        let planner = Planner { steps: 7, width: 3 };
        let (carry, ls) = (skill_of("graph/carry_out", json!({})), skill_of("box/ls", json!({"type": "object"})));
        let long: serde_json::Value = (0..100).map(|n| (format!("field{n}"), json!({"type": "string"}))).collect();
        let wide = skill_of("box/wide", json!({"properties": long}));
        let tools =
            planner.tools(&[&carry, &ls, &wide], &[&ls, &wide, &carry], std::iter::empty(), |_| DeviceLoad::default());
        assert_eq!(tools.iter().map(|tool| tool.skill.to_string()).collect::<Vec<_>>(), ["graph/carry_out"]);
        let said = &*tools[0].description;
        assert!(
            said.contains("at most 7 steps") && said.contains("\n- box/ls: Does it. Arguments: {\"type\":"),
            "{said}"
        );
        assert!(said.contains("box/wide: Does it. Arguments: field0, field1") && !said.contains("- graph/"), "{said}");
        assert!(
            planner.tools(&[&ls], &[&ls], std::iter::empty(), |_| DeviceLoad::default()).is_empty(),
            "the caller may not"
        );
    }

    #[test]
    fn a_plan_is_shown_in_a_few_words_and_so_is_a_change_of_it() {
        let plan = json!({"plan": {
            "tasks": {"a": {"task_data": {"skill": "box/ls"}}, "b": {"target_device_id": "ann"}, "c": {"task_data": {"capability": "gpu"}}},
            "dependencies": [{"from_task_id": "a", "to_task_id": "b"}],
        }});
        let said = outline(Some(&Json::from_tree(plan)));
        assert_eq!(said.as_deref(), Some("plan of 3 steps: a (box/ls); b (ann, after a); c (gpu)"));
        let change = json!({"continues": "last", "retarget": {"a": "other"}, "max_steps": 3});
        let said = outline(Some(&Json::from_tree(change)));
        assert_eq!(said.as_deref(), Some("changes the plan: {\"retarget\":{\"a\":\"other\"}}"));
        assert_eq!(outline(Some(&Json::from_tree(json!({"plan": 7})))), None, "what is no plan is refused elsewhere");
    }

    #[test]
    fn attack_the_limits_are_not_the_models_to_set() {
        let planner = Planner { steps: 7, width: 3 };
        let said = json!({"plan": {"tasks": {}}, "max_steps": 100_000, "width": 1000, "planner": "x"});
        let input = planner.bounded(Input::args(Json::from_tree(said)));
        let wanted = json!({"plan": {"tasks": {}}, "max_steps": 7, "width": 3});
        assert_eq!(input.args.map(|args| args.tree().clone()), Some(wanted));
    }
}
