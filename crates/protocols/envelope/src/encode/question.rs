//! A question in `metadata` of a pending response: a confirmation to be approved, or a question to be answered. `decode::answer`
//! reads the reply.

use interlingua_model::json::write_string;
use interlingua_model::{Addressee, Choice, Question, QuestionKind};

use interlingua_wire::object::Object;

pub(super) fn encode(meta: &mut Object<'_>, question: &Question) {
    let name = match &question.kind {
        QuestionKind::Confirm(_) => "confirmation",
        QuestionKind::Input { .. }
        | QuestionKind::Credential { .. }
        | QuestionKind::Visit { .. }
        | QuestionKind::Model(_)
        | QuestionKind::Roots
        | QuestionKind::Tool { .. } => "question",
    };
    meta.object(name, |out| {
        out.text("id", &question.id.to_string());
        out.text("kind", question.kind.as_str());
        out.text("text", &question.text);
        out.text("expires", &question.expires.to_string());
        let to = match question.to {
            Addressee::Caller => "caller",
            Addressee::Approvers => "approvers",
        };
        out.text("to", to);
        kind(out, &question.kind);
    });
}

/// What the one who is asked must see to answer.
fn kind(out: &mut Object<'_>, kind: &QuestionKind) {
    match kind {
        QuestionKind::Confirm(confirm) => {
            out.text("skill", &confirm.skill.to_string());
            out.text("digest", &confirm.call.to_string());
            if let Some(args) = &confirm.args {
                out.value("parameters", args);
            }
        }
        QuestionKind::Input { form, choices } => {
            out.value("form", &form.0);
            if !choices.is_empty() {
                out.array("choices", choices, choice);
            }
        }
        QuestionKind::Credential { scheme, scopes } => {
            out.text("scheme", scheme);
            out.array("scopes", scopes, |scope, out| write_string(scope, out));
        }
        QuestionKind::Visit { url } => out.text("url", url),
        // The hub answers these itself on this wire; should one get here, its text is all there is to show.
        QuestionKind::Model(_) | QuestionKind::Roots | QuestionKind::Tool { .. } => {}
    }
}

fn choice(choice: &Choice, out: &mut Vec<u8>) {
    let mut object = Object::open(out);
    object.text("id", &choice.id);
    object.text("text", &choice.text);
    object.finish();
}
