//! Access tokens that the hub stores: the Owner makes them while the hub runs, and they are valid at once. A record holds the principal,
//! its scopes and the SHA-256 of the token, never the token.

use std::collections::HashMap;

use bytes::Bytes;
use interlingua_model::ports::Expect;
use interlingua_model::{Digest, Fault, FaultKind, Noun, Subject, Time};
use serde::{Deserialize, Serialize};

use crate::rights;
use crate::settings::{AccessToken, Shows};
use crate::{Access, Grant, TOKEN_PREFIX};
use interlingua_hub::{Hub, entropy};

/// Under which they are kept, each by its name.
const KIND: &str = "access_token";
const PAGE: usize = 200;
/// More callers than this are kept in a list of the operator's, or by an issuer.
const MOST: u64 = 1000;
const LONGEST_NAME: usize = 128;

/// A caller as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    pub name: String,
    pub sha256: Digest,
    pub skills: Vec<String>,
    pub roles: Vec<String>,
    pub approve: bool,
    pub register: bool,
    pub expires: Option<Time>,
}

impl Kept {
    fn grant(&self) -> Grant {
        rights::grant(&AccessToken {
            name: self.name.clone(),
            shows: Shows::Token,
            digest: self.sha256,
            skills: self.skills.clone(),
            approve: self.approve,
            register: self.register,
            roles: self.roles.clone(),
            expires: self.expires,
        })
    }
}

/// All of them, by their names.
pub async fn list(hub: &Hub) -> Result<Vec<Kept>, Fault> {
    let (mut all, mut after) = (Vec::new(), None::<String>);
    loop {
        let page = hub.records(KIND).list(after.as_deref(), PAGE).await?;
        for item in &page {
            all.push(serde_json::from_slice(&item.value).map_err(Fault::internal)?);
        }
        after = page.last().map(|item| item.key.to_string());
        if page.len() < PAGE {
            return Ok(all);
        }
    }
}

/// Has those that are kept count, and no others.
pub async fn apply(hub: &Hub, access: &Access) -> Result<(), Fault> {
    let grants: HashMap<Digest, Grant> = list(hub).await?.iter().map(|kept| (kept.sha256, kept.grant())).collect();
    access.replace_kept(grants);
    Ok(())
}

/// Makes a token for somebody who has none. `sha256` of what is asked for is not looked at.
pub async fn create(hub: &Hub, access: &Access, wanted: Kept) -> Result<(Kept, String), Fault> {
    let name = wanted.name.as_str();
    if name.is_empty() || name.len() > LONGEST_NAME || name.contains(|c: char| c.is_control() || c == '>') {
        return Err(Fault::caller(FaultKind::InvalidInput, "a caller's name is 1 to 128 characters, without `>`"));
    }
    let taken = || Fault::caller(FaultKind::Conflict, format!("`{name}` has a token already; revoke it first"));
    if access.rules().knows(&Subject::User(name.into())) {
        return Err(taken());
    }
    if hub.records(KIND).get(name).await?.is_some() {
        return Err(taken());
    }
    if hub.records(KIND).count().await? >= MOST {
        return Err(Fault::caller(FaultKind::BudgetSpent, "the hub keeps no more tokens: revoke some first"));
    }
    let token = format!("{TOKEN_PREFIX}{:032x}{:032x}", entropy::bits(), entropy::bits());
    let kept = Kept { sha256: Digest::of(token.as_bytes()), ..wanted };
    let value = Bytes::from(serde_json::to_vec(&kept).map_err(Fault::internal)?);
    hub.records(KIND).put(&kept.name, value, kept.expires, Expect::Absent).await?;
    apply(hub, access).await?;
    Ok((kept, token))
}

/// From now on it is refused, and what was opened with it ends.
pub async fn revoke(hub: &Hub, access: &Access, name: &str) -> Result<(), Fault> {
    let nobody = || Fault::caller(FaultKind::NotFound(Noun::Resource), format!("there is no caller `{name}`"));
    hub.records(KIND).take(name).await?.ok_or_else(nobody)?;
    apply(hub, access).await
}
