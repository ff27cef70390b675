//! Long conversations: what is cleared, omitted and summarised, and that this is journaled.

use super::*;

fn narrow(fold: Fold) -> Walk {
    Walk::with(|plan| plan.window = Window { tokens: 200, keep: 2, fold })
}

/// One call with a result of about this many tokens.
fn turn(walk: &mut Walk, id: &str, tokens: usize) -> Vec<Record> {
    walk.calls(vec![read(id)]);
    walk.returns(id, &"xyz ".repeat(tokens))
}

fn folded(records: &[Record]) -> Vec<&Folded> {
    let found = records.iter().filter_map(|record| match record {
        Record::Folded(folded) => Some(folded),
        _ => None,
    });
    found.collect()
}

fn shown(walk: &Walk) -> Vec<String> {
    let text = |message: &Arc<Message>| message.parts().iter().filter_map(|part| part.as_text()).collect::<String>();
    walk.run.messages.iter().map(text).collect()
}

#[test]
fn what_fits_is_left_as_it_is() {
    let mut walk = narrow(Fold::LeaveOut);
    let records = turn(&mut walk, "a", 20);
    assert_eq!(folded(&records), Vec::<&Folded>::new());
}

#[test]
fn old_results_are_cleared_first_and_the_oldest_before_others() {
    let mut walk = narrow(Fold::LeaveOut);
    turn(&mut walk, "a", 90);
    let records = turn(&mut walk, "b", 90);
    assert_eq!(folded(&records), [&Folded::Cleared(vec![2])]);
    assert_eq!(shown(&walk)[2], "[the result of files__read was cleared: 95 tokens]");
    assert!(shown(&walk)[4].starts_with("xyz"), "the last messages are never touched");
}

#[test]
fn then_messages_are_left_out_but_never_a_call_without_its_result() {
    let mut walk = narrow(Fold::LeaveOut);
    let mut records = Vec::new();
    for number in 0..12 {
        records = turn(&mut walk, &format!("c{number}"), 30);
    }
    assert!(folded(&records).iter().any(|folded| matches!(folded, Folded::LeftOut { .. })), "{records:?}");
    assert_eq!(shown(&walk)[0], "tidy up", "the first message stays");
    assert!(shown(&walk)[1].ends_with("earlier messages were left out here."));
    for (place, message) in walk.run.messages.iter().enumerate() {
        if let Message::Tool { call, .. } = &**message {
            let made = walk.run.messages[..place].iter().any(|before| match &**before {
                Message::Agent { calls, .. } => calls.iter().any(|made| made.id == *call),
                Message::User(_) | Message::Tool { .. } => false,
            });
            assert!(made, "the result of {call} has lost its call");
        }
    }
}

fn until_summary() -> Walk {
    let mut walk = narrow(Fold::Summarise);
    for number in 0..12 {
        turn(&mut walk, &format!("c{number}"), 30);
        if matches!(walk.effects.last(), Some(Effect::Summarise(_))) {
            return walk;
        }
    }
    panic!("no summary was needed");
}

#[test]
fn or_the_model_sums_them_up() {
    let mut walk = until_summary();
    let Some(Effect::Summarise(prompt)) = walk.effects.last() else { panic!() };
    assert_eq!(prompt.tools, [], "summing up calls nothing");
    let before = walk.run.spent.tokens_out;
    let records = walk.replies(reply("Nothing was found so far.", vec![]));
    assert!(matches!(folded(&records)[0], Folded::Summarised { .. }));
    assert!(shown(&walk)[1].ends_with("Nothing was found so far."));
    assert_eq!(
        walk.run.messages[1].parts()[0].provenance.trust,
        Trust::Peer,
        "a summary is trusted as what it sums up"
    );
    assert_eq!(walk.run.spent.tokens_out, before + 5, "it costs like any other answer");
    walk.prompt();
}

#[test]
fn what_cannot_be_summed_up_is_left_out() {
    let mut walk = until_summary();
    let failure = Failure::new(FailureKind::Down, "down");
    let records = walk.happen(Happening::Broke(Broken { failure, text: "".into(), tokens: None }));
    assert!(matches!(folded(&records)[0], Folded::LeftOut { .. }));
    walk.prompt();
}

#[test]
fn a_window_that_is_too_small_for_anything_still_lets_the_model_try() {
    let mut walk = Walk::with(|plan| plan.window = Window { tokens: 1, keep: 0, fold: Fold::LeaveOut });
    for number in 0..5 {
        turn(&mut walk, &format!("c{number}"), 500);
        walk.prompt();
    }
}
