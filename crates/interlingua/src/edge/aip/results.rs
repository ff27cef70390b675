//! What came of tasks, for whoever asks by their names. A name is no secret and many may choose the same: a result is found
//! by whoever asked for it, or had it announced to the device that did.

use std::collections::VecDeque;

use interlingua_core::{Json, Principal, Text};

use super::sight::shares;

/// How many results are remembered, and how many announcements.
const REMEMBERED: usize = 1_000;

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
        if self.done.len() >= REMEMBERED {
            self.done.pop_front();
        }
        self.done.push_back(Done { task_name: task_name.clone(), of, result });
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
    use interlingua_core::{Link, Proof, Subject};

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
    }
}
