//! Callers and their permissions: from the configuration to the accepted credentials and their rights.

use std::collections::HashMap;
use std::sync::Arc;

use interlingua_model::policy::ROLE_SCOPE;
use interlingua_model::{Digest, Secret, Subject, Text};

use crate::issuers::Issuers;
use crate::settings::{self, AccessToken, Shows};
use crate::{Grant, Rules};
use interlingua_hub::policy::{APPROVE_SCOPE, Policy, REGISTER_SCOPE};

/// Who may come in, and how. `owner`: the Owner's token.
pub fn rules(access: &settings::Access, owner: &Secret, issuers: Arc<Issuers>) -> Rules {
    let of = |shows: Shows| -> HashMap<Digest, Grant> {
        let listed = access.tokens.iter().filter(|token| token.shows == shows);
        listed.map(|token| (token.digest, grant(token))).collect()
    };
    let mut grants = of(Shows::Token);
    let owner = Digest::of(owner.value().unwrap_or_default());
    grants.insert(owner, Grant { subject: Subject::HubOwner, scopes: Vec::new(), until: None });
    Rules { grants, certificates: of(Shows::Certificate), issuers, anonymous: access.anonymous }
}

/// Who may do what.
pub fn policy(access: &settings::Access) -> Policy {
    let judge = access.policy.as_ref().and_then(|policy| policy.judge.clone());
    Policy::new(access.digest(), judge)
}

pub(super) fn grant(token: &AccessToken) -> Grant {
    let mut scopes: Vec<Text> = token.skills.iter().map(|skill| skill.as_str().into()).collect();
    if token.approve {
        scopes.push(APPROVE_SCOPE.into());
    }
    if token.register {
        scopes.push(REGISTER_SCOPE.into());
    }
    scopes.extend(token.roles.iter().map(|role| format!("{ROLE_SCOPE}{role}").into()));
    Grant { subject: Subject::User(token.name.as_str().into()), scopes, until: token.expires }
}
