//! 5. Plain words, one slot missing: the hub asks before any work, reads the answer with the clock, then continues.

use super::*;
use crate::words::answer::{FormAnswer, to_form};
use crate::words::{Match, Matcher, form, say};
use interlingua_model::card::{CardFrom, Phrase, Skill, SkillKind};

/// Sunday 15 November 2026, 09:00 UTC.
const TODAY: Time = Time(1_794_733_200_000);

fn skill() -> Skill {
    let schema = serde_json::json!({"type": "object", "required": ["origin", "destination", "date"], "properties": {
        "origin": {"type": "string"}, "destination": {"type": "string"}, "date": {"type": "string", "format": "date"}}});
    let effects = Effects::reads_only(CardFrom::Configuration);
    let id = SkillId::new("airline", "search_flights");
    let mut skill = Skill::new(id, SkillKind::Tool, "search flights", Schema(Json::from(schema)), effects);
    let pattern = "search flights from {origin} to {destination} [on {date}]";
    skill.phrases = vec![Phrase { locale: "en".into(), pattern: pattern.into() }];
    skill
}

fn asked() -> (Walk, Schema) {
    let skill = skill();
    let (matcher, problems) = Matcher::compile([&skill]);
    assert_eq!(problems, []);
    let matched = matcher.match_words("search flights from NYC to Paris", TODAY, None, |_| true);
    let Match::One(found) = matched else { panic!("{matched:?}") };
    let form = form(&skill.input, &found.missing);
    let text = say::ask_for(found.locale.language, &form, &found.missing);
    assert_eq!(text, "On which date?");

    let mut call = call("airline/search_flights", OnDisconnect::Cancel);
    if let Ask::Invoke { input, .. } = &mut call.ask {
        input.args = Some(found.args);
    }
    let mut walk = Walk::accept(call);
    let kind = QuestionKind::Input { form: form.clone(), choices: Vec::new() };
    let asking = Asking { to: Addressee::Caller, kind, text: text.into(), expires: EXPIRES };
    assert_eq!(walk.on(Happening::Ask(asking)), "asked 0 input");
    (walk, form)
}

#[test]
fn scenario_05_the_answer_fills_the_slot_and_the_task_goes_on() {
    let (mut walk, form) = asked();
    assert_eq!(walk.task.sent, None, "asked before any work");
    assert_eq!(walk.on(Happening::CallerGone), "nothing", "it waits for the answer whatever becomes of the connection");

    assert_eq!(to_form(&form, &[], "somewhere warm", TODAY, None), FormAnswer::Unfit);
    let FormAnswer::Given(args) = to_form(&form, &[], "May 1", TODAY, None) else { panic!("a date") };
    let said = Signal::Said { message: "m2".into(), input: Input::args(args) };
    let said = Happening::Signal { by: owner(), standing: OWNER, signal: said };
    assert_eq!(
        walk.on(said),
        "received given to 0, settled 0 answered => proceed",
        "what is said is offered to the question"
    );

    let args = walk.task.call.input().and_then(|input| input.args.clone()).expect("args");
    assert_eq!(*args.tree(), serde_json::json!({"origin": "NYC", "destination": "Paris", "date": "2027-05-01"}));
    assert_eq!(walk.on(send("airline/search_flights", true)), "sent 1 open, started => dispatch 1 as itself");
    assert_eq!(walk.on(progresses(1.0)), "progress");
    assert_eq!(walk.on(completes()), "completed => stop");
}

#[test]
fn scenario_05_the_question_survives_the_hub() {
    let (mut walk, form) = asked();
    assert_eq!(walk.restart(), "nothing");
    let FormAnswer::Given(args) = to_form(&form, &[], "mañana", TODAY, None) else { panic!("a date") };
    let given = answers(OWNER, 0, "m2", Answer::Given(Input::args(args)));
    assert_eq!(walk.on(given), "received given to 0, settled 0 answered => proceed");
}

#[test]
fn scenario_05_no_answer_in_time_is_unanswered() {
    let (mut walk, _) = asked();
    let (_, timer) = walk.task.next_timer().expect("the question's expiry");
    assert_eq!(walk.on(timer), "settled 0 expired, failed unanswered => stop");
}
