//! One server that may want tokens: what configuration says of it, and the requests that are made on its behalf.
//!
//! Every address here was named by others: only such are asked that [`crate::client::guard`] lets through, redirects are not
//! followed, and documents are read up to a bound.

use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, StatusCode, Uri};
use interlingua_core::{Fault, PeerId};
use interlingua_drivers::jws::{self, Signer};
use interlingua_protocols::oauth::client::{self, Client, Configured, Way};
use interlingua_protocols::oauth::metadata::{AuthorizationServer, Method as Shows};
use interlingua_protocols::oauth::request::{self, Algorithm, Grant};
use interlingua_protocols::oauth::scope::Scopes;
use interlingua_protocols::oauth::token::{Token, refusal};

use super::Problem;
use super::kept::{self, KeptClient};
use crate::client::guard::Private;
use crate::client::http::{Pool, read, whole};
use crate::client::lost::Lost;
use crate::client::tls::{self, Trust};
use crate::config::{self, OAuthGrant};
use crate::hub::{Hub, entropy};

/// What is read of one document.
const LIMIT: usize = 256 << 10;
/// How long one may take.
const PATIENCE: Duration = Duration::from_secs(15);
const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json";

#[derive(Debug)]
pub(crate) struct Authority {
    pub(super) peer: PeerId,
    /// The server's address: what tokens are for.
    pub(super) server: String,
    pub(super) grant: OAuthGrant,
    pub(super) scopes: Scopes,
    pub(super) hub: Weak<Hub>,
    configured: Configured,
    key: Option<Signer>,
    pool: Pool,
}

/// What came back.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

impl Authority {
    /// For the server at `server`. One that configuration places on the hub's own machine may name others there.
    pub(crate) fn new(
        hub: &Arc<Hub>,
        peer: &PeerId,
        server: &Uri,
        ca: Option<&Path>,
        config: &config::OAuth,
    ) -> Result<Authority, Fault> {
        let inside = !server.host().is_some_and(|host| Private::Refused.admits_host(host));
        let private = if inside || config.private_addresses { Private::Allowed } else { Private::Refused };
        let trust = ca.map_or(Trust::Machine, Trust::Only);
        let tls = match (ca, tls::config(&trust)) {
            // A machine without authorities still reaches what needs none.
            (None, Err(_)) => tls::config(&Trust::Nobody)?,
            (_, tls) => tls?,
        };
        let text = |secret: &config::Secret| secret.expose().clone();
        let key = config.private_key.as_ref().and_then(|key| key.expose().text().and_then(Signer::from_pem));
        Ok(Authority {
            peer: peer.clone(),
            server: server.to_string(),
            grant: config.grant,
            scopes: Scopes::of(config.scopes.iter().map(String::as_str)),
            hub: Arc::downgrade(hub),
            configured: Configured {
                id: config.client_id.clone(),
                secret: config.client_secret.as_ref().map(text),
                signs: key.is_some(),
                document: config.client_metadata.clone(),
            },
            key,
            pool: Pool::guarded(tls, &hub.supervisor, private),
        })
    }

    pub(super) fn hub(&self) -> Result<Arc<Hub>, Problem> {
        self.hub.upgrade().ok_or(Problem::Stopping)
    }

    pub(super) async fn get(&self, url: &str, what: &'static str) -> Result<Answer, Problem> {
        let request = Request::builder().method(Method::GET).uri(url).header(ACCEPT, JSON);
        self.send(request, Bytes::new(), what).await
    }

    async fn send(&self, request: http::request::Builder, body: Bytes, what: &'static str) -> Result<Answer, Problem> {
        let lost = |lost: Lost| Problem::Lost { what, lost };
        let request = request.body(whole(body)).map_err(|error| lost(Lost::unconnected(error)))?;
        let asked = async {
            let response = self.pool.send(request).await?;
            let status = response.status();
            Ok(Answer { status, body: read(response, LIMIT).await? })
        };
        let answered = tokio::time::timeout(PATIENCE, asked).await;
        answered.unwrap_or_else(|_| Err(Lost::broken("no answer in time"))).map_err(lost)
    }

