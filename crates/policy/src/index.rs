//! Rule index: sorts rules by what they apply to, so that a question is evaluated against relevant rules only, however many there are.

use std::collections::{BTreeSet, HashMap};

use cedar_policy::{
    ActionConstraint, Effect, EntityTypeName, EntityUid, Policy, PrincipalConstraint, ResourceConstraint,
};
use interlingua_model::Text;
use interlingua_model::policy::{Action, Asked};

use crate::reads::Reads;
use crate::world::Types;

/// One rule, ready.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) policy: Policy,
    pub(crate) reads: Reads,
}

impl Rule {
    pub(crate) fn permits(&self) -> bool {
        match self.policy.effect() {
            Effect::Permit => true,
            Effect::Forbid => false,
        }
    }
}

/// One side of a rule's head: whom or what it is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Side {
    Any,
    Is(EntityTypeName),
    Eq(EntityUid),
    /// Or is it.
    In(EntityUid),
}

#[derive(Debug, Default)]
pub(crate) struct Index {
    rules: Vec<Rule>,
    by_head: HashMap<(Action, Side, Side), Vec<u32>>,
}

impl Index {
    pub(crate) fn new(rules: Vec<Rule>, types: &Types) -> Index {
        let mut by_head: HashMap<_, Vec<u32>> = HashMap::new();
        for (number, rule) in (0..).zip(&rules) {
            let principal = principal_side(&rule.policy);
            let resource = resource_side(&rule.policy);
            for action in actions(&rule.policy, types) {
                by_head.entry((action, principal.clone(), resource.clone())).or_default().push(number);
            }
        }
        Index { rules, by_head }
    }

    pub(crate) fn rule(&self, number: u32) -> Option<&Rule> {
        self.rules.get(number as usize)
    }

    /// The rules whose heads fit, in the order they were written. `None`: no rule can be about this principal.
    pub(crate) fn find(&self, types: &Types, asked: &Asked<'_>, roles: &BTreeSet<Text>) -> Option<Vec<u32>> {
        let principal = types.principal(&asked.by.subject)?;
        let resource = types.object(&asked.on);
        let whom = sides(&principal, roles.iter().map(|role| types.role(role)));
        let what = sides(&resource, types.parent(&asked.on));
        let mut found = Vec::new();
        for principal in &whom {
            for resource in &what {
                let key = (asked.action, principal.clone(), resource.clone());
                found.extend(self.by_head.get(&key).into_iter().flatten().copied());
            }
        }
        found.retain(|&number| {
            self.rule(number).is_some_and(|rule| kinds_fit(&rule.policy, principal.type_name(), resource.type_name()))
        });
        found.sort_unstable();
        Some(found)
    }
}

/// Every way a rule's head can name this one.
fn sides(of: &EntityUid, parents: impl IntoIterator<Item = EntityUid>) -> Vec<Side> {
    let own = [Side::Any, Side::Is(of.type_name().clone()), Side::Eq(of.clone()), Side::In(of.clone())];
    own.into_iter().chain(parents.into_iter().map(Side::In)).collect()
}

fn principal_side(policy: &Policy) -> Side {
    match policy.principal_constraint() {
        PrincipalConstraint::Any => Side::Any,
        PrincipalConstraint::In(of) | PrincipalConstraint::IsIn(_, of) => Side::In(of),
        PrincipalConstraint::Eq(of) => Side::Eq(of),
        PrincipalConstraint::Is(kind) => Side::Is(kind),
    }
}

fn resource_side(policy: &Policy) -> Side {
    match policy.resource_constraint() {
        ResourceConstraint::Any => Side::Any,
        ResourceConstraint::In(of) | ResourceConstraint::IsIn(_, of) => Side::In(of),
        ResourceConstraint::Eq(of) => Side::Eq(of),
        ResourceConstraint::Is(kind) => Side::Is(kind),
    }
}

/// `is T in X` was found by its second half.
fn kinds_fit(policy: &Policy, principal: &EntityTypeName, resource: &EntityTypeName) -> bool {
    let whom = match policy.principal_constraint() {
        PrincipalConstraint::IsIn(kind, _) => kind == *principal,
        PrincipalConstraint::Any
        | PrincipalConstraint::In(_)
        | PrincipalConstraint::Eq(_)
        | PrincipalConstraint::Is(_) => true,
    };
    let what = match policy.resource_constraint() {
        ResourceConstraint::IsIn(kind, _) => kind == *resource,
        ResourceConstraint::Any | ResourceConstraint::In(_) | ResourceConstraint::Eq(_) | ResourceConstraint::Is(_) => {
            true
        }
    };
    whom && what
}

/// The actions a rule is about; `use` is two of them.
fn actions(policy: &Policy, types: &Types) -> Vec<Action> {
    let named =
        |of: &EntityUid, action: Action| *of == types.action(action) || Some(of) == types.group(action).as_ref();
    let constraint = policy.action_constraint();
    let about = |action: &Action| match &constraint {
        ActionConstraint::Any => true,
        ActionConstraint::In(several) => several.iter().any(|of| named(of, *action)),
        ActionConstraint::Eq(of) => *of == types.action(*action),
    };
    Action::ALL.into_iter().filter(about).collect()
}
