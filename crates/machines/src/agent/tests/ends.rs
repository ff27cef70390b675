//! How a run ends: budgets, structured answers, failures, cancellation.

use super::*;

#[test]
fn a_budget_of_tokens_ends_with_what_was_said() {
    let mut walk = Walk::with(|plan| plan.budget.tokens = Some(40));
    assert_eq!(walk.prompt().max_tokens, Some(40));
    walk.emitted.extend(walk.run.hear(&llm::Event::Text("I begin.".into())));
    walk.replies(reply("I begin.", vec![read("a")]));
    walk.returns("a", "x");
    assert_eq!(walk.prompt().max_tokens, Some(25));
    walk.replies(Reply { tokens: Some(Tokens { read: 20, written: 5 }), ..reply("", vec![read("b")]) });
    walk.returns("b", "y");
    assert_eq!(walk.failure(), FaultKind::BudgetSpent);
    assert_eq!(walk.heard(), "I begin.");
    let Outcome::Failed(fault) = walk.outcome() else { panic!() };
    assert_eq!(&*fault.public, "the agent's budget is used up: 40 tokens are used");
}

#[test]
fn near_the_end_the_model_is_told_to_answer_and_has_no_tools() {
    let mut walk = Walk::with(|plan| plan.budget.turns = Some(2));
    assert_eq!(walk.prompt().tools.len(), 3);
    walk.calls(vec![read("a")]);
    walk.returns("a", "x");
    assert_eq!(walk.prompt().tools.len(), 0, "this is the last turn");
    let last = walk.prompt().messages.last().cloned().expect("a message");
    assert!(last.parts()[0].as_text().is_some_and(|text| text.starts_with("Your budget is nearly used up")));
    walk.says("Half of it is done.");
    assert_eq!(walk.outcome(), &Outcome::Completed, "it came to an end in time");

    let mut stubborn = Walk::with(|plan| plan.budget.turns = Some(1));
    stubborn.calls(vec![read("a")]);
    stubborn.returns("a", "x");
    assert_eq!(stubborn.failure(), FaultKind::BudgetSpent);
}

#[test]
fn a_budget_of_calls_refuses_the_rest() {
    let mut walk = Walk::with(|plan| plan.budget.calls = Some(1));
    walk.calls(vec![read("a"), read("b")]);
    assert_eq!(walk.begun(), [("a", false)]);
    walk.returns("a", "x");
    assert_eq!(walk.result("b").0, "not called: no more calls are left in the budget");
    assert_eq!(walk.prompt().tools.len(), 0);
}

#[test]
fn a_budget_of_money_counts_by_the_price_of_tokens() {
    let mut walk = Walk::with(|plan| {
        plan.price = Price { read: 1_000_000, written: 2_000_000 };
        plan.budget.micro_money = Some(20);
    });
    walk.calls(vec![read("a")]);
    assert_eq!(walk.run.spent.micro_money, 20);
    walk.returns("a", "x");
    assert_eq!(walk.failure(), FaultKind::BudgetSpent);
}

#[test]
fn what_a_child_uses_counts_for_its_parent() {
    let mut walk = Walk::with(|plan| plan.budget.tokens = Some(100));
    walk.calls(vec![read("a")]);
    let usage = Usage { tokens_in: 80, tokens_out: 20, calls: 3, micro_money: 7 };
    let result = ToolResult { parts: vec![], failed: false, usage };
    walk.happen(Happening::Returned { call: "a".into(), result });
    assert_eq!(walk.run.spent, Usage { tokens_in: 90, tokens_out: 25, calls: 4, micro_money: 7 });
    assert_eq!(walk.failure(), FaultKind::BudgetSpent);
}

#[test]
fn a_budget_of_time_ends_it_also_while_a_call_runs() {
    let mut walk = Walk::with(|plan| plan.budget.time = Some(Duration::from_secs(60)));
    walk.calls(vec![read("a")]);
    assert_eq!(walk.run.next_timer(), Some(START.after(Duration::from_secs(60))));
    walk.now = START.after(Duration::from_secs(59));
    assert_eq!(walk.happen(Happening::Timer), []);
    walk.now = START.after(Duration::from_secs(60));
    walk.happen(Happening::Timer);
    assert_eq!(walk.failure(), FaultKind::BudgetSpent);
    assert_eq!(walk.effects[0], Effect::Drop { call: "a".into() });
    assert_eq!(walk.run.next_timer(), None);
}

#[test]
fn tokens_are_estimated_where_a_provider_counts_none() {
    let mut walk = Walk::new(plan());
    walk.replies(Reply { tokens: None, ..reply(&"word ".repeat(80), vec![]) });
    assert_eq!(walk.run.spent.tokens_out, 100);
    assert!(walk.run.spent.tokens_in > 0);
}

