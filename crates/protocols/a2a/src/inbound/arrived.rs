//! What every binding reads from a request before it is trusted: the agent of its address, its version, the extensions it activates, and
//! its credentials.

use std::sync::Arc;

use crate::decode::Addressed;
use crate::fault::Error;
use crate::invalid::{Invalid, Problem};
use crate::method::Method;
use crate::wire::Asked;
use crate::{EXTENSIONS_HEADER, OLD_EXTENSIONS_HEADER, VERSION_HEADER, Version, ext};
use axum::extract::{FromRequestParts, RawPathParams};
use axum::response::Response;
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Uri};
use interlingua_model::{Fault, FaultKind, Feature, PeerId};

use super::{Asking, Reply, no_such_agent};
use crate::Endpoint;
use crate::PROTOCOL;
use interlingua_net::connection::Connection;

/// What went wrong, as the protocol tells it. What is the hub's own doing is for the log, too.
pub(super) fn failed(fault: &Fault, method: Method) -> Error {
    if fault.kind == FaultKind::Internal {
        tracing::error!(event = "request_failed", protocol = PROTOCOL, error = %fault, cause = ?fault.source, "a request failed inside the hub");
    }
    Error::of(fault, Some(method))
}

/// A request that arrived.
pub(super) struct Arrived {
    pub(super) shared: Arc<Endpoint>,
    pub(super) connection: Connection,
    pub(super) headers: HeaderMap,
    pub(super) uri: Uri,
    /// Which agent its address names.
    pub(super) door: Addressed,
    /// What its path says below the agent's address.
    pub(super) below: String,
}

impl FromRequestParts<Arc<Endpoint>> for Arrived {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Endpoint>) -> Result<Arrived, Response> {
        let steps = RawPathParams::from_request_parts(parts, shared).await;
        let refuse = |fault: Fault| shared.error_format(parts.uri.path()).refuse(&fault);
        let steps = steps.map_err(|_| refuse(Fault::caller(FaultKind::Malformed, "the path is not UTF-8")))?;
        let unknown = || refuse(Fault::hub(FaultKind::Internal, "nothing is known of this connection"));
        let connection = *parts.extensions.get::<Connection>().ok_or_else(unknown)?;
        let step = |name: &str| steps.iter().find(|(key, _)| *key == name).map(|(_, value)| value);
        Ok(Arrived {
            shared: shared.clone(),
            connection,
            headers: parts.headers.clone(),
            uri: parts.uri.clone(),
            door: step("peer").map_or(Addressed::Hub, |peer| Addressed::Peer(PeerId::from(peer))),
            below: step("below").unwrap_or_default().to_owned(),
        })
    }
}

impl Arrived {
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// In the header, else in the query (section 3.6.1).
    pub(super) fn version(&self) -> Result<Version, Invalid> {
        let asked = self.uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        let mut asked = asked.filter(|(name, _)| name.eq_ignore_ascii_case(VERSION_HEADER)).map(|(_, value)| value);
        Version::parse(self.text(VERSION_HEADER).or_else(|| asked.next()))
    }

    /// A path belongs to one version; a client that says another means another path.
    pub(super) fn speaks(&self, version: Version) -> Result<(), Invalid> {
        let said = self.version()?;
        let silent = self.text(VERSION_HEADER).is_none_or(str::is_empty);
        match (said, version) {
            (Version::V1, Version::V1) | (Version::V03, Version::V03) => Ok(()),
            // Nothing said is 0.3, whose paths are others: the path itself says 1.0.
            (Version::V03, Version::V1) if silent => Ok(()),
            (Version::V03, Version::V1) | (Version::V1, Version::V03) => {
                Err(Invalid::whole(Problem::OtherVersion(self.uri.path().to_owned(), version.as_str())))
            }
        }
    }

    /// The extensions a client activates of which we know something: there is one.
    pub(super) fn activates(&self) -> bool {
        let lists = [EXTENSIONS_HEADER, OLD_EXTENSIONS_HEADER].into_iter().flat_map(|name| self.headers.get_all(name));
        lists.filter_map(|value| value.to_str().ok()).flat_map(|list| list.split(',')).any(|uri| uri.trim() == ext::URI)
    }

    /// Tells the client that what it activates was understood.
    pub(super) fn confirm(&self, version: Version, response: &mut Response) {
        if self.activates() {
            let name = match version {
                Version::V1 => EXTENSIONS_HEADER,
                Version::V03 => OLD_EXTENSIONS_HEADER,
            };
            response.headers_mut().insert(name, HeaderValue::from_static(ext::URI));
        }
    }

    /// The hub's address.
    pub(super) fn base(&self) -> String {
        let host = self.uri.authority().map(Authority::as_str).or_else(|| self.text("host"));
        self.shared.base(&self.connection, host)
    }

    /// `host:port` as gRPC clients want it, the port always said.
    pub(super) fn authority(&self) -> String {
        let base = self.base();
        let (scheme, host) = base.split_once("://").unwrap_or_default();
        let said = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        match (said, scheme) {
            (true, _) => host.to_owned(),
            (false, "https") => format!("{host}:443"),
            (false, _) => format!("{host}:80"),
        }
    }

    /// The address of an agent.
    pub(super) fn url(&self, door: &Addressed) -> String {
        match door {
            Addressed::Hub => format!("{}/a2a", self.base()),
            Addressed::Peer(peer) => format!("{}/agents/{peer}/a2a", self.base()),
        }
    }

    /// Counts what could not be read.
    pub(super) fn unread(&self, error: Error) -> Error {
        self.shared.hub.meters().protocol(PROTOCOL).invalid.increment(1);
        error
    }

    pub(super) fn invalid(&self, wrong: &Invalid) -> Error {
        self.unread(Error::invalid(wrong))
    }

    pub(super) async fn perform(&self, version: Version, method: Method, asked: Asked) -> Result<Reply, Error> {
        let of = |fault: Fault| failed(&fault, method);
        let asking = self.asking(version, asked.tenant.as_deref()).map_err(of)?;
        asking.perform(asked.operation).await.map_err(|fault| of(fault.told_to(&asking.by)))
    }

    /// Who asks, and whom.
    pub(super) fn asking(&self, version: Version, tenant: Option<&str>) -> Result<Asking<'_>, Fault> {
        let settings = self.shared.own.settings.load_full();
        if !settings.enabled {
            let kind = FaultKind::Unsupported(Feature::SwitchedOff);
            return Err(Fault::caller(kind, "A2A is switched off here"));
        }
        let by = self.shared.authenticate(&self.connection, &self.headers, &[])?;
        let door = match (&self.door, tenant) {
            (door, None) => door.clone(),
            (Addressed::Peer(peer), Some(tenant)) if peer.as_str() == tenant => self.door.clone(),
            (Addressed::Peer(_), Some(_)) => return Err(no_such_agent().told_to(&by)),
            (Addressed::Hub, Some(tenant)) => Addressed::Peer(PeerId::from(tenant)),
        };
        let asking = Asking { arrived: self, settings, version, by, door };
        if let Addressed::Peer(peer) = &asking.door
            && !asking.sees(peer)
        {
            return Err(no_such_agent().told_to(&asking.by));
        }
        Ok(asking)
    }
}
