//! What a team is asked: the words are its task, everything else is material that members get as it came, after what was said in the
//! conversation before.

use interlingua_machines::team::TeamPlan;
use interlingua_model::json::Tree;
use interlingua_model::{Body, Input, Loss, Part, Provenance, Text, Turn};

/// Puts the question of a new run into its plan.
pub(super) fn pose(plan: &mut TeamPlan, input: &Input, earlier: Vec<Turn>) {
    let (task, args) = asked(input);
    plan.task = task;
    plan.trust = input.trust;
    plan.material = input.parts.iter().filter(|part| part.as_text().is_none()).cloned().collect();
    plan.material.extend(args);
    plan.history = earlier;
    plan.history.extend(input.history.iter().cloned());
}

/// The words; of a caller that has only arguments, the `message` among them, or all of them. With the arguments that are no task.
fn asked(input: &Input) -> (Text, Option<Part>) {
    let words = input.words();
    let Some(args) = &input.args else { return (words.as_ref().into(), None) };
    let beside = || Part::new(Body::Data(args.clone()), Provenance { trust: input.trust, ..Provenance::caller() });
    if !words.is_empty() {
        return (words.as_ref().into(), Some(beside()));
    }
    let members = args.tree().as_object().map_or(0, |members| members.len());
    match args.get("message").and_then(Tree::as_str) {
        Some(message) => (message.into(), (members > 1).then(beside)),
        None => (args.as_str().into(), None),
    }
}

/// What is remembered of it: everything that was asked.
pub(super) fn remembered(plan: &TeamPlan) -> Vec<Part> {
    let task = Part::text(plan.task.clone(), Provenance { trust: plan.trust, ..Provenance::caller() });
    std::iter::once(task).chain(plan.material.iter().cloned()).collect()
}

/// Is this lost of what the caller gave? What a team itself adds, and a member's wire does not carry, is not the caller's.
pub(super) fn concerns(plan: &TeamPlan, loss: &Loss) -> bool {
    let earlier = plan.history.iter().flat_map(|turn| &turn.parts);
    let given = Input::parts(plan.material.iter().chain(earlier).cloned().collect());
    let of_history = !plan.history.is_empty() && loss.what.ends_with(".history");
    of_history || given.lost_but_words().iter().any(|possible| possible.what == loss.what)
}

#[cfg(test)]
mod tests {
    use interlingua_model::LossKind;
    use serde_json::json;

    use super::*;

    fn posed(input: &Input) -> TeamPlan {
        let mut plan = TeamPlan::new("", []);
        pose(&mut plan, input, Vec::new());
        plan
    }

    #[test]
    fn words_are_the_task_and_everything_else_is_material() {
        let both = Input { args: Some(json!({"fast": true}).into()), ..Input::text("do it") };
        let plan = posed(&both);
        assert_eq!((&*plan.task, plan.material.len()), ("do it", 1), "arguments beside words");
        let message = posed(&Input::args(json!({"message": "do it"}).into()));
        assert_eq!((&*message.task, message.material.len()), ("do it", 0));
        let more = posed(&Input::args(json!({"message": "do it", "fast": true}).into()));
        assert_eq!((&*more.task, more.material.len()), ("do it", 1), "no argument is dropped");
        let bare = posed(&Input::args(json!({"fast": true}).into()));
        assert_eq!((&*bare.task, bare.material.len()), ("{\"fast\":true}", 0));
    }

    #[test]
    fn only_what_the_caller_gave_is_lost_to_the_caller() {
        let link = Part::new(Body::Link, Provenance::caller());
        let plan = posed(&Input::parts(vec![Part::text("look", Provenance::caller()), link]));
        let dropped = |what: &str| Loss::new(what, LossKind::Dropped);
        assert!(concerns(&plan, &dropped("input.parts.link")));
        assert!(!concerns(&plan, &dropped("input.parts.data")), "the verbs of a round are the team's");
        assert!(!concerns(&plan, &dropped("input.history")), "there is none");
    }
}
