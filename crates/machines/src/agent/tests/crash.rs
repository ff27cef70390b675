//! The hub may be killed after any append. Work in progress is resumed; nothing with effects is done twice.

use proptest::prelude::*;

use super::*;

const TASK: TaskId = TaskId(7);

/// What is under way, as the outside would know it.
fn open(effects: &[Effect]) -> Vec<String> {
    let names = effects.iter().filter_map(|effect| match effect {
        Effect::Think(_) => Some("think".to_owned()),
        Effect::Summarise(_) => Some("summarise".to_owned()),
        Effect::Call(calling) => Some(child(TASK, calling.turn, calling.index).to_string()),
        Effect::Ask { call, .. } => Some(format!("ask {call}")),
        Effect::Hand(handing) => Some(child(TASK, handing.turn, handing.index).to_string()),
        Effect::Check { .. } => Some("check".to_owned()),
        Effect::Decided { .. } => Some("decided".to_owned()),
        Effect::Finish(_) => Some("finish".to_owned()),
        Effect::Drop { .. } | Effect::Emit(_) => None,
    });
    names.collect()
}

#[test]
fn a_call_that_was_made_is_taken_up_under_the_same_id() {
    let mut walk = Walk::new(plan());
    walk.calls(vec![call("w", "files__write"), read("a")]);
    let before = open(&walk.effects);
    assert_eq!(before.len(), 2);
    let resumed = walk.replayed().resume();
    assert_eq!(open(&resumed), before);
    assert_eq!(resumed, walk.effects, "with the same arguments, trust and question");
    walk.returns("w", "written");
    assert_eq!(open(&walk.replayed().resume()), before[1..], "what has returned is not called again");
}

#[test]
fn a_tool_that_the_caller_was_asked_to_run_is_asked_for_again_under_the_same_id() {
    let mut walk = Walk::with(|plan| plan.handed = vec![look()]);
    walk.calls(vec![call("h", "look")]);
    assert!(matches!(walk.effects[..], [Effect::Hand(_)]), "{:?}", walk.effects);
    assert_eq!(walk.replayed().resume(), walk.effects);
    walk.returns_from("h", "a desk", Trust::Caller);
    assert_eq!(open(&walk.replayed().resume()), ["think"], "what has returned is not asked for again");
}

#[test]
fn ids_of_children_differ_by_parent_turn_and_place() {
    let ids = [child(TASK, 1, 0), child(TASK, 1, 1), child(TASK, 2, 0), child(TaskId(8), 1, 0)];
    let unique: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len());
    assert_eq!(child(TASK, 1, 0), ids[0]);
}

#[test]
fn a_yes_that_was_needed_is_needed_after_a_restart_too() {
    let mut walk = Walk::new(plan());
    walk.calls(vec![call("d", "files__delete")]);
    let Some(Effect::Call(calling)) = walk.replayed().resume().into_iter().next() else { panic!() };
    assert!(calling.confirm);
}

#[test]
fn a_whole_run_can_be_killed_after_every_append() {
    let mut walk = Walk::with(|plan| {
        plan.may_ask = true;
        plan.parallel = 1;
        plan.output = Some(Schema(Json::empty_object()));
    });
    let check = |walk: &Walk| assert_eq!(open(&walk.replayed().resume()), open(&walk.effects));
    check(&walk);
    walk.calls(vec![call("q", ASK), call("w", "files__write")]);
    check(&walk);
    walk.returns_from("q", "yes", Trust::Caller);
    check(&walk);
    walk.returns("w", "written");
    check(&walk);
    walk.says("not JSON");
    check(&walk);
    walk.says("{}");
    check(&walk);
    walk.happen(Happening::Checked(Ok(())));
    check(&walk);
}

#[test]
fn a_damaged_journal_is_refused() {
    assert!(fold([]).is_err());
    assert!(fold([Entry { seq: 1, at: START, record: Record::WentOn }]).is_err());
}

