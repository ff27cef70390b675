//! What an exchange waits for.

use interlingua_core::{Addressee, Json, Question, QuestionKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::card::EffectsView;
use super::content::PartView;

/// Which of the fields are there depends on `kind`. The callee's own state never leaves the hub.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionView {
    pub id: String,
    pub task: String,
    /// `input`, `confirm`, `credential`, `visit`, `model` or `roots`.
    pub kind: String,
    /// `caller` or `approvers`.
    pub to: String,
    pub text: String,
    /// Who asks: `hub`, or the name of a peer.
    pub asked_by: String,
    pub expires: String,
    /// Of `input`: JSON Schema of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub form: Option<Json>,
    /// Of `input`: answers to choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<ChoiceView>,
    /// Of `confirm`: what a yes would do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<ConfirmView>,
    /// Of `credential`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// Of `visit`: open it, then say that you did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChoiceView {
    pub id: String,
    pub text: String,
}

/// A yes is for exactly this, once.
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
            form: None,
            choices: Vec::new(),
            confirm: None,
            scheme: None,
            scopes: Vec::new(),
            url: None,
        };
        match &question.kind {
            QuestionKind::Input { form, choices } => {
                view.form = Some(form.0.clone());
                let choices = choices.iter();
                view.choices = choices.map(|c| ChoiceView { id: c.id.to_string(), text: c.text.to_string() }).collect();
            }
            QuestionKind::Confirm(confirm) => {
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
            QuestionKind::Model(_) | QuestionKind::Roots => {}
        }
        view
    }
}
