//! Random interleavings of answers, votes, failures, tools and time. Whatever happens: the team ends, with one winner or
//! an explicit failure; no vote counts for an answer its voter had not seen; no answer is lost; and the journal, read
//! again at any point, gives the same state.

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Move {
    Answer(u8),
    Vote(u8),
    VoteTwice(u8, u8),
    Mixed(u8),
    Silence,
    Stop,
    Tool,
    Returned,
    Fail,
    Spend(u16),
    Wait(u16),
}

fn moves() -> impl Strategy<Value = Vec<Vec<(u8, Move)>>> {
    let one = prop_oneof![
        5 => any::<u8>().prop_map(Move::Answer),
        8 => any::<u8>().prop_map(Move::Vote),
        1 => any::<(u8, u8)>().prop_map(|(one, other)| Move::VoteTwice(one, other)),
        1 => any::<u8>().prop_map(Move::Mixed),
        1 => Just(Move::Silence),
        1 => Just(Move::Stop),
        2 => Just(Move::Tool),
        3 => Just(Move::Returned),
        1 => Just(Move::Fail),
        1 => any::<u16>().prop_map(Move::Spend),
        2 => (0_u16..120).prop_map(Move::Wait),
    ];
    proptest::collection::vec(proptest::collection::vec((any::<u8>(), one), 1..4), 0..60)
}

fn rules() -> impl Strategy<Value = Rules> {
    let limits = (proptest::option::of(1_u32..4), proptest::option::of(1_u32..6), proptest::option::of(1_u32..4));
    let flags = any::<(bool, bool, bool)>();
    let updates = prop_oneof![Just(Updates::Midstream { sources: 2 }), Just(Updates::AtRestart), Just(Updates::Never)];
    let ending = prop_oneof![Just(Ending::Reuse), Just(Ending::Present), Just(Ending::Synthesize)];
    let soft = proptest::option::of(1_u64..100).prop_map(|seconds| seconds.map(Duration::from_secs));
    (limits, flags, updates, ending, soft, 0_u32..3).prop_map(
        |((each, all, lead), (skip_voting, defer_voting, shares), updates, ending, soft, restarts)| Rules {
            mode: if shares { Mode::Decomposition { presenter: None } } else { Mode::Voting },
            ending,
            skip_voting,
            answers_each: each,
            answers_all: all,
            defer_voting,
            novelty: Novelty::Balanced,
            lead,
            updates,
            times: Times {
                whole: Duration::from_secs(1_800),
                first_round: soft,
                later_round: soft,
                grace: Duration::from_secs(20),
            },
            restarts,
            purse: Purse { tokens: Some(200_000), micro_money: None },
        },
    )
}

fn what(team: &Team, one: &Move) -> Option<What> {
    let label = |number: u8| format!("agent{}", usize::from(number) % (team.places.len() + 1) + 1);
    Some(match one {
        Move::Answer(word) => ended(vec![answer(&format!("word{word} other{}", word % 7))]),
        Move::Vote(whom) => ended(vec![vote(&label(*whom))]),
        Move::VoteTwice(one, other) => ended(vec![vote(&label(*one)), vote(&label(*other))]),
        Move::Mixed(whom) => ended(vec![vote(&label(*whom)), answer("both")]),
        Move::Silence => ended(vec![]),
        Move::Stop => ended(vec![Workflow::Stop { summary: "s".into(), status: Stopped::Complete }]),
        Move::Tool => wants("t"),
        Move::Returned => What::Returned,
        Move::Fail => What::Failed(Fault::hub(FaultKind::Unreachable, "gone")),
        Move::Spend(tokens) => What::Spent(Usage { tokens_out: u64::from(*tokens), ..Usage::default() }),
        Move::Wait(_) => return None,
    })
}

/// What every member had seen when its vote was taken: a vote's revision is the last its voter was shown, be it by a record
/// just before it.
fn check_votes(before: &Team, records: &[Record], now: Time) {
    let mut then = before.clone();
    for record in records {
        if let Record::Voted { seat, vote } = record {
            let Stand::Running(round) = &then.place(*seat).stand else { panic!("{seat:?} voted without a round") };
            assert_eq!(round.seen[vote.choice.0], vote.revision, "a vote for an answer it had not seen");
            assert_eq!(before.revision(vote.choice), vote.revision, "a vote for an answer that is not the last");
        }
        then.apply(record, now);
    }
}

fn check_answers(before: &Team, after: &Team) {
    if before.attempt == after.attempt {
        assert_eq!(&after.answers[..before.answers.len()], &before.answers[..], "an answer was lost");
    }
}

fn step(play: &mut Play, batch: &[(u8, Move)]) {
    let before = play.team.clone();
    let mut ready = Vec::new();
    let mut wait = 0;
    for (who, one) in batch {
        if let Move::Wait(seconds) = one {
            wait += u64::from(*seconds);
        }
        let running: Vec<Seat> = play.team.seats().filter(|seat| play.running(*seat).is_some()).collect();
        let Some(seat) = running.get(usize::from(*who) % running.len().max(1)) else { continue };
        ready.extend(what(&play.team, one).map(|what| play.ready(*seat, what)));
    }
    let records = play.happen(Happening::Ready(ready));
    check_votes(&before, &records, play.now);
    check_answers(&before, &play.team);
    if wait > 0 && play.team.verdict().is_none() {
        play.waits(wait);
    }
}

/// The phases after the choice, by what the next byte says.
fn conclude(play: &mut Play, byte: u8) {
    match (&play.team.phase, byte % 3) {
        (Phase::Presenting(_), 0) => drop(play.presents("")),
        (Phase::Presenting(_), 1) => drop(play.presents("the final answer")),
        (Phase::Presenting(_), _) => {
            drop(play.happen(Happening::Presented(Err(Fault::hub(FaultKind::Unreachable, "gone")))));
        }
        (Phase::Evaluating { .. }, 0) => {
            let again = Evaluation::Restart { reason: "r".into(), instructions: "i".into() };
            drop(play.happen(Happening::Evaluated(again)));
        }
        (Phase::Evaluating { .. }, _) => drop(play.happen(Happening::Evaluated(Evaluation::Submit))),
        (Phase::Coordinating | Phase::Done(_), _) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_interleaving_ends_well(members in 1_usize..5, rules in rules(), script in moves(), tail in any::<[u8; 8]>()) {
        let ids: Vec<String> = (0..members).map(|number| format!("m{}", (number * 7) % 5)).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let mut plan = plan(&ids);
        plan.rules = rules;
        let mut play = Play::new(plan);
        let mut tail = tail.iter().cycle();
        for batch in &script {
            if play.team.verdict().is_some() {
                break;
            }
            if play.team.phase == Phase::Coordinating {
                prop_assert!(play.team.running().next().is_some(), "nobody runs, and it has not ended");
                step(&mut play, batch);
            } else {
                conclude(&mut play, *tail.next().unwrap_or(&0));
            }
        }
        // Whatever the members do or fail to do, the clock ends it.
        for _ in 0..8 {
            if play.team.verdict().is_none() {
                play.waits(1_800);
            }
        }
        let verdict = play.team.verdict().cloned();
        match verdict {
            Some(Verdict::Answer { winner, text, .. }) => {
                prop_assert!(winner.0 < members);
                prop_assert!(!text.trim().is_empty());
            }
            Some(Verdict::Failed(fault)) => {
                prop_assert!(play.team.answers.is_empty(), "there was an answer: {fault}");
            }
            other => prop_assert!(false, "it has not ended: {other:?}"),
        }
        prop_assert_eq!(play.team.next_timer(play.now), None);
    }
}
