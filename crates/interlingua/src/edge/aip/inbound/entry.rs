//! Who is let in: with the key of all, with a device's own, with a token of the hub's, or as its own user.

use axum::extract::Query;
use http::{HeaderMap, Uri};
use interlingua_core::{Fault, FaultKind, Link, PeerId, Principal, Proof, Secret, SkillId, Subject, Text};
use interlingua_protocols::aip::wire::{ClientMessage, ClientType};
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::edge::Shared;
use crate::edge::aip::outbound::device::DO;
use crate::edge::aip::settings::{KeyOf, Settings};
use crate::hub::policy;
use crate::server::access::{Known, Shown};
use crate::server::connection::Connection;

/// How somebody came in. Who it is, is said later.
#[derive(Debug, Clone)]
pub(super) enum Pass {
    Key(KeyOf),
    Known(Principal),
}

#[derive(Debug, Default, Deserialize)]
struct Asked {
    token: Option<String>,
}

/// What a connection brought when it came: enough to ask again whether it is let in. It is never printed.
pub(super) struct Entered {
    shown: Shown,
    token: Option<Secret>,
}

impl Entered {
    pub(super) fn new(connection: Connection, headers: &HeaderMap, uri: &Uri) -> Entered {
        let Query(asked) = Query::<Asked>::try_from_uri(uri).unwrap_or_default();
        Entered { shown: Shown::of(connection, headers), token: asked.token.map(Zeroizing::new).map(Secret::new) }
    }

    /// Before the upgrade, and again with every frame and every change: what was taken back counts no more. With a key configured, it or a
    /// token must be shown.
    pub(super) fn admit(&self, shared: &Shared, settings: &Settings) -> Result<Pass, Fault> {
        if let Some(token) = self.token.as_ref().and_then(Secret::value) {
            return by_token(shared, settings, token);
        }
        let by = shared.access.shown(&self.shown, shared.hub.now()).map_err(|_| refused())?;
        if by.is_anonymous() || (settings.has_key() && !self.shown.has_credential()) {
            return Err(refused());
        }
        Ok(Pass::Known(by))
    }
}

pub(super) fn by_token(shared: &Shared, settings: &Settings, token: &[u8]) -> Result<Pass, Fault> {
    if let Some(of) = settings.key(token) {
        return Ok(Pass::Key(of));
    }
    match shared.access.token(token, shared.hub.now()) {
        Known::Yes(by) => Ok(Pass::Known(by)),
        Known::Refused | Known::Foreign => Err(refused()),
    }
}

fn refused() -> Fault {
    Fault::caller(FaultKind::Denied, "the key is missing or wrong")
}

/// Who a REGISTER comes from, or why it may not be under this id.
pub(super) fn principal(pass: &Pass, settings: &Settings, register: &ClientMessage) -> Result<Principal, &'static str> {
    let id: Text = register.client_id.clone().unwrap_or_default();
    let device = register.client_type == ClientType::Device;
    match pass {
        Pass::Key(KeyOf::Device(own)) if !device || *own != id => Err("this key is for another device"),
        Pass::Key(KeyOf::Everybody) if device && settings.has_own_key(&id) => Err("this device has a key of its own"),
        Pass::Key(KeyOf::Device(_) | KeyOf::Everybody) => Ok(keyed(id, register.client_type)),
        Pass::Known(by) if !device || may_be(by, &id) => Ok(by.clone()),
        Pass::Known(_) => Err("this credential may not be that device"),
    }
}

/// A device asks for nothing but itself; an orchestrator with the key may call whatever the hub offers.
fn keyed(id: Text, role: ClientType) -> Principal {
    let peer = PeerId(id.clone());
    let (subject, scope) = match role {
        ClientType::Device => (Subject::Device(peer), format!("{id}/*").into()),
        ClientType::Constellation => (Subject::Agent(peer), "*".into()),
    };
    Principal::new(Link { subject, proof: Proof::Key, scopes: vec![scope], until: None })
}

/// Whoever may call all that a device does may also be it.
fn may_be(by: &Principal, id: &str) -> bool {
    let wanted = SkillId::new(id, DO);
    by.is_hub_owner() || by.links().iter().all(|link| link.scopes.iter().any(|scope| policy::matches(scope, &wanted)))
}
