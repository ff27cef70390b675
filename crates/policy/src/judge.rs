//! Policy evaluation. A decision that does not depend on arguments or the time of day is made once for each caller, action and object, and
//! cached; other decisions are evaluated by Cedar with what their rules read.
//!
//! A rule that fails to evaluate refuses the call: Cedar alone would skip it, and a prohibition would be lost.

use std::sync::Arc;

use cedar_policy::{Authorizer, PolicySet};
use interlingua_model::policy::{Asked, Could, Decision, Effect, Judge};
use interlingua_model::{Digest, Json, Text};

use crate::index::{Index, Rule};
use crate::kept::Kept;
use crate::reads::Reads;
use crate::roles::Membership;
use crate::world::{self, Types};

pub(crate) struct Rules {
    version: Digest,
    types: Types,
    index: Index,
    membership: Membership,
    authorizer: Authorizer,
    kept: Kept<Weighed>,
}

/// What is known of a question before its arguments.
#[derive(Debug)]
struct Weighed {
    /// Rules whose heads fit, and all that they look at.
    rules: Vec<u32>,
    reads: Reads,
    /// `None` when it changes with the time of day.
    settled: Option<Opinion>,
}

/// The decision counts unless it depends.
#[derive(Debug, Clone)]
struct Opinion {
    could: Could,
    decision: Decision,
}

impl Rules {
    pub(crate) fn new(version: Digest, types: Types, rules: Vec<Rule>, membership: Membership) -> Rules {
        Rules {
            version,
            index: Index::new(rules, &types),
            types,
            membership,
            authorizer: Authorizer::new(),
            kept: Kept::default(),
        }
    }

    fn weigh(&self, asked: &Asked<'_>) -> Arc<Weighed> {
        self.kept.of(asked, || self.weigh_anew(asked))
    }

    fn weigh_anew(&self, asked: &Asked<'_>) -> Weighed {
        let roles = self.membership.of(asked.by);
        let rules = self.index.find(&self.types, asked, &roles).unwrap_or_default();
        let mut reads = Reads::default();
        for rule in rules.iter().filter_map(|&number| self.index.rule(number)) {
            reads.join(&rule.reads);
        }
        let settled = (!reads.time).then(|| self.opinion(asked, &rules, &reads));
        Weighed { rules, reads, settled }
    }

    /// Of the rules that can be asked already; the others leave it open.
    fn opinion(&self, asked: &Asked<'_>, rules: &[u32], reads: &Reads) -> Opinion {
        let is_open = |rule: &Rule| {
            rule.reads.arguments()
                || (rule.reads.protocol && asked.wire.is_none())
                || (rule.reads.provenance && asked.trust.is_none())
        };
        let named = |&number: &u32| Some((number, self.index.rule(number)?));
        let (open, closed): (Vec<_>, Vec<_>) = rules.iter().filter_map(named).partition(|(_, rule)| is_open(rule));
        let closed: Vec<u32> = closed.into_iter().map(|(number, _)| number).collect();
        let without = Reads { time: reads.time, ..Reads::default() };
        let decision = self.ask(asked, &closed, None, &without);
        let may = |permits: bool| open.iter().any(|(_, rule)| rule.permits() == permits);
        let could = match decision.effect {
            Effect::Allowed if may(false) => Could::Depends,
            Effect::Allowed => Could::Yes,
            Effect::Silent if may(true) => Could::Depends,
            Effect::Silent | Effect::Forbidden => Could::No,
        };
        Opinion { could, decision }
    }

    fn ask(&self, asked: &Asked<'_>, rules: &[u32], args: Option<&Json>, reads: &Reads) -> Decision {
        let mut policies = PolicySet::new();
        let rules: Vec<&Rule> = rules.iter().filter_map(|&number| self.index.rule(number)).collect();
        for rule in &rules {
            if let Err(error) = policies.add(rule.policy.clone()) {
                return refused(error.to_string());
            }
        }
        if rules.is_empty() {
            return Decision { effect: Effect::Silent, because: Arc::new([]) };
        }
        let roles = self.membership.of(asked.by);
        let case = match world::case(&self.types, asked, &roles, args, reads) {
            Ok(case) => case,
            Err(unfit) => return refused(unfit.0),
        };
        let response = self.authorizer.is_authorized(&case.request, &policies, &case.entities);
        let diagnostics = response.diagnostics();
        if let Some(error) = diagnostics.errors().next() {
            return refused(error.to_string());
        }
        let mut because: Vec<Text> = diagnostics.reason().map(|id| Text::from(AsRef::<str>::as_ref(id))).collect();
        because.sort();
        let effect = match response.decision() {
            cedar_policy::Decision::Allow => Effect::Allowed,
            cedar_policy::Decision::Deny if because.is_empty() => Effect::Silent,
            cedar_policy::Decision::Deny => Effect::Forbidden,
        };
        Decision { effect, because: because.into() }
    }
}

/// What cannot be decided is refused.
fn refused(why: String) -> Decision {
    Decision { effect: Effect::Forbidden, because: [Text::from(why)].into() }
}

impl Judge for Rules {
    fn version(&self) -> Digest {
        self.version
    }

    fn could(&self, asked: &Asked<'_>) -> Could {
        let weighed = self.weigh(asked);
        match &weighed.settled {
            Some(opinion) => opinion.could,
            None => self.opinion(asked, &weighed.rules, &weighed.reads).could,
        }
    }

    fn decide(&self, asked: &Asked<'_>, args: Option<&Json>) -> Decision {
        let weighed = self.weigh(asked);
        match &weighed.settled {
            Some(Opinion { could: Could::Yes | Could::No, decision }) => decision.clone(),
            Some(Opinion { could: Could::Depends, .. }) | None => self.ask(asked, &weighed.rules, args, &weighed.reads),
        }
    }
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rules").field("version", &self.version).finish_non_exhaustive()
    }
}
