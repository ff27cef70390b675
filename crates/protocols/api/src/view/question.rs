//! JSON of questions and pending approvals.

use interlingua_machines::task::Task;
use interlingua_model::{Addressee, Json, Link, Maker, Question, QuestionKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::card::EffectsView;
use super::content::PartView;
use interlingua_hub::Granted;
use interlingua_hub::approvals::Pending;

/// How many characters of a question's text a list shows.
const ROW_TEXT: usize = 300;

/// A question of an exchange. Which fields are present depends on `kind`. The peer's own state never leaves the hub.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct QuestionView {
    pub id: String,
    pub task: String,
    /// `input`, `confirm`, `credential`, `visit`, `model`, `roots` or `tool`.
    pub kind: String,
    /// `caller` or `approvers`.
    pub to: String,
    pub text: String,
    /// Who asks: `hub`, or the name of a peer.
    pub asked_by: String,
    pub expires: String,
    /// For `input`: JSON Schema of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub form: Option<Json>,
    /// For `input`: answers to choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<ChoiceView>,
    /// For `confirm`: what the call would do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<ConfirmView>,
    /// For `credential`: the scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// For `visit`: the page to open; then answer that you opened it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// For `tool`: which of your tools to run. Answer with what it returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// For `tool`: its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub arguments: Option<Json>,
    /// For `tool`: the step that waits for it. It stays the same when the question is asked again after a restart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Who makes the call: the chain of callers, separated by `>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Who makes the call and how each is known, the first caller first. Only where questions are listed or read by themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<LinkView>,
    /// The protocol of the first call that led to it, such as `mcp/2025-11-25`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<String>,
    /// The lowest trust of what led to the call: `operator`, `caller`, `peer` or `world`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<String>,
    /// Who made the call: `caller`, or `agent`, `team`, `plan` or `device` of this hub.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub led_by: Option<String>,
    /// For `confirm`: the digest of the call. Send it back with the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// For `confirm`: why an approval is needed: `caller_asked`, `agent_rule`, `destroys`, `spends`, `plain_words`,
    /// `unknown_effects`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<String>,
    /// For `confirm`, as the fields that follow: when the approval was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<String>,
    /// The version of the policy that allowed the call so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// The digest of the skill's definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// The peer that offers the skill, and its protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// The peer's description of the skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// In lists of confirmations: another one about the same call that you may also decide. An agent's run passes on to its
    /// caller what its call asks of approvers. Deciding one settles both; the other is then withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin: Option<String>,
    /// In lists of confirmations: the last approved call of this skill by the same caller. Absent if this is the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<GrantedView>,
}

/// One of those who make a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkView {
    pub subject: String,
    /// `none`, `local_socket`, `key`, `token`, `jwt`, `certificate`, `console` or `in_process`.
    pub proof: String,
}

/// A call that was approved before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GrantedView {
    pub task: String,
    /// When it was approved.
    pub at: String,
    /// Who approved it.
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub arguments: Option<Json>,
}

