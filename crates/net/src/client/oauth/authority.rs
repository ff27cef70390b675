//! Authorization server of one peer: its settings, and the requests that are made on its behalf.
//!
//! Others named every address here: [`crate::client::guard`] must allow it, redirects are not followed, and documents are read up to a
//! bound.

use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, StatusCode, Uri};
use interlingua_keys::jws::{self, Signer};
use interlingua_model::{Digest, Fault, PeerId};
use interlingua_wire::oauth::Invalid;
use interlingua_wire::oauth::client::{self, Client, Configured, Way};
use interlingua_wire::oauth::metadata::{AuthorizationServer, Method as Shows};
use interlingua_wire::oauth::request::{self, Algorithm, Grant};
use interlingua_wire::oauth::scope::Scopes;
use interlingua_wire::oauth::token::{Token, refusal};

use super::Problem;
use super::kept::{self, KeptClient, Put, Replacing};
use super::sign_ins::{ReturnAddress, SignIns};
use super::{OAuth, OAuthGrant};
use crate::client::guard::{Private, Reach};
use crate::client::http::{Pool, read, whole};
use crate::client::place::{self, Own};
use crate::client::tls::{self, Trust};
use crate::client::transport_error::TransportError;
use interlingua_hub::{Hub, entropy};
use interlingua_settings::Secret;

/// What is read of one document.
const LIMIT: usize = 256 << 10;
/// How long one may take.
const PATIENCE: Duration = Duration::from_secs(15);
const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json";

#[derive(Debug)]
pub struct Authority {
    pub(super) peer: PeerId,
    /// The server's address: what tokens are for.
    pub(super) server: String,
    pub(super) grant: OAuthGrant,
    pub(super) scopes: Scopes,
    pub(super) hub: Weak<Hub>,
    /// Who was sent to sign in: it holds whoever is on the way, and so this.
    sign_ins: Weak<SignIns>,
    /// Which addresses that the server names are its own.
    pub(super) own: Arc<Own>,
    /// The one authorization server that configuration believes.
    pub(super) issuer: Option<String>,
    /// Stands for the configured client and all it shows: what is remembered of one is not of another.
    identity: Digest,
    reach: Reach,
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
    /// For the server at `server`. One that configuration places inside may name its own address there.
    pub fn new(
        (hub, sign_ins): (&Arc<Hub>, &Arc<SignIns>),
        peer: &PeerId,
        (server, own): (&Uri, Arc<Own>),
        ca: Option<&Path>,
        config: &OAuth,
    ) -> Result<Authority, Fault> {
        let private = if config.private_addresses { Private::Allowed } else { Private::Refused };
        let reach = Reach::chosen_by(hub, server, private);
        let trust = ca.map_or(Trust::Machine, Trust::Only);
        let tls = match (ca, tls::config(&trust)) {
            // A machine without authorities still reaches what needs none.
            (None, Err(_)) => tls::config(&Trust::Nobody)?,
            (_, tls) => tls?,
        };
        let text = |secret: &Secret| secret.expose().clone();
        let key = config.private_key.as_ref().and_then(|key| key.expose().text().and_then(Signer::from_pem));
        Ok(Authority {
            peer: peer.clone(),
            server: server.to_string(),
            grant: config.grant,
            scopes: Scopes::of(config.scopes.iter().map(String::as_str)),
            hub: Arc::downgrade(hub),
            sign_ins: Arc::downgrade(sign_ins),
            own,
            issuer: config.issuer.clone(),
            identity: identity(config),
            configured: Configured {
                id: config.client_id.clone(),
                secret: config.client_secret.as_ref().map(text),
                signs: key.is_some(),
                document: config.client_metadata.clone(),
            },
            key,
            pool: Pool::new(tls, hub.supervisor(), reach.clone(), hub.answers()),
            reach,
        })
    }

    pub(super) fn hub(&self) -> Result<Arc<Hub>, Problem> {
        self.hub.upgrade().ok_or(Problem::Stopping)
    }

    pub(super) fn sign_ins(&self) -> Result<Arc<SignIns>, Problem> {
        self.sign_ins.upgrade().ok_or(Problem::Stopping)
    }

    pub(super) async fn get(&self, url: &str, what: &'static str) -> Result<Answer, Problem> {
        let request = Request::builder().method(Method::GET).uri(url).header(ACCEPT, JSON);
        self.send(request, Bytes::new(), what).await
    }

    async fn send(&self, request: http::request::Builder, body: Bytes, what: &'static str) -> Result<Answer, Problem> {
        let lost = |lost: TransportError| Problem::Lost { what, lost };
        let request = request.body(whole(body)).map_err(|error| lost(TransportError::unconnected(error)))?;
        let asked = async {
            let response = self.pool.send(request).await?;
            let status = response.status();
            Ok(Answer { status, body: read(response, LIMIT).await? })
        };
        let answered = tokio::time::timeout(PATIENCE, asked).await;
        answered.unwrap_or_else(|_| Err(TransportError::broken("no answer in time"))).map_err(lost)
    }

