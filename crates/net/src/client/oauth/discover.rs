//! OAuth discovery: finds the authorization server of a peer. First the peer is asked (RFC 9728), then the server that it names (RFC 8414,
//! OpenID Connect Discovery).
//!
//! A document that is found and fails validation ends the search: another document of the same server is not tried in its place.

use http::StatusCode;
use interlingua_wire::oauth::Invalid;
use interlingua_wire::oauth::address::{origin, resource_metadata, server_metadata};
use interlingua_wire::oauth::challenge::Challenge;
use interlingua_wire::oauth::metadata::{AuthorizationServer, Resource};

use super::Problem;
use super::authority::{Answer, Authority};

#[derive(Debug)]
pub(super) struct Found {
    pub(super) resource: Resource,
    pub(super) server: AuthorizationServer,
}

impl Authority {
    pub(super) async fn discover(&self, challenge: &Challenge) -> Result<Found, Problem> {
        let named = challenge.resource_metadata.as_deref();
        let places = match named {
            Some(named) => vec![self.own.place(named).map_err(Problem::Elsewhere)?.to_string()],
            None => resource_metadata(&self.server),
        };
        let what = "metadata of the server";
        let resource = match self.first(&places, what).await? {
            Some(answer) => Resource::decode(&answer.body, &self.server)?,
            None if named.is_some() => return Err(Problem::Status { what, status: StatusCode::NOT_FOUND.as_u16() }),
            None => return self.assumed().await,
        };
        let issuer = self.chosen(&resource.servers)?;
        let what = "metadata of the authorization server";
        let Some(answer) = self.first(&server_metadata(issuer), what).await? else {
            return Err(Problem::Status { what, status: StatusCode::NOT_FOUND.as_u16() });
        };
        let server = AuthorizationServer::decode(&answer.body, issuer, &self.server)?;
        Ok(Found { resource, server })
    }

    /// The authorization server to ask: the one that configuration names, else the first.
    fn chosen<'a>(&self, named: &'a [String]) -> Result<&'a String, Problem> {
        let configured = named.iter().find(|named| self.issuer.as_ref() == Some(named));
        let issuer = configured.or(named.first()).ok_or(Invalid::Field("authorization_servers"))?;
        self.believes(issuer).map(|()| issuer)
    }

    /// A server of 2025-03-26: its authorization server is at its own origin, with metadata or at fixed places.
    async fn assumed(&self) -> Result<Found, Problem> {
        let at = origin(&self.server).ok_or(Invalid::Address("url"))?;
        self.believes(&at)?;
        let found = self.first(&server_metadata(&at), "metadata of the authorization server").await?;
        let server = match found {
            Some(answer) => AuthorizationServer::decode(&answer.body, &at, &self.server)?,
            None => AuthorizationServer::assumed(&at),
        };
        Ok(Found { resource: Resource::assumed(&self.server, at), server })
    }

    /// The first of these places where there is something.
    async fn first(&self, places: &[String], what: &'static str) -> Result<Option<Answer>, Problem> {
        for place in places {
            let answer = self.get(place, what).await?;
            match answer.status {
                StatusCode::OK => return Ok(Some(answer)),
                status if status.is_client_error() => {}
                status => return Err(Problem::Status { what, status: status.as_u16() }),
            }
        }
        Ok(None)
    }
}