    /// Who the hub is to this authorization server: registers where it is not known yet, once.
    pub(super) async fn client(&self, server: &AuthorizationServer, redirect: &str) -> Result<Client, Problem> {
        let hub = self.hub()?;
        let own = hub.sign_ins.document();
        let configured = Configured { document: self.configured.document.clone().or(own), ..self.configured.clone() };
        let at = match configured.way(server)? {
            Way::Known(client) => return Ok(client),
            Way::Register(at) => at,
        };
        let key = kept::client_key(&self.peer, &self.server, &server.issuer, redirect);
        if let Some(known) = kept::load::<KeptClient>(&hub, kept::CLIENTS, &key).await? {
            return Ok(known.client());
        }
        let name = hub.settings.load().name.to_string();
        let request = Request::builder().method(Method::POST).uri(&at).header(CONTENT_TYPE, JSON).header(ACCEPT, JSON);
        let what = "registration";
        let answer = self.send(request, client::describe(&name, redirect, None), what).await?;
        if !answer.status.is_success() {
            return Err(refused(what, &answer));
        }
        let client = client::registered(&answer.body, server)?;
        kept::keep(&hub, kept::CLIENTS, &key, &KeptClient::of(&client)).await?;
        Ok(client)
    }

    /// An authorization server may forget who registered: the next time the hub registers anew.
    pub(super) async fn forget_client(&self, server: &AuthorizationServer, redirect: &str) -> Result<(), Problem> {
        let key = kept::client_key(&self.peer, &self.server, &server.issuer, redirect);
        kept::forget(&*self.hub()?, kept::CLIENTS, &key).await
    }

    /// Asks for a token.
    pub(super) async fn token(
        &self,
        grant: &Grant<'_>,
        client: &Client,
        (endpoint, issuer): (&str, &str),
        resource: &str,
    ) -> Result<Token, Problem> {
        let assertion = match client.method {
            Shows::PrivateKeyJwt => self.assertion(&client.id, issuer),
            Shows::None | Shows::SecretBasic | Shows::SecretPost => None,
        };
        let asked = request::token(grant, client, resource, assertion.as_deref().map(String::as_str));
        let mut request = Request::builder().method(Method::POST).uri(endpoint).header(CONTENT_TYPE, FORM);
        if let Some(authorization) = &asked.authorization
            && let Ok(mut value) = HeaderValue::from_str(authorization)
        {
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        let what = "token";
        let body = Bytes::copy_from_slice(asked.body.as_bytes());
        let answer = self.send(request.header(ACCEPT, JSON), body, what).await?;
        if answer.status.is_success() { Ok(Token::decode(&answer.body)?) } else { Err(refused(what, &answer)) }
    }

    fn assertion(&self, client: &str, issuer: &str) -> Option<zeroize::Zeroizing<String>> {
        let key = self.key.as_ref()?;
        let algorithm = match key.algorithm() {
            jws::Algorithm::Es256 => Algorithm::Es256,
            jws::Algorithm::EdDsa => Algorithm::EdDsa,
            jws::Algorithm::Rs256 => Algorithm::Rs256,
        };
        let now = self.hub.upgrade()?.now().0 / 1_000;
        let id = format!("{:032x}", entropy::bits());
        let input = request::assertion(algorithm, client, issuer, now, &id);
        let signature = key.sign(input.as_bytes())?;
        Some(request::signed(&input, &signature))
    }
}

/// A server that says what it refuses, or only that it does.
fn refused(what: &'static str, answer: &Answer) -> Problem {
    match refusal(&answer.body) {
        Some(code) if answer.status.is_client_error() => Problem::Refused(code),
        Some(_) | None => Problem::Status { what, status: answer.status.as_u16() },
    }
}