    /// Who the hub is to this authorization server: registers where it is not known yet, once.
    pub(super) async fn client(&self, server: &AuthorizationServer, redirect: &str) -> Result<Client, Problem> {
        let hub = self.hub()?;
        let own = self.sign_ins()?.document(&self.returns_by(&server.issuer));
        let configured = Configured { document: self.configured.document.clone().or(own), ..self.configured.clone() };
        let at = match configured.way(server)? {
            Way::Known(client) => {
                self.belongs(&hub, &client, server).await?;
                return Ok(client);
            }
            Way::Register(at) => at,
        };
        let key = kept::client_key(&self.peer, &self.server, &server.issuer, redirect);
        if let Some((known, _)) = kept::load::<KeptClient>(&hub, kept::CLIENTS, &key).await? {
            return Ok(known.client());
        }
        let name = hub.settings().name.to_string();
        let request = Request::builder().method(Method::POST).uri(&at).header(CONTENT_TYPE, JSON).header(ACCEPT, JSON);
        let what = "registration";
        let answer = self.send(request, client::describe(&name, redirect, None), what).await?;
        if !answer.status.is_success() {
            return Err(refused(what, &answer));
        }
        let client = client::registered(&answer.body, server)?;
        // Of two registrations at once, the one that is stored is used.
        let kept = KeptClient::of(&client);
        match kept::keep(&hub, (kept::CLIENTS, &key), &kept, Replacing::Read(None)).await? {
            Put::Stored(_) => Ok(client),
            Put::Overtaken(known, _) => Ok(known.client()),
        }
    }

    /// By which address people come back from this authorization server. A client that the operator registered has the address
    /// that was registered; the hub's own clients have one for each authorization server.
    pub(super) fn returns_by(&self, issuer: &str) -> ReturnAddress {
        match (&self.configured.id, &self.configured.document) {
            (None, None) => ReturnAddress::of_issuer(issuer),
            (Some(_), _) | (_, Some(_)) => ReturnAddress::Common,
        }
    }

    /// Is this the authorization server that configuration names, or does it name none?
    pub(super) fn believes(&self, issuer: &str) -> Result<(), Problem> {
        match &self.issuer {
            Some(known) if known != issuer => Err(other_issuer(known, issuer)),
            Some(_) | None => Ok(()),
        }
    }

    /// A secret and a key belong to one authorization server, whomever the server names tomorrow: the first one is remembered
    /// where configuration does not say which.
    async fn belongs(&self, hub: &Hub, client: &Client, server: &AuthorizationServer) -> Result<(), Problem> {
        self.believes(&server.issuer)?;
        match client.method {
            Shows::None => return Ok(()),
            Shows::SecretBasic | Shows::SecretPost | Shows::PrivateKeyJwt if self.issuer.is_some() => return Ok(()),
            Shows::SecretBasic | Shows::SecretPost | Shows::PrivateKeyJwt => {}
        }
        let key = kept::issuer_key(&self.peer, &self.server, self.identity);
        match kept::pinned(hub, &key, &server.issuer).await? {
            known if known == server.issuer => Ok(()),
            known => Err(other_issuer(&known, &server.issuer)),
        }
    }

    /// Nobody's browser is sent to the hub itself in the name of a server.
    pub(super) async fn check_sign_in(&self, server: &AuthorizationServer) -> Result<(), Problem> {
        let authorize: Uri = server.sign_in()?.parse().map_err(|_| Invalid::Address("authorization_endpoint"))?;
        let reached = self.sign_ins()?.reached().and_then(|base| place::origin(&base.parse().ok()?));
        let itself = place::origin(&authorize).is_none_or(|origin| Some(origin) == reached);
        if itself || self.reach.leads_home(&authorize).await {
            return Err(Problem::Own("authorization_endpoint"));
        }
        Ok(())
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

fn other_issuer(known: &str, named: &str) -> Problem {
    Problem::OtherIssuer { known: known.to_owned(), named: named.to_owned() }
}

fn identity(config: &OAuth) -> Digest {
    let shown = config.client_secret.as_ref().or(config.private_key.as_ref());
    let shown = shown.and_then(|shown| shown.expose().text()).unwrap_or_default();
    Digest::of_fields([config.client_id.as_deref().unwrap_or_default().as_bytes(), shown.as_bytes()])
}

/// A server that says what it refuses, or only that it does.
fn refused(what: &'static str, answer: &Answer) -> Problem {
    match refusal(&answer.body) {
        Some(code) if answer.status.is_client_error() => Problem::Refused(code),
        Some(_) | None => Problem::Status { what, status: answer.status.as_u16() },
    }
}