#[derive(Debug, Clone)]
enum Move {
    Say(bool),
    Calls(Vec<u8>),
    Return(u8, bool),
    Break,
    Tell,
    Check(bool),
    Wait(u16),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        1 => any::<bool>().prop_map(Move::Say),
        6 => proptest::collection::vec(any::<u8>(), 1..5).prop_map(Move::Calls),
        12 => any::<(u8, bool)>().prop_map(|(which, long)| Move::Return(which, long)),
        1 => Just(Move::Break),
        1 => Just(Move::Tell),
        2 => any::<bool>().prop_map(Move::Check),
        1 => (0_u16..30).prop_map(Move::Wait),
    ];
    proptest::collection::vec(one, 0..50)
}

fn happening(walk: &mut Walk, number: usize, one: &Move) -> Happening {
    match one {
        Move::Say(json) => Happening::Replied(Box::new(reply(if *json { "{}" } else { "well" }, vec![]))),
        Move::Calls(which) => {
            let names = ["files__read", "files__write", "files__delete", "shell__run", ASK];
            let calls = which.iter().enumerate();
            let calls = calls.map(|(index, which)| call(&format!("{number}-{index}"), names[usize::from(*which) % 5]));
            Happening::Replied(Box::new(reply("", calls.collect())))
        }
        Move::Return(which, long) => {
            let open = match &walk.run.phase {
                Phase::Acting(all) => all.get(usize::from(*which) % all.len()).map(|doing| doing.call.id.clone()),
                _ => None,
            };
            let text = if *long { "long ".repeat(200) } else { "short".to_owned() };
            let parts = vec![Part::text(text, Provenance::peer("files".into()))];
            let result = ToolResult { parts, failed: false, usage: Usage::default() };
            Happening::Returned { call: open.unwrap_or_else(|| "none".into()), result }
        }
        Move::Break => {
            let failure = Failure::new(FailureKind::Cut, "cut");
            Happening::Broke(Broken { failure, text: "half".into(), tokens: None })
        }
        Move::Tell => Happening::Told(vec![Part::text("more", Provenance::caller())]),
        Move::Check(fits) => Happening::Checked(if *fits { Ok(()) } else { Err("no".into()) }),
        Move::Wait(seconds) => {
            walk.now = walk.now.after(Duration::from_secs(u64::from(*seconds)));
            Happening::Timer
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Whatever happens in whatever order: no child is begun twice, the budget of calls holds, a replay gives the same
    /// state, and something is always under way until the run has ended.
    #[test]
    fn any_order_of_happenings_is_survived(script in moves(), structured in any::<bool>(), summarise in any::<bool>()) {
        let mut walk = Walk::with(|plan| {
            plan.may_ask = true;
            plan.parallel = 2;
            plan.budget.calls = Some(12);
            plan.budget.time = Some(Duration::from_secs(300));
            plan.output = structured.then(|| Schema(Json::empty_object()));
            let fold = if summarise { Fold::Summarise } else { Fold::LeaveOut };
            plan.window = Window { tokens: 400, keep: 3, fold };
        });
        let mut begun = std::collections::BTreeSet::new();
        for (number, one) in script.iter().enumerate() {
            if walk.run.finished().is_some() {
                break;
            }
            let what = happening(&mut walk, number, one);
            walk.happen(what);
            for effect in &walk.effects {
                if let Effect::Call(calling) = effect {
                    prop_assert!(begun.insert(child(TASK, calling.turn, calling.index)), "a child was begun twice");
                }
            }
            prop_assert!(walk.run.spent.calls <= 12);
            prop_assert!(!walk.run.resume().is_empty(), "nothing is under way in {:?}", walk.run.phase);
        }
        walk.now = START.after(Duration::from_secs(300));
        if walk.run.finished().is_none() {
            walk.happen(Happening::Timer);
        }
        prop_assert!(walk.run.finished().is_some());
    }
}