#[test]
fn a_model_that_goes_round_in_circles_comes_to_an_end() {
    let mut walk = Walk::new(plan());
    for turn in 0..200 {
        if walk.run.finished().is_some() {
            break;
        }
        let id = format!("c{turn}");
        walk.calls(vec![read(&id)]);
        walk.returns(&id, "the same as before");
    }
    assert_eq!((walk.failure(), walk.run.turn), (FaultKind::BudgetSpent, 100));
}

#[test]
fn an_answer_that_broke_off_is_paid_for() {
    let mut walk = Walk::with(|plan| plan.price = Price { read: 1_000_000, written: 2_000_000 });
    let failure = Failure::new(FailureKind::Cut, "cut");
    let tokens = Some(Tokens { read: 10, written: 5 });
    walk.happen(Happening::Broke(Broken { failure, text: "".into(), tokens }));
    assert_eq!(walk.run.finished().map(|finished| finished.usage.micro_money), Some(20));
}

fn form() -> Schema {
    Schema(serde_json::json!({"type": "object", "required": ["n"]}).into())
}

#[test]
fn a_structured_answer_is_checked_and_given_as_a_value() {
    let mut walk = Walk::with(|plan| plan.output = Some(form()));
    assert_eq!(walk.prompt().output, Some(form()));
    walk.says("```json\n{\"n\": 1}\n```");
    let value: Json = serde_json::json!({"n": 1}).into();
    assert_eq!(walk.effects, [Effect::Check { schema: form(), value: value.clone() }], "nothing of it was streamed");
    walk.happen(Happening::Checked(Ok(())));
    assert_eq!(walk.run.finished().and_then(|finished| finished.output.structured.clone()), Some(value));
}

#[test]
fn an_answer_that_does_not_fit_is_repaired_so_often_and_no_more() {
    let mut walk = Walk::with(|plan| plan.output = Some(form()));
    walk.says("I do not know.");
    assert!(
        walk.run.messages.last().is_some_and(|message| {
            message.parts()[0].as_text().is_some_and(|text| text.contains("it is not JSON"))
        })
    );
    walk.says("{}");
    walk.happen(Happening::Checked(Err("n is missing".into())));
    walk.prompt();
    walk.says("{}");
    walk.happen(Happening::Checked(Err("n is missing".into())));
    assert_eq!(walk.failure(), FaultKind::BadReply);
    let output = &walk.run.finished().expect("ended").output;
    assert_eq!(output.parts[0].as_text(), Some("{}"), "what there was is given all the same");
    assert_eq!(output.structured, None);
}

#[test]
fn a_model_that_fails_ends_the_run_with_what_it_had_said() {
    let mut walk = Walk::new(plan());
    walk.emitted.extend(walk.run.hear(&llm::Event::Text("It is ".into())));
    let failure = Failure::new(FailureKind::Cut, "the model's answer broke off before its end");
    walk.happen(Happening::Broke(Broken { failure, text: "It is ".into(), tokens: None }));
    assert_eq!((walk.failure(), walk.heard()), (FaultKind::BadReply, "It is ".to_owned()));
}

#[test]
fn an_answer_that_was_declined_or_cut_by_its_limit_is_no_answer() {
    for (stop, kind) in [(Stop::Declined, FaultKind::PeerDeclined), (Stop::Length, FaultKind::BadReply)] {
        let mut walk = Walk::new(plan());
        walk.replies(Reply { stop, ..reply("I", vec![]) });
        assert_eq!(walk.failure(), kind);
    }
}

#[test]
fn an_empty_answer_is_still_an_end() {
    let mut walk = Walk::new(plan());
    walk.says("");
    assert_eq!((walk.outcome(), walk.heard()), (&Outcome::Completed, String::new()));
}

#[test]
fn cancelling_lets_go_of_every_call_and_keeps_what_was_said() {
    let mut walk = Walk::new(plan());
    walk.emitted.extend(walk.run.hear(&llm::Event::Text("I look.".into())));
    walk.replies(reply("I look.", vec![read("a"), read("b")]));
    walk.returns("a", "x");
    walk.happen(Happening::Cancel(CancelWhy::Asked));
    assert_eq!(walk.effects[0], Effect::Drop { call: "b".into() });
    assert!(matches!(walk.outcome(), Outcome::Cancelled { why: CancelWhy::Asked, .. }));
    assert_eq!(walk.heard(), "I look.");
    let after = walk.run.decide(Happening::Begin, walk.now).expect_err("over");
    assert_eq!(after.kind, FaultKind::AlreadyFinished);
}
