//! Slot filling by a model, the last step for words that no phrase and no ranking matches. The model is shown skills with their schemas and
//! may fill in the arguments of one, or answer that none fits. It can only choose among these skills and write arguments, which are checked
//! like those of any caller.

use std::sync::Arc;

use crate::llm::{Arguments, Message, Offered, Prompt, Reply};
use interlingua_model::card::Skill;
use interlingua_model::content::{Part, Provenance};
use interlingua_model::id::{SkillId, Time};
use interlingua_model::json::Json;

/// Skills shown at once.
pub const MAX_SHOWN: usize = 30;
const MAX_TOKENS: u64 = 2_048;

/// Asks for the one call that these words ask for. `again`: what was wrong with an answer before.
pub fn prompt(words: &str, skills: &[&Skill], now: Time, again: Option<&str>) -> Prompt {
    let system = format!(
        "Turn what the user asks for into exactly one call of one of the tools, with arguments that the words give. Leave out \
        what they do not say. If none of the tools is meant, call none and say nothing. It is {} (UTC); dates are written as \
        2026-01-31.",
        spoken(now)
    );
    let mut parts = vec![Part::text(words, Provenance::caller())];
    parts.extend(again.map(|wrong| Part::text(format!("The call before was refused: {wrong}"), Provenance::hub())));
    let offered = skills.iter().zip(names(skills)).map(|(skill, name)| Offered {
        name: name.into(),
        description: format!("{} ({})", skill.description, skill.id).into(),
        input: skill.input.clone(),
    });
    Prompt {
        system: system.into(),
        messages: vec![Arc::new(Message::User(parts))],
        tools: offered.collect(),
        max_tokens: Some(MAX_TOKENS),
        output: None,
    }
}

fn spoken(now: Time) -> String {
    let at = i64::try_from(now.0).ok().and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
    at.map_or_else(|| "now".to_owned(), |at| at.to_string())
}

/// A name for each that every provider takes, and no name twice.
fn names(skills: &[&Skill]) -> Vec<String> {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut names: Vec<String> = Vec::new();
    for (number, skill) in skills.iter().take(MAX_SHOWN).enumerate() {
        let id = format!("{}__{}", skill.id.peer, skill.id.skill);
        let plain: String = id.chars().map(plain).take(56).collect();
        let mut name = plain.clone();
        for again in number.. {
            if !names.contains(&name) {
                break;
            }
            name = format!("{plain}_{again}");
        }
        names.push(name);
    }
    names
}

/// The call that was meant; `None` when there is none, or not exactly one of those shown.
pub fn read(reply: &Reply, skills: &[&Skill]) -> Option<(SkillId, Json)> {
    let [call] = reply.calls.as_slice() else { return None };
    let number = names(skills).iter().position(|name| **name == *call.name)?;
    let skill = skills.get(number)?;
    match &call.args {
        Arguments::Object(args) => Some((skill.id.clone(), args.clone())),
        Arguments::Unreadable { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::llm::{Stop, ToolCall};
    use interlingua_model::card::{CardFrom, Effects, Schema, SkillKind};

    fn skill(name: &str) -> Skill {
        let input = Schema(json!({"type": "object", "properties": {"city": {"type": "string"}}}).into());
        Skill::new(SkillId::new("p", name), SkillKind::Tool, "d", input, Effects::reads_only(CardFrom::Configuration))
    }

    fn reply(calls: &[(&str, Arguments)]) -> Reply {
        let calls = calls.iter().enumerate().map(|(number, (name, args))| ToolCall {
            id: number.to_string().into(),
            name: (*name).into(),
            args: args.clone(),
        });
        Reply { text: "".into(), reasoning: "".into(), calls: calls.collect(), stop: Stop::Tools, tokens: None }
    }

    #[test]
    fn w_40_w_41_a_model_fills_in_one_of_the_schemas_it_is_shown_or_none() {
        let (a, b, c) = (skill("weather.today"), skill("hotels"), skill("hotels"));
        let skills = [&a, &b, &c];
        let prompt = prompt("will it rain in Rome?", &skills, Time(0), None);
        let names: Vec<&str> = prompt.tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["p__weather_today", "p__hotels", "p__hotels_2"]);
        assert_eq!(prompt.tools[0].input, a.input);
        let args = || Arguments::Object(json!({"city": "Rome"}).into());
        let meant = read(&reply(&[("p__weather_today", args())]), &skills);
        assert_eq!(meant, Some((a.id.clone(), json!({"city": "Rome"}).into())));
        let unreadable = Arguments::Unreadable { why: "x".into() };
        for none in [
            reply(&[]),
            reply(&[("invented", args())]),
            reply(&[("p__hotels", unreadable)]),
            reply(&[("p__weather_today", args()), ("p__hotels", args())]),
        ] {
            assert_eq!(read(&none, &skills), None, "{none:?}");
        }
    }
}
