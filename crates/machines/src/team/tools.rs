//! Tool definitions of a team for models. They are never run: a call of one is a decision of the team.

use serde_json::json;

use super::{Brief, Offer};
use interlingua_model::card::Schema;
use interlingua_model::id::Text;

#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub name: &'static str,
    pub description: &'static str,
    pub input: Schema,
}

/// All that a round can offer.
pub(super) const WORKFLOW: [&str; 3] = ["new_answer", "vote", "stop"];

/// What a round offers. A vote names its choices, so that a model that obeys schemas cannot choose another.
pub fn offered_tools(brief: &Brief) -> Vec<Tool> {
    brief.offer.names().iter().filter_map(|name| tool(name, &brief.choices)).collect()
}

fn tool(name: &str, choices: &[Text]) -> Option<Tool> {
    match name {
        "new_answer" => Some(Tool {
            name: "new_answer",
            description: "Gives your complete answer to the team. It replaces your earlier one.",
            input: object(json!({"content": {"type": "string"}}), &["content"]),
        }),
        // Before the first answer there is nothing to vote for.
        "vote" if choices.is_empty() => None,
        "vote" => Some(Tool {
            name: "vote",
            description: "Votes for the answer that should be the team's.",
            input: object(
                json!({"agent_id": {"type": "string", "enum": choices}, "reason": {"type": "string"}}),
                &["agent_id", "reason"],
            ),
        }),
        "stop" => Some(Tool {
            name: "stop",
            description: "Says that your share of the work is done, or that you cannot go on.",
            input: object(
                json!({"summary": {"type": "string"}, "status": {"type": "string", "enum": ["complete", "blocked"]}}),
                &["summary", "status"],
            ),
        }),
        _ => None,
    }
}

impl Tool {
    /// What the winner is offered when it evaluates.
    pub fn evaluation() -> [Tool; 2] {
        [
            Tool {
                name: "submit",
                description: "Says that what was presented is the team's answer.",
                input: object(json!({"confirmed": {"const": true}}), &["confirmed"]),
            },
            Tool {
                name: "restart_orchestration",
                description: "Sends the whole team back to the start.",
                input: object(
                    json!({"reason": {"type": "string"}, "instructions": {"type": "string"}}),
                    &["reason", "instructions"],
                ),
            },
        ]
    }
}

fn object(properties: serde_json::Value, required: &[&str]) -> Schema {
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false
    });
    Schema(schema.into())
}

impl super::Evaluation {
    /// What a model's call after the presentation means; anything but a restart submits.
    pub fn read(name: &str, args: &interlingua_model::json::Json) -> super::Evaluation {
        let text = |key: &str| args.get(key).and_then(|value| value.as_str()).map(Text::from).unwrap_or_default();
        match name {
            "restart_orchestration" => {
                super::Evaluation::Restart { reason: text("reason"), instructions: text("instructions") }
            }
            _ => super::Evaluation::Submit,
        }
    }
}

impl Offer {
    /// May a round of this kind end with a vote?
    pub fn votes(self) -> bool {
        self.names().contains(&"vote")
    }
}
