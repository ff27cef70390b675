//! Breadth-first exploration of all states of a model, each visited once. A violation is reported with the shortest path to it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};

use interlingua_model::Time;

/// A rule that was broken.
pub(crate) type Broken = String;

/// Refuses what must not be, in words.
macro_rules! must {
    ($holds:expr, $($words:tt)+) => {
        if !$holds {
            return Err(format!($($words)+));
        }
    };
}
pub(crate) use must;

pub(crate) trait Model: Clone + Debug {
    type Action: Clone + Debug;

    /// All that may happen now.
    fn actions(&self) -> Vec<Self::Action>;
    /// One of them happens.
    fn act(&mut self, action: &Self::Action) -> Result<(), Broken>;
    fn now(&self) -> Time;
    /// What must be true once nothing can happen any more.
    fn at_rest(&self) -> Result<(), Broken>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Explored {
    pub(crate) states: usize,
    /// States in which nothing can happen any more.
    pub(crate) ends: usize,
    /// How many things happened, on the shortest way, before the last new state.
    pub(crate) depth: usize,
}

/// Every action makes a model poorer (a frame less under way, a try less left), so that there are no circles: whoever never
/// breaks a rule here also comes to rest, whatever happens in which order.
pub(crate) fn explore<M: Model>(start: M) -> Explored {
    let mut seen = HashSet::from([print(&start)]);
    let mut ways: Vec<(usize, Option<M::Action>, usize)> = vec![(0, None, 0)];
    let mut queue = VecDeque::from([(0, start)]);
    let mut explored = Explored { states: 1, ends: 0, depth: 0 };
    while let Some((place, state)) = queue.pop_front() {
        let depth = ways[place].2;
        explored.depth = explored.depth.max(depth);
        let actions = state.actions();
        if actions.is_empty() {
            explored.ends += 1;
            state.at_rest().unwrap_or_else(|broken| fail(&ways, place, None, &broken));
        }
        for action in actions {
            let mut next = state.clone();
            next.act(&action).unwrap_or_else(|broken| fail(&ways, place, Some(&action), &broken));
            if seen.insert(print(&next)) {
                explored.states += 1;
                ways.push((place, Some(action), depth + 1));
                queue.push_back((ways.len() - 1, next));
            }
        }
    }
    explored
}

fn fail<A: Debug>(ways: &[(usize, Option<A>, usize)], mut place: usize, last: Option<&A>, broken: &str) -> ! {
    let mut way = Vec::new();
    while let (before, Some(action), _) = &ways[place] {
        way.push(format!("{action:?}"));
        place = *before;
    }
    way.reverse();
    way.extend(last.map(|action| format!("{action:?}")));
    panic!("{broken}\nafter: {}", way.join(", "))
}

/// Two states that differ only in how ids are spelled and in what time it is are one. A print has 64 bits: among a million
/// states two that differ have the same with a chance of one in thirty million.
fn print<M: Model>(state: &M) -> u64 {
    let mut hasher = DefaultHasher::new();
    plain(&format!("{state:?}"), state.now()).hash(&mut hasher);
    hasher.finish()
}

/// What the ids that a model mints have in common: they are made of small numbers.
const MINTED: &str = "00000000-0000-4000-8000-";

/// Ids become the numbers of their first mention, times how far off they are, and past ones no more than past.
fn plain(text: &str, now: Time) -> String {
    let timed = rewritten(text, "Time(", |rest| {
        let end = rest.find(')').expect("a time is closed");
        let ahead = rest[..end].parse::<u64>().expect("a time is a number").saturating_sub(now.0);
        (format!("@{ahead}"), end)
    });
    let mut ids: HashMap<String, usize> = HashMap::new();
    let named = rewritten(&timed, MINTED, |rest| {
        let number = ids.len();
        (format!("#{}", ids.entry(rest[..12].to_owned()).or_insert(number)), 12)
    });
    // A time of day is the text before its zone.
    let pieces: Vec<&str> = named.split("+00:00").collect();
    let (last, stamped) = pieces.split_last().expect("a text has a piece");
    let mut out: String = stamped.iter().map(|piece| &piece[..piece.rfind('"').unwrap_or(piece.len())]).collect();
    out.push_str(last);
    out
}

/// The text with something else in the place of every mark and of so many bytes behind it.
fn rewritten(text: &str, mark: &str, mut by: impl FnMut(&str) -> (String, usize)) -> String {
    let mut pieces = text.split(mark);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (put, taken) = by(piece);
        out.push_str(&put);
        out.push_str(&piece[taken..]);
    }
    out
}

#[test]
fn states_that_differ_only_in_ids_and_clock_are_one() {
    let one = r#"a: "00000000-0000-4000-8000-00000000000a", b: "00000000-0000-4000-8000-00000000000b", at: Time(7), t: "2026-11-15T06:28:04.245606+00:00""#;
    let other = r#"a: "00000000-0000-4000-8000-00000000000c", b: "00000000-0000-4000-8000-000000000001", at: Time(9), t: "2026-11-15T06:28:04+00:00""#;
    let third =
        r#"a: "00000000-0000-4000-8000-00000000000c", b: "00000000-0000-4000-8000-00000000000c", at: Time(9), t: """#;
    assert_eq!(plain(one, Time(5)), plain(other, Time(7)));
    assert_ne!(plain(third, Time(5)), plain(other, Time(5)));
    assert_ne!(plain(one, Time(5)), plain(other, Time(5)), "what is still to come counts");
    assert_eq!(plain(one, Time(7)), plain(other, Time(9)));
}
