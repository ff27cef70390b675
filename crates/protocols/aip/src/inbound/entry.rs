//! Authentication of devices and orchestrators: by the shared key, by a device's own key, by a token of the hub, or as its own user.

use crate::wire::{ClientMessage, ClientType};
use axum::extract::Query;
use http::{HeaderMap, Uri};
use interlingua_model::{Fault, FaultKind, Link, PeerId, Principal, Proof, Secret, Subject, Text};
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::server_runtime::ServerRuntime;
use crate::settings::{KeyOf, Settings};
use interlingua_access::{Known, Shown};
use interlingua_endpoint::Shared;
use interlingua_hub::Hub;
use interlingua_net::connection::Connection;

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
            return Err(refused().told_to(&by));
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
pub(super) fn principal(
    pass: &Pass,
    hub: &Hub,
    runtime: &ServerRuntime,
    claim: &ClaimedIdentity,
) -> Result<Principal, &'static str> {
    let ClaimedIdentity { id, role } = claim;
    match (pass, role) {
        (Pass::Key(KeyOf::Device(own)), ClientType::Device) if own == id => keyed_device(hub, runtime, id),
        (Pass::Key(KeyOf::Device(_)), _) => Err("this key is for another device"),
        (_, ClientType::Device) if runtime.settings().has_own_key(id) => Err("this device has a key of its own"),
        (Pass::Key(KeyOf::Everybody), ClientType::Device) => keyed_device(hub, runtime, id),
        (Pass::Key(KeyOf::Everybody), ClientType::Constellation) => Ok(keyed(Subject::Orchestrator(id.clone()), "*")),
        (Pass::Known(by), ClientType::Constellation) => Ok(by.clone()),
        (Pass::Known(by), ClientType::Device) => {
            let peer = runtime.registrar.peer_of(id, &hub.catalogue());
            let may = hub.may_enter(by, &peer);
            if may { Ok(by.clone()) } else { Err("this credential may not be that device") }
        }
    }
}

/// What a REGISTER says its sender is.
#[derive(Debug, Clone)]
pub(super) struct ClaimedIdentity {
    id: Text,
    role: ClientType,
}

impl ClaimedIdentity {
    pub(super) fn of(register: &ClientMessage) -> ClaimedIdentity {
        ClaimedIdentity { id: register.client_id.clone().unwrap_or_default(), role: register.client_type }
    }
}

/// A device asks for nothing but itself, under the name that it has as a peer: its id may be another's.
fn keyed_device(hub: &Hub, runtime: &ServerRuntime, id: &Text) -> Result<Principal, &'static str> {
    let peer = runtime.registrar.peer_of(id, &hub.catalogue());
    let by = keyed(Subject::Device(PeerId(id.clone())), &format!("{peer}/*"));
    if hub.bars(&by, &peer) { Err("the rules do not let this device in") } else { Ok(by) }
}

pub(super) fn keyed(subject: Subject, scope: &str) -> Principal {
    Principal::new(Link { subject, proof: Proof::Key, scopes: vec![scope.into()], until: None })
}
