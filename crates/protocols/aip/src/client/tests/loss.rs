//! Connections that break at any moment, with frames in transit, while tasks are requested, commanded, executed and ended. In every case no
//! action is begun twice, every order is reported once or its task was stopped, and every requested task ends once for its requester.

use proptest::prelude::*;

use super::*;

/// What became of the tasks the orchestrator asked for.
#[derive(Default)]
struct Fates {
    asked: BTreeSet<String>,
    ended: BTreeMap<String, u32>,
}

impl Fates {
    fn note(&mut self, world: &mut World) {
        for line in world.seen() {
            let mut words = line.split(' ');
            let (verb, session) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            if matches!(verb, "ended" | "lost" | "refused") {
                *self.ended.entry(session.to_owned()).or_default() += 1;
            }
        }
    }
}

fn happen(world: &mut World, fates: &mut Fates, orders: &mut BTreeMap<u64, Text>, what: u8, with: u8) {
    let some = |open: &BTreeSet<Text>| open.iter().nth(usize::from(with) % open.len().max(1)).cloned();
    match what % 9 {
        0 | 1 => drop((0..with % 4).all(|_| world.deliver())),
        2 => {
            let session = format!("gal@t{}", fates.asked.len());
            fates.asked.insert(session.clone());
            world.ask(&session);
        }
        3 => {
            if let Some(session) = some(&world.open) {
                let key = orders.len() as u64 + 1;
                orders.insert(key, session.clone());
                world.command(&session, key);
            }
        }
        4 | 5 if !world.work.is_empty() => world.work_done(),
        6 => {
            if let Some(session) = some(&world.open) {
                world.finish(&session);
            }
        }
        7 => world.cut(usize::from(with % 2)),
        _ => world.pass(u64::from(with % 40)),
    }
    fates.note(world);
}

/// Nothing breaks any more: everything comes to its end.
fn settle(world: &mut World, fates: &mut Fates) {
    for _ in 0..40 {
        world.run();
        while !world.work.is_empty() {
            world.work_done();
        }
        world.pass(5);
        fates.note(world);
    }
    while let Some(session) = world.open.first().cloned() {
        world.finish(&session);
        fates.note(world);
    }
    world.pass(60);
    fates.note(world);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn whatever_breaks_nothing_is_done_twice_and_every_task_ends_once(
        wide in any::<bool>(),
        history in prop::collection::vec((any::<u8>(), any::<u8>()), 0..60),
    ) {
        let mut world = World::new(if wide { Tongue::Profile } else { Tongue::Plain });
        let (mut fates, mut orders) = (Fates::default(), BTreeMap::new());
        for (what, with) in history {
            happen(&mut world, &mut fates, &mut orders, what, with);
        }
        settle(&mut world, &mut fates);
        for (action, times) in &world.ran {
            prop_assert!(*times <= 1, "{} was begun {} times", action, times);
        }
        for times in world.heard.values() {
            prop_assert!(*times <= 1, "results were heard {} times", times);
        }
        for session in &fates.asked {
            prop_assert_eq!(fates.ended.get(session).copied(), Some(1), "{}", session);
        }
        prop_assert_eq!(world.server.sessions(), 0);
    }
}
