//! Result cache: outcomes of tasks by their names. A name is not a secret, and several callers may choose the same: a result is visible to
//! the caller that requested the task, or had it announced to the device that did.

use std::collections::VecDeque;

use interlingua_model::json::Count;
use interlingua_model::{Json, Principal, Text};

use super::visibility::shares;

/// How many results are remembered, and how many announcements.
const REMEMBERED: usize = 1_000;
/// Bytes of all results, and of those of one caller, whose oldest make room for the newest.
const MOST: usize = 16 * 1024 * 1024;
const MOST_OF_ONE: usize = MOST / 4;

#[derive(Debug, Default)]
pub(super) struct Results {
    done: VecDeque<Done>,
    announced: VecDeque<Announced>,
}

#[derive(Debug)]
struct Done {
    task_name: Text,
    /// Whose it is.
    of: Vec<Principal>,
    result: Json,
}

impl Done {
    /// With the tree that is made of a result.
    fn weight(&self) -> usize {
        let result = self.result.as_bytes();
        self.task_name.len() + result.len() + Count::of(result).tree_bytes()
    }
}

#[derive(Debug)]
struct Announced {
    device: Text,
    task_name: Text,
    by: Principal,
}

impl Results {
    /// A device will ask for this task itself.
    pub(super) fn announced(&mut self, device: Text, task_name: Text, by: Principal) {
        if self.announced.len() >= REMEMBERED {
            self.announced.pop_front();
        }
        self.announced.push_back(Announced { device, task_name, by });
    }

    /// In place of what the same people had under this name. `device`: which one asked for it itself.
    pub(super) fn remember(&mut self, device: Option<&str>, task_name: &Text, by: &Principal, result: Json) {
        let mut of = vec![by.clone()];
        self.announced.retain(|announced| {
            let it = Some(&*announced.device) == device && announced.task_name == *task_name;
            if it {
                of.push(announced.by.clone());
            }
            !it
        });
        let same = |done: &Done| done.of.iter().any(|one| of.iter().any(|other| one.owner() == other.owner()));
        self.done.retain(|done| done.task_name != *task_name || !same(done));
        let done = Done { task_name: task_name.clone(), of, result };
        if done.weight() > MOST_OF_ONE {
            return;
        }
        let theirs = by.owner();
        self.done.push_back(done);
        self.make_room(MOST_OF_ONE, |done| done.of.first().is_some_and(|of| of.owner() == theirs));
        self.make_room(MOST, |_| true);
        if self.done.len() > REMEMBERED {
            self.done.pop_front();
        }
    }

    /// Forgets the oldest of these until they take no more than so much.
    fn make_room(&mut self, most: usize, of: impl Fn(&Done) -> bool) {
        let mut bytes: usize = self.done.iter().filter(|done| of(done)).map(Done::weight).sum();
        self.done.retain(|done| {
            let goes = bytes > most && of(done);
            if goes {
                bytes -= done.weight();
            }
            !goes
        });
    }

    /// The newest that is theirs to read.
    pub(super) fn find(&self, by: &Principal, task_name: &str) -> Option<Json> {
        let named = self.done.iter().rev().filter(|done| *done.task_name == *task_name);
        let mut theirs = named.filter(|done| done.of.iter().any(|of| shares(by, of)));
        theirs.next().map(|done| done.result.clone())
    }
}

#[cfg(test)]
mod tests {
    use interlingua_model::{Link, Proof, Subject};

    use super::*;

    fn user(name: &str) -> Principal {
        let subject = Subject::User(name.into());
        Principal::new(Link { subject, proof: Proof::Token, scopes: vec!["*".into()], until: None })
    }

    fn json(text: &str) -> Json {
        serde_json::json!(text).into()
    }

    #[test]
    fn a_result_is_found_by_whose_it_is_and_the_same_name_of_another_is_another() {
        let (ann, bob, mut results) = (user("ann"), user("bob"), Results::default());
        results.remember(None, &"nightly".into(), &ann, json("hers"));
        assert_eq!((results.find(&ann, "nightly"), results.find(&bob, "nightly")), (Some(json("hers")), None));
        results.remember(None, &"nightly".into(), &bob, json("his"));
        assert_eq!(results.find(&ann, "nightly"), Some(json("hers")), "not replaced by another's");
        assert_eq!(results.find(&bob, "nightly"), Some(json("his")));
        results.remember(None, &"nightly".into(), &bob, json("his again"));
        assert_eq!((results.find(&bob, "nightly"), results.done.len()), (Some(json("his again")), 2));
    }

    #[test]
    fn what_a_device_was_told_of_is_read_by_whoever_had_it_told() {
        let (ann, bob, device, mut results) = (user("ann"), user("bob"), user("dev1"), Results::default());
        results.announced("dev1".into(), "nightly".into(), ann.clone());
        results.remember(Some("dev2"), &"nightly".into(), &device, json("another device's"));
        assert_eq!(results.find(&ann, "nightly"), None);
        results.remember(Some("dev1"), &"nightly".into(), &device, json("done"));
        assert_eq!((results.find(&ann, "nightly"), results.find(&bob, "nightly")), (Some(json("done")), None));
        assert!(results.announced.is_empty());
    }

    #[test]
    fn neither_list_grows_without_end() {
        let (ann, mut results) = (user("ann"), Results::default());
        for number in 0..REMEMBERED + 5 {
            results.announced("dev1".into(), number.to_string().into(), ann.clone());
            results.remember(None, &number.to_string().into(), &ann, json("x"));
        }
        assert_eq!((results.done.len(), results.announced.len()), (REMEMBERED, REMEMBERED));
        let bob = user("bob");
        results.remember(None, &"small".into(), &bob, json("his"));
        for number in 0..20 {
            results.remember(None, &format!("large{number}").into(), &ann, json(&"x".repeat(MOST_OF_ONE / 4)));
        }
        assert!(results.done.iter().map(Done::weight).sum::<usize>() <= MOST_OF_ONE + 100);
        assert_eq!(results.find(&bob, "small"), Some(json("his")), "her results do not push out his");
        assert!(results.find(&ann, "large19").is_some() && results.find(&ann, "large0").is_none());
    }
}