impl From<&Granted> for GrantedView {
    fn from(granted: &Granted) -> GrantedView {
        GrantedView {
            task: granted.task.to_string(),
            at: granted.at.to_string(),
            by: granted.by.to_string(),
            arguments: granted.arguments.clone(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChoiceView {
    pub id: String,
    pub text: String,
}

/// An approval is valid for exactly this call, once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfirmView {
    pub skill: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub arguments: Option<Json>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartView>,
    pub effects: EffectsView,
}

impl From<&Question> for QuestionView {
    fn from(question: &Question) -> QuestionView {
        let to = match question.to {
            Addressee::Caller => "caller",
            Addressee::Approvers => "approvers",
        };
        let mut view = QuestionView {
            id: question.id.to_string(),
            task: question.id.0.to_string(),
            kind: question.kind.as_str().into(),
            to: to.into(),
            text: question.text.to_string(),
            asked_by: super::party(&question.asked_by),
            expires: question.expires.to_string(),
            ..QuestionView::default()
        };
        match &question.kind {
            QuestionKind::Input { form, choices } => {
                view.form = Some(form.0.clone());
                let choices = choices.iter();
                view.choices = choices.map(|c| ChoiceView { id: c.id.to_string(), text: c.text.to_string() }).collect();
            }
            QuestionKind::Confirm(confirm) => {
                view.call = Some(confirm.call.to_string());
                view.peer = Some(confirm.skill.peer.to_string());
                if let Some(basis) = &confirm.basis {
                    view.why = basis.why.iter().map(|reason| reason.as_str().to_owned()).collect();
                    view.asked_at = Some(basis.at.to_string());
                    view.policy = Some(basis.policy.to_string());
                    view.definition = Some(basis.definition.to_string());
                }
                view.confirm = Some(ConfirmView {
                    skill: confirm.skill.to_string(),
                    arguments: confirm.args.clone(),
                    parts: confirm.parts.iter().map(PartView::from).collect(),
                    effects: confirm.effects.into(),
                });
            }
            QuestionKind::Credential { scheme, scopes } => {
                view.scheme = Some(scheme.to_string());
                view.scopes = scopes.iter().map(ToString::to_string).collect();
            }
            QuestionKind::Visit { url } => view.url = Some(url.to_string()),
            QuestionKind::Tool { name, args } => {
                view.tool = Some(name.to_string());
                view.arguments = Some(args.clone());
                view.step = question.name.as_deref().map(ToString::to_string);
            }
            QuestionKind::Model(_) | QuestionKind::Roots => {}
        }
        view
    }
}

impl QuestionView {
    /// With what the task that waits says of its call.
    pub fn within(task: &Task, question: &Question) -> QuestionView {
        let origin = &task.call.origin;
        let wire = origin.wire().map(|wire| wire.0.to_string());
        QuestionView {
            owner: Some(task.by.owner().to_string()),
            wire: wire.or_else(|| origin.protocols().next().map(str::to_owned)),
            trust: Some(task.call.trust().as_str().into()),
            led_by: Some(maker(origin.maker()).into()),
            ..QuestionView::from(question)
        }
    }
}

fn maker(maker: Maker) -> &'static str {
    match maker {
        Maker::Caller => "caller",
        Maker::Agent => "agent",
        Maker::Team => "team",
        Maker::Plan => "plan",
        Maker::Device => "device",
    }
}

impl From<&Pending> for QuestionView {
    fn from(pending: &Pending) -> QuestionView {
        let skill = pending.skill.as_ref();
        QuestionView {
            title: skill.map(|skill| skill.title.to_string()),
            description: skill.map(|skill| skill.description.to_string()),
            protocol: pending.protocol.map(str::to_owned),
            twin: pending.twin.map(|twin| twin.to_string()),
            last: pending.last.as_ref().map(GrantedView::from),
            chain: pending.task.by.links().iter().map(LinkView::from).collect(),
            ..QuestionView::within(&pending.task, &pending.question)
        }
    }
}

impl From<&Link> for LinkView {
    fn from(link: &Link) -> LinkView {
        LinkView { subject: link.subject.to_string(), proof: link.proof.as_str().into() }
    }
}

impl QuestionView {
    /// A row of a list that is read often: who asks for what until when, without content, which can be large.
    pub fn row(mut pending: Pending) -> QuestionView {
        if let QuestionKind::Confirm(confirm) = &mut pending.question.kind {
            (confirm.args, confirm.parts) = (None, Box::default());
        }
        let view = QuestionView::from(&pending);
        let text = match view.text.char_indices().nth(ROW_TEXT) {
            None => view.text,
            Some((end, _)) => format!("{}…", &view.text[..end]),
        };
        QuestionView { text, form: None, choices: Vec::new(), arguments: None, description: None, ..view }
    }
}
